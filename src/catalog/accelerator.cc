#include "catalog/accelerator.h"

#include <algorithm>

#include "base/text.h"

namespace tare {
namespace {

// In the order of the enum.
const std::vector<std::string>& names_of_precision() {
  static const std::vector<std::string> names = {"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"};
  return names;
}

std::optional<std::size_t> index_of(const std::vector<std::string>& names, std::string_view text) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return equals_ignoring_case(name, text); });
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

const std::vector<std::string>& precision_names() { return names_of_precision(); }

std::string_view name_of(Precision precision) { return precision_names().at(static_cast<std::size_t>(precision)); }

std::optional<Precision> parse_precision(std::string_view text) {
  const auto index = index_of(precision_names(), text);
  if (!index) return std::nullopt;
  return static_cast<Precision>(*index);
}

const std::vector<std::string>& generation_names() {
  static const std::vector<std::string> names = {"volta", "pascal", "turing", "ampere", "ada",    "hopper", "blackwell",
                                                 "cdna2", "cdna3",  "cdna4",  "gaudi2", "gaudi3", "ascend", "unknown"};
  return names;
}

std::string_view name_of(GpuGeneration generation) {
  return generation_names().at(static_cast<std::size_t>(generation));
}

std::optional<GpuGeneration> parse_generation(std::string_view text) {
  const auto index = index_of(generation_names(), text);
  if (!index) return std::nullopt;
  return static_cast<GpuGeneration>(*index);
}

std::optional<double> peak_flops(const Accelerator& accelerator, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return accelerator.peak_fp32_flops;
    case Precision::kTf32:
      return accelerator.peak_tf32_flops;
    case Precision::kFp16:
      return accelerator.peak_fp16_flops;
    case Precision::kBf16:
      return accelerator.peak_bf16_flops;
    case Precision::kFp8:
    case Precision::kMxfp8:
      return accelerator.peak_fp8_flops;
    case Precision::kNvfp4:
      return accelerator.peak_fp4_flops;
  }
  return std::nullopt;
}

}  // namespace tare
