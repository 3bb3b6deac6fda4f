// Where each operation of a micro-batch stands against its roof: intensity, ridge point, what bounds it.
//
// Williams, Waterman, Patterson 2009: an operation with I = FLOPs ÷ bytes runs at most at min(peak, I · bandwidth);
// the ridge is peak ÷ bandwidth. bound: "compute" above it, "memory" below, "launch" where the time is mostly start-up.
#pragma once

#include <string>
#include <vector>

#include "perf/step.h"

namespace tare {

struct RooflineRow {
  std::string operation;
  double flops = 0;
  double bytes = 0;
  double intensity_flops_per_byte = 0;
  double ridge_flops_per_byte = 0;
  std::string bound;
  double time_s = 0;            // modelled, one micro-batch, one layer (or the head), forward
  double efficiency_ratio = 0;  // of the roof at that intensity
};

std::vector<RooflineRow> roofline(StepModel& model, const Parallelism& parallelism);

}  // namespace tare
