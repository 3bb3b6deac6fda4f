// GPU-hours over days: held and idle, held by nobody, held and little used.
#include <fmt/format.h>

#include <algorithm>

#include "audit/gpu_use.h"
#include "audit/loss.h"
#include "audit/rule.h"

namespace tare {
namespace {

constexpr std::size_t kShownJobs = 20;      // findings of one rule; the rest are summed up in one
constexpr double kLeastIdle_gpu_h = 1;      // less is a start or an end
constexpr double kIdleShare_medium = 0.20;  // of what a job held
constexpr double kIdleShare_low = 0.05;
constexpr double kFreeShare_medium = 0.30;  // RSC's and PAI's clusters stand at 15 to 20 % unallocated
constexpr double kFreeShare_low = 0.10;
constexpr double kLowUse = 0.30;
constexpr double kFewHours_ratio = 0.9;  // of the time that the node seen longest is seen

bool is_server(const Seen& seen) { return seen.format->name == "Prometheus server"; }

FormulaInput measured(const char* name, double value, const char* unit, const GpuUse& use) {
  return {name, value, unit, fmt::format("Prometheus, {:g} days in steps of {:g} s", use.days, use.step_s), false};
}

Formula hours_a_day(const char* name, double gpu_h, const GpuUse& use) {
  Formula formula;
  formula.id = fmt::format("audit.{}_a_day", name);
  formula.unit = "GPU-h/day";
  formula.expression = fmt::format("{} / days", name);
  formula.inputs = {measured(name, gpu_h, "GPU-h", use), measured("days", use.days, "day", use)};
  formula.value = gpu_h / use.days;
  return formula;
}

// What a job would not need, from what it used.
Formula spare_a_day(const UseSum& sum, const GpuUse& use) {
  Formula formula;
  formula.id = "audit.spare_gpu_h_a_day";
  formula.unit = "GPU-h/day";
  formula.expression = "spare_gpu_h / days";
  formula.note = fmt::format(
      "hours held and not idle, less hours used over {:g}: what GPUs used that well would not need", kWellUsed);
  formula.inputs = {measured("spare_gpu_h", sum.spare_gpu_h, "GPU-h", use), measured("days", use.days, "day", use)};
  formula.value = sum.spare_gpu_h / use.days;
  return formula;
}

Evidence use_evidence(const Seen& seen, const UseSum& sum) {
  std::string text = fmt::format("{} GPUs, {:.1f} GPU-h: {:.1f} idle, {:.0f} % used in the mean", sum.gpus.size(),
                                 sum.gpu_h, sum.idle_gpu_h, 100 * sum.mean_use());
  if (sum.power_gpu_h > 0) text += fmt::format(", {:.0f} W", sum.power_wh / sum.power_gpu_h);
  if (sum.max_memory_mib) text += fmt::format(", at most {:.0f} MiB of memory", *sum.max_memory_mib);
  return evidence_of(seen, 0, std::move(text));
}

Subject job_subject(const UseSum& sum) { return {"job", sum.name, sum.gpus.size() == 1 ? sum.node : std::string()}; }

void held_idle(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    if (!is_server(seen)) continue;
    const GpuUse use = gpu_use_of(*seen.facts);
    UseSum rest;
    std::size_t shown = 0, others = 0;
    for (const UseSum& job : use.jobs) {
      const double share = job.gpu_h > 0 ? job.idle_gpu_h / job.gpu_h : 0;
      if (job.name.empty() || job.idle_gpu_h < kLeastIdle_gpu_h || share < kIdleShare_low) continue;
      if (shown++ >= kShownJobs) {
        rest.idle_gpu_h += job.idle_gpu_h;
        ++others;
        continue;
      }
      Finding finding = make_finding(
          rule, share >= kIdleShare_medium ? FindingSeverity::kMedium : FindingSeverity::kLow, job_subject(job),
          fmt::format("{} held {:.0f} GPU-hours and left {:.0f} of them idle ({:.0f} %)", job.name, job.gpu_h,
                      job.idle_gpu_h, 100 * share));
      finding.confidence = 0.9;
      finding.cause = job.user.empty()
                          ? "Its GPUs were allocated and did nothing: under 5 % use."
                          : fmt::format("GPUs of user {} were allocated and did nothing: under 5 % use.", job.user);
      finding.evidence.push_back(use_evidence(seen, job));
      finding.loss = hours_a_day("idle_gpu_h", job.idle_gpu_h, use);
      finding.gpu = job.model;
      finding.fix = {"end it, or let it release GPUs between steps: an idle limit in the scheduler does it for all",
                     "notebooks: a culler that stops them after an hour without use"};
      findings.push_back(std::move(finding));
    }
    if (others == 0) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, {"cluster", "other jobs", ""},
                                   fmt::format("{} more jobs left {:.0f} GPU-hours idle", others, rest.idle_gpu_h));
    finding.cause = "Each of them less than those named.";
    finding.evidence.push_back(evidence_of(seen, 0, fmt::format("{} jobs", others)));
    finding.loss = hours_a_day("idle_gpu_h", rest.idle_gpu_h, use);
    finding.fix = {"set an idle limit in the scheduler"};
    findings.push_back(std::move(finding));
  }
}

