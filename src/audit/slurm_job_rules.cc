#include <algorithm>
#include <functional>
#include <map>

#include "audit/gpu_seen.h"
#include "audit/slurm_hosts.h"
#include "audit/slurm_jobs.h"
#include "audit/slurm_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

#include <fmt/format.h>

namespace tare {
namespace {

// Part of all GPU-hours of a file that ended in failure. Set by hand: short failures are everyday, a tenth of the hours
// is worth a look, a quarter worth work.
constexpr double kLostRatioLow = 0.1, kLostRatioMedium = 0.25;
constexpr std::ptrdiff_t kJobsForShare = 5;
constexpr double kLostHours = 8;  // GPU-hours below which nobody looks
// A few restarts are preemption or a maintenance; more say that something takes the job down again and again.
constexpr double kRestartsLow = 3, kRestartsMedium = 5;
constexpr double kFewCpusPerGpu = 2;     // a launcher and one worker of the data loader
constexpr double kLimitUsed = 0.1;       // elapsed over limit
constexpr std::size_t kLimitJobs = 5;    // as many such jobs make a habit
constexpr double kBusyOfOneCore = 0.01;  // CPU time over elapsed time: a job that launches kernels needs more
constexpr double kIdleHours = 1;

using Jobs = std::vector<SlurmJob>;

Jobs jobs_where(const Seen& seen, const std::function<bool(const SlurmJob&)>& is) {
  Jobs jobs;
  for (SlurmJob& job : slurm_jobs(seen)) {
    if (is(job)) jobs.push_back(std::move(job));
  }
  return jobs;
}

bool tells_gpus(const Jobs& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [](const SlurmJob& job) { return job.gpus > 0; });
}

double hours_of(const Jobs& jobs) {
  double hours = 0;
  for (const SlurmJob& job : jobs) hours += job.gpu_h();
  return hours;
}

// ", 62 % of them of user ann": who lost most.
std::string most_of(const Jobs& jobs) {
  std::map<std::string, double> by_user;
  for (const SlurmJob& job : jobs) {
    const std::string_view user =
        job.facts->text("user").empty() ? job.facts->text("account") : job.facts->text("user");
    if (!user.empty()) by_user[std::string(user)] += job.gpu_h();
  }
  const double all = hours_of(jobs);
  if (by_user.size() < 2 || all <= 0) return {};
  const auto most = std::max_element(by_user.begin(), by_user.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format(", {:.0f} % of it by {}", 100 * most->second / all, most->first);
}

void node_failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs all = slurm_jobs(seen);
    const Jobs jobs = jobs_where(seen, [](const SlurmJob& job) {
      return job.state == "NODE_FAIL" || job.state == "BOOT_FAIL" || job.state == "LAUNCH_FAILED";
    });
    if (jobs.empty()) continue;
    const bool gpus = tells_gpus(jobs) || !tells_gpus(all);
    Finding finding =
        make_finding(rule, gpus ? FindingSeverity::kMedium : FindingSeverity::kLow, subject_of_jobs(seen, jobs),
                     fmt::format("{} lost to the node, not to its own code", jobs_in_words(jobs)));
    std::vector<std::string> nodes;
    for (const SlurmJob& job : jobs) {
      const std::string node(job.facts->text("node_list"));
      if (!node.empty() && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    }
    if (!nodes.empty()) finding.title += " (" + list_names(nodes) + ")";
    finding.cause =
        "The node or its prolog failed while the job was there; Slurm ended it. The work since the last "
        "checkpoint is gone.";
    add_evidence(finding, seen, jobs, "state");
    if (!jobs.front().facts->text("reason").empty()) {
      finding.evidence.push_back(evidence_of(seen, line_of(*jobs.front().facts, "reason"),
                                             fmt::format("reason: {}", jobs.front().facts->text("reason"))));
    }
    finding.fix = {"slurmctld.log and journalctl -u slurmd of the node at the job's end; dmesg for Xid",
                   "a node that fails again: drain it, run dcgmi diag -r 3",
                   "--requeue and checkpoints often enough for the nodes' failure rate"};
    add_lost_hours(finding, observed, jobs, all);
    findings.push_back(std::move(finding));
  }
}

// Jobs of these states, where they took a good part of all GPU-hours.
void report_hours(const Rule& rule, const Observed& observed, const std::function<bool(const SlurmJob&)>& is,
                  const char* how, FindingSeverity most, const char* cause, const std::vector<std::string>& fix,
                  std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs all = slurm_jobs(seen);
    const Jobs jobs = jobs_where(seen, [&](const SlurmJob& job) { return job.gpu_h() > 0 && is(job); });
    const double lost = hours_of(jobs), sum = hours_of(all);
    if (lost < kLostHours || lost < kLostRatioLow * sum) continue;
    const auto with_gpus = std::count_if(all.begin(), all.end(), [](const SlurmJob& job) { return job.gpu_h() > 0; });
    // Of a few jobs a share says little.
    const bool much = lost >= kLostRatioMedium * sum && with_gpus >= kJobsForShare;
    Finding finding = make_finding(rule, much ? most : FindingSeverity::kLow, subject_of_jobs(seen, jobs),
                                   fmt::format("{:.0f} of {:.0f} GPU-hours {}{}", lost, sum, how, most_of(jobs)));
    finding.cause = cause;
    add_evidence(finding, seen, jobs, "state");
    finding.expected = fmt::format("below {:.0f} % of the GPU-hours", 100 * kLostRatioLow);
    finding.measured = fmt::format("{:.0f} %", 100 * lost / sum);
    finding.fix = fix;
    add_lost_hours(finding, observed, jobs, all);
    findings.push_back(std::move(finding));
  }
}

