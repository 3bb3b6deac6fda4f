// Lines of slurmctld, slurmd, slurmstepd and slurmdbd logs, with the time stamps and prefixes that journald, syslog and
// kubectl put before them.
//
// Out come events (what happened to a node, a job, a GPU), the GPUs that slurmd found (gres_detected), and counts of
// lines by level; ordinary lines are counted only.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ingest/slurm_facts.h"

namespace tare {

struct SlurmLogLine {
  std::string_view time;     // "2020-08-13T10:20:03.698"; may be empty
  std::string_view daemon;   // "slurmctld", "slurmd"; may be empty
  std::string_view level;    // "error", "fatal", "warning", "debug", "debug2", "verbose"; empty = info
  std::string_view message;  // what is left
};
// False when the line is none of a log of Slurm.
bool parse_slurm_log_line(std::string_view line, SlurmLogLine& parsed);

class SlurmLog {
 public:
  // True when the line was one of a log.
  bool take(std::string_view line, std::int64_t number, SlurmFacts& facts);
  void give(SlurmFacts& facts);

 private:
  bool take_gres(std::string_view message, std::int64_t number, SlurmFacts& facts);
  void take_event(const SlurmLogLine& line, std::int64_t number, SlurmFacts& facts);

  std::int64_t lines_ = 0;
  std::map<std::string, std::int64_t> by_level_;
  std::string first_time_, last_time_;
  bool ignored_follow_ = false;
};

}  // namespace tare
