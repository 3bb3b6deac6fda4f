#include "validation/measured_rate.h"

#include <cmath>

#include "workload/flops.h"

namespace tare {
namespace {

// The FLOPs that a row's source counts for a token, by the row's flops_convention.
double counted_flops_per_token(const ThroughputRow& row, const Workload& workload) {
  const ForwardFlops forward = forward_flops_per_token(workload);
  const double causal = forward.attention_scores;
  const double full = causal * workload.sequence_length / mean_visible_keys(workload.sequence_length, 0);
  const double layers = forward.attention_projections + forward.mlp + forward.router;
  const std::string& convention = row.flops_convention;
  if (convention == "model_causal_attn" || convention == "see_notes") return 3 * (layers + causal + forward.head);
  if (convention == "model_full_attn" || convention == "n/a") return 3 * (layers + full + forward.head);
  // Narayanan et al. 2021, eq. 3: the recomputed forward counts, the head is not recomputed.
  return 4 * (layers + full) + 3 * forward.head;
}

std::optional<double> positive(double value) {
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> measured_tokens_per_s_per_gpu(const ThroughputRow& row, const Workload& workload) {
  if (row.tokens_per_s_per_gpu) return positive(*row.tokens_per_s_per_gpu);
  if (row.step_time_s && row.gpus) return positive(tokens_per_step(workload) / *row.step_time_s / *row.gpus);
  if (!row.flops_per_s_per_gpu) return std::nullopt;
  return positive(*row.flops_per_s_per_gpu / counted_flops_per_token(row, workload));
}

}  // namespace tare