void failed_hours(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_hours(
      rule, observed, [](const SlurmJob& job) { return job.state == "FAILED" || job.state == "OUT_OF_MEMORY"; },
      "went into jobs that failed", FindingSeverity::kMedium,
      "Jobs that end with an error after hours gave nothing but their last checkpoint.",
      {"sacct -j ID -o jobid,state,exitcode,derivedexitcode,maxrss,nodelist: the same node or the same code?",
       "a short test run in a debug partition first; checkpoints; --kill-on-bad-exit so that the rest does not hang"},
      findings);
}

void timeout_hours(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_hours(
      rule, observed, [](const SlurmJob& job) { return job.state == "TIMEOUT" || job.state == "DEADLINE"; },
      "ended at the time limit", FindingSeverity::kLow,
      "Slurm killed them at their limit; what came after the last checkpoint is lost, and all of it where none was "
      "written. A chain of jobs that resume is meant to end so.",
      {"#SBATCH --signal=B:USR1@300 and a handler that writes a checkpoint and requeues",
       "checkpoints in the interval of the job's bill (tare simulate … prints it)"},
      findings);
}

void cancelled_hours(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_hours(
      rule, observed, [](const SlurmJob& job) { return job.state == "CANCELLED"; }, "were cancelled",
      FindingSeverity::kLow,
      "Somebody ended them: a run that was done, or one that hung or went wrong for hours before anybody looked.",
      {"sacct -o jobid,user,elapsed,state%30: who cancelled them",
       "a watchdog that ends a job whose loss or step "
       "time stands still"},
      findings);
}

void out_of_memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs jobs = jobs_where(seen, [](const SlurmJob& job) { return job.state == "OUT_OF_MEMORY"; });
    if (jobs.empty()) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, subject_of_jobs(seen, jobs),
                                   jobs_in_words(jobs) + " ran out of host memory");
    finding.cause =
        "The kernel killed a process at the job's memory limit. It is the host's memory, not the GPU's: "
        "data loader workers, pinned buffers, the checkpoint being written.";
    add_evidence(finding, seen, jobs, "state");
    finding.fix = {"sacct -j ID -o jobid,reqmem,maxrss,maxrssnode",
                   "--mem or --mem-per-gpu above MaxRSS; fewer data loader workers; checkpoints rank by rank"};
    finding.loss_unknown = "what came of them before is not told";
    findings.push_back(std::move(finding));
  }
}

