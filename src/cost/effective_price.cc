#include "cost/effective_price.h"

#include <utility>

namespace tare {

Formula effective_price(const EffectivePriceInput& in) {
  Formula f;
  f.id = "price.effective";
  f.value = in.rent / (in.gpus * (in.peak_flops / 1e15) * in.mfu_ratio * in.goodput_ratio);
  f.unit = in.currency + "/(PFLOP/s." + in.period + ")";
  f.expression = "rent / (gpus * peak_flops / 1e15 * mfu_ratio * goodput_ratio)";
  f.inputs = {{"rent", in.rent, in.currency + "/" + in.period, in.rent_source, false},
              {"gpus", in.gpus, "GPU", "cluster", false},
              {"peak_flops", in.peak_flops, "FLOP/s", "catalog: dense peak", false},
              {"mfu_ratio", in.mfu_ratio, "1", "step.mfu_ratio", false},
              {"goodput_ratio", in.goodput_ratio, "1", "run.goodput_ratio", false}};
  f.note = "rent by the work that is done for it: model FLOPs at the dense peak";
  return f;
}

Formula effective_price(const Bill& bill, const Run& run, double model_flops_per_s) {
  Formula f;
  f.id = "bill.effective_price";
  f.value = bill.total.usd / (run.productive_s * model_flops_per_s / 3.6e18);
  f.unit = "USD/(PFLOP/s.h)";
  f.expression = "total_usd / (productive_s * model_flops_per_s / 3.6e18)";
  f.inputs = {{"total_usd", bill.total.usd, "USD", "bill.total", false},
              {"productive_s", run.productive_s, "s", "run.productive_s", false},
              {"model_flops_per_s", model_flops_per_s, "FLOP/s", "step: tokens/s x model FLOPs per token", false}};
  f.note = "the whole bill by the model FLOPs it bought; 3.6e18 FLOPs are one PFLOP/s for an hour";
  return f;
}

}  // namespace tare
