// The jobs of a Slurm output with their GPUs and hours.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/rule.h"

namespace tare {

struct SlurmJob {
  const FactRecord* facts = nullptr;
  std::string id;     // "4711"
  std::string state;  // "NODE_FAIL"
  double gpus = 0;    // 0: none, or not told
  std::optional<double> elapsed_h;

  double gpu_h() const { return gpus * elapsed_h.value_or(0); }
};

std::vector<SlurmJob> slurm_jobs(const Seen& seen);
// "job 4711", "4 jobs (17, 18, 19, 20)".
std::string jobs_in_words(const std::vector<SlurmJob>& jobs);
// "job 4711", "jobs 17, 18".
Subject subject_of_jobs(const Seen& seen, const std::vector<SlurmJob>& jobs);
// The first few, as evidence: "job 4711: NODE_FAIL".
void add_evidence(Finding& finding, const Seen& seen, const std::vector<SlurmJob>& jobs, std::string_view member);

// Days from the first start to the last end that the file names; nullopt where it names none.
std::optional<double> days_of(const std::vector<SlurmJob>& jobs);
// GPU-hours a day that went into these jobs, over the time that the file spans; sets loss_unknown where that is not
// told.
void add_lost_hours(Finding& finding, const Observed& observed, const std::vector<SlurmJob>& jobs,
                    const std::vector<SlurmJob>& all);

}  // namespace tare
