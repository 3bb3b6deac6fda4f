// Numbers as fio prints them: "91.6k", "358MiB/s", "16.00th=[ 306]".
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/fact.h"

namespace tare {

// "91.6k" -> 91600; fio counts operations in powers of ten.
std::optional<double> fio_count(std::string_view text);

struct FioAmount {
  double value = 0;  // as printed
  std::string unit;  // "mib", "kb", "b": of bytes, lower case
  double bytes = 0;  // the same in bytes
};
// "358MiB/s", "2147MiB", "117034KB/s". `old_units`: fio before 2.99 printed KB and MB for powers of two.
std::optional<FioAmount> fio_amount(std::string_view text, bool old_units);

// "min=3, max= 6965, avg= 5.42" -> pairs, both trimmed.
std::vector<std::pair<std::string_view, std::string_view>> fio_pairs(std::string_view text);

// "99.50" -> "p99_5", "1.000000" -> "p1".
std::string percentile_name(std::string_view text);

// Unit in fact names: "usec" -> "us". Empty when it is no unit of time.
std::string_view time_unit(std::string_view text);

}  // namespace tare
