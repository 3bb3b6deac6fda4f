// The measurements of a collective benchmark as typed rows, for whoever calibrates or judges with them.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/fact.h"

namespace tare {

struct CollectiveRow {
  std::string collective;  // "all_reduce"; empty where neither a header nor the numbers say it
  std::int64_t bytes = 0;
  double time_us = 0;
  double algbw = 0;       // GB/s (10^9), as printed
  double busbw = 0;       // GB/s
  bool in_place = false;  // the second group of columns
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> nodes;
  std::optional<double> errors;  // wrong values; nullopt: not checked, or a deviation of an old version
  std::int64_t line = 0;
};

// The rows of `facts` as a reader of the kind nccl-tests gives them, of all runs, in the order of the file. Rows that
// lack a size, a time or a bandwidth are left out.
std::vector<CollectiveRow> collective_rows(const FactRecord& facts);

}  // namespace tare
