#include <algorithm>
#include <set>

#include "audit/gpu_seen.h"
#include "audit/loss.h"
#include "audit/slurm_hosts.h"
#include "audit/slurm_rules.h"
#include "ingest/scan.h"

#include <fmt/format.h>

namespace tare {
namespace {

constexpr std::size_t kQuoted = 4;  // lines of evidence

// GPUs out are high, nodes without any cost an hour of somebody; planned work and nodes that drain still do something.
FindingSeverity severity_of(const SlurmOutage& outage, FindingSeverity where_unknown) {
  const std::optional<double> lost = gpus_lost(outage);
  const bool planned = outage_kind(outage) == OutageKind::kPlanned || outage.use == HostUse::kMaintenance;
  if (lost && *lost == 0) return FindingSeverity::kLow;
  if (planned || outage.use == HostUse::kDraining) return FindingSeverity::kLow;
  return lost ? FindingSeverity::kHigh : where_unknown;
}

Subject subject_of(const SlurmOutage& outage) {
  const std::string node = outage.members.size() == 1 ? outage.members.front().name : std::string();
  return {"node", node.empty() ? outage.hosts : node, node};
}

void add_loss(Finding& finding, const Observed& observed, const SlurmOutage& outage) {
  finding.gpu = accelerator_of(observed, outage.members);
  if (contains(outage.members.front().gpu_type, "g.")) {
    finding.loss_unknown = "the GPUs counted are MIG slices";
    return;
  }
  const std::optional<double> lost = gpus_lost(outage);
  if (!lost) {
    finding.loss_unknown = "how many GPUs these nodes have is not told";
  } else if (*lost > 0) {
    finding.loss = whole_gpus_lost(*lost, "GRES of the nodes that are out");
  }
}

struct OutageWords {
  const char* title;  // behind the nodes
  const char* cause;
  std::vector<std::string> fix;
  FindingSeverity where_unknown;
};

Finding outage_finding(const Rule& rule, const Observed& observed, const Seen& seen, const SlurmOutage& outage,
                       const OutageWords& words) {
  Finding finding = make_finding(rule, severity_of(outage, words.where_unknown), subject_of(outage),
                                 fmt::format("{}: {}", nodes_in_words(outage), words.title));
  if (!outage.reason.empty() && !contains(finding.title, outage.reason)) finding.title += " (" + outage.reason + ")";
  finding.cause = words.cause;
  const std::string state = outage.members.front().state;
  finding.evidence.push_back(evidence_of(seen, outage.line, outage.reason.empty() ? "state " + state : outage.reason));
  for (const SlurmHost& host : outage.members) {
    if (finding.evidence.size() >= kQuoted || outage.reason.empty() || host.state.empty()) break;
    finding.evidence.push_back(evidence_of(seen, host.line, host.name + " is " + host.state));
  }
  finding.fix = words.fix;
  finding.consequences = {"slurm.idle-with-drain"};
  add_loss(finding, observed, outage);
  return finding;
}

void report_outages(const Rule& rule, const Observed& observed, OutageKind kind, const OutageWords& words,
                    std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const SlurmOutage& outage : slurm_outages(seen)) {
      if (outage_kind(outage) == kind) add_once(findings, outage_finding(rule, observed, seen, outage, words));
    }
  }
}

// Events of a log by what they are called, one finding a node.
template <typename Make>
void report_events(const Observed& observed, std::string_view event, const Make& make) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::set<std::string> nodes;
    for (const FactRecord* const record : records_of(*seen.facts, "events")) {
      if (record->text("event") != event) continue;
      std::string node(record->text("node"));
      if (node.empty()) node = seen.node;
      if (nodes.insert(node).second) make(seen, *record, node);
    }
  }
}

std::string pair_in_words(const FactRecord& event, std::string_view unit) {
  const auto found = event.number("reported");
  const auto wanted = event.number("configured");
  if (!found || !wanted) return {};
  return fmt::format("{:.0f} of {:.0f}{} configured", *found, *wanted, unit);
}

Finding event_finding(const Rule& rule, FindingSeverity severity, const Seen& seen, const FactRecord& event,
                      const std::string& node, std::string title) {
  Finding finding = make_finding(rule, severity, {"node", node, node}, std::move(title));
  finding.evidence.push_back(evidence_of(seen, event.line, std::string(event.text("message"))));
  return finding;
}

const char* const kGresCause =
    "slurmd counts fewer GPUs than slurm.conf says, so slurmctld takes the whole node away: a GPU or its driver is "
    "gone, MIG was changed, or slurmd started before the driver was there.";
