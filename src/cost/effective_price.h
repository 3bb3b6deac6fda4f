// What is paid for work that is done, instead of for time that is held.
//
//   effective price = rent ÷ (GPUs · dense peak · MFU · goodput)       USD per PFLOP/s·h, per 3.6e18 model FLOPs
// The peak is the dense one of the precision that the job runs in; MFU is model FLOPs over it while steps run; goodput
// the share of the wall time in which they do (1 where it is not looked at). An hour may be replaced by any period: a
// monthly rent gives money per PFLOP/s held for a month.
// Worked example, eight RTX 4090 at 7,920 a month, 165.2 TFLOP/s dense, a factor of 0.85: 7,920 ÷ (8 · 165.2 · 0.85) =
// 7.05 per TFLOP/s·month; with the 330 of the sparse sheet 3.53.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "base/formula.h"
#include "cost/bill.h"

namespace tare {

struct EffectivePriceInput {
  double rent = 0;           // of all GPUs together, for one period
  std::string period = "h";  // "h", "month"
  std::string currency = "USD";
  double gpus = 0;
  double peak_flops = 0;  // of one GPU, dense
  double mfu_ratio = 0;
  double goodput_ratio = 1;
  std::string rent_source = "offer";
};

// "price.effective", in currency per PFLOP/s and period. Precondition: all but rent > 0.
Formula effective_price(const EffectivePriceInput& input);

// Of a whole bill, what was held for nothing included: total ÷ (model FLOPs of the run ÷ 3.6e18), USD per PFLOP/s·h.
// `model_flops_per_s` is that of all GPUs at one another's pace: tokens/s · model FLOPs per token.
// Precondition: a known bill, productive time and model FLOPs > 0.
Formula effective_price(const Bill& bill, const Run& run, double model_flops_per_s);

}  // namespace tare
