#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/gpu_course.h"
#include "audit/gpu_seen.h"
#include "audit/loss.h"
#include "audit/telemetry_parts.h"

namespace tare {
namespace {

// A start, an evaluation or a checkpoint explains less than an hour.
constexpr double kWorthPricingHours = 1;
// Below this share idle time is scheduling and restarts.
constexpr double kIdleShare = 0.10;
constexpr double kShortIdleShare = 0.5;
constexpr double kShortSamples = 10;
// More nodes than these are one finding of the cluster.
constexpr std::size_t kNodesEach = 3;

std::string hours_in_words(double hours) {
  return hours >= 48 ? fmt::format("{:.1f} days", hours / 24) : fmt::format("{:.1f} h", hours);
}

// The courses of one place: a node, or all nodes of a file.
struct Place {
  const Seen* seen = nullptr;
  std::string node;
  std::vector<const GpuCourse*> courses;

  double gpus() const { return static_cast<double>(courses.size()); }
  double samples() const {
    double sum = 0;
    for (const GpuCourse* const one : courses) sum += one->samples;
    return sum;
  }
  double idle_ratio() const {
    return mean([](const GpuCourse& one) { return one.idle_ratio; });
  }
  double mean_pct() const {
    return mean([](const GpuCourse& one) { return one.mean_pct; });
  }
  std::optional<double> gpu_hours() const {
    double sum = 0;
    for (const GpuCourse* const one : courses) {
      if (!one->hours) return std::nullopt;
      sum += *one->hours;
    }
    return sum;
  }
  std::optional<double> hours() const {
    double most = 0;
    for (const GpuCourse* const one : courses) most = std::max(most, one->hours.value_or(0));
    return most > 0 ? std::optional(most) : std::nullopt;
  }