std::vector<std::string> gres_fix() {
  return {"on the node: nvidia-smi -L; slurmd -G - and compare with Gres= of the NodeName line",
          "fewer in nvidia-smi too: look for Xid 79 in dmesg, reboot or replace the GPU",
          "all there: systemctl restart slurmd (it started before the driver), or correct Gres= and gres.conf after a "
          "change of MIG",
          "scontrol update nodename=NODE state=resume"};
}

void gres_count(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const SlurmOutage& outage : slurm_outages(seen)) {
      if (outage_kind(outage) != OutageKind::kGresCount) continue;
      Finding finding = outage_finding(rule, observed, seen, outage,
                                       {"fewer GPUs than configured", kGresCause, gres_fix(), FindingSeverity::kHigh});
      if (finding.severity == FindingSeverity::kLow && outage.use == HostUse::kDraining)
        finding.severity = FindingSeverity::kMedium;
      add_once(findings, std::move(finding));
    }
  }
  report_events(observed, "gres_count_low", [&](const Seen& seen, const FactRecord& event, const std::string& node) {
    if (contains(event.text("message"), "gres/") && !contains(event.text("message"), "gres/gpu")) return;
    Finding finding = event_finding(rule, FindingSeverity::kHigh, seen, event, node, "");
    const std::string counts = pair_in_words(event, " GPUs");
    finding.title = node + (counts.empty() ? ": fewer GPUs than configured" : ": " + counts + " were found");
    finding.cause = kGresCause;
    finding.fix = gres_fix();
    if (const auto wanted = event.number("configured")) {
      finding.expected = fmt::format("{:.0f} gres/gpu", *wanted);
      if (const auto found = event.number("reported")) finding.measured = fmt::format("{:.0f} gres/gpu", *found);
      finding.loss = whole_gpus_lost(*wanted, "gres/gpu configured: the node is drained as a whole");
    } else {
      finding.loss_unknown = "how many GPUs the node has is not told";
    }
    add_once(findings, std::move(finding));
  });
}

const char* const kMemoryCause =
    "RealMemory of slurm.conf is above what the node reports; Slurm drains a node that has less than it should. "
    "Instances of a cloud and kernel updates leave less than the nominal size.";
std::vector<std::string> memory_fix() {
  return {"on the node: slurmd -C, take its RealMemory less 1 to 2 GB into the NodeName line",
          "SlurmdParameters=config_overrides takes the configured size as it is, where it is really there",
          "a DIMM may have failed: compare with dmidecode -t memory and the other nodes",
          "scontrol reconfigure; scontrol update nodename=NODE state=resume"};
}

void real_memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_outages(rule, observed, OutageKind::kRealMemory,
                 {"drained, less memory than configured", kMemoryCause, memory_fix(), FindingSeverity::kHigh},
                 findings);
  report_events(observed, "low_real_memory", [&](const Seen& seen, const FactRecord& event, const std::string& node) {
    Finding finding = event_finding(rule, FindingSeverity::kHigh, seen, event, node, "");
    const std::string counts = pair_in_words(event, " MB");
    finding.title = node + ": " + (counts.empty() ? "less memory than configured" : counts + " are there");
    finding.cause = kMemoryCause;
    finding.fix = memory_fix();
    if (const auto wanted = event.number("configured")) finding.expected = fmt::format("{:.0f} MB", *wanted);
    if (const auto found = event.number("reported")) finding.measured = fmt::format("{:.0f} MB", *found);
    finding.loss_unknown = "how many GPUs the node has is not told";
    add_once(findings, std::move(finding));
  });
}

const char* const kHardwareCause =
    "The sockets, cores or disk of the NodeName line are not those of the machine. Slurm drains the node, or places "
    "tasks on cores that are not where it thinks: affinity to GPUs and NICs is lost.";
std::vector<std::string> hardware_fix() {
  return {"on the node: slurmd -C, and put its Sockets, CoresPerSocket and ThreadsPerCore into slurm.conf",
          "compare with lscpu: SMT or a sub-NUMA mode may have changed in the BIOS",
          "scontrol reconfigure; scontrol update nodename=NODE state=resume"};
}

