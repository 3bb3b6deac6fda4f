// The billed GPU-hours of a run, bar by bar.
#pragma once

#include <vector>

#include "cost/bill.h"

namespace tare {

// The GPU-hours of each bar as a formula "waterfall.ID", in the fixed order: unallocated, fragmentation,
// startup, failures, maintenance, checkpoint, the step's causes, useful. None is negative and they sum to
// `billed_gpu_hours`, which is at least what the run used.
//
//   unallocated = billed − used GPUs · wall      (held and not used, billing rounding, idle hours of a fleet)
//   fragmentation = of those, in a fleet that pays for its idle hours: frag_waste · billed, what no job fits into
//   startup, failures, maintenance, checkpoint = used GPUs · their share of the wall time
//   a step's cause k = productive GPU-hours · (t(k−1) − t(k)) ÷ t(0), t(k) the step with causes 1 … k removed
//   useful = productive GPU-hours · t(last) ÷ t(0)
//
// A removal can leave the step longer than it was: what had hidden behind the removed part comes to light (less
// compute, more exposed communication). Its bar is then zero, and the next ones are measured from the shortest step so
// far, so that the bars still add up to the step.
//
// `frag_waste` is the share of a fleet that no job fits into; nullptr where the job pays for no fleet: no such bar.
std::vector<Formula> waterfall_hours(const BillInput& input, double billed_gpu_hours,
                                     const CostParameter* frag_waste = nullptr);

}  // namespace tare
