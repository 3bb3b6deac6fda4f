// Expectations and costs of the collective rules, worked by hand.
#include "collective_cases.h"

#include <gtest/gtest.h>

#include "audit/loss.h"
#include "rule_case.h"

namespace tare {
namespace {

constexpr std::int64_t kGiB = 1 << 30;

// Eight A100 on NVSwitch: 300 GB/s a GPU, of which 0.95 are to be had, times S / (S + S½) = 1 - 1/211 at 4 GiB
// (S½ 20.4 MB): some 284 GB/s. Measured 142 is half of it: communication takes twice its time, and with c of a step in
// it eight GPUs lose (1 - 1 / (1 + c (284/142 - 1))) * 8 * 24 GPU-hours a day; at c = 0.1 some 17.5.
TEST(CollectiveCost, HalfOfNvlink) {
  const AuditReport report = audit_files(
      {{"b.txt",
        bench_text({.hosts = {"w7"}, .gpu = "NVIDIA A100-SXM4-80GB", .rows = {{2 * kGiB, 141}, {4 * kGiB, 142}}})}});
  const Finding& finding = only(report, "collective.slow");
  ASSERT_TRUE(finding.loss) << finding.loss_unknown;
  const double share = default_setting(shipped_catalog()).intra_node_comm_share.value;
  const double slowdown = 300 * 0.95 * (1 - 1 / 211.5) / 142;
  EXPECT_NEAR(finding.loss->value, (1 - 1 / (1 + share * (slowdown - 1))) * 8 * 24, 0.1);
  const std::optional<LossRange> price = usual_price_usd_per_gpu_h(shipped_catalog(), "A100-SXM4-80GB");
  ASSERT_TRUE(price && finding.cost_usd_per_day.base_usd);
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, finding.loss->value * price->base, 1e-6);
}

// Wrong results: all GPUs of the run are lost, 4 * 24 hours a day.
TEST(CollectiveCost, WrongResultsLoseTheGpus) {
  const AuditReport report = audit_files(
      {{"b.txt",
        bench_text({.hosts = {"w3"}, .gpus_per_host = 4, .gpu = "NVIDIA L40S", .rows = {{kGiB, 9.5, 0, 7}}})}});
  const Finding& finding = only(report, "collective.wrong-values");
  ASSERT_TRUE(finding.loss);
  EXPECT_DOUBLE_EQ(finding.loss->value, 96);
}

// From 200 to 50 GB/s: four times the time of 16 ranks' communication between nodes.
TEST(CollectiveCost, ACollapse) {
  const AuditReport report = audit_files(
      {{"b.txt", bench_text({.hosts = {"w1", "w2"},
                             .gpu = "NVIDIA H200",
                             .rows = {{kGiB / 32, 200}, {kGiB / 16, 52}, {kGiB / 8, 51}, {kGiB / 4, 50}}})}});
  const Finding& finding = only(report, "collective.collapse");
  ASSERT_TRUE(finding.loss);
  const double share = default_setting(shipped_catalog()).inter_node_comm_share.value;
  EXPECT_NEAR(finding.loss->value, (1 - 1 / (1 + share * 3)) * 16 * 24, 1e-9);
}

// A slow all-reduce stands under what the log of the same file says of its transport.
TEST(CollectiveCauses, SharedMemoryExplainsIt) {
  const AuditReport report = audit_files(
      {{"b.txt", bench_text({.hosts = {"w7"}, .gpu = "NVIDIA A100-SXM4-80GB", .rows = {{kGiB, 9.1}, {4 * kGiB, 9.2}}}) +
                     "w7:4000:4100 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"}});
  const Finding& slow = only(report, "collective.slow");
  ASSERT_GE(slow.caused_by, 0);
  EXPECT_EQ(report.findings[static_cast<std::size_t>(slow.caused_by)].rule_id, "nccl.shared-memory");
  EXPECT_FALSE(slow.cost_usd_per_day.base_usd) << "counted at its cause";
}

}  // namespace
}  // namespace tare
