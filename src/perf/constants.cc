#include "perf/constants.h"

namespace tare {
namespace {

std::size_t slot(GpuGeneration generation) { return static_cast<std::size_t>(generation); }

StepConstants make_defaults() {
  StepConstants c;
  // {16 bit, 8 bit, 4 bit, best fused attention, FlashAttention-2, tile columns}; priors: measured matmul ceilings of
  // the catalog's parameters mamf_*, and the kernels' papers.
  c.generation[slot(GpuGeneration::kVolta)] = {0.70, 0.70, 0.70, 0.35, 0.35, 128};
  c.generation[slot(GpuGeneration::kPascal)] = {0.80, 0.80, 0.80, 0.30, 0.30, 128};
  c.generation[slot(GpuGeneration::kTuring)] = {0.60, 0.60, 0.60, 0.35, 0.35, 128};
  c.generation[slot(GpuGeneration::kAmpere)] = {0.729, 0.82, 0.82, 0.395, 0.395, 128};
  c.generation[slot(GpuGeneration::kAda)] = {0.91, 0.75, 0.75, 0.27, 0.27, 128};
  c.generation[slot(GpuGeneration::kHopper)] = {0.656, 0.532, 0.65, 0.732, 0.218, 256};
  c.generation[slot(GpuGeneration::kBlackwell)] = {0.464, 0.54, 0.406, 0.502, 0.258, 256};
  c.generation[slot(GpuGeneration::kCdna2)] = {0.55, 0.55, 0.55, 0.30, 0.30, 128};
  c.generation[slot(GpuGeneration::kCdna3)] = {0.516, 0.416, 0.45, 0.226, 0.226, 256};
  c.generation[slot(GpuGeneration::kCdna4)] = {0.55, 0.50, 0.45, 0.40, 0.30, 256};
  c.generation[slot(GpuGeneration::kGaudi2)] = {0.70, 0.60, 0.60, 0.40, 0.40, 256};
  c.generation[slot(GpuGeneration::kGaudi3)] = {0.70, 0.60, 0.60, 0.40, 0.40, 256};
  c.generation[slot(GpuGeneration::kAscend)] = {0.65, 0.65, 0.65, 0.40, 0.40, 128};
  c.generation[slot(GpuGeneration::kUnknown)] = {0.65, 0.60, 0.50, 0.40, 0.35, 128};
  c.generation[14] = {0.98, 0.95, 0.449, 0.8, 0.8, 128};  // consumer and PCIe Blackwell
  return c;
}

}  // namespace

const StepConstants& default_constants() {
  static const StepConstants constants = make_defaults();
  return constants;
}

int generation_slot(GpuGeneration generation, bool server_part) {
  if (generation == GpuGeneration::kBlackwell && !server_part) return 14;
  return static_cast<int>(generation);
}

const std::vector<NamedConstant>& named_constants() {
  using C = StepConstants;
  static const std::vector<NamedConstant> all = {
      {"tile_fixed_s", &C::tile_fixed_s, 0.2e-6, 6e-6},
      {"wave_share", &C::wave_share, 0, 1},
      {"kernel_s", &C::kernel_s, 1e-6, 6e-6},
      {"memory_share", &C::memory_share, 0.6, 0.92},
      {"power_exponent", &C::power_exponent, 0, 1},
      {"flash1_share", &C::flash1_share, 0.3, 1},
      {"attention_backward", &C::attention_backward, 2, 3.5},
      {"head_dim_64_share", &C::head_dim_64_share, 0.4, 1},
      {"softmax_passes", &C::softmax_passes, 5, 12},
      {"misaligned", &C::misaligned, 1, 30},
      {"norm_passes_fused", &C::norm_passes_fused, 4, 12},
      {"norm_passes_eager", &C::norm_passes_eager, 6, 30},
      {"mlp_passes_fused", &C::mlp_passes_fused, 2, 6},
      {"mlp_passes_eager", &C::mlp_passes_eager, 3, 12},
      {"qkv_passes_fused", &C::qkv_passes_fused, 1, 6},
      {"qkv_passes_eager", &C::qkv_passes_eager, 2, 20},
      {"cast_passes_8bit", &C::cast_passes_8bit, 1, 12},
      {"cast_passes_block", &C::cast_passes_block, 1, 16},
      {"issue_eager_s", &C::issue_eager_s, 0.3e-3, 4e-3},
      {"issue_fused_s", &C::issue_fused_s, 0.1e-3, 2e-3},
      {"issue_backward", &C::issue_backward, 0.5, 2.5},
      {"issue_per_adapter_s", &C::issue_per_adapter_s, 20e-6, 0.5e-3},
      {"issue_moe", &C::issue_moe, 1, 8},
      {"tp_bus_share", &C::tp_bus_share, 0.2, 0.95},
      {"tp_overlap_exposed", &C::tp_overlap_exposed, 0.05, 1},
      {"dp_bus_share", &C::dp_bus_share, 0.3, 0.95},
      {"ep_bus_share", &C::ep_bus_share, 0.1, 0.95},
      {"ep_network_share", &C::ep_network_share, 0.2, 1},
      {"cp_bus_share", &C::cp_bus_share, 0.1, 0.95},
      {"pp_bus_share", &C::pp_bus_share, 0.2, 0.95},
      {"half_size_bytes", &C::half_size_bytes, 0.2e6, 40e6},
      {"dp_overlap_norm", &C::dp_overlap_norm, 1.2, 6},
      {"fsdp_overlap_norm", &C::fsdp_overlap_norm, 1, 6},
      {"p2p_exposed", &C::p2p_exposed, 0, 1},
      {"expert_imbalance", &C::expert_imbalance, 1, 1.2},
      {"permute_passes", &C::permute_passes, 2, 10},
      {"optimizer_bytes", &C::optimizer_bytes, 14, 60},
      {"jitter_ratio", &C::jitter_ratio, 0, 0.03},
      {"dequant_passes", &C::dequant_passes, 0.5, 10},
      {"step_fixed_s", &C::step_fixed_s, 0, 50e-3},
  };
  return all;
}

}  // namespace tare
