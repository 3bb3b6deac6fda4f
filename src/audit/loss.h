// What a fault takes, as a formula: GPU-hours a day, or dollars a day where the fault is one of money.
//
//   GPUs that do nothing            gpus * 24
//   GPUs that are slower            lost_ratio * gpus * 24
//   communication that is slower    (1 - 1 / (1 + comm_share * (slowdown - 1))) * gpus * 24
//
// where comm_share is the part of a healthy step that waits for communication of that reach, and slowdown the time that
// the communication takes over what it should: a step of 1 becomes 1 + comm_share * (slowdown - 1), and the work of a
// day shrinks to the inverse. An input may carry a range; the loss's range is over all of their ends.
#pragma once

#include <optional>
#include <string>

#include "base/formula.h"

namespace tare {

struct LossRange {
  double low = 0, base = 0, high = 0;
};

// Of the formula over the ends of its inputs that have some (at most 8 of them).
LossRange range_of(const Formula& formula);

Formula whole_gpus_lost(double gpus, const std::string& source);
// ratio: of the work of these GPUs, 0 … 1.
Formula share_lost(const FormulaInput& lost_ratio, double gpus, const std::string& source);
// slowdown: ≥ 1. comm_share: of Observed::comm_share.
Formula slower_communication(const FormulaInput& comm_share, double slowdown, const std::string& slowdown_source,
                             double gpus, const std::string& gpus_source);

// An input by hand: {"lost_ratio", 0.12, "1", "steps 400 to 600"}, with a range where it has one.
FormulaInput known_ratio(const std::string& name, double value, const std::string& source);
FormulaInput assumed_ratio(const std::string& name, const LossRange& range, const std::string& source);

}  // namespace tare