void requeued(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs jobs =
        jobs_where(seen, [](const SlurmJob& job) { return job.facts->number("restarts").value_or(0) >= kRestartsLow; });
    if (jobs.empty()) continue;
    const auto most = std::max_element(jobs.begin(), jobs.end(), [](const SlurmJob& a, const SlurmJob& b) {
      return *a.facts->number("restarts") < *b.facts->number("restarts");
    });
    const double restarts = *most->facts->number("restarts");
    const auto severity = restarts >= kRestartsMedium ? FindingSeverity::kMedium : FindingSeverity::kLow;
    Finding finding = make_finding(
        rule, severity, subject_of_jobs(seen, jobs),
        jobs.size() == 1
            ? fmt::format("job {} was requeued {:.0f} times", most->id, restarts)
            : fmt::format("{} were requeued often, job {} {:.0f} times", jobs_in_words(jobs), most->id, restarts));
    finding.confidence = 0.8;
    finding.cause =
        "Each time a node failed, a prolog failed, or another job took its place; work since the last "
        "checkpoint was done again.";
    add_evidence(finding, seen, jobs, "restarts");
    finding.fix = {"sacct -j ID --duplicates -o jobid,state,nodelist,elapsed: which nodes it died on",
                   "exclude or drain a node that it dies on; a QOS that is not preempted for long jobs"};
    finding.loss_unknown = "how long the earlier runs were is not told";
    findings.push_back(std::move(finding));
  }
}

struct WaitKind {
  std::string_view part;  // of the reason, without blanks and underscores, lower case
  const char* why;
  FindingSeverity severity;
};
constexpr WaitKind kWaits[] = {
    {"unavailablenodes", "waits for nodes that are down or drained", FindingSeverity::kMedium},
    {"reqnodenotavail", "waits for nodes that are taken out or reserved", FindingSeverity::kLow},
    {"nodedown", "asks for a node that is down", FindingSeverity::kMedium},
    {"badconstraints", "asks for what no node has", FindingSeverity::kMedium},
    {"partitionnodelimit", "asks for more nodes than the partition gives, or its nodes are down",
     FindingSeverity::kMedium},
    {"partitiontimelimit", "asks for more time than the partition gives", FindingSeverity::kMedium},
    {"partitiondown", "is in a partition that is down", FindingSeverity::kMedium},
    {"partitioninactive", "is in a partition that is inactive", FindingSeverity::kMedium},
    {"partitionconfig", "does not fit the partition", FindingSeverity::kMedium},
    {"dependencyneversatisfied", "depends on a job that failed", FindingSeverity::kMedium},
    {"invalidaccount", "has no valid account", FindingSeverity::kMedium},
    {"invalidqos", "has no valid QOS", FindingSeverity::kMedium},
    {"maxwalldurationperjob", "asks for more time than its QOS or account gives", FindingSeverity::kMedium},
    {"maxmemperlimit", "asks for more memory than the limit", FindingSeverity::kMedium},
    {"accountnotallowed", "may not use the partition", FindingSeverity::kMedium},
    {"launchfailedrequeuedheld", "is held after its launch failed", FindingSeverity::kMedium},
    {"jobheldadmin", "is held by an administrator", FindingSeverity::kInfo},
};

const WaitKind* wait_of(const SlurmJob& job) {
  if (job.state != "PENDING" && !job.state.starts_with("REQUEUE")) return nullptr;
  std::string reason = to_lower(job.facts->text("reason"));
  std::erase_if(reason, [](char c) { return c == '_' || c == ' '; });
  const auto* const found = std::find_if(std::begin(kWaits), std::end(kWaits),
                                         [&reason](const WaitKind& wait) { return contains(reason, wait.part); });
  return found == std::end(kWaits) ? nullptr : found;
}

