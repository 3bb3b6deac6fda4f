#include "audit/gpu_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr double kSecondsPerHour = 3600;

// Names of a utilisation of the whole GPU; those of its parts, and of the host, are not.
bool is_gpu_utilisation(std::string_view name) {
  const std::string lower = to_lower(name);
  if (contains(lower, "gr_engine_active") || lower == "sm_pct" || lower == "sm_active" ||
      contains(lower, "duty_cycle")) {
    return true;
  }
  if (!contains(lower, "util") && !contains(lower, "gpu_usage")) return false;
  constexpr std::array<std::string_view, 10> kParts = {"mem", "enc", "dec", "copy", "jpeg",
                                                       "ofa", "cpu", "fb_", "disk", "net"};
  return std::none_of(kParts.begin(), kParts.end(), [&](std::string_view part) { return contains(lower, part); });
}

// A ratio where it never exceeds 1 and its name says so.
double as_pct(std::string_view name, double value, double most) {
  const bool ratio = contains(name, "active") || contains(name, "ratio") || contains(name, "ACTIVE");
  return ratio && most <= 1.0 ? value * 100 : value;
}

std::string text_or_number(const FactRecord& record, std::string_view name) {
  if (!record.text(name).empty()) return std::string(record.text(name));
  const auto number = record.number(name);
  return number ? fmt::format("{:.0f}", *number) : std::string();
}

std::string gpu_of(const FactRecord& record) {
  for (const char* const name : {"index", "gpu", "gpu_id", "gpu_index", "gpu_idx", "entity", "device"}) {
    const std::string text = text_or_number(record, name);
    if (text.empty()) continue;
    return to_integer(text) ? "GPU" + text : text;
  }
  for (const char* const name : {"uuid", "gpu_uuid", "bus_id"}) {
    if (!record.text(name).empty()) return std::string(record.text(name));
  }
  return {};
}

std::string node_in(const FactRecord& record, const Seen& seen) {
  for (const char* const name : {"hostname", "host", "node", "node_name", "nodename", "Hostname", "kubernetes_node"}) {
    if (!record.text(name).empty()) return std::string(record.text(name));
  }
  return seen.node;
}

bool is_instance(const FactRecord& record) {
  if (record.text("entity_type").starts_with("GPU-")) return true;
  return !text_or_number(record, "gpu_i_id").empty() || !text_or_number(record, "GPU_I_ID").empty() ||
         !text_or_number(record, "gpu_instance_id").empty();
}

std::optional<double> hours_of(const FactRecord& run) {
  if (const auto span = run.number("span_s")) return *span / kSecondsPerHour;
  const auto interval = run.number("interval_s"), rounds = run.number("rounds");
  if (!interval || !rounds || *rounds < 2) return std::nullopt;
  return *interval * (*rounds - 1) / kSecondsPerHour;
}

// Takes count, mean and idle share of a statistic; false where nothing was measured.
bool take_stat(std::string_view name, const FactRecord& stat, GpuCourse& course) {
  const double count = stat.number("count").value_or(0);
  const auto mean = stat.number("mean"), most = stat.number("max");
  if (count < 2 || !mean || !most) return false;
  course.samples = count;
  course.mean_pct = as_pct(name, *mean, *most);
  course.idle_ratio = stat.has("zero_count") ? stat.number("zero_count").value_or(0) / count : (*most <= 0 ? 1 : 0);
  return true;
}

// A table with a metric a row names it in a key.
bool is_of_another_metric(const FactRecord& series) {
  for (const char* const name : {"metric", "metric_name", "field", "field_name", "counter", "__name__"}) {
    if (!series.text(name).empty()) return !is_gpu_utilisation(series.text(name));
  }
  return true;
}

bool take_utilisation(const FactRecord& series, GpuCourse& course) {
  for (const auto& [name, fact] : series.members()) {
    const FactRecord* const stat = fact.as_record();
    if (stat == nullptr || !is_gpu_utilisation(name)) continue;
    if (take_stat(name, *stat, course)) return true;
  }
  const FactRecord* const value = series.find_record("value");
  return value != nullptr && !is_of_another_metric(series) && take_stat("value", *value, course);
}

void add_table(const Seen& seen, const FactRecord& run, std::vector<GpuCourse>& courses) {
  const std::optional<double> hours = hours_of(run);
  const double rounds = std::max(1.0, run.number("rounds").value_or(1));
  for (const FactRecord* const series : records_of(run, "series")) {
    if (is_instance(*series)) continue;
    GpuCourse course{&seen, node_in(*series, seen), gpu_of(*series), {}, 0, 0, 0, {}, series->line};
    if (!take_utilisation(*series, course)) continue;
    if (hours) course.hours = *hours * std::min(1.0, series->number("row_count").value_or(rounds) / rounds);
    courses.push_back(std::move(course));
  }
}

// Kubernetes' and Slurm's word on who holds the GPU; the exporter's own pod does not.
std::string owner_in(const FactRecord& labels) {
  for (const char* const name : {"hpc_job", "slurm_job_id", "slurm_job", "slurmjobid", "jobid", "job_id"}) {
    const std::string text = text_or_number(labels, name);
    if (!text.empty() && text != "0") return "job " + text;
  }
  for (const auto& [pod, space] : {std::pair("exported_pod", "exported_namespace"), std::pair("pod", "namespace")}) {
    const std::string_view name = labels.text(pod);
    if (name.empty() || contains(name, "exporter")) continue;
    const std::string_view place = labels.text(space);
    return place.empty() ? fmt::format("pod {}", name) : fmt::format("pod {}/{}", place, name);
  }
  return {};
}

