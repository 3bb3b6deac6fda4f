#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/fabric_port.h"
#include "audit/nccl_job.h"
#include "audit/network_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct BadSetting {
  const char* name;
  const char* value;  // "1"; empty: any
  FindingSeverity severity;
  const char* what;
  std::array<const char*, 3> explains;
};

constexpr BadSetting kBadSettings[] = {
    {"NCCL_IB_DISABLE",
     "1",
     FindingSeverity::kMedium,
     "InfiniBand and RoCE are off: traffic between nodes is TCP",
     {"nccl.socket-transport", "collective.slow", nullptr}},
    {"NCCL_NET",
     "Socket",
     FindingSeverity::kMedium,
     "traffic between nodes is forced to TCP",
     {"nccl.socket-transport", "collective.slow", nullptr}},
    {"NCCL_P2P_DISABLE",
     "1",
     FindingSeverity::kMedium,
     "GPUs of a node do not use NVLink or PCIe P2P",
     {"nccl.shared-memory", "collective.slow", nullptr}},
    {"NCCL_SHM_DISABLE", "1", FindingSeverity::kLow, "GPUs of a node that cannot use P2P go over the network", {}},
    {"NCCL_NET_GDR_LEVEL",
     "0",
     FindingSeverity::kMedium,
     "GPUDirect RDMA is off",
     {"nccl.no-gdrdma", "collective.slow", nullptr}},
    {"NCCL_NET_GDR_LEVEL",
     "LOC",
     FindingSeverity::kMedium,
     "GPUDirect RDMA is off",
     {"nccl.no-gdrdma", "collective.slow", nullptr}},
    {"NCCL_NVLS_ENABLE",
     "0",
     FindingSeverity::kLow,
     "NVLink SHARP is off: an all-reduce in a node has 480 GB/s with it, "
     "360 without (H100)",
     {"collective.slow", nullptr, nullptr}},
    {"NCCL_MAX_NCHANNELS",
     "1",
     FindingSeverity::kMedium,
     "one channel uses one NIC and one SM",
     {"collective.slow", nullptr, nullptr}},
    {"NCCL_MAX_NCHANNELS",
     "2",
     FindingSeverity::kLow,
     "two channels use at most two NICs",
     {"collective.slow", nullptr, nullptr}},
    {"NCCL_PROTO",
     "LL",
     FindingSeverity::kMedium,
     "protocol LL has at most half of the bandwidth for large messages",
     {"collective.slow", nullptr, nullptr}},
    {"NCCL_LAUNCH_MODE", "GROUP", FindingSeverity::kLow, "launches wait for each other", {}},
    {"NCCL_DEBUG", "TRACE", FindingSeverity::kLow, "NCCL logs every call: slow, and the log fills the disk", {}},
    {"NCCL_PXN_DISABLE",
     "1",
     FindingSeverity::kLow,
     "rails cannot pass through a neighbour GPU: all-to-all crosses "
     "the spine",
     {}},
    {"NCCL_CHECK_POINTERS", "1", FindingSeverity::kLow, "every call checks its pointers", {}},
};

void bad_settings(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.all()) {
    if (seen.format->kind != "nccl-debug" && seen.format->kind != "nccl-tests") continue;
    std::set<std::string> said;
    for (const Setting& setting : settings_of(*seen.facts)) {
      for (const BadSetting& bad : kBadSettings) {
        if (setting.name != bad.name || !equals_ignoring_case(setting.value, bad.value)) continue;
        if (!said.insert(setting.name).second) continue;
        const bool alone = reach_of(*seen.facts) == Reach::kOneNode;
        const bool of_network =
            std::string_view(bad.name) != "NCCL_P2P_DISABLE" && std::string_view(bad.name) != "NCCL_NVLS_ENABLE";
        Finding finding = make_finding(rule, alone && of_network ? FindingSeverity::kLow : bad.severity, job_of(seen),
                                       fmt::format("{}: {}", setting_words(setting), bad.what));
        const Accelerator* const gpu = accelerator_of(observed, seen);
        // Consumer cards need it: without, NCCL 2.1x hangs on boards whose driver claims P2P and has none.
        if (setting.name == "NCCL_P2P_DISABLE" && gpu != nullptr && !has_link_domain(gpu)) {
          finding.severity = FindingSeverity::kLow;
        }
        finding.cause = "Set for a test or taken from a guide for other machines, and left.";
        finding.confidence = setting.seen_by_nccl ? 0.9 : 0.6;
        finding.evidence.push_back(evidence_of(seen, setting.line, setting_words(setting)));
        finding.fix = {fmt::format("unset {} and compare: all_reduce_perf -b 1G -e 8G -f 2", setting.name),
                       "look in /etc/nccl.conf, ~/.nccl.conf, the image and the launcher for it"};
        for (const char* const rule_id : bad.explains) {
          if (rule_id != nullptr) finding.consequences.emplace_back(rule_id);
        }
        finding.loss_unknown = "what it takes depends on the machine";
        findings.push_back(std::move(finding));
      }
    }
  }
}

