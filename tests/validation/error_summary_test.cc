#include "validation/error_summary.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

RowPrediction prediction(std::string cluster, double error, std::string gpu = "A") {
  RowPrediction row;
  row.cluster = std::move(cluster);
  row.error_ratio = error;
  row.gpu = std::move(gpu);
  return row;
}

TEST(WeightedQuantile, IsTheSmallestValueWithThatShareBelow) {
  const std::vector<Weighted> values = {{3, 1}, {1, 1}, {2, 1}, {4, 1}};
  EXPECT_EQ(weighted_quantile(values, 0.5), 2);
  EXPECT_EQ(weighted_quantile(values, 0.51), 3);
  EXPECT_EQ(weighted_quantile(values, 0.9), 4);
  EXPECT_EQ(weighted_quantile({{7, 0.1}}, 0.5), 7);
}

// 1/3 + 1/3 + 1/3 of one cluster and one row of another: half of the weight is reached with the third third.
TEST(WeightedQuantile, ThirdsAddUp) {
  const double third = 1.0 / 3;
  EXPECT_EQ(weighted_quantile({{1, third}, {2, third}, {3, third}, {4, 1}}, 0.5), 3);
}

TEST(ErrorSummary, AClusterCountsOnce) {
  // Twenty runs of one configuration, wrong by 1 %, beside two others.
  std::vector<RowPrediction> rows(20, prediction("same", 0.01));
  rows.push_back(prediction("b", -0.10));
  rows.push_back(prediction("c", 0.20));
  set_weights(rows);
  const ErrorSummary summary = summarise("all", rows);
  EXPECT_EQ(summary.rows, 22);
  EXPECT_EQ(summary.clusters, 3);
  EXPECT_DOUBLE_EQ(summary.median_abs_error_ratio, 0.10);
  EXPECT_DOUBLE_EQ(summary.p90_abs_error_ratio, 0.20);
  EXPECT_DOUBLE_EQ(summary.bias_ratio, 0.01);  // -0.10, 0.01, 0.20
}

TEST(ErrorSummary, TheBaselineCountsWhereThereIsOne) {
  std::vector<RowPrediction> rows = {prediction("a", 0.1), prediction("b", 0.2)};
  set_weights(rows);
  EXPECT_FALSE(summarise("all", rows).baseline_median_abs_error_ratio);
  rows[1].baseline_error_ratio = -0.3;
  const ErrorSummary summary = summarise("all", rows);
  EXPECT_DOUBLE_EQ(summary.baseline_median_abs_error_ratio.value(), 0.3);
  EXPECT_DOUBLE_EQ(summary.baseline_p90_abs_error_ratio.value(), 0.3);
}

TEST(ErrorSummary, ByAFieldInItsOrder) {
  std::vector<RowPrediction> rows = {prediction("a", 0.1, "H200"), prediction("b", 0.2, "A100"),
                                     prediction("c", 0.4, "H200")};
  set_weights(rows);
  const auto summaries = summarise_by(rows, &RowPrediction::gpu);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].name, "A100");
  EXPECT_EQ(summaries[0].rows, 1);
  EXPECT_EQ(summaries[1].name, "H200");
  EXPECT_EQ(summaries[1].rows, 2);
}

TEST(ErrorSummary, OfNothing) {
  const ErrorSummary summary = summarise("all", {});
  EXPECT_EQ(summary.rows, 0);
  EXPECT_FALSE(summary.baseline_median_abs_error_ratio);
}

}  // namespace
}  // namespace tare
