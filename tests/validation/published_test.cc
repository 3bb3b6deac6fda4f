// The model against the published rows: it must beat the baseline, and what accuracy it has reached it keeps.
//
// tests/published/accuracy_ratchet.csv holds the errors reached; TARE_UPDATE_RATCHET=1 writes those found.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "validation/rows.h"
#include "validation/validate.h"

namespace tare {
namespace {

const std::string kPublished = TARE_SOURCE_DIR "/tests/published/published.csv";
const std::string kRatchet = TARE_SOURCE_DIR "/tests/published/accuracy_ratchet.csv";
constexpr double kMayRise = 0.002;  // of an error ratio: 0.2 points

ValidationReport report_of(const std::string& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << render(text.error());
  const auto report = validate(text.value_or(""), path, test::shipped_catalog());
  EXPECT_TRUE(report) << render(report.error());
  return report.value_or(ValidationReport{});
}

const ValidationReport& published() {
  static const ValidationReport report = report_of(kPublished);
  return report;
}

void print(const ErrorSummary& s) {
  const auto percent = [](const std::optional<double>& ratio) {
    return ratio ? fmt::format("{:5.1f} %", 100 * *ratio) : "    ?  ";
  };
  std::cout << fmt::format("{:<26} {:>4} rows {:>4} clusters  median {}  P90 {}  bias {:+5.1f} %  baseline {} {}\n",
                           s.name, s.rows, s.clusters, percent(s.median_abs_error_ratio),
                           percent(s.p90_abs_error_ratio), 100 * s.bias_ratio,
                           percent(s.baseline_median_abs_error_ratio), percent(s.baseline_p90_abs_error_ratio));
}

void print(const ValidationReport& report) {
  std::cout << fmt::format("{} of {} rows predicted\n", report.predicted, report.rows);
  for (const auto& [reason, count] : report.skipped) std::cout << fmt::format("  {}: {}\n", reason, count);
  for (const auto* summaries : {&report.by_gpu, &report.by_source_group}) {
    for (const ErrorSummary& summary : *summaries) print(summary);
  }
  print(report.overall);
}

TEST(Published, EnoughRowsArePredicted) {
  print(published());
  EXPECT_GE(published().predicted, 900);
}

TEST(Published, BeatsTheBaselineOnEveryGpuWithOver30Rows) {
  int held = 0;
  for (const ErrorSummary& gpu : published().by_gpu) {
    if (gpu.rows <= 30) continue;
    ++held;
    ASSERT_TRUE(gpu.baseline_median_abs_error_ratio) << gpu.name;
    EXPECT_LT(gpu.median_abs_error_ratio, *gpu.baseline_median_abs_error_ratio) << gpu.name;
  }
  EXPECT_GE(held, 5);
}

struct Reached {
  double median = 0, p90 = 0;
};

std::map<std::string, Reached> errors_of(const ValidationReport& report) {
  std::map<std::string, Reached> errors = {
      {"all", {report.overall.median_abs_error_ratio, report.overall.p90_abs_error_ratio}}};
  for (const ErrorSummary& group : report.by_source_group) {
    errors[group.name] = {group.median_abs_error_ratio, group.p90_abs_error_ratio};
  }
  return errors;
}

std::map<std::string, Reached> read_ratchet() {
  std::map<std::string, Reached> reached;
  const auto text = read_file(kRatchet);
  EXPECT_TRUE(text) << render(text.error());
  const auto table = CsvTable::parse(text.value_or(""), kRatchet);
  if (!table) return reached;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    reached[std::string(table->field(i, "group"))] = {
        table->number(i, "median_abs_error_ratio", diagnostics).value_or(0),
        table->number(i, "p90_abs_error_ratio", diagnostics).value_or(0)};
  }
  return reached;
}

TEST(Published, NoGroupsErrorRises) {
  const std::map<std::string, Reached> found = errors_of(published());
  if (std::getenv("TARE_UPDATE_RATCHET") != nullptr) {
    std::string text = "group,median_abs_error_ratio,p90_abs_error_ratio\n";
    for (const auto& [group, error] : found) text += fmt::format("{},{:.4f},{:.4f}\n", group, error.median, error.p90);
    ASSERT_TRUE(write_file(kRatchet, text));
  }
  const std::map<std::string, Reached> ratchet = read_ratchet();
  EXPECT_EQ(ratchet.size(), found.size()) << "a group came or went";
  for (const auto& [group, reached] : ratchet) {
    ASSERT_TRUE(found.count(group)) << group << " has no predicted row any more";
    EXPECT_LE(found.at(group).median, reached.median + kMayRise) << group;
    EXPECT_LE(found.at(group).p90, reached.p90 + kMayRise) << group;
  }
}

// Rows that the project may not ship: looked for beside the checkout, or where TARE_SHARED says.
TEST(Published, VtrainBeatsTheBaseline) {
  const char* shared = std::getenv("TARE_SHARED");
  const std::string root = shared != nullptr ? shared : TARE_SOURCE_DIR "/../shared";
  const std::string path = root + "/reference/throughput/vtrain.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "NOT HELD AGAINST vTrain: no " << path << " (set TARE_SHARED)";
  const ValidationReport report = report_of(path);
  print(report);
  EXPECT_EQ(report.predicted, report.rows);
  EXPECT_LT(report.overall.median_abs_error_ratio, report.overall.baseline_median_abs_error_ratio.value());
}

}  // namespace
}  // namespace tare