 private:
  template <typename Of>
  double mean(Of of) const {
    double sum = 0;
    for (const GpuCourse* const one : courses) sum += of(*one);
    return sum / gpus();
  }
};

std::vector<Place> places_of(const std::vector<GpuCourse>& courses, const std::set<const Seen*>& told_by_owner) {
  std::map<std::pair<const Seen*, std::string>, Place> places;
  for (const GpuCourse& course : courses) {
    if (!course.owner.empty() || told_by_owner.contains(course.seen)) continue;
    Place& place = places[{course.seen, course.node}];
    place.seen = course.seen;
    place.node = course.node;
    place.courses.push_back(&course);
  }
  std::vector<Place> list;
  list.reserve(places.size());
  for (auto& [key, place] : places) list.push_back(std::move(place));
  return list;
}

// Files whose rows say who holds the GPUs: told by owner, not by node.
std::set<const Seen*> seen_with_owners(const Observed& observed) {
  std::set<const Seen*> with;
  for (const char* const kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      if (!owners_in(seen).empty()) with.insert(&seen);
    }
  }
  return with;
}

// Several nodes of a file as one.
Place join_places(const std::vector<Place>& places) {
  Place joined;
  joined.seen = places.front().seen;
  for (const Place& one : places) joined.courses.insert(joined.courses.end(), one.courses.begin(), one.courses.end());
  return joined;
}

std::string name_of(const GpuCourse& course, bool with_node) {
  const std::string gpu = course.gpu.empty() ? "a GPU" : course.gpu;
  return with_node && !course.node.empty() ? course.node + "/" + gpu : gpu;
}

Subject subject_of(const Place& place, const std::vector<std::string>& names) {
  if (place.courses.size() == 1) return {"gpu", names.front(), place.node};
  if (!place.node.empty()) return {"node", place.node, place.node};
  return {"cluster", list_names(names), ""};
}

// The worst first.
std::vector<const GpuCourse*> sorted_by(std::vector<const GpuCourse*> courses, double (*badness)(const GpuCourse&)) {
  std::stable_sort(courses.begin(), courses.end(),
                   [badness](const GpuCourse* a, const GpuCourse* b) { return badness(*a) > badness(*b); });
  return courses;
}

std::string over(const Place& place) {
  const std::optional<double> hours = place.hours();
  return hours ? "over " + hours_in_words(*hours) : fmt::format("in {:.0f} samples", place.samples());
}

void add_course_evidence(const Place& place, const std::vector<const GpuCourse*>& sorted, Finding& finding) {
  for (const GpuCourse* const one : sorted) {
    if (finding.evidence.size() >= 4) break;
    finding.evidence.push_back(evidence_of(
        *place.seen, one->line,
        fmt::format("{}: {:.0f} % of {:.0f} samples at 0 %, mean {:.0f} %", name_of(*one, place.node.empty()),
                    one->idle_ratio * 100, one->samples, one->mean_pct)));
  }
}

void add_idle(const Rule& rule, const Place& place, std::vector<Finding>& findings) {
  const double idle = place.idle_ratio();
  const bool priced = place.hours().value_or(0) >= kWorthPricingHours;
  const bool short_idle = idle >= kShortIdleShare && place.samples() >= kShortSamples * place.gpus();
  if (priced ? idle < kIdleShare : !short_idle) return;
  const std::vector<const GpuCourse*> sorted =
      sorted_by(place.courses, [](const GpuCourse& one) { return one.idle_ratio; });
  std::vector<std::string> names;
  for (const GpuCourse* const one : sorted) {
    if (one->idle_ratio >= idle * 0.5) names.push_back(name_of(*one, place.node.empty()));
  }
  const std::optional<double> gpu_hours = place.gpu_hours();
  Finding finding =
      make_finding(rule, priced ? FindingSeverity::kMedium : FindingSeverity::kLow, subject_of(place, names),
                   fmt::format("{:.0f} % of the time of {:.0f} GPU{} nothing ran {}{}", idle * 100, place.gpus(),
                               place.gpus() == 1 ? "" : "s", over(place),
                               gpu_hours ? fmt::format(": {:.1f} idle GPU-hours", idle * *gpu_hours) : ""));
  add_course_evidence(place, sorted, finding);
  finding.cause = fmt::format("No kernel ran at these samples; idle most: {}.", list_names(names));
  finding.measured = fmt::format("{:.0f} % idle", idle * 100);
  finding.fix = {
      "give GPUs that nobody uses back: shorter reservations, fewer nodes, or jobs that wait moved onto them",
      "for gaps within jobs look at start, data loading, evaluation and checkpoints"};
  finding.confidence = priced ? 0.85 : 0.5;
  finding.loss = share_lost(known_ratio("idle_ratio", idle, "samples at 0 % over all samples, " + over(place)),
                            place.gpus(), "GPUs that were measured");
  if (!priced) {
    finding.loss.reset();
    finding.loss_unknown = "some minutes do not tell what a day is like";
  }
  add_once(findings, std::move(finding));
}

void idle(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::vector<GpuCourse> courses = gpu_courses(observed);
  std::map<const Seen*, std::vector<Place>> by_file;
  for (Place& place : places_of(courses, seen_with_owners(observed))) by_file[place.seen].push_back(std::move(place));
  for (const auto& [seen, places] : by_file) {
    if (places.size() > kNodesEach) {
      add_idle(rule, join_places(places), findings);
      continue;
    }
    for (const Place& place : places) add_idle(rule, place, findings);
  }
}

constexpr std::size_t kOwnersTold = 5;
constexpr double kOwnerIdleShare = 0.5;

void idle_owner(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<OwnerUse> owners = owners_of(gpu_courses(observed));
  for (const char* const kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      for (OwnerUse& one : owners_in(seen)) owners.push_back(std::move(one));
    }
  }
  std::erase_if(owners, [](const OwnerUse& one) {
    return one.gpu_hours < kWorthPricingHours || one.idle_ratio < (one.owner.empty() ? kIdleShare : kOwnerIdleShare);
  });
  std::stable_sort(owners.begin(), owners.end(), [](const OwnerUse& a, const OwnerUse& b) {
    return a.idle_ratio * a.gpu_hours > b.idle_ratio * b.gpu_hours;
  });
  if (owners.size() > kOwnersTold) owners.resize(kOwnersTold);
  for (const OwnerUse& one : owners) {
    const std::string name = one.owner.empty() ? "nobody" : one.owner;
    Finding finding = make_finding(
        rule, FindingSeverity::kMedium, {"job", name, ""},
        one.owner.empty()
            ? fmt::format("GPUs that nobody held stood idle for {:.1f} GPU-hours", one.idle_ratio * one.gpu_hours)
            : fmt::format("{} held {:.1f} GPU-hours, of which {:.0f} % idle", one.owner, one.gpu_hours,
                          one.idle_ratio * 100));
    finding.evidence.push_back(evidence_of(
        *one.seen, one.line,
        fmt::format("{}: idle {:.0f} %, mean utilisation {:.0f} %", name, one.idle_ratio * 100, one.mean_pct)));
    finding.cause = one.owner.empty()
                        ? "More GPUs run than are asked for."
                        : "The GPUs are allocated, so nobody else gets them, and the work on them waits or has ended.";
    finding.measured = fmt::format("{:.0f} % idle", one.idle_ratio * 100);
    finding.fix = one.owner.empty()
                      ? std::vector<std::string>{"scale down, or bring waiting jobs onto them"}
                      : std::vector<std::string>{"ask its owner; end it, or give it fewer GPUs",
                                                 "set a limit on idle time for interactive and notebook jobs"};
    finding.confidence = 0.8;
    finding.loss = share_lost(known_ratio("idle_ratio", one.idle_ratio, "samples at 0 % over its samples"), one.gpus,
                              "GPUs that it held at a time, on average");
    add_once(findings, std::move(finding));
  }
}

