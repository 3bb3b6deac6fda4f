#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/collective_rows.h"
#include "ingest/line_prefix.h"
#include "read_text.h"

namespace tare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two nodes of two GPUs. The numbers are made up.
const std::string kTable =
    "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1048576 step: 1024(factor) warmup iters: 5 iters: 20 agg iters: 1 "
    "validation: 1 graph: 0\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  41001 on  alpha01 device  0 [0000:1b:00] NVIDIA Z900 96GB\n"
    "#  Rank  1 Group  0 Pid  41002 on  alpha01 device  1 [0000:3d:00] NVIDIA Z900 96GB\n"
    "#  Rank  2 Group  0 Pid  51001 on  alpha02 device  0 [0000:1b:00] NVIDIA Z900 96GB\n"
    "#  Rank  3 Group  0 Pid  51002 on  alpha02 device  1 [0000:3d:00] NVIDIA Z900 96GB\n"
    "#\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "        1024           256     float     sum      -1    20.50    0.05    0.08      0    20.10    0.05    0.08     "
    " 0\n"
    "     1048576        262144     float     sum      -1    104.8   10.01   15.01      0    100.4   10.44   15.66     "
    " 2\n"
    "# Out of bounds values : 2 FAILED\n"
    "# Avg bus bandwidth    : 7.7075\n"
    "#\n";

TEST(NcclTests, ReadsATableWithItsDevicesAndSummary) {
  const FileFacts file = read_text("mpirun -np 4 ./build/all_reduce_perf -b 1K -e 1M -f 1024 -g 1\n" + kTable);
  ASSERT_EQ(kind_of(file), "nccl-tests");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("collective"), "all_reduce");
  EXPECT_EQ(facts.find("collective")->line, 1);
  EXPECT_EQ(facts.integer("ranks"), 4);
  EXPECT_EQ(facts.integer("nodes"), 2);
  EXPECT_EQ(facts.text("gpu"), "NVIDIA Z900 96GB");
  EXPECT_EQ(facts.integer("data_rows"), 2);
  EXPECT_EQ(facts.integer("smallest_bytes"), 1024);
  EXPECT_EQ(facts.integer("largest_bytes"), 1048576);
  EXPECT_DOUBLE_EQ(*facts.number("peak_busbw_gb_per_s"), 15.66);
  EXPECT_EQ(facts.find("peak_busbw_gb_per_s")->line, 14);
  EXPECT_EQ(facts.integer("out_of_bounds"), 2);
  EXPECT_EQ(facts.text("status"), "FAILED");
  EXPECT_DOUBLE_EQ(*facts.number("avg_busbw_gb_per_s"), 7.7075);
  EXPECT_EQ(facts.integer("rows_with_wrong_values"), 1);
  const FactRecord* const parameters = facts.find_record("parameters");
  ASSERT_NE(parameters, nullptr);
  EXPECT_EQ(parameters->integer("step_factor"), 1024);
  EXPECT_EQ(parameters->integer("warmup_iters"), 5);
  EXPECT_EQ(parameters->integer("iters"), 20);
  const std::vector<Fact>* const devices = facts.find_list("devices");
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ((*devices)[2].as_record()->text("host"), "alpha02");
  EXPECT_EQ((*devices)[2].as_record()->text("bus_id"), "0000:1b:00");
  EXPECT_EQ((*devices)[2].line, 7);
}

TEST(NcclTests, GivesTypedRows) {
  const FileFacts file = read_text("all_reduce_perf -b 1K\n" + kTable);
  const std::vector<CollectiveRow> rows = collective_rows(facts_of(file));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].collective, "all_reduce");
  EXPECT_EQ(rows[3].bytes, 1048576);
  EXPECT_DOUBLE_EQ(rows[3].time_us, 100.4);
  EXPECT_DOUBLE_EQ(rows[3].algbw, 10.44);
  EXPECT_DOUBLE_EQ(rows[3].busbw, 15.66);
  EXPECT_TRUE(rows[3].in_place);
  EXPECT_EQ(rows[3].ranks, 4);
  EXPECT_EQ(rows[3].nodes, 2);
  EXPECT_EQ(rows[3].errors, 2);
  EXPECT_EQ(rows[3].line, 14);
}

