#include <fmt/format.h>

#include <algorithm>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/log_events.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr const char* kLostProgress = "what the program lost since its last checkpoint is not known";

std::string times(std::size_t count) { return count > 1 ? fmt::format(", {} times", count) : std::string(); }

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) { return contains(text, part); });
}

// What people train and serve with: an interpreter or launcher, not a tool beside it.
bool is_workload(std::string_view process) {
  const std::string name = to_lower(process);
  return contains_any(name, {"python", "pt_", "ray::", "torchrun", "train", "vllm", "sglang", "triton", "mpirun",
                             "megatron", "deepspeed", "worker", "julia", "lmdeploy", "llama"});
}

void oom(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [process, events] : events_by(seen, "oom_kills", "process")) {
      const FactRecord& first = *events.front();
      const bool limit = is_true(first, "cgroup_limit");
      const std::string name = process.empty() ? "a process" : process;
      const auto rss_kb = first.number("anon_rss_kb");
      Finding finding =
          make_finding(rule, is_workload(process) || process.empty() ? FindingSeverity::kMedium : FindingSeverity::kLow,
                       {"job", name, node_of(seen)},
                       fmt::format("the kernel killed {} for want of {}{}", name,
                                   limit ? "memory within its limit" : "memory", times(events.size())));
      finding.evidence.push_back(
          evidence_of(seen, first.line,
                      fmt::format("killed process {} ({})", first.integer("pid").value_or(0), name) +
                          (rss_kb ? fmt::format(", {:.1f} GiB resident", *rss_kb / 1024 / 1024) : "")));
      if (rss_kb) finding.measured = fmt::format("{:.1f} GiB resident", *rss_kb / 1024 / 1024);
      finding.cause = limit ? "The container's or job's memory limit is below what it needs."
                            : "The node ran out of memory: data loader workers, pinned buffers or a leak.";
      finding.fix = {limit ? "raise the memory limit of pod or job (host memory, not the GPU's)"
                           : "ask for more memory per job, or fewer data loader workers and pinned buffers",
                     "watch resident memory over the steps: one that grows is a leak"};
      finding.loss_unknown = kLostProgress;
      finding.consequences = {"health.xid-cleanup"};
      add_once(findings, std::move(finding));
    }
  }
}

void segfault(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [process, events] : events_by(seen, "segfaults", "process")) {
      const FactRecord& first = *events.front();
      const std::string library(first.text("library"));
      const bool gpu_library = contains_any(
          library, {"libnccl", "libcuda", "libtorch", "libc10", "libcudnn", "libcublas", "libnv", "libibverbs",
                    "libmlx5", "librccl", "libhip", "librdma", "libucp", "libuct", "libmpi", "libfabric"});
      const std::string name = process.empty() ? "a process" : process;
      Finding finding = make_finding(
          rule, gpu_library || is_workload(process) ? FindingSeverity::kMedium : FindingSeverity::kLow,
          {"job", name, node_of(seen)},
          fmt::format("{} crashed{}{}", name, library.empty() ? "" : " in " + library, times(events.size())));
      finding.evidence.push_back(evidence_of(seen, first.line,
                                             fmt::format("{}[{}]: {}{}", name, first.integer("pid").value_or(0),
                                                         first.text("kind").empty() ? "segfault" : first.text("kind"),
                                                         library.empty() ? "" : " in " + library)));
      finding.cause = contains(library, "libnccl")
                          ? "A crash in NCCL: mostly another rank or link failed first, or library versions do not fit."
                          : "The process touched memory that is not its own; the kernel ended it.";
      finding.fix = {
          "look at the program's own log of that minute, and at other nodes: the first to fail is the cause",
          "compare the versions of NCCL, CUDA and driver over the ranks; keep a core file (ulimit -c unlimited)"};
      finding.confidence = 0.8;
      finding.loss_unknown = kLostProgress;
      finding.consequences = {"health.xid-cleanup"};
      add_once(findings, std::move(finding));
    }
  }
}

void panic(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    const std::vector<const FactRecord*> panics = records_of(*seen.facts, "panics");
    if (panics.empty()) continue;
    Finding finding = make_finding(rule, FindingSeverity::kHigh, {"node", node_of(seen), node_of(seen)},
                                   fmt::format("the kernel crashed: {}", panics.front()->text("text").substr(0, 90)));
    for (const FactRecord* const one : panics) {
      if (finding.evidence.size() < 4)
        finding.evidence.push_back(evidence_of(seen, one->line, std::string(one->text("text"))));
    }
    finding.cause = "A fault in the kernel or one of its drivers, or in hardware, stopped the node or left it unsafe.";
    finding.fix = {
        "read the call trace below it: the first function of a driver is the suspect",
        "restart the node; look for machine checks and PCIe errors shortly before; update kernel and driver"};
    finding.loss_unknown = "how long the node was out is not known";
    add_once(findings, std::move(finding));
  }
}

