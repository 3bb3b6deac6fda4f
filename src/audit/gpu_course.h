// The utilisation of GPUs over time, of any tool that measures it: what idle and low use are counted from.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/observed.h"

namespace tare {

struct GpuCourse {
  const Seen* seen = nullptr;
  std::string node, gpu;  // may be empty
  std::string owner;      // "pod team/train-0", "job 4711", where labels say who holds the GPU
  double samples = 0;
  double idle_ratio = 0;        // samples at 0 % over all that are known
  double mean_pct = 0;          // of all samples
  std::optional<double> hours;  // over which it was measured
  std::int64_t line = 0;
};

// Of every reading, in the order of the files. Instances of a partitioned GPU are left out: their shares of the GPU are
// not known.
std::vector<GpuCourse> gpu_courses(const Observed& observed);

// Who held GPUs over a table of measurements with a column for it (pod, job, user), by the rows that were kept; the
// owner is empty for rows that name none. Empty where there is no such column.
struct OwnerUse {
  const Seen* seen = nullptr;
  std::string owner;
  double gpu_hours = 0, gpus = 0;  // gpus: held at a time, on average
  double idle_ratio = 0, mean_pct = 0;
  std::int64_t line = 0;
};
std::vector<OwnerUse> owners_in(const Seen& seen);
// The same over answers of Prometheus, whose series are of one owner each.
std::vector<OwnerUse> owners_of(const std::vector<GpuCourse>& courses);

// Runs of a monitor: those of the file, or the file itself.
std::vector<const FactRecord*> runs_of(const Seen& seen);
// The utilisation in a row of a table, in percent; nullopt where it has none.
std::optional<double> row_util_pct(const FactRecord& row);

}  // namespace tare
