#include "ingest/running_stat.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

// Whole numbers as such: 100, not 100.0.
Fact tidy(double value) {
  if (!std::isfinite(value)) return Fact::unknown();
  if (std::nearbyint(value) == value && std::abs(value) < 9e15) return Fact::of(static_cast<std::int64_t>(value));
  return Fact::of(value);
}

}  // namespace

void RunningStat::merge(const RunningStat& other) {
  if (other.count > 0) last = other.last;
  zero = other.zero >= 0 ? std::max<std::int64_t>(zero, 0) + other.zero : zero;
  count += other.count;
  unknown += other.unknown;
  min = other.min < min ? other.min : min;
  max = other.max > max ? other.max : max;
  sum += other.sum;
}

FactRecord RunningStat::record() const {
  FactRecord record;
  record.set("count", count);
  if (count > 0) {
    record.set("min", tidy(min));
    record.set("max", tidy(max));
    record.set("mean", tidy(sum / static_cast<double>(count)));
    record.set("last", tidy(last));
  }
  if (zero >= 0) record.set("zero_count", zero);
  if (unknown > 0) record.set("unknown_count", unknown);
  return record;
}

}  // namespace tare