// busbw / algbw of an all_reduce over n ranks is 2(n-1)/n: 1.75 for 8.
TEST(NcclTests, TellsRanksAndCollectiveFromRowsWithoutHeader) {
  const FileFacts file = read_text(
      "0:    67108864      16777216     float     sum      -1    671.0  100.00  175.00      0    671.0  100.01  175.02 "
      "     0\n"
      "0:   134217728      33554432     float     sum      -1   1342.0  100.00  175.00      0   1342.0  100.01  175.02 "
      "     0\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("collective"), "all_reduce");
  EXPECT_EQ(facts.integer("ranks"), 8);
  EXPECT_EQ(facts.text("ranks_from"), "busbw over algbw");
  EXPECT_FALSE(facts.has("nodes"));
}

// all_gather's size is that of all ranks, its count that of one: 4 ranks.
TEST(NcclTests, OldLayoutsWithoutReductionColumn) {
  const FileFacts file = read_text(
      "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "      262144         16384   float    16017    1.80    1.35    N/A    36474    0.71    0.53  2e-07\n"
      "      524288         32768   float    32.00   16.38   12.29    N/A    30.00   17.48   13.11  0e+00\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("data_rows"), 2);
  EXPECT_EQ(facts.integer("ranks"), 4);
  EXPECT_EQ(facts.text("ranks_from"), "size and count");
  const FactRecord& row = *(*facts.find_list("rows"))[0].as_record();
  EXPECT_DOUBLE_EQ(*row.number("out_of_place_time_us"), 16017);
  EXPECT_TRUE(row.find("out_of_place_error")->is_unknown());
  EXPECT_DOUBLE_EQ(*row.number("in_place_error"), 2e-7);
  EXPECT_FALSE(facts.has("rows_with_wrong_values"));
  EXPECT_DOUBLE_EQ(*facts.number("largest_deviation"), 2e-7);
}

TEST(NcclTests, TimesOfTheFirstVersionAreMilliseconds) {
  const FileFacts file = read_text(
      "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res\n"
      "     1000000        250000   float     sum    0.050  20.00  35.00    0e+00    0.040  25.00  43.75    0e+00\n");
  EXPECT_DOUBLE_EQ(*(*facts_of(file).find_list("rows"))[0].as_record()->number("out_of_place_time_us"), 50);
}

TEST(NcclTests, DamagedRowsAreSaid) {
  const FileFacts file = read_text(
      "[1,0]<stdout>:#   size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw  #wrong\n"
      "[1,0]<stdout>:    4096  1024  float  sum  -1alpha01:77:91 [0] NCCL INFO Connected all rings\n"
      "[1,0]<stdout>:    12.50  0.33  0.49  0  12.40  0.33  0.50  0\n"
      "   ...\n"
      "[1,0]<stdout>:    16384  4096  float  sum  -1  13.00  1.26\n"
      "[1,0]<stdout>:    32768\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("data_rows"), 1);
  EXPECT_EQ(facts.integer("cut_rows"), 2);
  EXPECT_TRUE(facts.has("elided"));
  const FactRecord& row = *(*facts.find_list("rows"))[0].as_record();
  EXPECT_EQ(row.line, 2);
  EXPECT_DOUBLE_EQ(*row.number("in_place_busbw_gb_per_s"), 0.5);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 2);
}

TEST(NcclTests, TagsInsideRows) {
  const FileFacts file = read_text(
      "[0]    8  2  float  sum  -1[0]  12.50  0.33  0.49  0[0]  12.40  0.33  0.50  0\n"
      "[0]   16  4  float  sum  -1[0]  12.60  0.34  0.51  0[0]  12.30  0.34  0.52  0\n");
  EXPECT_EQ(facts_of(file).integer("data_rows"), 2);
}

TEST(NcclTests, SeveralRunsInOneFile) {
  const FileFacts file = read_text("./all_reduce_perf -g 4\n" + kTable + "./all_gather_perf -g 4\n" + kTable);
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("run_count"), 2);
  EXPECT_EQ(facts.integer("data_rows"), 4);
  EXPECT_EQ(facts.integer("ranks"), 4);
  EXPECT_FALSE(facts.has("collective"));  // they differ
  const std::vector<Fact>* const runs = facts.find_list("runs");
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[1].as_record()->text("collective"), "all_gather");
  EXPECT_EQ((*runs)[1].line, 18);
}

TEST(NcclTests, ProcessesThatRanAloneAreNoted) {
  const FileFacts file = read_text(
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
      "#   Rank  0 Pid     11 on alpha01 device  0 [0x1b] Z900\n"
      "#   Rank  0 Pid     12 on alpha02 device  0 [0x1b] Z900\n");
  EXPECT_EQ(facts_of(file).integer("parameter_headers"), 2);
  EXPECT_EQ(facts_of(file).integer("repeated_ranks"), 1);
  ASSERT_FALSE(file.readings.front().reading.notes().empty());
  EXPECT_THAT(file.readings.front().reading.notes()[0], HasSubstr("ran alone"));
}

