#include <gtest/gtest.h>

#include "audit/loss.h"
#include "rule_case.h"

namespace tare {
namespace {

// A day of two A100: a sample every hour, GPU 0 works at 80 % in the first 6 of 24 intervals, GPU 1 always.
std::string a_day(const std::string& extra_column = "", const std::string& of_gpu0 = "",
                  const std::string& of_gpu1 = "") {
  std::string text = "timestamp,hostname,gpu,name,gpu_util_pct,power_w" + extra_column + "\n";
  for (int hour = 0; hour < 25; ++hour) {
    const std::string head = std::to_string(1760000000 + hour * 3600) + ",n1,";
    text += head + "0,NVIDIA A100-SXM4-80GB," + (hour < 6 ? "80,300" : "0,60") + of_gpu0 + "\n";
    text += head + "1,NVIDIA A100-SXM4-80GB,80,300" + of_gpu1 + "\n";
  }
  return text;
}

TEST(TelemetryRules, IdleHoursAreSamplesAtZero) {
  const AuditReport report = audit_files({{"day.csv", a_day()}});
  const Finding& finding = only(report, "telemetry.idle");
  // GPU 0: 19 of 25 samples at 0; GPU 1: none. idle_ratio = (19/25 + 0) / 2 = 0.38.
  // A day of both: 0.38 * 2 * 24 = 18.24 GPU-hours, at the price of an A100.
  ASSERT_TRUE(finding.loss);
  EXPECT_NEAR(finding.loss->value, 18.24, 1e-9);
  const auto price = usual_price_usd_per_gpu_h(shipped_catalog(), "A100-SXM4-80GB");
  ASSERT_TRUE(price);
  ASSERT_TRUE(finding.cost_usd_per_day.base_usd) << finding.cost_usd_per_day.unknown;
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, 18.24 * price->base, 1e-6);
  EXPECT_NE(finding.title.find("18.2 idle GPU-hours"), std::string::npos) << finding.title;
}

TEST(TelemetryRules, WithOwnersIdleHoursAreTheirsAndCountedOnce) {
  const AuditReport report = audit_files({{"day.csv", a_day(",user", ",ann", ",bob")}});
  EXPECT_TRUE(findings_of(report, "telemetry.idle").empty());
  const Finding& finding = only(report, "telemetry.idle-owner");
  EXPECT_EQ(finding.subject.name, "user ann");
  // ann holds one GPU, idle in 19 of 25 samples: 0.76 * 1 * 24 = 18.24 GPU-hours a day.
  EXPECT_NEAR(finding.loss->value, 18.24, 1e-9);
}

TEST(TelemetryRules, LowUseIsWhatIsMissingWhileSomethingRan) {
  std::string text = "timestamp,hostname,gpu,gpu_util_pct,power_w\n";
  for (int at = 0; at < 20; ++at) {  // works at 25 % in every sample but one in twenty
    text += std::to_string(1760000000 + at * 1800) + ",n1,0," + (at == 0 ? "0" : "25") + ",150\n";
  }
  const AuditReport report = audit_files({{"low.csv", text}});
  const Finding& finding = only(report, "telemetry.low-use");
  // idle_ratio = 1/20; while busy 25 %: (1 - 0.05) * (1 - 0.25) * 1 * 24 = 17.1 GPU-hours a day.
  EXPECT_NEAR(finding.loss->value, 17.1, 1e-9);
}

TEST(TelemetryRules, WaitingIsPricedWhenThereAreEnoughSamples) {
  std::string text = "# gpu   pwr    sm   mem\n# Idx     W     %     %\n";
  for (int round = 0; round < 20; ++round) {  // half of them wait
    text += round % 2 == 0 ? "    0   150   100     1\n" : "    0   640    97    45\n";
  }
  const AuditReport report = audit_files({{"dmon.txt", text}});
  const Finding& finding = only(report, "telemetry.busy-low-power");
  // 10 of 20 samples: 0.5 * 1 * 24 = 12 GPU-hours a day.
  ASSERT_TRUE(finding.loss);
  EXPECT_NEAR(finding.loss->value, 12, 1e-9);
}

TEST(TelemetryRules, ManyNodesAreOneFindingOfTheCluster) {
  std::string text = "timestamp,hostname,gpu,gpu_util_pct,power_w\n";
  for (int at = 0; at < 10; ++at) {
    for (int node = 0; node < 6; ++node)
      text += std::to_string(1760000000 + at * 3600) + ",n" + std::to_string(node) + ",0,0,60\n";
  }
  const AuditReport report = audit_files({{"fleet.csv", text}});
  const Finding& finding = only(report, "telemetry.idle");
  EXPECT_EQ(finding.subject.kind, "cluster");
  EXPECT_NEAR(finding.loss->value, 6 * 24, 1e-9);
}

}  // namespace
}  // namespace tare
