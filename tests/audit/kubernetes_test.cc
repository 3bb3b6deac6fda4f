// Costs worked by hand.
#include <gtest/gtest.h>

#include "rule_case.h"

namespace tare {
namespace {

AuditReport audit_at(const std::string& text, const char* path, double usd_per_gpu_h) {
  std::vector<FileFacts> files;
  files.push_back(read_facts_of_text(text, path));
  AuditSetting setting = default_setting(shipped_catalog());
  setting.usd_per_gpu_h = usd_per_gpu_h;
  setting.price_source = "test";
  return run_audit(Observed(std::move(files), shipped_catalog(), std::move(setting)));
}

// Three of eight GPUs cannot be allocated: 3 * 24 h * 2 dollars = 144 a day.
TEST(Kubernetes, GpusThatCannotBeAllocated) {
  const AuditReport report = audit_at(
      "Name:               gpu-1\nCapacity:\n  cpu:                64\n  nvidia.com/gpu:     8\nAllocatable:\n"
      "  cpu:                64\n  nvidia.com/gpu:     5\n",
      "node.txt", 2);
  const std::vector<const Finding*> found = findings_of(report, "kubernetes.gpus-unhealthy");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found.front()->cost_usd_per_day.base_usd);
  EXPECT_NEAR(*found.front()->cost_usd_per_day.base_usd, 144, 1e-9);
}

// While MIG is changed nobody gets the 4 GPUs of the node: 4 * 24 h * 1.50 dollars = 144 a day.
TEST(Kubernetes, MigIsPending) {
  const AuditReport report = audit_at(
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-3\n  labels:\n    nvidia.com/mig.config: all-1g.10gb\n"
      "    nvidia.com/mig.config.state: rebooting\n    nvidia.com/gpu.count: \"4\"\n",
      "node.yaml", 1.5);
  const std::vector<const Finding*> found = findings_of(report, "kubernetes.mig-pending");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found.front()->cost_usd_per_day.base_usd);
  EXPECT_NEAR(*found.front()->cost_usd_per_day.base_usd, 4 * 24 * 1.5, 1e-9);
}

// 4 GPUs, 1 requested, all 64 CPUs requested: the 3 others wait for a CPU, 3 * 24 GPU-h a day.
TEST(KubernetesCost, StrandedGpusAreThoseNobodyCanAskFor) {
  const AuditReport report = audit_files(
      {{"node.txt",
        "Name:               u2\nRoles:              <none>\n"
        "Capacity:\n  cpu:  64\n  nvidia.com/gpu:  4\nAllocatable:\n  cpu:  64\n  nvidia.com/gpu:  4\n"
        "Allocated resources:\n  Resource        Requests     Limits\n  --------        --------     ------\n"
        "  cpu             64 (100%)    64 (100%)\n  nvidia.com/gpu  1            1\n"}});
  const std::vector<const Finding*> found = findings_of(report, "kubernetes.stranded");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found[0]->loss.has_value());
  EXPECT_NEAR(found[0]->loss->value, 3 * 24, 1e-9);
}

}  // namespace
}  // namespace tare