// What runs keeps the GPU busy less than this: a share of it would do.
constexpr double kLowUsePct = 40;

std::optional<Formula> unused(double idle_ratio, double busy_ratio, double gpus, const std::string& source) {
  Formula formula;
  formula.id = "audit.unused_while_busy";
  formula.unit = "GPU-h/day";
  formula.expression = "(1 - idle_ratio) * (1 - busy_utilisation) * gpus * 24";
  formula.inputs = {known_ratio("idle_ratio", idle_ratio, source),
                    known_ratio("busy_utilisation", busy_ratio, source),
                    {"gpus", gpus, "GPU", "GPUs that were measured", false}};
  const Result<double> value = evaluate(formula);
  if (!value) return std::nullopt;
  formula.value = *value;
  return formula;
}

void add_low_use(const Rule& rule, const Observed& observed, const Place& place, std::vector<Finding>& findings) {
  const double idle = place.idle_ratio();
  if (place.hours().value_or(0) < kWorthPricingHours || idle >= 0.95) return;
  const double busy_pct = place.mean_pct() / (1 - idle);
  if (busy_pct >= kLowUsePct) return;
  const Accelerator* const gpu = observed.accelerator_beside(*place.seen);
  const bool small = gpu != nullptr && !is_data_centre(*gpu);
  const std::vector<const GpuCourse*> sorted =
      sorted_by(place.courses, [](const GpuCourse& one) { return -one.mean_pct; });
  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (const GpuCourse* const one : sorted) names.push_back(name_of(*one, place.node.empty()));
  Finding finding =
      make_finding(rule, small ? FindingSeverity::kLow : FindingSeverity::kMedium, subject_of(place, names),
                   fmt::format("what runs keeps {:.0f} GPU{} {:.0f} % busy {}", place.gpus(),
                               place.gpus() == 1 ? "" : "s", busy_pct, over(place)));
  add_course_evidence(place, sorted, finding);
  finding.cause =
      "The work waits for data, for the host or for requests most of the time: a smaller GPU, or a share of one, "
      "would do it.";
  finding.expected = fmt::format("{:.0f} % and more", kLowUsePct);
  finding.measured = fmt::format("{:.0f} % while something ran", busy_pct);
  finding.fix = {"training: more data loader workers, larger batches, a profile of a step",
                 "serving: several models a GPU (MIG, MPS), smaller GPUs, fewer replicas"};
  finding.confidence = 0.65;
  finding.loss = unused(idle, busy_pct / 100, place.gpus(), "samples of utilisation, " + over(place));
  add_once(findings, std::move(finding));
}

void low_use(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::vector<GpuCourse> courses = gpu_courses(observed);
  std::map<const Seen*, std::vector<Place>> by_file;
  for (Place& place : places_of(courses, {})) by_file[place.seen].push_back(std::move(place));
  for (const auto& [seen, places] : by_file) {
    if (places.size() > kNodesEach) {
      add_low_use(rule, observed, join_places(places), findings);
      continue;
    }
    for (const Place& place : places) add_low_use(rule, observed, place, findings);
  }
}

// Of a moment: a GPU that is too big for its work.
constexpr double kBigMemoryBytesPerS = 1.5e12;
constexpr double kLowUseNowPct = 35;
constexpr double kInUseMib = 2048;