// Idle hours of GPUs that no label gives an owner.
void free_gpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    if (!is_server(seen)) continue;
    const GpuUse use = gpu_use_of(*seen.facts);
    const auto nobody =
        std::find_if(use.jobs.begin(), use.jobs.end(), [](const UseSum& sum) { return sum.name.empty(); });
    if (nobody == use.jobs.end() || use.all.gpu_h <= 0) continue;
    const double share = nobody->idle_gpu_h / use.all.gpu_h;
    if (share < kFreeShare_low) continue;
    Finding finding = make_finding(
        rule, share >= kFreeShare_medium ? FindingSeverity::kMedium : FindingSeverity::kLow, {"cluster", "cluster", ""},
        fmt::format("{:.0f} of {:.0f} GPU-hours were idle {} ({:.0f} %)", nobody->idle_gpu_h, use.all.gpu_h,
                    use.has_owners ? "and held by no job" : "(labels do not say who held them)", 100 * share));
    finding.confidence = use.has_owners ? 0.9 : 0.7;
    finding.cause = use.has_owners
                        ? "No pod or job stands on these GPUs' metrics: they were free, or drained, or reserved."
                        : "The exporter puts neither job nor pod on its metrics, so held and free hours look alike.";
    finding.evidence.push_back(use_evidence(seen, *nobody));
    for (std::size_t i = 0; i < use.nodes.size() && i < 3; ++i) {
      finding.evidence.push_back(evidence_of(seen, 0,
                                             fmt::format("{}: {:.1f} of {:.1f} GPU-h idle", use.nodes[i].name,
                                                         use.nodes[i].idle_gpu_h, use.nodes[i].gpu_h)));
    }
    finding.loss = hours_a_day("idle_gpu_h", nobody->idle_gpu_h, use);
    finding.fix = use.has_owners
                      ? std::vector<std::string>{"rent fewer, lend them to low-priority jobs that can be preempted, or "
                                                 "look for nodes that are drained and forgotten: sinfo -R"}
                      : std::vector<std::string>{"let dcgm-exporter map jobs: --hpc-job-mapping-dir for Slurm, "
                                                 "DCGM_EXPORTER_KUBERNETES=true for Kubernetes"};
    findings.push_back(std::move(finding));
  }
}