void never_starts(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::map<const WaitKind*, Jobs> by_kind;
    for (SlurmJob& job : slurm_jobs(seen)) {
      if (const WaitKind* const wait = wait_of(job)) by_kind[wait].push_back(std::move(job));
    }
    for (const auto& [wait, jobs] : by_kind) {
      Finding finding = make_finding(rule, wait->severity, subject_of_jobs(seen, jobs),
                                     fmt::format("{} {}", jobs_in_words(jobs), wait->why));
      finding.confidence = 0.8;
      finding.cause = "The scheduler's reason is none that time alone will cure.";
      add_evidence(finding, seen, jobs, "reason");
      finding.fix = {"scontrol show job ID; sinfo -o '%P %a %l %D %t %G': what is asked and what there is",
                     "scontrol update jobid=ID … with what the partition has, or resume the nodes it waits for"};
      finding.loss_unknown = wait->severity == FindingSeverity::kInfo ? "" : "what waiting costs is not known";
      findings.push_back(std::move(finding));
    }
  }
}

void request_impossible(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  double most = 0;
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const SlurmHost& host : slurm_hosts(seen)) most = std::max(most, host.gpus.value_or(0));
  }
  if (most <= 0) return;
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs jobs = jobs_where(seen, [most](const SlurmJob& job) {
      double wanted = job.facts->number("per_node_gpus").value_or(0);
      if (job.facts->number("node_count").value_or(0) == 1) wanted = std::max(wanted, job.gpus);
      return job.state == "PENDING" && wanted > most;
    });
    if (jobs.empty()) continue;
    Finding finding = make_finding(
        rule, FindingSeverity::kMedium, subject_of_jobs(seen, jobs),
        fmt::format("{} asks for more GPUs a node than the {:.0f} of any listed", jobs_in_words(jobs), most));
    finding.confidence = 0.7;
    finding.cause = "No node that the files list can hold it; if there is no larger one it waits for ever.";
    add_evidence(finding, seen, jobs, "state");
    finding.fix = {fmt::format("--gpus-per-node={:.0f} and more nodes", most),
                   "EnforcePartLimits=ALL refuses such jobs at once"};
    finding.loss_unknown = "what waiting costs is not known";
    findings.push_back(std::move(finding));
  }
}

void few_cpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs jobs = jobs_where(seen, [](const SlurmJob& job) {
      const auto cpus = job.facts->number("cpus");
      const std::string_view type = job.facts->text("gpu_type");
      return job.gpus > 0 && cpus && *cpus > 0 && *cpus < kFewCpusPerGpu * job.gpus && !contains(type, "g.");
    });
    if (jobs.empty()) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, subject_of_jobs(seen, jobs),
                     fmt::format("{} with fewer than {:.0f} CPUs for each GPU", jobs_in_words(jobs), kFewCpusPerGpu));
    finding.confidence = 0.6;
    finding.cause =
        "One CPU launches the kernels; the data loader, NCCL's proxy and the checkpoint share it, and the "
        "GPU waits.";
    for (const SlurmJob& job : jobs) {
      if (finding.evidence.size() >= 4) break;
      finding.evidence.push_back(
          evidence_of(seen, line_of(*job.facts, "cpus"),
                      fmt::format("job {}: {:.0f} GPUs, {:.0f} CPUs", job.id, job.gpus, *job.facts->number("cpus"))));
    }
    finding.fix = {"--cpus-per-gpu or --cpus-per-task: the node's cores over its GPUs",
                   "DefCpuPerGPU in the partition"};
    finding.loss_unknown = "how long the GPUs wait for data is not told";
    findings.push_back(std::move(finding));
  }
}

std::optional<double> limit_h(const FactRecord& job) {
  if (const auto seconds = job.number("time_limit_s")) return *seconds / 3600;
  for (const std::string_view member : {"time_limit_min", "time_limit_raw_min"}) {
    if (const auto minutes = job.number(member)) return *minutes / 60;
  }
  return std::nullopt;
}

