#include "ingest/throughput_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare {
namespace {

using testing::HasSubstr;

std::vector<ThroughputRow> read(const std::string& text) {
  const auto rows = read_throughput_rows(text, "rows.csv");
  EXPECT_TRUE(rows) << render(rows.error());
  return rows.value_or(std::vector<ThroughputRow>{});
}

std::string errors_of(const std::string& text) {
  const auto rows = read_throughput_rows(text, "rows.csv");
  return rows ? "" : render(rows.error());
}

TEST(ThroughputRows, ReadsCellsIntoBaseUnits) {
  const auto rows = read(
      "id,gpu,method,n_gpus,inter_node_gbps_per_gpu,tflops_per_gpu,mfu_pct,gated_mlp,layers,step_time_s,notes\n"
      "T1,H200,pretrain,64,400,421,42.5,1,80.0,1.5,\"a, \"\"quoted\"\" note\"\n");
  ASSERT_EQ(rows.size(), 1u);
  const ThroughputRow& row = rows[0];
  EXPECT_EQ(row.id, "T1");
  EXPECT_EQ(row.gpus, 64);
  EXPECT_DOUBLE_EQ(*row.inter_node_bytes_per_s_per_gpu, 50e9);  // 400 Gb/s ÷ 8
  EXPECT_DOUBLE_EQ(*row.flops_per_s_per_gpu, 421e12);
  EXPECT_DOUBLE_EQ(*row.mfu_ratio, 0.425);
  EXPECT_EQ(row.gated_mlp, true);
  EXPECT_EQ(row.layers, 80);  // as pandas writes it
  EXPECT_EQ(row.notes, "a, \"quoted\" note");
}

TEST(ThroughputRows, EmptyIsNotStated) {
  const auto rows = read("id,gpu,method,n_gpus,tied_embeddings,tokens_per_s_per_gpu\nT1,H200,sft,,,\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].gpus);
  EXPECT_FALSE(rows[0].tied_embeddings);
  EXPECT_FALSE(rows[0].tokens_per_s_per_gpu);
  EXPECT_FALSE(rows[0].layers);  // no such column
}

TEST(ThroughputRows, KnowsItsLine) {
  const auto rows = read("id,gpu,method,notes\nT1,H200,sft,\"two\nlines\"\n\nT2,H200,sft,\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].line, 2);
  EXPECT_EQ(rows[1].line, 5);
}

TEST(ThroughputRows, ReportsEveryBadCellWithItsPlace) {
  const std::string errors = errors_of(
      "id,gpu,method,n_gpus,tp,gated_mlp,step_time_s\n"
      "T1,H200,sft,eight,0,yes,-1\n"
      "T2,H200,sft,2.5,2000000000,1,nan\n");
  EXPECT_THAT(errors, HasSubstr("rows.csv:2:13: error: expected a whole number in column 'n_gpus', found 'eight'"));
  EXPECT_THAT(errors, HasSubstr("rows.csv:2:19: error: expected a whole number of at least 1, found 0"));
  EXPECT_THAT(errors, HasSubstr("rows.csv:2:21: error: expected 0 or 1, found 'yes'"));
  EXPECT_THAT(errors, HasSubstr("rows.csv:2:25: error: expected a number of at least 0, found -1"));
  EXPECT_THAT(errors, HasSubstr("rows.csv:3:13: error: expected a whole number in column 'n_gpus', found '2.5'"));
  EXPECT_THAT(errors,
              HasSubstr("rows.csv:3:17: error: expected a whole number from 1 to 1000000000, found 2000000000"));
  EXPECT_THAT(errors, HasSubstr("rows.csv:3:30: error: expected a number in column 'step_time_s', found 'nan'"));
}

TEST(ThroughputRows, NeedsItsColumns) {
  const std::string errors = errors_of("id,model,tokens\nT1,llama,3\n");
  EXPECT_THAT(errors, HasSubstr("rows.csv:1: error: the header has no column 'gpu', 'method' [missing-column]"));
  EXPECT_THAT(errors, HasSubstr("docs/validation.md"));
}

TEST(ThroughputRows, EmptyFileIsAnError) { EXPECT_THAT(errors_of(""), HasSubstr("rows.csv")); }

TEST(ThroughputRows, AHeaderAloneHasNoRows) { EXPECT_TRUE(read("id,gpu,method\n").empty()); }

TEST(ThroughputRows, StopsAtALimitOfErrors) {
  std::string text = "id,gpu,method,tp\n";
  for (int i = 0; i < 100'000; ++i) text += "T,H200,sft,-1\n";
  const auto rows = read_throughput_rows(text, "rows.csv");
  ASSERT_FALSE(rows);
  EXPECT_LE(rows.error().size(), DiagnosticList::kLimit + 1);
}

}  // namespace
}  // namespace tare
