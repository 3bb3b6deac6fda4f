// The fastest parallelism of a space that fits in memory.
//
// Exact: a group (tp, cp, ep, micro-batch, sequence parallel) is skipped only when the kernels and layer traffic that
// all its configurations share already take longer than the best found; within a pipeline, recompute only ever adds
// time, so memory is looked at only for what would be faster than the best. Ties go to the first in enumeration order.
#pragma once

#include <optional>

#include "plan/space.h"

namespace tare {

struct SearchResult {
  std::optional<Parallelism> best;
  double step_time_s = 0;
  long long evaluated = 0;        // time worked out
  long long pruned = 0;           // proven no better by a bound
  long long out_of_memory = 0;    // faster than the best at that moment, but too big
  double least_memory_bytes = 0;  // over what was looked at; the exact minimum when nothing fits
  Parallelism least_memory;
};

SearchResult search(StepModel& model, const Space& space, double capacity_bytes);

// The same by evaluating time and memory of every configuration: the test's oracle and the bench's unit of work.
SearchResult search_exhaustively(StepModel& model, const Space& space, double capacity_bytes);

}  // namespace tare