void low_use(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    if (!is_server(seen)) continue;
    const GpuUse use = gpu_use_of(*seen.facts);
    std::size_t shown = 0;
    for (const UseSum& job : use.jobs) {
      const double busy_h = job.gpu_h - job.idle_gpu_h;
      if (job.name.empty() || busy_h < kLeastIdle_gpu_h || job.used_gpu_h / busy_h >= kLowUse) continue;
      if (shown++ >= kShownJobs) break;
      const double needed = job.used_gpu_h / kWellUsed / job.gpu_h * static_cast<double>(job.gpus.size());
      Finding finding = make_finding(rule, FindingSeverity::kMedium, job_subject(job),
                                     fmt::format("{} uses {:.0f} % of its {} GPUs while it is not idle", job.name,
                                                 100 * job.used_gpu_h / busy_h, job.gpus.size()));
      finding.confidence = 0.8;
      finding.cause = job.gpus.size() > 1 ? fmt::format("The work of {:.1f} well-used GPUs is spread over {}.",
                                                        std::max(0.1, needed), job.gpus.size())
                                          : "The work would share a GPU with others, or fit a smaller one.";
      finding.evidence.push_back(use_evidence(seen, job));
      finding.expected = fmt::format("{:.0f} %", 100 * kWellUsed);
      finding.measured = fmt::format("{:.0f} %", 100 * job.used_gpu_h / busy_h);
      finding.loss = spare_a_day(job, use);
      finding.gpu = job.model;
      finding.fix = {job.gpus.size() > 1 ? "ask for fewer GPUs, or feed them: larger batches, more loader workers"
                                         : "share the GPU (MPS, MIG), take a smaller one, or feed it better"};
      findings.push_back(std::move(finding));
    }
  }
}

void no_telemetry(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    if (!is_server(seen) || !records_of(*seen.facts, "use").empty()) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kMedium, {"cluster", std::string(seen.facts->text("server")), ""},
                     "the server has no series of GPU use in the window");
    finding.cause = "An empty answer is no data, not 0 % use: nothing scrapes the GPUs, or under other names.";
    finding.evidence.push_back(evidence_of(seen, 0, "count(DCGM_FI_DEV_GPU_UTIL) and its kin are empty"));
    finding.loss_unknown = "nothing was measured";
    finding.fix = {"see that dcgm-exporter runs on each node and is a target: /targets of the server",
                   "or give --since a time for which there are data"};
    findings.push_back(std::move(finding));
  }
}

// A node that is not seen all the time: it was down, or its exporter was.
void gaps(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    if (!is_server(seen)) continue;
    const GpuUse use = gpu_use_of(*seen.facts);
    std::vector<std::string> short_nodes;
    double most_h = 0;
    const auto seen_h = [](const UseSum& node) {
      return node.gpus.empty() ? 0 : node.gpu_h / static_cast<double>(node.gpus.size());
    };
    for (const UseSum& node : use.nodes) most_h = std::max(most_h, seen_h(node));
    for (const UseSum& node : use.nodes) {
      if (seen_h(node) < kFewHours_ratio * most_h) short_nodes.push_back(node.name);
    }
    if (short_nodes.empty()) continue;
    Finding finding = make_finding(
        rule, FindingSeverity::kLow, {"cluster", "telemetry", ""},
        fmt::format("{} of {} nodes were seen under nine tenths of the time", short_nodes.size(), use.nodes.size()));
    finding.confidence = 0.7;
    finding.cause = "They joined late, were down, or their exporter was; hours without a sample count as nothing.";
    finding.evidence.push_back(
        evidence_of(seen, 0, fmt::format("{}; the others {:.0f} h a GPU", list_names(short_nodes), most_h)));
    finding.loss_unknown = "whether they were paid for is not known";
    finding.fix = {"compare with the scheduler's record of these nodes: sacctmgr show event, kubectl get events"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"waste.held-idle", "Jobs that hold GPUs and leave them idle",
     "GPU-hours that a job held at under 5 % use, over the days that the server was asked for.", "", held_idle},
    {"waste.free-gpus", "GPU-hours that nobody held",
     "Idle hours of GPUs whose metrics name no job or pod: capacity that is paid for and not given out.", "",
     free_gpus},
    {"waste.low-use", "Jobs that use little of their GPUs",
     "Use under 30 % while not idle: fewer GPUs, or better fed ones, would do the same work.", "", low_use},
    {"waste.no-telemetry", "No data is not zero use", "The server has no series of GPU use at all.", "gpu-operator#983",
     no_telemetry},
    {"waste.gaps", "Nodes seen for a part of the time only",
     "Hours without a sample are unknown: they count neither as use nor as idle.", "", gaps},
};

}  // namespace

std::span<const Rule> waste_rules() { return kRules; }

}  // namespace tare
