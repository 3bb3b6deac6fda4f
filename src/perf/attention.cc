#include "perf/attention.h"

#include <algorithm>
#include <cmath>

#include "workload/flops.h"

namespace tare {
namespace {

// Fused kernels are tuned for 128; 64 leaves matrix units waiting on softmax, odd widths are padded to the next 32.
double head_dim_share(double d, const StepConstants& constants) {
  const double padded = std::ceil(d / 32) * 32;
  const double fill = d / padded;
  if (padded >= 128) return fill * (padded > 128 ? 0.9 : 1.0);
  const double at_64 = constants.head_dim_64_share;
  return fill * (padded >= 64 ? at_64 + (1 - at_64) * (padded - 64) / 64 : at_64 * padded / 64);
}

AttentionTime unfused(const AttentionShape& shape, const KernelRates& rates, const StepConstants& constants) {
  const double batch = shape.sequences * shape.heads;
  const Gemm scores{shape.queries, shape.keys, shape.qk_head_dim, batch, GemmFormat::k16Bit};
  const Gemm values{shape.queries, shape.v_head_dim, shape.keys, batch, GemmFormat::k16Bit};
  const bool misaligned = std::fmod(shape.qk_head_dim, 8) != 0;
  const double slow = misaligned ? constants.misaligned : 1;
  const double gemms = (gemm_s(scores, rates) + gemm_s(values, rates)) * slow;
  const double softmax_bytes = batch * shape.queries * shape.keys * rates.element_bytes[0] * constants.softmax_passes;
  AttentionTime time;
  time.forward_s = gemms + streaming_s(softmax_bytes, rates);
  time.backward_s = 2 * gemms + streaming_s(softmax_bytes, rates);
  return time;
}

}  // namespace

AttentionTime attention_time(const AttentionShape& shape, AttentionKernel kernel, const KernelRates& rates,
                             const StepConstants& constants) {
  const double visible = mean_visible_keys(static_cast<int>(shape.keys), shape.window);
  const double per_key = 2 * (shape.qk_head_dim + shape.v_head_dim) * shape.heads * shape.sequences * shape.queries;
  AttentionTime time;
  if (kernel == AttentionKernel::kStandard) {
    time = unfused(shape, rates, constants);
  } else {
    const double rate = kernel == AttentionKernel::kFlash1   ? rates.flash1_flops
                        : kernel == AttentionKernel::kFlash3 ? rates.flash_fused_flops
                                                             : rates.flash2_flops;
    // A causal mask is skipped block by block: half a block of 128 keys more than needed is computed per query.
    const double computed = std::min(visible + 64, shape.keys);
    const double share = head_dim_share((shape.qk_head_dim + shape.v_head_dim) / 2, constants);
    const double blocks = std::ceil(shape.queries / 128) * shape.heads * shape.sequences;
    const double fill = std::min(1.0, blocks / rates.sm_count);  // too few blocks leave SMs idle
    time.forward_s = per_key * computed / (rate * share * fill) + rates.kernel_s;
    time.backward_s = constants.attention_backward * time.forward_s;
  }
  time.flops = per_key * visible;
  return time;
}

}  // namespace tare
