// Order statistics of many draws.
#pragma once

#include <span>

namespace tare {

struct Percentiles {
  double p10 = 0, p50 = 0, p90 = 0;
};

// Each the smallest value with at least that share of the values at or below it; exact, in linear time. Infinity is a
// value like any other. Precondition: not empty, no NaN.
Percentiles percentiles(std::span<const double> values);

}  // namespace tare