void limits_long(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const auto ended = [](const SlurmJob& job) {
      return job.state == "COMPLETED" && job.gpus > 0 && job.elapsed_h && limit_h(*job.facts).value_or(0) > 0;
    };
    const Jobs all = jobs_where(seen, ended);
    const Jobs jobs = jobs_where(
        seen, [&](const SlurmJob& job) { return ended(job) && *job.elapsed_h < kLimitUsed * *limit_h(*job.facts); });
    if (jobs.size() < kLimitJobs || jobs.size() * 2 < all.size()) continue;
    Finding finding = make_finding(
        rule, FindingSeverity::kLow, subject_of_jobs(seen, jobs),
        fmt::format("{} of {} GPU jobs used less than a tenth of their time limit", jobs.size(), all.size()));
    finding.cause =
        "Backfill plans with the limits: jobs that ask for far more time than they need do not fit into the "
        "gaps, and keep others out of them.";
    add_evidence(finding, seen, jobs, "elapsed");
    finding.fix = {"--time near what the job takes (and --time-min), DefaultTime below MaxTime in the partition"};
    finding.loss_unknown = "how long the queue was is not told";
    findings.push_back(std::move(finding));
  }
}

void held_idle(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const Jobs all = slurm_jobs(seen);
    const Jobs jobs = jobs_where(seen, [](const SlurmJob& job) {
      const auto busy = job.facts->number("total_cpu_s");
      const bool ended = job.state != "RUNNING" && job.state != "PENDING" && job.state != "SUSPENDED";
      return ended && job.gpus > 0 && busy && *busy > 0 && job.elapsed_h.value_or(0) >= kIdleHours &&
             *busy < kBusyOfOneCore * *job.elapsed_h * 3600;
    });
    if (jobs.empty()) continue;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, subject_of_jobs(seen, jobs),
                                   fmt::format("{} held GPUs and did nearly nothing on the CPU", jobs_in_words(jobs)));
    finding.confidence = 0.7;
    finding.cause =
        "A job that computes on a GPU keeps at least a part of one core busy launching kernels: these were "
        "asleep, hung, or a notebook nobody sat at.";
    add_evidence(finding, seen, jobs, "total_cpu");
    finding.fix = {"ask its owner; look at the GPU's use for that time in DCGM",
                   "a limit for interactive jobs; end jobs whose GPUs stay at 0 % for an hour"};
    add_lost_hours(finding, observed, jobs, all);
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::span<const Rule> slurm_job_rules() {
  static const std::vector<Rule> rules = {
      {"slurm.node-failed-jobs", "Jobs lost to their node", "work since the last checkpoint is gone",
       "slurm.schedmd.com/sacct.html", node_failed},
      {"slurm.failed-hours", "GPU-hours of jobs that failed", "they gave a checkpoint at best",
       "slurm.schedmd.com/sacct.html", failed_hours},
      {"slurm.timeout-hours", "GPU-hours of jobs that ended at their limit", "work since the last checkpoint is gone",
       "slurm.schedmd.com/sbatch.html", timeout_hours},
      {"slurm.cancelled-hours", "GPU-hours of jobs that were cancelled", "some hung for hours before anybody looked",
       "slurm.schedmd.com/sacct.html", cancelled_hours},
      {"slurm.out-of-memory", "Jobs ran out of host memory", "the job dies and is tried again",
       "slurm.schedmd.com/sacct.html", out_of_memory},
      {"slurm.requeued", "A job was requeued many times", "work is done again and again",
       "slurm.schedmd.com/scontrol.html", requeued},
      {"slurm.never-starts", "Jobs wait for what will not come", "they wait until somebody looks",
       "slurm.schedmd.com/job_reason_codes.html", never_starts},
      {"slurm.request-impossible", "A job asks for more GPUs a node than there are", "it waits for ever",
       "slurm.schedmd.com/job_reason_codes.html", request_impossible},
      {"slurm.few-cpus", "Jobs with one CPU a GPU", "the GPU waits for its data", "slurm.schedmd.com/sbatch.html",
       few_cpus},
      {"slurm.limits-long", "Time limits far above what jobs need", "backfill finds no gaps for them",
       "slurm.schedmd.com/sched_config.html", limits_long},
      {"slurm.held-idle", "Jobs held GPUs and did nothing", "nobody else could use them",
       "slurm.schedmd.com/sacct.html", held_idle},
  };
  return rules;
}

}  // namespace tare