void add_answers(const Seen& seen, std::vector<GpuCourse>& courses) {
  for (const FactRecord* const series : records_of(*seen.facts, "series")) {
    const FactRecord* const labels = series->find_record("labels");
    if (labels == nullptr || is_instance(*labels) || !is_gpu_utilisation(labels->text("__name__"))) continue;
    GpuCourse course{&seen, node_in(*labels, seen), gpu_of(*labels), owner_in(*labels), 0, 0, 0, {}, series->line};
    if (!take_stat(labels->text("__name__"), *series, course)) continue;
    const auto first = series->number("first_time"), last = series->number("last_time");
    if (first && last && *last > *first) course.hours = (*last - *first) / kSecondsPerHour;
    courses.push_back(std::move(course));
  }
}

constexpr std::array<std::pair<const char*, const char*>, 14> kOwnerColumns = {{{"job_id", "job"},
                                                                                {"jobid", "job"},
                                                                                {"slurm_job_id", "job"},
                                                                                {"hpc_job", "job"},
                                                                                {"exported_pod", "pod"},
                                                                                {"pod", "pod"},
                                                                                {"pod_name", "pod"},
                                                                                {"job", "job"},
                                                                                {"job_name", "job"},
                                                                                {"user", "user"},
                                                                                {"username", "user"},
                                                                                {"team", "team"},
                                                                                {"project", "project"},
                                                                                {"namespace", "namespace"}}};

struct OwnerTally {
  double rows = 0, known = 0, idle = 0, sum = 0;
  std::int64_t line = 0;
};

void add_owners(const Seen& seen, const FactRecord& run, std::vector<OwnerUse>& owners) {
  const std::vector<const FactRecord*> rows = records_of(run, "rows");
  const std::optional<double> hours = hours_of(run);
  const double entities = static_cast<double>(records_of(run, "series").size());
  const auto* const column = std::find_if(kOwnerColumns.begin(), kOwnerColumns.end(), [&](const auto& one) {
    return std::any_of(rows.begin(), rows.end(), [&](const FactRecord* row) { return row->has(one.first); });
  });
  if (column == kOwnerColumns.end() || !hours || rows.size() < 2 || entities < 1) return;
  std::map<std::string, OwnerTally> tallies;
  std::set<std::string> gpus;
  for (const FactRecord* const row : rows) {
    gpus.insert(node_in(*row, seen) + '/' + gpu_of(*row));
    const std::string name = text_or_number(*row, column->first);
    OwnerTally& tally = tallies[name.empty() || name == "0" || name == "none" || contains(name, "exporter")
                                    ? ""
                                    : fmt::format("{} {}", column->second, name)];
    if (tally.rows++ == 0) tally.line = row->line;
    const std::optional<double> util = row_util_pct(*row);
    if (!util) continue;
    ++tally.known;
    tally.sum += *util;
    tally.idle += *util <= 0 ? 1 : 0;
  }
  for (const auto& [owner, tally] : tallies) {
    if (tally.known < 1) continue;
    const double share = tally.rows / static_cast<double>(rows.size());
    const double held = share * static_cast<double>(gpus.size());
    owners.push_back(
        {&seen, owner, held * *hours, held, tally.idle / tally.known, tally.sum / tally.known, tally.line});
  }
}

}  // namespace

std::vector<const FactRecord*> runs_of(const Seen& seen) {
  std::vector<const FactRecord*> runs = records_of(*seen.facts, "runs");
  if (runs.empty()) runs.push_back(seen.facts);
  return runs;
}

std::optional<double> row_util_pct(const FactRecord& row) {
  for (const auto& [name, fact] : row.members()) {
    if (!is_gpu_utilisation(name)) continue;
    if (const auto value = fact.number()) return as_pct(name, *value, *value);
  }
  return std::nullopt;
}

std::vector<GpuCourse> gpu_courses(const Observed& observed) {
  std::vector<GpuCourse> courses;
  for (const char* const kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      if (seen.format->name == "Prometheus API") {
        add_answers(seen, courses);
        continue;
      }
      for (const FactRecord* const run : runs_of(seen)) add_table(seen, *run, courses);
    }
  }
  return courses;
}

std::vector<OwnerUse> owners_in(const Seen& seen) {
  std::vector<OwnerUse> owners;
  if (seen.format->name == "Prometheus API") return owners;
  for (const FactRecord* const run : runs_of(seen)) add_owners(seen, *run, owners);
  return owners;
}

std::vector<OwnerUse> owners_of(const std::vector<GpuCourse>& courses) {
  std::map<std::pair<const Seen*, std::string>, OwnerUse> owners;
  std::map<const Seen*, double> longest;
  for (const GpuCourse& course : courses)
    longest[course.seen] = std::max(longest[course.seen], course.hours.value_or(0));
  for (const GpuCourse& course : courses) {
    if (course.owner.empty() || !course.hours || *course.hours <= 0) continue;
    OwnerUse& use = owners[{course.seen, course.owner}];
    use.seen = course.seen;
    use.owner = course.owner;
    if (use.line == 0) use.line = course.line;
    use.gpu_hours += *course.hours;
    use.idle_ratio += course.idle_ratio * *course.hours;  // weighted sums here, means below
    use.mean_pct += course.mean_pct * *course.hours;
  }
  std::vector<OwnerUse> list;
  list.reserve(owners.size());
  for (auto& [key, use] : owners) {
    use.idle_ratio /= use.gpu_hours;
    use.mean_pct /= use.gpu_hours;
    use.gpus = use.gpu_hours / longest[use.seen];
    list.push_back(std::move(use));
  }
  return list;
}

}  // namespace tare
