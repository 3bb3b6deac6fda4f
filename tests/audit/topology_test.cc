// Costs of topology and PCIe, worked by hand.
#include <gtest/gtest.h>

#include "rule_case.h"

namespace tare {
namespace {

double input(const Formula& formula, std::string_view name) {
  for (const FormulaInput& one : formula.inputs) {
    if (one.name == name) return one.value;
  }
  ADD_FAILURE() << "no input " << name;
  return 0;
}

const char* const kFourThatOneLacksLinks =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV18\tNV18\tNV12\t0-11\t0\n"
    "GPU1\tNV18\t X \tNV18\tNV12\t0-11\t0\n"
    "GPU2\tNV18\tNV18\t X \tNV12\t0-11\t0\n"
    "GPU3\tNV12\tNV12\tNV12\t X \t0-11\t0\n";

std::string list_of(const char* model, int gpus) {
  std::string text;
  for (int i = 0; i < gpus; ++i) {
    text += "GPU " + std::to_string(i) + ": " + model + " (UUID: GPU-11111111-2222-3333-4444-55555555555" +
            std::to_string(i) + ")\n";
  }
  return text;
}

// 12 of 18 links: communication takes 18/12 = 1.5 times as long. With share c of a step, a step of 1 becomes
// 1 + c * 0.5, so 1 - 1 / (1 + 0.5 c) of 4 GPUs * 24 h are lost, at the price of an hour each.
TEST(TopologyCost, ThinNvlinkByTheRatioOfLinks) {
  const AuditReport report =
      audit_files({{"n/topo.txt", kFourThatOneLacksLinks}, {"n/list.txt", list_of("NVIDIA H200", 4)}});
  const std::vector<const Finding*> found = findings_of(report, "topology.nvlink-fewer");
  ASSERT_EQ(found.size(), 1U);
  const DailyCost& cost = found.front()->cost_usd_per_day;
  ASSERT_TRUE(cost.base_usd);
  const double share = parameter(shipped_catalog(), "comm_share_intra_node").base;
  const double price = usual_price_usd_per_gpu_h(shipped_catalog(), "H200")->base;
  EXPECT_NEAR(input(cost.formula, "slowdown"), 1.5, 1e-12);
  EXPECT_NEAR(*cost.base_usd, (1 - 1 / (1 + share * 0.5)) * 4 * 24 * price, 1e-9);
}

// H200: 450 GB/s of NVLink a direction; PCIe Gen5 x16 in practice 0.985e9 * 2^(5-3) * 16 * 0.85 = 53.584 GB/s:
// 450 / 53.584 = 8.398 times as long.
TEST(TopologyCost, MissingNvlinkByTheRateOfPcie) {
  const char* const pcie =
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNODE\t0-11\t0\n"
      "GPU1\tNODE\t X \t0-11\t0\n";
  const AuditReport report = audit_files({{"n/topo.txt", pcie}, {"n/list.txt", list_of("NVIDIA H200", 2)}});
  const std::vector<const Finding*> found = findings_of(report, "topology.nvlink-missing");
  ASSERT_EQ(found.size(), 1U);
  const DailyCost& cost = found.front()->cost_usd_per_day;
  ASSERT_TRUE(cost.base_usd);
  const double share = parameter(shipped_catalog(), "comm_share_intra_node").base;
  const double price = usual_price_usd_per_gpu_h(shipped_catalog(), "H200")->base;
  const double slowdown = 450e9 / (0.985e9 * 4 * 16 * 0.85);
  EXPECT_NEAR(slowdown, 8.398, 1e-3);
  EXPECT_NEAR(*cost.base_usd, (1 - 1 / (1 + share * (slowdown - 1))) * 2 * 24 * price, 1e-6);
}

// One GPU of three is gone from the driver: 1 * 24 GPU-hours a day.
TEST(TopologyCost, GpuThatTheDriverLostIsLostWhole) {
  std::string bus;
  for (const char* const address : {"1b:00.0", "3d:00.0", "5e:00.0"}) {
    bus += std::string(address) + " 3D controller: NVIDIA Corporation GH100 [H200] (rev a1)\n";
  }
  const AuditReport report = audit_files({{"n/lspci.txt", bus}, {"n/list.txt", list_of("NVIDIA H200", 2)}});
  const std::vector<const Finding*> found = findings_of(report, "topology.gpu-not-listed");
  ASSERT_EQ(found.size(), 1U);
  const double price = usual_price_usd_per_gpu_h(shipped_catalog(), "H200")->base;
  EXPECT_NEAR(found.front()->cost_usd_per_day.base_usd.value_or(0), 24 * price, 1e-9);
}

// Half the lanes of cards without NVLink: twice as long over PCIe, for both GPUs of the node.
TEST(PcieCost, HalfTheLanesAreTwiceTheTime) {
  const char* const csv =
      "index, name, pstate, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max\n"
      "0, NVIDIA L40S, P0, 4, 4, 8, 16\n"
      "1, NVIDIA L40S, P0, 4, 4, 16, 16\n";
  const AuditReport report = audit_files({{"links.csv", csv}});
  const std::vector<const Finding*> found = findings_of(report, "pcie.width-reduced");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front()->subject.name, "GPU0");
  const DailyCost& cost = found.front()->cost_usd_per_day;
  ASSERT_TRUE(cost.base_usd) << cost.unknown;
  const double share = parameter(shipped_catalog(), "comm_share_intra_node").base;
  const double price = usual_price_usd_per_gpu_h(shipped_catalog(), "L40S")->base;
  EXPECT_NEAR(*cost.base_usd, (1 - 1 / (1 + share)) * 2 * 24 * price, 1e-9);
}

// The same GPUs in two files of a node are told once.
TEST(PcieLinks, AreToldOnceForANode) {
  const char* const csv =
      "index, name, pstate, pcie.link.gen.current, pcie.link.gen.max\n"
      "0, NVIDIA L40S, P8, 1, 4\n";
  const AuditReport report = audit_files({{"n/a.csv", csv},
                                          {"n/lspci.txt",
                                           "18:00.0 3D controller: NVIDIA Corporation AD102GL [L40S] (rev a1)\n"
                                           "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1\n"
                                           "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16 (ok)\n"}});
  EXPECT_EQ(findings_of(report, "pcie.idle-power-saving").size(), 1U);
}

}  // namespace
}  // namespace tare
