#include "run/checkpoint_interval.h"

#include <cmath>

namespace tare {

double young_interval_s(double block_s, double mtti_s) { return std::sqrt(2 * block_s * mtti_s); }

double daly_interval_s(double block_s, double mtti_s) {
  if (block_s >= 2 * mtti_s) return mtti_s;
  const double x = block_s / (2 * mtti_s);
  return young_interval_s(block_s, mtti_s) * (1 + std::sqrt(x) / 3 + x / 9) - block_s;
}

}  // namespace tare
