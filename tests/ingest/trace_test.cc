#include <gtest/gtest.h>

#include "read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, const char* list, std::size_t at) {
  static const FactRecord none;
  const std::vector<Fact>* const found = facts.find_list(list);
  return found == nullptr || found->size() <= at ? none : *(*found)[at].as_record();
}

const std::string kTrace = R"json({
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85000000000, "computeMajor": 9, "numSms": 132}
  ],
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 16, "nccl_version": "2.27.3"},
  "traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python \"quoted\" }"}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#12", "pid": 1, "tid": 1, "ts": 1000.0, "dur": 500.0},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.0, "dur": 100.0,
    "args": {"device": 0, "stream": 7, "grid": [1, 2, 3]}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1200.0, "dur": 50.0, "args": {"device": 0}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "pid": 0, "tid": 20, "ts": 1050.0, "dur": 125.0,
    "args": {"device": 0, "stream": 20, "Collective name": "allreduce", "In msg nelems": 1048576, "dtype": "BFloat16",
             "Group size": 16, "Process Group Name": "0"}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 1400.0, "dur": 10.5}
  ]
})json";

TEST(Trace, AddsUpTheProfilersEvents) {
  const FileFacts file = read_text(kTrace, "rank3.pt.trace.json");
  ASSERT_EQ(kind_of(file), "trace");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("program"), "PyTorch profiler");
  EXPECT_EQ(facts.integer("rank"), 3);
  EXPECT_EQ(facts.integer("world_size"), 16);
  EXPECT_EQ(item(facts, "devices", 0).integer("multiprocessors"), 132);
  EXPECT_EQ(facts.integer("events"), 6);
  EXPECT_EQ(facts.number("span_us"), 500);
  EXPECT_EQ(item(facts, "profiler_steps", 0).integer("step"), 12);
  const FactRecord& busy = item(facts, "busy", 0);
  EXPECT_EQ(busy.number("nccl_us"), 125);
  EXPECT_EQ(busy.number("nccl_alone_us"), 75);
  EXPECT_EQ(busy.number("kernels_us"), 225);
  EXPECT_EQ(item(facts, "kernels", 0).text("name").substr(0, 24), "gemm");
  EXPECT_EQ(item(facts, "kernels", 0).number("total_us"), 150);
  const FactRecord& collective = item(facts, "collectives", 0);
  EXPECT_EQ(collective.text("collective"), "allreduce");
  EXPECT_EQ(collective.integer("elements"), 1048576);
  EXPECT_EQ(collective.number("start_us"), 1050);
  EXPECT_EQ(collective.line, 13);
}

TEST(Trace, CountsCollectivesWithinTheirGroups) {
  std::string text = "{\"traceEvents\": [";
  for (int i = 0; i < 9'000; ++i) {
    text += std::string(i > 0 ? ",\n" : "") +
            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllGather\", \"ts\": " +
            std::to_string(i * 10) + ", \"dur\": 4, \"args\": {\"Process Group Name\": \"" + (i % 3 == 0 ? "7" : "8") +
            "\", \"Process Group Ranks\": \"[0, 4]\", \"Seq\": " + std::to_string(i) + "}}";
  }
  const FileFacts file = read_text(text + "]}", "rank0.json");
  const FactRecord& facts = facts_of(file);
  const std::int64_t every = facts.integer("collectives_thinned_to_every").value_or(0);
  EXPECT_EQ(every, 4);
  const FactRecord& third = item(facts, "collectives", 2);
  EXPECT_EQ(third.text("group"), "8");
  EXPECT_EQ(third.text("group_ranks"), "[0, 4]");
  EXPECT_EQ(third.integer("order"), 4);
  EXPECT_EQ(third.integer("sequence"), 7);
  for (const Fact& one : *facts.find_list("collectives")) EXPECT_EQ(*one.as_record()->integer("order") % every, 0);
}

