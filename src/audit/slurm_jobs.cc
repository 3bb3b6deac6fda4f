#include "audit/slurm_jobs.h"

#include <algorithm>

#include "audit/gpu_seen.h"
#include "audit/slurm_hosts.h"
#include "base/date.h"
#include "ingest/slurm_values.h"

#include <fmt/format.h>

namespace tare {
namespace {

constexpr double kSecondsPerDay = 86400;

// "2024-05-01T10:20:30" in seconds; the zone does not matter to a span.
std::optional<double> seconds_of(std::string_view text) {
  const auto digits = [text](std::size_t at, std::size_t length) {
    return Fact::parsed(text.substr(at, length)).number().value_or(-1);
  };
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T') return std::nullopt;
  const std::optional<Date> day = parse_date(text.substr(0, 10));
  if (!day) return std::nullopt;
  const auto days = static_cast<double>(day->days);
  return days * kSecondsPerDay + digits(11, 2) * 3600 + digits(14, 2) * 60 + digits(17, 2);
}

std::optional<double> time_of(const FactRecord& job, std::string_view unix_member,
                              std::initializer_list<std::string_view> members) {
  if (const auto at = job.number(unix_member); at && *at > 0) return at;
  for (const std::string_view member : members) {
    if (const auto at = seconds_of(job.text(member))) return at;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SlurmJob> slurm_jobs(const Seen& seen) {
  const std::vector<const FactRecord*> records = records_of(*seen.facts, "jobs");
  std::vector<SlurmJob> jobs;
  jobs.reserve(records.size());
  for (const FactRecord* const record : records) {
    SlurmJob job;
    job.facts = record;
    const auto id = record->integer("job_id");
    job.id = id ? std::to_string(*id) : std::string(record->text("job_id"));
    job.state = job_state_name(record->text("state"));
    for (const std::string_view member : {"gpus", "req_gpus"}) {
      if (job.gpus == 0) job.gpus = record->number(member).value_or(0);
    }
    if (job.gpus == 0) {
      job.gpus = record->number("per_node_gpus").value_or(0) * std::max(1.0, record->number("node_count").value_or(1));
    }
    if (const auto seconds = first_number(*record, {"elapsed_s", "elapsed_raw_s"})) job.elapsed_h = *seconds / 3600;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string jobs_in_words(const std::vector<SlurmJob>& jobs) {
  if (jobs.size() == 1) return "job " + jobs.front().id;
  std::vector<std::string> ids;
  ids.reserve(jobs.size());
  for (const SlurmJob& job : jobs) ids.push_back(job.id);
  return fmt::format("{} jobs ({})", jobs.size(), list_names(ids));
}

Subject subject_of_jobs(const Seen& seen, const std::vector<SlurmJob>& jobs) {
  std::vector<std::string> ids;
  ids.reserve(jobs.size());
  for (const SlurmJob& job : jobs) ids.push_back(job.id);
  return {"job", (jobs.size() == 1 ? "job " : "jobs ") + list_names(ids), seen.node};
}

void add_evidence(Finding& finding, const Seen& seen, const std::vector<SlurmJob>& jobs, std::string_view member) {
  for (const SlurmJob& job : jobs) {
    if (finding.evidence.size() >= 4) return;
    finding.evidence.push_back(evidence_of(seen, line_of(*job.facts, member),
                                           fmt::format("job {}: {}", job.id, fact_in_words(*job.facts, member))));
  }
}

std::optional<double> days_of(const std::vector<SlurmJob>& jobs) {
  std::optional<double> first, last;
  for (const SlurmJob& job : jobs) {
    const auto start = time_of(*job.facts, "start_unix", {"start_time", "start"});
    auto end = time_of(*job.facts, "end_unix", {"end_time", "end"});
    if (start && !end && job.elapsed_h) end = *start + *job.elapsed_h * 3600;
    if (!start || !end || *end < *start) continue;
    first = std::min(first.value_or(*start), *start);
    last = std::max(last.value_or(*end), *end);
  }
  if (!first || *last <= *first) return std::nullopt;
  return (*last - *first) / kSecondsPerDay;
}

void add_lost_hours(Finding& finding, const Observed& observed, const std::vector<SlurmJob>& jobs,
                    const std::vector<SlurmJob>& all) {
  double gpu_h = 0;
  std::string type;
  for (const SlurmJob& job : jobs) {
    gpu_h += job.gpu_h();
    if (type.empty()) type = job.facts->text("gpu_type");
  }
  if (gpu_h <= 0) {
    finding.loss_unknown = "how many GPU-hours went into them is not told";
    return;
  }
  // What is shorter than a day is no rate of a day.
  const std::optional<double> days = days_of(all);
  if (!days || *days < 1) {
    finding.loss_unknown = fmt::format("{:.1f} GPU-h in all; over how many days such jobs are lost is not told", gpu_h);
    return;
  }
  Formula loss;
  loss.id = "audit.gpu_h_lost";
  loss.unit = "GPU-h/day";
  loss.expression = "lost_gpu_h / days";
  loss.inputs = {{"lost_gpu_h", gpu_h, "GPU-h", "elapsed time of these jobs times their GPUs", false},
                 {"days", *days, "day", "first start to last end in the file", false}};
  loss.value = gpu_h / *days;
  finding.loss = std::move(loss);
  finding.gpu = accelerator_id(observed, type);
}

}  // namespace tare