void stall(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    const std::vector<const FactRecord*> lockups = records_of(*seen.facts, "lockups");
    const std::vector<const FactRecord*> hung = records_of(*seen.facts, "hung_tasks");
    if (lockups.empty() && hung.empty()) continue;
    const bool hard = any_text_has(lockups, {"hard LOCKUP"});
    std::vector<std::string> names;
    for (const FactRecord* const task : hung) {
      const std::string name(task->text("process"));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    const std::string what = lockups.empty() ? fmt::format("{} hung for minutes", list_names(names))
                                             : "a CPU of the node does not come back to the scheduler";
    Finding finding = make_finding(rule, hard ? FindingSeverity::kHigh : FindingSeverity::kMedium,
                                   {"node", node_of(seen), node_of(seen)}, what);
    for (const FactRecord* const one : lockups) {
      if (finding.evidence.size() < 2)
        finding.evidence.push_back(evidence_of(seen, one->line, std::string(one->text("text"))));
    }
    for (const FactRecord* const one : hung) {
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(evidence_of(seen, one->line, fmt::format("task {} blocked", one->text("process"))));
      }
    }
    finding.cause =
        lockups.empty()
            ? "Processes wait in the kernel for a disk, a network file system or a device that does not answer."
            : "A driver or the firmware holds a CPU: jobs on the node stop or run in jerks.";
    finding.fix = {"read the call trace below the line: nfs, lustre, nvme or nvidia in it names what does not answer",
                   "check the mounts (df, nfsstat, lfs check servers) and the devices it names"};
    finding.confidence = 0.8;
    finding.loss_unknown = "how long the processes waited is not known";
    add_once(findings, std::move(finding));
  }
}

// Corrected errors in a log that are more than a stray one: a module that degrades. DIMM vendors replace at some tens a
// day; a thousand in one log is far past that.
constexpr std::int64_t kManyCorrected = 1000;

void dimm(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [where, events] : events_by(seen, "memory_errors", "where")) {
      std::int64_t corrected = 0, uncorrected = 0;
      for (const FactRecord* const one : events) {
        (is_true(*one, "corrected") ? corrected : uncorrected) +=
            std::max<std::int64_t>(1, one->integer("count").value_or(1));
      }
      const std::string name = where.empty() ? std::string(events.front()->text("controller")) : where;
      const FindingSeverity severity = uncorrected > 0               ? FindingSeverity::kHigh
                                       : corrected >= kManyCorrected ? FindingSeverity::kMedium
                                                                     : FindingSeverity::kLow;
      Finding finding = make_finding(
          rule, severity, {"node", name, node_of(seen)},
          fmt::format("host memory at {}: {} uncorrected and {} corrected errors", name, uncorrected, corrected));
      finding.evidence.push_back(evidence_of(seen, events.front()->line, std::string(events.front()->text("text"))));
      finding.cause = "A memory module of the host degrades (not the GPU's memory).";
      finding.fix = {"edac-util -v, or the BMC's event log, for the slot; replace the module at the next maintenance",
                     "uncorrected: drain the node now"};
      finding.confidence = 0.95;
      if (severity == FindingSeverity::kHigh) finding.loss_unknown = "how long the node is out is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void machine_check(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    const std::vector<const FactRecord*> checks = records_of(*seen.facts, "machine_checks");
    if (checks.empty()) continue;
    const bool bad = any_text_has(checks, {"Uncorrected", "uncorrected", "severity: fatal", "severity: recoverable",
                                           "Machine Check Exception", "Fatal", "Processor context corrupt"});
    const FactRecord& first = *checks.front();
    Finding finding =
        make_finding(rule, bad ? FindingSeverity::kHigh : FindingSeverity::kLow, {"node", node_of(seen), node_of(seen)},
                     fmt::format("{} lines of {} hardware errors (machine checks)", event_count(seen, "machine_checks"),
                                 bad ? "uncorrected" : "corrected"));
    finding.evidence.push_back(evidence_of(seen, first.line, std::string(first.text("text"))));
    finding.cause = "CPU, memory controller or a bus of the host reports errors of its own.";
    finding.fix = {"ras-mc-ctl --errors or mcelog to decode them; the BMC's event log names the part",
                   "uncorrected: drain the node and have the part replaced"};
    finding.confidence = 0.85;
    if (bad) finding.loss_unknown = "how long the node is out is not known";
    add_once(findings, std::move(finding));
  }
}