TEST(Trace, KeepsWhatStandsBeforeTheEnd) {
  const FileFacts file = read_text(kTrace.substr(0, kTrace.find("\"Collective name\"")), "cut.json");
  ASSERT_EQ(kind_of(file), "trace");
  EXPECT_EQ(facts_of(file).integer("events"), 4);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(Trace, ReadsABareList) {
  const FileFacts file = read_text(
      R"json([{"name": "a", "cat": "kernel", "ph": "X", "ts": 1, "dur": 2, "pid": 0, "tid": 0},
          {"name": "b", "cat": "cpu_op", "ph": "X", "ts": 4, "dur": 2, "pid": 0, "tid": 0}])json");
  ASSERT_EQ(kind_of(file), "trace");
  EXPECT_EQ(facts_of(file).text("program"), "Chrome trace events");
  EXPECT_EQ(facts_of(file).number("span_us"), 5);
}

const std::string kFlight = R"json({"version": "2.5", "nccl_version": "2.21.5",
 "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
 "pg_status": {"0": {"last_enqueued_collective": 3, "last_started_collective": 2, "last_completed_collective": 1}},
 "entries": [
  {"record_id": 0, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1, "op_id": 1,
   "profiling_name": "nccl:all_reduce", "time_created_ns": 1700000000000000000, "duration_ms": 2.5,
   "input_sizes": [[3, 4]], "input_dtypes": ["Float"], "state": "completed", "timeout_ms": 600000,
   "frames": [{"name": "step", "filename": "train.py", "line": 12}]},
  {"record_id": 1, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 2, "op_id": 2,
   "profiling_name": "nccl:all_reduce", "time_created_ns": 1700000001000000000, "input_sizes": [[8], [2, 2]],
   "state": "scheduled", "timeout_ms": 600000, "frames": []}
 ]})json";

TEST(FlightRecorder, TellsWhatWasNotFinished) {
  const FileFacts file = read_text(kFlight, "nccl_trace_rank_3.json");
  ASSERT_EQ(kind_of(file), "trace");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("entry_count"), 2);
  EXPECT_EQ(facts.find_record("states")->integer("completed"), 1);
  EXPECT_EQ(facts.integer("unfinished_count"), 1);
  EXPECT_EQ(item(facts, "process_groups", 0).integer("outstanding"), 2);
  EXPECT_EQ(facts.find_record("last_completed")->text("called_from"), "step (train.py:12)");
  const FactRecord& waiting = *facts.find_record("first_unfinished");
  EXPECT_EQ(waiting.integer("collective_seq_id"), 2);
  EXPECT_EQ(waiting.text("input_sizes"), "[8] [2, 2]");
  EXPECT_EQ(waiting.integer("input_elements"), 12);
  EXPECT_EQ(waiting.line, 9);
  EXPECT_EQ(item(facts, "operations", 0).number("mean_ms"), 2.5);
}

// The status goes by the process's own number of the group, in text.
TEST(FlightRecorder, FindsAGroupsStatusByItsNumber) {
  const FileFacts file = read_text(
      R"json({"version": "2.9", "pg_config": {"51": {"name": "51", "ranks": "[0, 8]"}},
 "pg_status": {"3": {"last_enqueued_collective": "20", "last_completed_collective": "19"}},
 "entries": [{"pg_id": 3, "process_group": ["51", "dp"], "collective_seq_id": 20, "profiling_name": "nccl:all_reduce",
   "state": "scheduled"}]})json",
      "nccl_trace_rank_8.json");
  const FactRecord& group = item(facts_of(file), "process_groups", 0);
  EXPECT_EQ(group.integer("last_enqueued_collective"), 20);
  EXPECT_EQ(group.integer("outstanding"), 1);
}

TEST(FlightRecorder, SaysHowAPickleBecomesText) {
  const FileFacts file = read_text(std::string("\x80\x04\x95\x00\x00}\x8c\x07version", 15), "nccl_trace_rank_0");
  ASSERT_EQ(file.errors.size(), 1u);
  EXPECT_NE(file.errors.front().help.find("pickle"), std::string::npos);
}

TEST(Trace, IsNotAnyJson) {
  EXPECT_NE(kind_of(read_text("{\"entries\": [{\"state\": \"completed\"}]}")), "trace");
  EXPECT_NE(kind_of(read_text("[{\"name\": \"a\", \"phase\": 1}]")), "trace");
}

}  // namespace
}  // namespace tare