void hardware(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_outages(rule, observed, OutageKind::kHardware,
                 {"drained, other hardware than configured", kHardwareCause, hardware_fix(), FindingSeverity::kMedium},
                 findings);
  for (const char* const name : {"differs_from_hardware", "low_cpu_count", "low_socket_core_count", "low_tmp_disk"}) {
    report_events(observed, name, [&](const Seen& seen, const FactRecord& event, const std::string& node) {
      Finding finding = event_finding(rule, FindingSeverity::kMedium, seen, event, node,
                                      node + (node.empty() ? "" : ": ") + "configured otherwise than the machine is");
      if (const auto wanted = event.integer("sockets_per_board_configured")) {
        finding.expected = fmt::format("{} sockets", event.integer("sockets_per_board_found").value_or(0));
        finding.measured = fmt::format("{} in slurm.conf", *wanted);
      }
      finding.cause = kHardwareCause;
      finding.fix = hardware_fix();
      finding.loss_unknown = "what a wrong binding costs depends on the job";
      add_once(findings, std::move(finding));
    });
  }
}

void kill_task(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const OutageWords words{
      "processes of a job could not be killed",
      "Processes hang in the kernel, mostly on a file system or on a GPU whose driver does not answer; Slurm drains "
      "the node after UnkillableStepTimeout.",
      {"on the node: ps -eo pid,stat,wchan:30,cmd | grep ' D'; dmesg -T | grep -iE 'xid|hung|nfs|lustre'",
       "reboot when processes stay in state D, then scontrol update nodename=NODE state=resume",
       "UnkillableStepTimeout=180 or more where the file system is slow to let go"},
      FindingSeverity::kMedium};
  report_outages(rule, observed, OutageKind::kKillTask, words, findings);
  report_events(observed, "kill_task_failed", [&](const Seen& seen, const FactRecord& event, const std::string& node) {
    Finding finding = event_finding(rule, FindingSeverity::kMedium, seen, event, node, node + ": " + words.title);
    finding.cause = words.cause;
    finding.fix = words.fix;
    finding.loss_unknown = "how many GPUs the node has is not told";
    add_once(findings, std::move(finding));
  });
}

void prolog(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_outages(rule, observed, OutageKind::kProlog,
                 {"prolog, epilog or health check failed",
                  "The script that prepares or checks the node ended with an error, so Slurm took the node out and the "
                  "job was requeued. On GPU nodes it is often the check of the GPUs.",
                  {"read the script's log on the node: journalctl -u slurmd, /var/log/slurm/",
                   "run it by hand as root; check nvidia-smi, mounts and DNS that it uses",
                   "scontrol update nodename=NODE state=resume"},
                  FindingSeverity::kMedium},
                 findings);
}

void gpu_reason(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_outages(rule, observed, OutageKind::kGpu,
                 {"out because of a GPU",
                  "Whoever drained it, a person or a health check, names a GPU, its link or its driver.",
                  {"on the node: dmesg -T | grep -i xid; nvidia-smi -q; dcgmi diag -r 3",
                   "reset (nvidia-smi -r) or reboot where the driver says so; else open a case with the vendor",
                   "resume only after a full diagnosis: scontrol update nodename=NODE state=resume"},
                  FindingSeverity::kHigh},
                 findings);
}

void rebooted(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const OutageWords words{
      "rebooted without Slurm's order",
      "The node came back from a reboot that Slurm did not ask for: power, a kernel panic, a machine check or a "
      "person. Its jobs died, and with ReturnToService below 2 it stays down until somebody resumes it.",
      {"last -x reboot; journalctl -b -1 -e; ipmitool sel list: find out why it went",
       "scontrol update nodename=NODE state=resume once the cause is known"},
      FindingSeverity::kMedium};
  report_outages(rule, observed, OutageKind::kRebooted, words, findings);
  report_events(observed, "node_rebooted", [&](const Seen& seen, const FactRecord& event, const std::string& node) {
    Finding finding = event_finding(rule, FindingSeverity::kMedium, seen, event, node, node + ": " + words.title);
    finding.cause = words.cause;
    finding.fix = words.fix;
    finding.loss_unknown = "how long the node was away is not told";
    add_once(findings, std::move(finding));
  });
}

const char* const kSilentCause =
    "slurmctld gets no answer from slurmd: the node is off, its network is down, slurmd has died, or the machine is "
    "too busy to answer.";
std::vector<std::string> silent_fix() {
  return {"ping NODE; ssh NODE systemctl status slurmd; journalctl -u slurmd -e",
          "the same slurm.conf and munge key as the controller, clocks in step",
          "over the BMC when it does not answer: ipmitool chassis power status; sel list"};
}

