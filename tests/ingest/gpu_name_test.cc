#include "ingest/gpu_name.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

struct Case {
  GpuHints hints;
  std::string id;  // empty: unknown
  bool is_sure;
};

// Names as clouds and price lists write them.
TEST(MatchGpu, NamesOfClouds) {
  const auto catalog = load_catalog();
  ASSERT_TRUE(catalog);
  const Case cases[] = {
      {{"H100", "", "p5.48xlarge", "aws", 80}, "H100-SXM5-80GB", true},
      {{"H100", "H100", "gpu-h100-sxm_8gpu-128vcpu-1600gb", "nowhere", 80}, "H100-SXM5-80GB", true},
      {{"H100-SXM", "", "x", "runpod", {}}, "H100-SXM5-80GB", true},
      {{"H100-NVL", "H100 NVL", "x", "runpod", 94}, "H100-NVL-94GB", true},
      {{"H100", "H100 NVL", "x", "runpod", {}}, "H100-NVL-94GB", true},
      {{"H100-NVLINK", "", "x", "fluidstack", 80}, "H100-SXM5-80GB", false},
      {{"H100", "", "x", "lab", 80}, "H100-SXM5-80GB", false},
      {{"H100", "", "h100-pcie-1", "lab", 80}, "H100-PCIe-80GB", true},
      {{"A100", "A100", "p4d.24xlarge", "aws", 40}, "A100-SXM4-40GB", true},
      {{"A100-80GB", "A100 PCIe", "1x_A100-80GB_SECURE", "runpod", 80}, "A100-PCIe-80GB", true},
      {{"A100-80GB-SXM", "A100 SXM", "x", "runpod", 80}, "A100-SXM4-80GB", true},
      {{"A100-80GB", "", "x", "lab", {}}, "A100-SXM4-80GB", false},
      {{"A100", "", "x", "lab", 40}, "A100-SXM4-40GB", false},
      {{"NVIDIA A100-SXM4-80GB", "", "x", "lab", 80}, "A100-SXM4-80GB", true},
      {{"V100-32GB", "", "sxm2-box", "lab", {}}, "V100-SXM2-32GB", true},
      {{"V100-32GB", "Tesla V100-SXM3-32GB", "x", "lab", {}}, "V100-SXM3-32GB", true},
      {{"V100-32GB", "", "sxm-box", "lab", {}}, "V100-SXM2-32GB", false},
      {{"H200", "", "x", "lab", 141}, "H200", true},
      {{"H200", "", "x", "lab", 140.25}, "H200", true},
      {{"B200", "", "x", "lab", 180}, "B200", true},
      {{"B200", "", "x", "lab", 192}, "B200", true},
      {{"L40S", "", "x", "lab", 48}, "L40S", true},
      {{"RTX6000-Ada", "", "x", "runpod", 48}, "RTX6000-Ada", true},
      {{"MI300X", "", "x", "lab", 192}, "MI300X", true},
      {{"tpu-v5p", "", "x", "gcp", {}}, "", true},
      {{"A100", "", "x", "lab", 24}, "", true},
      {{"", "", "x", "lab", {}}, "", true},
  };
  for (const auto& [hints, id, is_sure] : cases) {
    const GpuMatch match = match_gpu(*catalog, hints);
    EXPECT_EQ(match.accelerator != nullptr ? match.accelerator->id : "", id) << hints.name << ' ' << hints.detail;
    EXPECT_EQ(match.doubt.empty(), is_sure) << hints.name << ' ' << hints.instance << ": " << match.doubt;
  }
}

}  // namespace
}  // namespace tare