void cpu_throttled(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  // A few are a burst of load; many are a fan, the air or a power limit.
  constexpr std::size_t kMany = 20;
  for (const Seen& seen : observed.of_kind("dmesg")) {
    std::vector<const FactRecord*> hot;
    for (const FactRecord* const one : records_of(*seen.facts, "thermal")) {
      const std::string_view text = one->text("text");
      if (!contains(text, "normal") && !contains(text, "mlx")) hot.push_back(one);
    }
    if (hot.empty()) continue;
    Finding finding =
        make_finding(rule, hot.size() >= kMany ? FindingSeverity::kMedium : FindingSeverity::kLow,
                     {"node", node_of(seen), node_of(seen)},
                     fmt::format("the host's CPUs ran too hot and were slowed, {} times in the log", hot.size()));
    finding.evidence.push_back(evidence_of(seen, hot.front()->line, std::string(hot.front()->text("text"))));
    finding.cause = "Cooling of the host is too weak: data loading and launches slow down with the CPU.";
    finding.fix = {"ipmitool sdr type Fan; ipmitool sdr type Temperature: fans, inlet air, heat sinks",
                   "compare with the neighbours in the rack: all of them means the air, one of them the node"};
    finding.confidence = 0.8;
    finding.loss_unknown = "how much of a step waits for the CPU is not known";
    add_once(findings, std::move(finding));
  }
}

void disk(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [device, events] : events_by(seen, "storage_errors", "device")) {
      const bool gone = any_text_has(events, {"read-only", "hutdown", "hutting down", "Removing", "is down",
                                              "critical medium", "orruption", "Removing after probe failure"});
      std::string name = device.empty() ? "a file system" : device;
      while (!name.empty() && name.back() == ':') name.pop_back();
      Finding finding = make_finding(
          rule, gone ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"disk", name, node_of(seen)},
          fmt::format("{}: {} errors{}", name, events.size(), gone ? ", and it is gone or read-only" : ""));
      finding.evidence.push_back(evidence_of(seen, events.front()->line, std::string(events.front()->text("text"))));
      finding.cause = "The disk or its link fails: reads of data and writes of checkpoints stall or fail.";
      finding.fix = {"smartctl -a or nvme smart-log of the device; check its slot and cable",
                     "move data and checkpoints off it, replace it"};
      finding.confidence = 0.85;
      finding.loss_unknown = "how much of the work waits for this disk is not known";
      add_once(findings, std::move(finding));
    }
  }
}

constexpr Rule kRules[] = {
    {"health.oom-killed", "The kernel killed a process for want of memory",
     "The job ends without a word of its own; the reason stands only in the kernel's log.", "Linux admin-guide/mm",
     oom},
    {"health.segfault", "A process crashed",
     "A segmentation fault in a training process or in a library of GPU, network or MPI ends the whole job.",
     "leptonai/gpud nccl component", segfault},
    {"health.kernel-panic", "The kernel crashed", "Panic, oops or BUG: the node is out or unsafe.",
     "Linux admin-guide/bug-hunting", panic},
    {"health.kernel-stall", "Processes or CPUs hang in the kernel",
     "Tasks blocked for minutes, soft and hard lockups: storage, file system or a driver does not answer.",
     "Linux admin-guide/lockup-watchdogs", stall},
    {"health.dimm-errors", "Errors of the host's memory",
     "EDAC counts: uncorrected ones stop the node, many corrected "
     "ones announce it.",
     "Linux driver-api/edac", dimm},
    {"health.machine-check", "Machine checks", "The CPU reports hardware errors; uncorrected ones stop the node.",
     "Linux arch/x86/machinecheck", machine_check},
    {"health.cpu-throttled", "The CPU was slowed by heat", "Kernel messages of CPU clock throttling.",
     "Linux thermal_throttle", cpu_throttled},
    {"health.disk-errors", "A disk fails",
     "I/O errors, NVMe timeouts, file systems that shut down, in the kernel's log.", "Linux block layer", disk},
};

}  // namespace

std::span<const Rule> kernel_rules() { return kRules; }

}  // namespace tare