TEST(NcclTests, PerIterationColumnsAndTimestamp) {
  const FileFacts file = read_text(
      "# nccl-tests version 2.18.0 nccl-headers=22809 nccl-library=23004\n"
      "# Collective test starting: alltoall_perf\n"
      "#  size  count  type  redop  root  time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong "
      "i_min "
      "i_max i_p99 i_cv% timestamp\n"
      "   1024  64  float  none  -1  10.0 0.10 0.08 0 9.0 11.0 10.9 3.1  12.0 0.09 0.07 N/A 9.5 11.5 10.8 3.3  "
      "2026-03-04 05:06:07\n"
      "# Collective test concluded: alltoall_perf\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("nccl_tests_version"), "2.18.0");
  EXPECT_EQ(facts.text("nccl_library"), "2.30.4");
  EXPECT_EQ(facts.text("nccl_headers"), "2.28.9");
  EXPECT_EQ(facts.text("collective"), "alltoall");
  const FactRecord& row = *(*facts.find_list("rows"))[0].as_record();
  EXPECT_DOUBLE_EQ(*row.number("in_place_i_cv_pct"), 3.3);
  EXPECT_TRUE(row.find("in_place_wrong")->is_unknown());
  EXPECT_EQ(row.text("timestamp"), "2026-03-04 05:06:07");
}

TEST(NcclTests, UncheckedIsNotCorrect) {
  const FileFacts file = read_text(
      "#  size  count  type  redop  root  time algbw busbw #wrong  time algbw busbw #wrong\n"
      "   1024  256  float  sum  -1  10.0 0.10 0.15 N/A  12.0 0.09 0.14 N/A\n");
  EXPECT_TRUE(facts_of(file).find("rows_with_wrong_values")->is_unknown());
}

TEST(NcclTests, FailuresAreKept) {
  const FileFacts file = read_text(
      "# nThread 1 nGpus 8 minBytes 8 maxBytes 8 step: 2(factor)\n"
      "alpha01: Test NCCL failure common.cu:1005 'remote process exited'\n");
  ASSERT_EQ(kind_of(file), "nccl-tests");
  EXPECT_EQ((*facts_of(file).find_list("failures"))[0].line, 2);
}

TEST(NccomTest, HasOneGroupOfColumns) {
  const FileFacts file = read_text(
      "    size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)\n"
      "       1024             256    fp32           61.00           0.02           0.03\n"
      "    1048576          262144    fp32          200.00           5.24           9.83\n"
      "Avg bus bandwidth:      4.9300GB/s\n");
  ASSERT_EQ(kind_of(file), "nccl-tests");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("tool"), "nccom-test (AWS Trainium)");
  EXPECT_DOUBLE_EQ(*facts.number("avg_busbw_gb_per_s"), 4.93);
  EXPECT_DOUBLE_EQ(*facts.number("peak_busbw_gb_per_s"), 9.83);
  EXPECT_DOUBLE_EQ(*(*facts.find_list("rows"))[1].as_record()->number("time_us"), 200);
}

TEST(AllReduceBench, BitsOfInterleavedProcesses) {
  const FileFacts file = read_text(
      "1:\n duration: 0.5000 sec\n algo throughput: 80000000000.0 bps, 80.0000 Gbps\n busbw: 60.0000  Gbps\n"
      "ignore me 17\n0:\n3:\n duration: 0.5100 sec\n algo throughput: 79000000000.0 bps, 79.0000 Gbps\n"
      " busbw: 59.2500  Gbps\n");
  ASSERT_EQ(kind_of(file), "nccl-tests");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("unit"), "Gbps (bits!)");
  EXPECT_EQ(facts.integer("block_count"), 2);
  EXPECT_DOUBLE_EQ(*facts.number("busbw_min_gbps"), 59.25);
  const std::vector<Fact>* const blocks = facts.find_list("blocks");
  EXPECT_EQ((*blocks)[0].as_record()->integer("rank"), 1);
  EXPECT_FALSE((*blocks)[1].as_record()->has("rank"));  // two headers stand before it
}

TEST(AllReduceBench, TableOfPayloads) {
  const FileFacts file = read_text(
      "| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n"
      "|    32KB |   0.92GBps |   0.49GBps |\n|     4GB | 300.00GBps | 160.00GBps |\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_DOUBLE_EQ(*facts.number("peak_busbw_gb_per_s"), 300);
  EXPECT_EQ((*facts.find_list("rows"))[1].as_record()->integer("bytes"), std::int64_t{4} << 30);
}

TEST(LineTags, AreTakenOff) {
  EXPECT_EQ(without_line_tags("[1,0]<stdout>:# a"), "# a");
  EXPECT_EQ(without_line_tags("   [1,12]<stderr>:  b"), "  b");
  EXPECT_EQ(without_line_tags("3:  c"), " c");
  EXPECT_EQ(without_line_tags("> > d"), "d");
  EXPECT_EQ(without_line_tags("node-7: e", true), "e");
  EXPECT_EQ(without_line_tags("node-7: e"), "node-7: e");
  EXPECT_EQ(without_line_tags("  0:  10  20"), "  0:  10  20");
  EXPECT_EQ(without_inner_tags("[0] 1[1,0]<stdout>:2 [x]"), "  1 2 [x]");
}

TEST(NcclTests, AreNotFoundInOtherFiles) {
  EXPECT_NE(kind_of(read_text("step 10 loss 2.5 float 16 tokens 3\n")), "nccl-tests");
  EXPECT_NE(kind_of(read_text("read: IOPS=91k, BW=358MiB/s\n")), "nccl-tests");
}

}  // namespace
}  // namespace tare