void low_use_now(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    if (group.seen->facts->has("series")) continue;
    GpuFaults faults(group);
    bool any_busy = false;
    for (const GpuSeen& gpu : group.gpus) {
      const Accelerator* const known = accelerator_named(observed.catalog(), gpu.facts->text("name"));
      const auto util = util_pct(*gpu.facts);
      any_busy = any_busy || util.value_or(0) >= kLowUseNowPct;
      const bool big = known != nullptr && is_data_centre(*known) && known->memory_bytes_per_s >= kBigMemoryBytesPerS;
      if (!big || gpu.partitioned || !util || *util <= 0 || *util >= kLowUseNowPct) continue;
      if (memory_used_mib(*gpu.facts).value_or(0) < kInUseMib) continue;
      const auto watts = power_w(*gpu.facts), limit = power_limit_w(*gpu.facts);
      faults.add(gpu, line_of(*gpu.facts, gpu.facts->has("util_pct") ? "util_pct" : "gpu_util_pct"),
                 fmt::format("{:.0f} % busy", *util) +
                     (watts && limit ? fmt::format(", {:.0f} of {:.0f} W", *watts, *limit) : ""));
    }
    if (faults.empty() || any_busy) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kLow, "is|are in use and hardly busy at this moment");
    finding.cause =
        "The work on it does not fill it: small batches, data loading, few requests. One moment does not prove it.";
    finding.fix = {"watch it: nvidia-smi dmon -s pu -d 10 over an hour",
                   "if it stays: a smaller GPU, MIG, or several jobs on it"};
    finding.confidence = 0.45;
    finding.loss_unknown = "one moment does not tell how much of the day it is like that";
    add_once(findings, std::move(finding));
  }
}

// Memory held, nothing running.
constexpr double kHeldMib = 1024;

void held_idle(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    if (group.seen->facts->has("series") && group.seen->format->name != "Prometheus API") continue;
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto used = memory_used_mib(*gpu.facts);
      const bool display = says(*gpu.facts, "display_active", "Enabled") || says(*gpu.facts, "display_active", "On");
      if (display || gpu.partitioned || util_pct(*gpu.facts) != 0.0) continue;
      if (used.value_or(0) >= kHeldMib) {
        faults.add(gpu, line_of(*gpu.facts, gpu.facts->has("mem_used_mib") ? "mem_used_mib" : "fb_used_mib"),
                   fmt::format("{:.0f} MiB in use, 0 % busy", *used));
      } else if (const std::string_view pod =
                     gpu.facts->has("exported_pod") ? gpu.facts->text("exported_pod") : gpu.facts->text("pod");
                 !pod.empty() && pod.find("exporter") == std::string_view::npos) {
        faults.add(gpu, line_of(*gpu.facts, "gpu_util_pct"), fmt::format("allocated to {}, 0 % busy", pod));
      }
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kLow, "is|are held by a program, and nothing runs at this moment");
    finding.cause =
        "A notebook, a server without requests, a hung job, or one between two steps. One moment does not prove it.";
    finding.fix = {
        "watch it for minutes: nvidia-smi dmon -s pum -d 10; nvidia-smi --query-compute-apps=pid,name,used_memory "
        "--format=csv",
        "end what is forgotten"};
    finding.confidence = 0.45;
    finding.loss_unknown = "one moment does not tell how long they stand idle";
    add_once(findings, std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"telemetry.idle", "GPUs that do nothing", "GPU-hours at 0 % over the time that was measured, with what they cost.",
     "NVIDIA DCGM field identifiers: GPU_UTIL", idle},
    {"telemetry.idle-owner", "Allocated and idle", "Who held GPUs on which nothing ran, by pod, job or user.",
     "NVIDIA dcgm-exporter: Kubernetes labels", idle_owner},
    {"telemetry.low-use", "GPUs that wait most of the time", "What runs fills a small share of the GPUs over hours.",
     "NVIDIA DCGM field identifiers: GPU_UTIL", low_use},
    {"telemetry.low-use-now", "A big GPU with little to do", "One moment of low utilisation on a big GPU in use.",
     "nvidia-smi manual", low_use_now},
    {"telemetry.held-idle", "Memory held, nothing running", "A program holds the GPU and runs nothing at this moment.",
     "nvidia-smi manual", held_idle},
};

}  // namespace

std::span<const Rule> telemetry_waste_rules() { return kRules; }

}  // namespace tare
