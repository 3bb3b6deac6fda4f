// One launch of a collective benchmark, gathered from its lines, and the facts it becomes.
// Thread safety: plain values, one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/collective_row.h"
#include "ingest/fact.h"
#include "ingest/thinned.h"

namespace tare {

struct CollectiveDevice {
  std::int64_t line = 0;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> group;
  std::optional<std::int64_t> pid;
  std::string host;
  std::optional<std::int64_t> device;
  std::string bus_id;
  std::string gpu;
};

struct CollectivePeak {
  double busbw_gb_per_s = 0;
  double algbw_gb_per_s = 0;
  std::optional<std::int64_t> bytes;
  bool in_place = false;
  std::int64_t line = 0;
};

struct CollectiveRun {
  static constexpr std::size_t kRowsKept = 1024;
  static constexpr std::size_t kDevicesKept = 20'000;

  std::int64_t line = 0;
  std::string tool;
  std::string command;
  std::int64_t command_line = 0;
  std::string collective;  // as the command or the tool names it: "all_reduce"
  std::int64_t collective_line = 0;
  FactRecord versions;
  FactRecord parameters;
  std::int64_t parameter_headers = 0;  // lines "# nThread …": more than one for one table = independent processes
  std::int64_t column_headers = 0;
  CollectiveColumns columns;
  std::vector<CollectiveDevice> devices;
  Thinned<CollectiveCells> rows{kRowsKept};
  std::int64_t whole_rows = 0;
  std::int64_t cut_rows = 0;
  std::optional<std::int64_t> smallest, largest;
  std::optional<CollectivePeak> peak;
  CollectiveCells widest;         // the row of the highest algbw: it tells the ratio best
  std::int64_t checked_rows = 0;  // with a count of wrong values: N/A is none
  std::int64_t wrong_rows = 0;
  double wrong_values = 0;
  std::optional<double> largest_deviation;
  std::optional<std::int64_t> out_of_bounds;
  std::string status;
  std::vector<std::pair<std::int64_t, double>> averages;  // line, GB/s
  std::string average_status;
  std::vector<std::pair<std::int64_t, std::string>> failures;
  bool elided = false;
  std::int64_t summary_line = 0;  // of the out-of-bounds line

  bool has_results() const { return rows.seen() > 0 || summary_line > 0 || !averages.empty(); }
  bool empty() const {
    return !has_results() && parameter_headers == 0 && column_headers == 0 && devices.empty() && failures.empty();
  }
  void add(CollectiveCells row);
};

// What the numbers of the table say of the collective and of the number of ranks, where the header is missing.
struct CollectiveGuess {
  std::vector<std::string> collectives;  // one: certain; several: cannot be told apart
  std::optional<std::int64_t> ranks;
  std::string ranks_from;  // "size and count", "busbw over algbw"
};
CollectiveGuess guess_from_rows(const CollectiveRun& run);

FactRecord facts_of(const CollectiveRun& run, bool with_rows);
// "23004" -> "2.30.4", "2708" -> "2.7.8".
std::string nccl_version_text(std::int64_t code);
// The collective that a text names by its program ("…/all_reduce_perf_mpi -b 8"): "all_reduce"; empty when none.
std::string_view collective_named_in(std::string_view text);

}  // namespace tare