// Loopback, bridges of containers and VMs: other nodes are not there.
bool is_local_interface(std::string_view name) {
  return name == "lo" || name.starts_with("docker") || name.starts_with("virbr") || name.starts_with("cni") ||
         name.starts_with("br-") || name.starts_with("veth") || name.starts_with("lxcbr");
}

void wrong_interface(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord& facts = *seen.facts;
    const std::string bootstrap(facts.text("bootstrap_interface"));
    const std::optional<Setting> wanted = setting_of(facts, "NCCL_SOCKET_IFNAME");
    const bool by_setting = wanted && is_local_interface(wanted->value) && wanted->value != "lo,";
    const bool local = is_local_interface(bootstrap);
    if ((!local && !by_setting) || reach_of(facts) == Reach::kOneNode) continue;
    const std::string name = local ? bootstrap : wanted->value;
    const bool sure = reach_of(facts) == Reach::kSeveralNodes;
    Finding finding = make_finding(rule, sure ? FindingSeverity::kHigh : FindingSeverity::kLow, job_of(seen),
                                   fmt::format("NCCL starts over {}, which no other node can reach", name));
    finding.cause =
        "It is the loopback or the bridge of containers or VMs of this host: the start hangs or is refused.";
    finding.confidence = sure ? 0.9 : 0.5;
    finding.evidence.push_back(evidence_of(seen, local ? line_of_fact(facts, "bootstrap_interface") : wanted->line,
                                           local ? "Bootstrap : Using " + name : setting_words(*wanted)));
    finding.fix = {"NCCL_SOCKET_IFNAME=<interface of the cluster's network>, or =^lo,docker0,virbr0 to leave these out",
                   "ip -br addr on two nodes: the interface must have an address in one network on both"};
    finding.consequences = {"nccl.connection", "nccl.init-incomplete"};
    finding.loss_unknown = "the job does not start: how many GPUs wait is not known";
    findings.push_back(std::move(finding));
  }
}

void settings_differ(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kLow, job_of(seen), "");
    for (const FactRecord* const one : records_of(*seen.facts, "env_differs")) {
      const std::string name(one->text("name"));
      // These may differ with the machine; algorithms and protocols may not.
      const bool harmless = contains(name, "DEBUG") || contains(name, "TOPO") || contains(name, "SOCKET_IFNAME");
      const bool fatal = name == "NCCL_ALGO" || name == "NCCL_PROTO" || contains(name, "NCHANNELS") ||
                         contains(name, "BUFFSIZE") || contains(name, "NTHREADS");
      if (harmless) continue;
      if (fatal) finding.severity = FindingSeverity::kMedium;
      names.push_back(name);
      finding.evidence.push_back(
          evidence_of(seen, one->line,
                      fmt::format("{} is {} and {}", name, one->text("value"), list_names(texts_of(*one, "others")))));
    }
    if (names.empty()) continue;
    finding.title = fmt::format("{} differ{} between ranks", list_names(names), names.size() == 1 ? "s" : "");
    finding.cause = "Ranks that plan differently use other channels or protocols: slow at best, a hang at worst.";
    finding.confidence = 0.7;
    finding.fix = {"set it the same on all nodes: mpirun -x, srun --export, or the image; look for /etc/nccl.conf"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"nccl.setting", "A setting that takes bandwidth",
     "NCCL_… variables left from a test switch transports off, on all nodes and for all jobs of the image.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", bad_settings},
    {"nccl.interface", "The start goes over an interface without neighbours",
     "Loopback, docker0 and virbr0 exist on every node and lead nowhere.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", wrong_interface},
    {"nccl.setting-differs", "Settings that differ between ranks", "All ranks must plan alike.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html", settings_differ},
};

}  // namespace

std::span<const Rule> network_setting_rules() { return kRules; }

}  // namespace tare
