// Runs of fio in one form, whichever of its outputs they were read from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/observed.h"

namespace tare {

// Latency of one direction of a job: percentiles and how the requests are spread, in µs.
struct FioLatency {
  std::optional<double> p50_us, p99_us;
};
struct FioShare {
  double from_us = 0, to_us = 0;  // requests above the one and at most the other
  double pct = 0;
};

struct FioSide {
  std::string way;  // "read", "write"
  std::int64_t line = 0;
  double bytes_per_s = 0;
  std::optional<double> iops, bytes, runtime_s;
  std::optional<double> bw_stdev_ratio, bw_min_ratio;  // over time, of the mean
  double bw_samples = 0;
  FioLatency latency;
};

struct FioJob {
  std::string name, filename;
  std::int64_t line = 0;
  int error = 0;
  std::vector<FioSide> sides;
  std::vector<FioShare> shares;
  std::int64_t shares_line = 0;
  std::optional<double> cpu_pct;  // of one core, of each of its processes
  std::optional<double> issued_reads;
  std::optional<bool> direct;  // what the options say; of a text report unknown
  bool rate_limited = false;   // by an option of its own: rate, rate_iops, thinktime
  bool syncs_writes = false;   // end_fsync, fsync, sync…
};

struct FioDisk {
  std::string name;
  std::int64_t line = 0;
  std::optional<double> reads, read_merges, read_ticks_ms, writes, write_ticks_ms, util_pct;
};

struct FioRun {
  Seen seen;
  std::int64_t line = 0;
  std::string label;  // what stands above a run without heading
  std::string rw, engine, filename;
  std::optional<double> block_bytes, depth, processes;
  bool defined = false;  // rw, bs and depth are known
  std::vector<FioJob> jobs;
  std::vector<FioDisk> disks;
  std::vector<FioSide> totals;  // over the jobs, or of the group summaries where those are all there is

  std::optional<bool> direct() const;  // of all jobs; unknown where one does not say
  bool rate_limited() const;           // fio held itself back
  double requests_in_flight() const;   // of all processes together; 1 where nothing is known
  const FioSide* total(std::string_view way) const;
};

// The result of each run: interim reports of one are left out.
std::vector<FioRun> fio_runs(const Observed& observed);

// An engine that has one request in flight, whatever iodepth says.
bool is_synchronous(std::string_view engine);

}  // namespace tare
