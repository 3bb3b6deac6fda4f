// What is known of one accelerator: dense peaks, memory, links, power. Unknown is nullopt, never zero.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/source.h"

namespace tare {

// Numeric formats a matrix unit runs. The 8-bit and 4-bit members name the scaling recipe too, since casts and which
// GEMMs run in them differ (mxfp8 and nvfp4 are block-scaled).
enum class Precision { kFp32, kTf32, kFp16, kBf16, kFp8, kMxfp8, kNvfp4 };

std::string_view name_of(Precision precision);  // "bf16"
std::optional<Precision> parse_precision(std::string_view text);
const std::vector<std::string>& precision_names();

// A generation of hardware shares its kernels' behaviour: GEMM and attention efficiency are keyed on it.
enum class GpuGeneration {
  kVolta,
  kPascal,
  kTuring,
  kAmpere,
  kAda,
  kHopper,
  kBlackwell,
  kCdna2,
  kCdna3,
  kCdna4,
  kGaudi2,
  kGaudi3,
  kAscend,
  kUnknown
};
std::string_view name_of(GpuGeneration generation);
std::optional<GpuGeneration> parse_generation(std::string_view text);
const std::vector<std::string>& generation_names();

struct Accelerator {
  std::string id;  // "H100-SXM5-80GB"
  std::string name;
  std::vector<std::string> aliases;
  std::string vendor;  // "nvidia"
  GpuGeneration generation = GpuGeneration::kUnknown;
  std::string form_factor;  // "SXM5", "PCIe", "OAM"
  // Dense matrix peaks in FLOP/s; a 2:4-sparse figure never stands here.
  std::optional<double> peak_fp32_flops, peak_tf32_flops, peak_fp16_flops, peak_bf16_flops, peak_fp8_flops,
      peak_fp4_flops;
  double memory_bytes = 0;
  double memory_bytes_per_s = 0;
  std::optional<double> tdp_w, idle_w_low, idle_w_high;
  std::string link;                        // "NVLink4", "none"
  std::optional<double> link_bytes_per_s;  // per direction, per GPU
  int link_domain = 1;                     // GPUs in one link domain as sold (8, 72); 1 = no link
  int pcie_generation = 0;                 // 0 = unknown
  int pcie_lanes = 0;
  std::optional<int> sm_count;
  std::optional<double> l2_bytes;
  std::optional<double> price_low_usd, price_high_usd;
  std::string launch;
  Source source;
};

// The dense peak for `precision`: fp8 and mxfp8 share one, and a part without the format has none.
std::optional<double> peak_flops(const Accelerator& accelerator, Precision precision);

}  // namespace tare
