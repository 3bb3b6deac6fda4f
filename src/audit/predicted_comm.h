// How much of a predicted step waits for communication, within a node and between nodes.
//
// The step is evaluated on the machine as it is, T, and with the links of that reach k times as slow, T(k). Of a step
// T = A + C, with C the communication of that reach that nothing hides, k times slower links make A + k C, so
//
//   share = C / T = (T(k) - T) / ((k - 1) T)
//
// Communication that is hidden at full speed and no longer at 1/k counts as far as it comes out: that is what a fault
// of that size costs. Thread safety: pure function.
#pragma once

#include "perf/step.h"

namespace tare {

struct CommShares {
  double intra_node = 0, inter_node = 0;  // 0 … 1
};
CommShares comm_shares(const StepModel& model, const Parallelism& parallelism);

}  // namespace tare
