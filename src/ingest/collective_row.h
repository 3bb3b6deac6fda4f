// One row of a table of collective measurements, as its words: what nccl-tests, rccl-tests and nccom-test share.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// The columns that a header line names. Without a header they are told from the row itself.
struct CollectiveColumns {
  bool known = false;
  bool redop = false;
  bool root = false;
  bool wrong = false;          // "#wrong" counts wrong values; otherwise "error" (or "res", "delta") is a deviation
  bool errors = true;          // there is such a column at all
  bool cpu_time = false;       // "cputime": the time of the CPU, not of the operation
  bool in_place = true;        // a second group of columns
  bool per_iteration = false;  // i_min, i_max, i_p99, i_cv% behind each group
  bool milliseconds = false;   // the first version printed times in ms
  std::vector<std::string> statistics;  // nccom-test: "avg", "p50" … of its times; empty for the others
};

// nullopt when the line is no header.
std::optional<CollectiveColumns> collective_columns(std::string_view line);

struct CollectiveSide {
  std::optional<double> time_us;
  std::optional<double> algbw_gb_per_s;
  std::optional<double> busbw_gb_per_s;
  std::optional<double> errors;  // nullopt: not checked
  std::optional<double> i_min_us, i_max_us, i_p99_us, i_cv_pct;
  bool any = false;  // some value of it stands there
  bool whole = false;
};

struct CollectiveCells {
  std::int64_t line = 0;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> count;
  std::string type;
  std::string redop;
  std::optional<std::int64_t> root;
  CollectiveSide out;
  CollectiveSide in;
  std::vector<std::pair<std::string, double>> statistics;  // further times of nccom-test, us
  std::string timestamp;
  bool float_errors = false;  // the error cells are deviations such as 2e-07
  bool whole = false;
};

// What a row begins with: "<size> <count> <type>" somewhere in the words. npos when the line is no row.
std::size_t find_row(const std::vector<std::string_view>& words);

// Reads from words[at]. Values that are cut off are missing; `whole` says whether all stand there.
CollectiveCells read_row(const std::vector<std::string_view>& words, std::size_t at, const CollectiveColumns& columns);
// Values alone, as they stand when another program's line has cut a row in two: adds them to `row`.
void read_values(const std::vector<std::string_view>& words, std::size_t at, const CollectiveColumns& columns,
                 CollectiveCells& row);
// True when the words are values of a row and nothing else.
bool are_values(const std::vector<std::string_view>& words);

}  // namespace tare
