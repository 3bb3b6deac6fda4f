// What the rules of Slurm say of cost, worked by hand.
#include <gtest/gtest.h>

#include "rule_case.h"

namespace tare {
namespace {

double price_of(const char* gpu) { return usual_price_usd_per_gpu_h(shipped_catalog(), gpu)->base; }

// Four H100 are drained with their node: 4 GPUs * 24 h a day at the catalog's median.
TEST(SlurmCost, ADrainedNodeCostsAllItsGpus) {
  const AuditReport report = audit_files(
      {{"node.txt",
        "NodeName=k3 Arch=x86_64 CoresPerSocket=24\n   CPUAlloc=0 CPUEfctv=96 CPUTot=96\n   Gres=gpu:h100_sxm5:4\n"
        "   NodeAddr=k3 NodeHostName=k3\n   State=IDLE+DRAIN ThreadsPerCore=2\n"
        "   Reason=gres/gpu count reported lower than configured (3 < 4) [slurm@2025-03-02T08:11:00]\n"}});
  const std::vector<const Finding*> found = findings_of(report, "slurm.gres-count");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->gpu.empty());
  ASSERT_TRUE(found[0]->cost_usd_per_day.base_usd.has_value());
  EXPECT_NEAR(*found[0]->cost_usd_per_day.base_usd, 4 * 24 * price_of(found[0]->gpu.c_str()), 1e-9);
}

// 4 GPUs for 6 h are 24 GPU-h, lost in the 4 days that the file spans (1 to 5 February): 6 GPU-h a day.
TEST(SlurmCost, LostHoursArePerDayOfTheFile) {
  const AuditReport report =
      audit_files({{"sacct.txt",
                    "JobID|State|Elapsed|Start|End|AllocTRES\n"
                    "50|COMPLETED|2-00:00:00|2025-02-01T00:00:00|2025-02-03T00:00:00|gres/gpu:a100=4\n"
                    "51|NODE_FAIL|06:00:00|2025-02-03T00:00:00|2025-02-03T06:00:00|gres/gpu:a100=4\n"
                    "52|COMPLETED|1-00:00:00|2025-02-04T00:00:00|2025-02-05T00:00:00|gres/gpu:a100=4\n"}});
  const std::vector<const Finding*> found = findings_of(report, "slurm.node-failed-jobs");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found[0]->loss.has_value());
  EXPECT_NEAR(found[0]->loss->value, 6, 1e-9);
  EXPECT_NEAR(*found[0]->cost_usd_per_day.base_usd, 6 * price_of(found[0]->gpu.c_str()), 1e-9);
}

// A morning's list says nothing of a day: the hours are told, the rate is not.
TEST(SlurmCost, HoursOfLessThanADayAreNoRate) {
  const AuditReport report =
      audit_files({{"sacct.txt",
                    "JobID|State|Elapsed|Start|End|AllocTRES\n"
                    "51|NODE_FAIL|06:00:00|2025-02-03T00:00:00|2025-02-03T06:00:00|gres/gpu:a100=4\n"}});
  const std::vector<const Finding*> found = findings_of(report, "slurm.node-failed-jobs");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0]->loss.has_value());
  EXPECT_NE(found[0]->loss_unknown.find("24.0 GPU-h"), std::string::npos);
}

// Nodes with a reason are priced at the reason, not once more at their partition.
TEST(SlurmCost, APartitionDoesNotRepeatWhatItsNodesCost) {
  const AuditReport report = audit_files({{"sinfo.txt",
                                           "$ sinfo -o '%P %D %T %G %N'\n"
                                           "PARTITION NODES STATE GRES NODELIST\n"
                                           "gpu 2 drained gpu:h100:8 w[1-2]\n"
                                           "gpu 2 idle gpu:h100:8 w[3-4]\n"
                                           "\n"
                                           "$ sinfo -R -o '%E|%N'\n"
                                           "REASON|NODELIST\n"
                                           "Kill task failed|w[1-2]\n"}});
  const std::vector<const Finding*> partition = findings_of(report, "slurm.nodes-unavailable");
  const std::vector<const Finding*> nodes = findings_of(report, "slurm.kill-task");
  ASSERT_EQ(partition.size(), 1U);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_FALSE(partition[0]->loss.has_value());
  ASSERT_TRUE(nodes[0]->loss.has_value());
  EXPECT_NEAR(nodes[0]->loss->value, 2 * 8 * 24, 1e-9);
  EXPECT_EQ(nodes[0]->subject.name, "w[1-2]");
}

// Types and labels join the maker by a dash or underscore; slices and cards of another number are not that GPU.
TEST(AcceleratorNamed, LabelsAndTypes) {
  const auto id = [](const char* name) {
    const Accelerator* const gpu = accelerator_named(shipped_catalog(), name);
    return gpu == nullptr ? std::string("none") : gpu->id;
  };
  EXPECT_EQ(id("NVIDIA-A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(id("nvidia_h100_80gb_hbm3"), "H100-SXM5-80GB");
  EXPECT_EQ(id("nvidia-rtx-3090"), "RTX3090");
  EXPECT_EQ(id("NVIDIA RTX 1234"), "none");
  EXPECT_EQ(id("NVIDIA H100 80GB HBM3 MIG 2g.20gb"), "none");
}

}  // namespace
}  // namespace tare
