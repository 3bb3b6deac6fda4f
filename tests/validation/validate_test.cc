#include "validation/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "validation/baseline.h"
#include "validation/rows.h"
#include "validation/validate_json.h"

namespace tare {
namespace {

using test::shipped_catalog;
using testing::HasSubstr;

constexpr const char* kHeader =
    "id,source_group,model_name,arch,layers,hidden,ffn_hidden,heads,kv_heads,head_dim,vocab,seq_len,gpu,n_gpus,"
    "gpus_per_node,tp,pp,dp,zero_stage_or_fsdp,micro_batch,global_batch,precision,recompute,attention,method,"
    "framework,tokens_per_s_per_gpu,replicate_cluster\n";

// One run of a GPT of 1.5 billion parameters on 8 GPUs.
std::string line(const std::string& id, const std::string& gpu, double rate, const std::string& cluster = "") {
  return id + ",group-" + gpu + ",gpt,dense,24,2048,8192,16,16,128,50304,2048," + gpu +
         ",8,8,1,1,8,zero1,4,64,bf16,none,flash2,pretrain,Megatron-Bridge 26.02," + std::to_string(rate) + "," +
         cluster + "\n";
}

ValidationReport report_of(const std::string& rows) {
  const auto report = validate(kHeader + rows, "rows.csv", shipped_catalog());
  EXPECT_TRUE(report) << render(report.error());
  return report.value_or(ValidationReport{});
}

TEST(Validate, PredictsOrCountsEveryRow) {
  const ValidationReport report = report_of(line("a", "H200", 40'000) + line("b", "H100-SXM9", 1) +
                                            line("c", "H200", 40'000) + line("d", "A100-SXM4-80GB", 0));
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.predicted, 2);
  EXPECT_EQ(report.skipped, (std::map<std::string, int>{{"no_target", 1}, {"unknown_gpu", 1}}));
  ASSERT_EQ(report.predictions.size(), 2u);
  EXPECT_EQ(report.predictions[0].id, "a");
  EXPECT_EQ(report.predictions[1].id, "c");
}

TEST(Validate, ErrorIsPredictedOverMeasured) {
  const ValidationReport first = report_of(line("a", "H200", 40'000));
  const double predicted = first.predictions.at(0).predicted_tokens_per_s_per_gpu;
  // The same run measured at half of what is predicted: an error of 100 %.
  const ValidationReport second = report_of(line("a", "H200", predicted / 2));
  EXPECT_NEAR(second.predictions.at(0).error_ratio, 1, 1e-6);
  EXPECT_NEAR(second.overall.median_abs_error_ratio, 1, 1e-6);
  EXPECT_NEAR(second.overall.bias_ratio, 1, 1e-6);
}

// The baseline predicts MFU · peak ÷ FLOPs per token whatever the layout: its error is MFU ÷ measured MFU − 1.
TEST(Validate, TheBaselineIsAConstantMfu) {
  const ValidationReport report = report_of(line("a", "H200", 20'000));
  const auto rows = read_throughput_rows(kHeader + line("a", "H200", 20'000), "rows.csv");
  const double mfu = measured_mfu(test::set_up(rows->at(0)));
  const double constant = shipped_baseline().at({"H200", "bf16"});
  EXPECT_NEAR(report.predictions.at(0).baseline_error_ratio.value(), constant / mfu - 1, 1e-9);
}

TEST(Validate, AGpuThatNoShippedRowHasIsStillPredicted) {
  const ValidationReport report = report_of(line("a", "L40S", 5'000));
  EXPECT_EQ(report.predicted, 1);
  EXPECT_FALSE(report.overall.baseline_median_abs_error_ratio);
}

TEST(Validate, RowsOfAClusterShareAWeight) {
  const ValidationReport report =
      report_of(line("a", "H200", 40'000, "x") + line("b", "H200", 40'000, "x") + line("c", "H200", 40'000));
  EXPECT_DOUBLE_EQ(report.predictions[0].weight, 0.5);
  EXPECT_DOUBLE_EQ(report.predictions[2].weight, 1);
  EXPECT_EQ(report.overall.clusters, 2);
}

TEST(Validate, RowsWithoutIdOrClusterAreApart) {
  EXPECT_EQ(report_of(line("", "H200", 40'000) + line("", "H200", 40'000)).overall.clusters, 2);
}

TEST(Validate, BadCellsAreErrors) {
  const auto report = validate("id,gpu,method,tp\nT1,H200,sft,two\n", "rows.csv", shipped_catalog());
  ASSERT_FALSE(report);
  EXPECT_THAT(render(report.error()), HasSubstr("rows.csv:2:13: error:"));
}

TEST(ValidateJson, HasTheFieldsOfTheFormat) {
  const Json json = to_json(report_of(line("a", "H200", 40'000) + line("b", "H100-SXM9", 1)));
  EXPECT_EQ(json["format_version"], "1.0");
  EXPECT_EQ(json["rows"], 2);
  EXPECT_EQ(json["predicted"], 1);
  EXPECT_EQ(json["skipped"], Json({{"unknown_gpu", 1}}));
  for (const char* key : {"rows", "clusters", "median_abs_error_ratio", "p90_abs_error_ratio", "bias_ratio",
                          "baseline_median_abs_error_ratio", "baseline_p90_abs_error_ratio"}) {
    EXPECT_TRUE(json["overall"][key].is_number()) << key;
    EXPECT_TRUE(json["by_gpu"][0][key].is_number()) << key;
    EXPECT_TRUE(json["by_source_group"][0][key].is_number()) << key;
  }
  EXPECT_EQ(json["by_gpu"][0]["name"], "H200");
  EXPECT_EQ(json["by_source_group"][0]["name"], "group-H200");
  EXPECT_EQ(json["predictions"][0]["id"], "a");
}

TEST(ValidateJson, FiguresOfNoRowsAreUnknown) {
  const Json json = to_json(report_of(line("b", "H100-SXM9", 1)));
  EXPECT_EQ(json["overall"]["rows"], 0);
  EXPECT_TRUE(json["overall"]["median_abs_error_ratio"].is_null());
  EXPECT_TRUE(json["overall"]["baseline_p90_abs_error_ratio"].is_null());
}

TEST(ExplainRow, PartsAndFormulasGiveTheStep) {
  const auto explained = explain_row(kHeader + line("a", "H200", 40'000), "rows.csv", "a", shipped_catalog());
  ASSERT_TRUE(explained) << render(explained.error());
  EXPECT_NEAR(sum(explained->step.parts), explained->step.step_time_s, 1e-12);
  EXPECT_NEAR(explained->measured_step_time_s, 64 * 2048 / (40'000.0 * 8), 1e-9);
  for (const Formula& formula : explained->formulas) {
    const auto value = evaluate(formula);
    ASSERT_TRUE(value) << formula.id;
    EXPECT_NEAR(*value, formula.value, 1e-9 * std::abs(formula.value)) << formula.id;
  }
  const Json json = to_json(*explained);
  EXPECT_EQ(json["parallelism"]["dp"], 8);
  EXPECT_DOUBLE_EQ(json["predicted_step_time_s"].get<double>(), explained->step.step_time_s);
}

TEST(ExplainRow, SaysWhyItCannot) {
  const std::string rows = kHeader + line("a", "H100-SXM9", 1);
  const auto skipped = explain_row(rows, "rows.csv", "a", shipped_catalog());
  ASSERT_FALSE(skipped);
  EXPECT_THAT(render(skipped.error()), HasSubstr("rows.csv:2: error: row 'a' cannot be predicted: unknown_gpu"));
  const auto unknown = explain_row(rows, "rows.csv", "b", shipped_catalog());
  ASSERT_FALSE(unknown);
  EXPECT_THAT(render(unknown.error()), HasSubstr("no row with id 'b'"));
}

}  // namespace
}  // namespace tare
