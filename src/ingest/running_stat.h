// The course of one measured value in constant memory.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "ingest/fact.h"

namespace tare {

struct RunningStat {
  std::int64_t count = 0, unknown = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0, last = 0;
  std::int64_t zero = kNotCounted;  // values of 0: of a utilisation, when nothing ran
  static constexpr std::int64_t kNotCounted = -1;

  void add(double value) {
    ++count;
    min = value < min ? value : min;
    max = value > max ? value : max;
    sum += value;
    last = value;
    if (zero >= 0 && value <= 0) ++zero;
  }
  void add(std::optional<double> value) { value ? add(*value) : static_cast<void>(++unknown); }
  void merge(const RunningStat& other);

  // {count, min, max, mean, last, unknown_count, zero_count}; no values but the counts where nothing was known.
  FactRecord record() const;
};

}  // namespace tare
