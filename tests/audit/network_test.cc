// What the network's findings cost, worked by hand, and what they explain.
#include "network_cases.h"

#include <gtest/gtest.h>

#include "audit/loss.h"
#include "rule_case.h"

namespace tare {
namespace {

// Parameters of the catalog as of these tests: 15 % of a step is communication between nodes.
double inter_node_share() { return default_setting(shipped_catalog()).inter_node_comm_share.value; }

std::string list_of_gpus(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "GPU " + std::to_string(i) + ": NVIDIA H100 80GB HBM3 (UUID: GPU-0000000" + std::to_string(i) + ")\n";
  }
  return text;
}

// Seven of eight rails carry what eight did: communication takes 8/7 of its time. With c of a step in communication
// between nodes, 8 GPUs lose (1 - 1 / (1 + c (8/7 - 1))) * 8 * 24 GPU-hours a day; at c = 0.15: 0.02098 * 192 = 4.03.
TEST(NetworkCost, OneRailOfEight) {
  const AuditReport report =
      audit_files({{"w1/ibstat.txt", rails_text(7, {down("mlx5_7", "Polling")})}, {"w1/gpus.txt", list_of_gpus(8)}});
  const Finding& finding = only(report, "network.port-down");
  ASSERT_TRUE(finding.loss) << finding.loss_unknown;
  const double share = inter_node_share();
  const double expected = (1 - 1 / (1 + share * (8.0 / 7 - 1))) * 8 * 24;
  EXPECT_NEAR(finding.loss->value, expected, 1e-9);
  EXPECT_NEAR(finding.loss->value, 4.03, 0.01) << "at a share of 0.15";
  const std::optional<LossRange> price = usual_price_usd_per_gpu_h(shipped_catalog(), "H100-SXM5-80GB");
  ASSERT_TRUE(price && finding.cost_usd_per_day.base_usd);
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, expected * price->base, 1e-6);
}

// Two rails down of eight, named apart, share the loss of both: 8/6 - 1 = 1/3, a sixth each.
TEST(NetworkCost, TwoRailsShareTheirLoss) {
  const AuditReport report =
      audit_files({{"w1/ibstat.txt", rails_text(6, {down("mlx5_6", "Polling"), down("mlx5_7", "Disabled")})},
                   {"w1/gpus.txt", list_of_gpus(8)}});
  const std::vector<const Finding*> found = findings_of(report, "network.port-down");
  ASSERT_EQ(found.size(), 2U);
  for (const Finding* const one : found) {
    ASSERT_TRUE(one->loss);
    EXPECT_NEAR(one->loss->value, (1 - 1 / (1 + inter_node_share() / 6)) * 192, 1e-9);
  }
}

// A 400 Gb/s NIC (50 GB/s) behind PCIe 3.0 x16 (12 GB/s): communication takes 50/12 of its time for 16 ranks.
TEST(NetworkCost, PcieBelowTheNic) {
  const AuditReport report =
      audit_files({{"g.log",
                    "a1:7:8 [0] NCCL INFO comm 0x5 rank 0 nranks 16 cudaDev 0 busId 1a000 commId 0xab - Init START\n"
                    "a1:7:8 [0] NCCL INFO CPU/0 (1/1/2)\na1:7:8 [0] NCCL INFO + PCI[12.0] - NIC/4000\n"
                    "a1:7:8 [0] NCCL INFO               + NET[50.0] - NET/0 (0/1/50.000000)\n"}});
  const Finding& finding = only(report, "nccl.pcie-below-nic");
  ASSERT_TRUE(finding.loss) << finding.loss_unknown;
  EXPECT_NEAR(finding.loss->value, (1 - 1 / (1 + inter_node_share() * (50.0 / 12 - 1))) * 16 * 24, 1e-9);
}

TEST(NetworkCauses, ASettingExplainsTheSocket) {
  const AuditReport report = audit_files(
      {{"n.log",
        "a1:7:8 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n"
        "a1:7:8 [0] NCCL INFO NET/Socket : Using [0]eth0:10.9.9.1<0>\n"
        "b2:7:8 [0] NCCL INFO NET/Socket : Using [0]eth0:10.9.9.2<0>\na1:7:8 [0] NCCL INFO Using network Socket\n"}});
  const Finding& socket = only(report, "nccl.socket-transport");
  ASSERT_GE(socket.caused_by, 0);
  EXPECT_EQ(report.findings[static_cast<std::size_t>(socket.caused_by)].rule_id, "nccl.setting");
}

}  // namespace
}  // namespace tare
