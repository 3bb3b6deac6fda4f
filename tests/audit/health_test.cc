#include <gtest/gtest.h>

#include "rule_case.h"

namespace tare {
namespace {

std::string query(const std::string& gpu, const std::string& sections) {
  return "GPU 00000000:" + gpu + ":00.0\n    Product Name                          : NVIDIA A100-SXM4-80GB\n" +
         sections;
}

const char* const kHead =
    "==============NVSMI LOG==============\n\nDriver Version                            : 550.90.07\n"
    "Attached GPUs                             : 2\n";

TEST(HealthRules, APendingRemapCostsTheGpuForTheDay) {
  const std::string remap =
      "    Remapped Rows\n        Uncorrectable Error : 1\n        Pending : Yes\n        Remapping Failure Occurred : "
      "No\n";
  const AuditReport report = audit_files({{"smi.txt", kHead + query("1A", remap) + query("2B", "")}});
  const Finding& finding = only(report, "health.row-remap");
  // One GPU, 24 hours a day, at the median of the on-demand prices.
  const auto price = usual_price_usd_per_gpu_h(shipped_catalog(), "A100-SXM4-80GB");
  ASSERT_TRUE(price);
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, 1 * 24 * price->base, 1e-6);
  EXPECT_NEAR(*finding.cost_usd_per_day.low_usd, 1 * 24 * price->low, 1e-6);
}

TEST(HealthRules, APowerBrakeUnderLoadCostsTheClockThatIsMissing) {
  const std::string slowed =
      "    Clocks Event Reasons\n        HW Slowdown : Active\n            HW Power Brake Slowdown : Active\n"
      "    Utilization\n        Gpu : 100 %\n    Clocks\n        SM : 564 MHz\n    Max Clocks\n        SM : 1410 MHz\n";
  const AuditReport report = audit_files({{"smi.txt", kHead + query("1A", slowed) + query("2B", slowed)}});
  const Finding& finding = only(report, "health.hw-power-brake");
  // 1 - 564/1410 = 0.6 of two GPUs: 0.6 * 2 * 24 = 28.8 GPU-hours a day.
  ASSERT_TRUE(finding.loss);
  EXPECT_NEAR(finding.loss->value, 28.8, 1e-9);
  const auto price = usual_price_usd_per_gpu_h(shipped_catalog(), "A100-SXM4-80GB");
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, 28.8 * price->base, 1e-6);
}

TEST(HealthRules, AtRestAPowerBrakeIsPricedByItsRange) {
  const std::string slowed =
      "    Clocks Event Reasons\n        HW Slowdown : Active\n            HW Power Brake Slowdown : Active\n"
      "    Clocks\n        SM : 141 MHz\n    Max Clocks\n        SM : 1410 MHz\n";
  const AuditReport report = audit_files({{"smi.txt", kHead + query("1A", slowed)}});
  const Finding& finding = only(report, "health.hw-power-brake");
  ASSERT_TRUE(finding.loss);
  // Half of the GPU at least; at most 1 - 141/1410 = 0.9 of it.
  EXPECT_NEAR(finding.loss->value, 0.5 * 24, 1e-9);
  EXPECT_NEAR(range_of(*finding.loss).high, 0.9 * 24, 1e-9);
}

TEST(HealthRules, OneNvlinkOfTwelveDownSlowsTheNode) {
  const AuditReport report =
      audit_files({{"links.txt",
                    "GPUs:\n    gpuId 0:\n        U U U U U U U U U U U U\n    gpuId 1:\n        U U U U U U U U U U U "
                    "D\nNvSwitches:\n"
                    "    No NvSwitches found.\n\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n"}});
  const Finding& finding = only(report, "health.nvlink-down");
  ASSERT_TRUE(finding.loss);
  // slowdown = 12/11, share of communication s: (1 - 1 / (1 + s * (12/11 - 1))) * 2 GPUs * 24 h
  const double share = default_setting(shipped_catalog()).intra_node_comm_share.value;
  EXPECT_NEAR(finding.loss->value, (1 - 1 / (1 + share * (12.0 / 11 - 1))) * 2 * 24, 1e-9);
}

TEST(HealthRules, WhatFollowsFromALostGpuStandsUnderIt) {
  const AuditReport report =
      audit_files({{"dmesg.txt",
                    "[ 6000.100000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
                    "[ 6000.200000] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to "
                    "0x2 (Node Reboot "
                    "Required)\n"
                    "[ 6000.300000] NVRM: Xid (PCI:0000:3b:00): 45, pid=7, name=python, Ch 00000001\n"}});
  ASSERT_EQ(report.findings.size(), 3U);
  EXPECT_EQ(report.findings[0].rule_id, "health.gpu-off-bus");
  EXPECT_EQ(report.findings[1].caused_by, 0);
  EXPECT_EQ(report.findings[2].caused_by, 0);
}

TEST(HealthRules, EightEqualFaultsAreOneOfTheNode) {
  std::string log;
  for (int gpu = 0; gpu < 8; ++gpu) {
    log += "[ 7000.000000] NVRM: Xid (PCI:0000:" + std::to_string(10 + gpu) +
           ":00): 119, pid=3, name=python, Timeout after 6s\n";
  }
  const AuditReport report = audit_files({{"dmesg.txt", log}});
  const Finding& finding = only(report, "health.xid-firmware");
  EXPECT_NE(finding.title.find("8 GPUs"), std::string::npos) << finding.title;
  EXPECT_NEAR(finding.loss->value, 8 * 24, 1e-9);
}

}  // namespace
}  // namespace tare
