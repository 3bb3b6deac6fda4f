// How many GPU-hours a job is billed for.
//
//   on demand, spot   GPUs held · max(minimum, ⌈wall ÷ period⌉ · period)
//   reserved, owned   GPUs held · wall ÷ utilisation: the hours in which the fleet stands idle are paid by the jobs
//   that run
#pragma once

#include <string>
#include <vector>

#include "cost/bill.h"
#include "cost/line_draft.h"

namespace tare {

struct HeldHours {
  double gpu_hours = 0;
  std::string hours_expression;     // of the hours that each held GPU is billed for
  std::vector<RangedInput> inputs;  // of that expression
};

bool pays_for_idle(Purchase purchase);  // reserved, owned
HeldHours held_hours(const BillInput& input, const Catalog& catalog);
Formula billed_gpu_hours_formula(const BillInput& input, const HeldHours& held);

// The run's wall time with the range of its own parameters.
RangedInput wall_input(const Run& run);

}  // namespace tare