// Nodes that a log loses and does not see again.
void silent_in_logs(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::vector<std::pair<std::string, const FactRecord*>> silent;
    for (const FactRecord* const event : records_of(*seen.facts, "events")) {
      const std::string node(event->text("node"));
      if (event->text("event") == "node_not_responding" && !node.empty()) silent.emplace_back(node, event);
      if (event->text("event") == "node_responding" || event->text("event") == "node_returned")
        std::erase_if(silent, [&node](const auto& one) { return one.first == node; });
    }
    for (const auto& [node, event] : silent) {
      Finding finding = event_finding(rule, FindingSeverity::kMedium, seen, *event, node, node + " does not respond");
      finding.cause = kSilentCause;
      finding.fix = silent_fix();
      finding.loss_unknown = "how many GPUs the node has is not told";
      add_once(findings, std::move(finding));
    }
  }
}

void not_responding(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_outages(rule, observed, OutageKind::kNotResponding,
                 {"not responding", kSilentCause, silent_fix(), FindingSeverity::kMedium}, findings);
  silent_in_logs(rule, observed, findings);
}

void node_out(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const OutageKind kind : {OutageKind::kOther, OutageKind::kPlanned}) {
    for (const Seen& seen : observed.of_kind("slurm")) {
      for (const SlurmOutage& outage : slurm_outages(seen)) {
        // Rows of sinfo without a reason: how much of a partition is gone is said there.
        if (outage_kind(outage) != kind || (outage.reason.empty() && !records_of(*seen.facts, "partitions").empty()))
          continue;
        const bool planned = kind == OutageKind::kPlanned;
        Finding finding =
            outage_finding(rule, observed, seen, outage,
                           {outage.use == HostUse::kDraining ? "draining"
                            : planned                        ? "out for work on it"
                                                             : "out of use",
                            planned ? "Somebody took it out for work on it. It costs what it costs until it is resumed."
                                    : "No new job starts on it; a node that drains still ends those it has.",
                            {"sinfo -R -o '%20E %12u %19H %N': who took it out, when and why",
                             "scontrol update nodename=NODE state=resume when the reason is gone"},
                            FindingSeverity::kMedium});
        add_once(findings, std::move(finding));
      }
    }
  }
}

void idle_with_drain(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const std::string_view state = node->text("state_name");
      if (!state.starts_with("idle+") || host_use(*node) != HostUse::kOut) continue;
      const std::string name(node->text("name"));
      Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", name, name},
                                     fmt::format("{} says {}, which is not idle", name, node->text("state")));
      finding.cause = "The flag behind the plus counts: the node runs nothing, and nothing will start on it.";
      finding.evidence.push_back(
          evidence_of(seen, line_of(*node, "state"), fmt::format("State={}", node->text("state"))));
      add_once(findings, std::move(finding));
    }
  }
}

}  // namespace

std::span<const Rule> slurm_node_rules() {
  static const std::vector<Rule> rules = {
      {"slurm.gres-count", "Slurm finds fewer GPUs than configured",
       "the node is drained as a whole, whatever is left of its GPUs",
       "awsome-distributed-ai#195, puppet-magic_castle#361", gres_count},
      {"slurm.real-memory", "A node has less memory than slurm.conf says", "Slurm drains it",
       "clusterinthecloud#11, parallelcluster#1517", real_memory},
      {"slurm.hardware-differs", "Cores, sockets or disk are not those configured",
       "the node drains, or tasks are bound to the wrong cores", "aws-parallelcluster#5797", hardware},
      {"slurm.kill-task", "Processes of a job could not be killed", "the node is drained until somebody looks",
       "slurm.schedmd.com/faq.html", kill_task},
      {"slurm.prolog", "Prolog, epilog or health check failed", "the node is drained and its job requeued",
       "slurm.schedmd.com/prolog_epilog.html", prolog},
      {"slurm.gpu-reason", "A node is out because of a GPU", "all its GPUs are away for one",
       "slurm.schedmd.com/sinfo.html", gpu_reason},
      {"slurm.rebooted", "A node rebooted without Slurm's order", "its jobs died and it stays down",
       "slurm.schedmd.com/slurm.conf.html", rebooted},
      {"slurm.not-responding", "A node does not respond", "its jobs end in NODE_FAIL",
       "slurm.schedmd.com/troubleshoot.html", not_responding},
      {"slurm.node-out", "A node is drained or down", "its GPUs do nothing", "slurm.schedmd.com/sinfo.html", node_out},
      {"slurm.idle-with-drain", "IDLE+DRAIN is not idle", "monitors that look at the first word count it as free",
       "slurm.schedmd.com/sinfo.html", idle_with_drain},
  };
  return rules;
}

}  // namespace tare
