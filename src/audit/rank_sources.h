// The collectives of a job's ranks, out of profiler traces, flight recorder dumps and logs that time each rank.
//
// A rank is what the file says it is, else what its name says ("rank_3", "trace.rank3.json"). Several recordings of a
// rank are paired by the order of their paths: the first of each rank is one job or one moment, the second another.
// Pointers are into the Observed. Thread safety: pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/observed.h"
#include "audit/rank_timing.h"

namespace tare {

struct RankSeen {
  const Seen* seen = nullptr;
  std::string node;  // may be empty
  std::string gpu;   // "GPU5"; may be empty
  // Of a profiler's trace: what the GPU did of its time.
  std::optional<double> compute_s, comm_alone_s, recorded_s;
};

// A process group, or all ranks where no groups are known.
struct RankGroup {
  std::string name;              // "process group 3"; empty: of all ranks
  std::string what;              // "all-reduce"; "collective" where there are several kinds
  std::string signature;         // what its first collectives are, to find its like
  double size = 0;               // ranks that it has, seen or not
  bool pipeline = false;         // the job sends from rank to rank, too
  bool common_time = false;      // the recordings say when they began, so clocks can be compared
  std::optional<double> step_s;  // of a training step
  std::map<int, RankSeen> ranks;
  std::vector<TimedCollective> collectives;
};

std::optional<int> rank_of(const Seen& seen);
std::string node_of_rank(const Seen& seen);
// "[0, 1, 5]" -> 0, 1, 5; empty where it is something else or cut short ("[0, 1, ..., 7]").
std::vector<int> ranks_in_text(std::string_view text);
// By the order of their paths: recordings of one rank each.
std::vector<std::map<int, const Seen*>> recordings_of(const Observed& observed, std::string_view format);

std::vector<RankGroup> rank_groups(const Observed& observed);

}  // namespace tare
