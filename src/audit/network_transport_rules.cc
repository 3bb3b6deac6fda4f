#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/loss.h"
#include "audit/nccl_job.h"
#include "audit/network_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// What TCP is to RDMA, where nobody measured: threads in #952 and #226 of NCCL report a quarter to a tenth.
constexpr double kSocketSlowdown = 5;
// GPUDirect RDMA missing: 33 instead of 93 GB/s (nccl#1412).
constexpr double kStagedSlowdown = 2.8;

bool is_socket(std::string_view network) {
  return equals_ignoring_case(network, "Socket") || network.starts_with("NET/Socket") ||
         equals_ignoring_case(network, "FastSocket");
}

bool is_rdma(std::string_view network) {
  return contains(network, "IB") || contains(network, "OFI") || contains(network, "Libfabric") ||
         contains(network, "EFA") || contains(network, "RoCE") || contains(network, "UCX");
}

void lose_communication(Finding& finding, const Observed& observed, const Seen& seen, const FormulaInput& share,
                        double slowdown, const char* source) {
  const std::optional<double> gpus = gpus_of_job(observed, seen);
  if (gpus) {
    finding.loss = slower_communication(share, slowdown, source, *gpus, "ranks of the job");
  } else {
    finding.loss_unknown = "how many GPUs the job has is not known";
  }
}

// A text of the log or of the commands around it, for the cause: "NCCL_IB_DISABLE=1".
std::string setting_words(const Setting& setting) { return setting.name + "=" + setting.value; }

std::string why_socket(const Seen& seen) {
  if (is_set_to_one(*seen.facts, "NCCL_IB_DISABLE")) return "NCCL_IB_DISABLE=1 switches InfiniBand and RoCE off.";
  const std::optional<Setting> net = setting_of(*seen.facts, "NCCL_NET");
  if (net && is_socket(net->value)) return "NCCL_NET=Socket asks for it.";
  if (seen.facts->number("hosts_without_ib_device").value_or(0) > 0) {
    return "NCCL found no RDMA device: no driver, no /dev/infiniband in the container, or a cloud network that needs "
           "its "
           "plugin (EFA: aws-ofi-nccl, Google: gIB or TCPX).";
  }
  return "NCCL lists TCP interfaces only: the RDMA devices or the network plugin are not in the container.";
}

std::vector<std::string> fix_socket() {
  return {
      "ibv_devinfo in the container: no device means --device=/dev/infiniband (Kubernetes: the RDMA device plugin), "
      "IPC_LOCK and unlimited memlock",
      "AWS: install the EFA driver and aws-ofi-nccl, ask for vpc.amazonaws.com/efa; the log then says NET/OFI",
      "unset NCCL_IB_DISABLE and NCCL_NET; NCCL_DEBUG=INFO must say NET/IB : Using … and Using network IB"};
}

bool lists_rdma(const FactRecord& facts) {
  if (facts.has("nics")) return true;
  for (const FactRecord* const plugin : records_of(facts, "plugins")) {
    const std::string_view message = plugin->text("message");
    if (message.starts_with("NET/OFI") || contains(message, "gIB") || contains(message, "FasTrak")) return true;
  }
  return false;
}

void socket_transport(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord& facts = *seen.facts;
    const FactRecord* const transports = facts.find_record("transports");
    double socket_links = 0;
    std::int64_t line = line_of_fact(facts, "network");
    if (transports != nullptr) {
      for (const auto& [name, count] : transports->members()) {
        if (name.starts_with("NET/Socket")) socket_links += count.number().value_or(0);
      }
      if (socket_links > 0 && !facts.has("network")) line = line_of_fact(facts, "links");
    }
    const bool inferred = is_true(facts, "network_inferred");
    const bool chosen = is_socket(facts.text("network")) && !lists_rdma(facts);
    if (!chosen && socket_links == 0) continue;
    const Reach reach = socket_links > 0 ? Reach::kSeveralNodes : reach_of(facts);
    Finding finding = make_finding(rule, FindingSeverity::kHigh, job_of(seen), "");
    const std::optional<double> hosts = facts.number("host_count");
    finding.evidence.push_back(evidence_of(
        seen, line,
        socket_links > 0
            ? fmt::format("{:g} links over NET/Socket", socket_links)
            : fmt::format("network {}{}: {}", facts.text("network"), inferred ? " (by the devices listed)" : "",
                          list_names(texts_of(facts, "socket_interfaces")))));
    if (reach == Reach::kOneNode) {
      finding.severity = FindingSeverity::kInfo;
      finding.title = "NET/Socket on a single node: its GPUs do not use the network";
      finding.cause = "Within a node NCCL uses NVLink, PCIe or shared memory; the socket is for the start only.";
      finding.confidence = 0.9;
      findings.push_back(std::move(finding));
      continue;
    }
    // "NET/Socket : Using" comes before the RDMA devices are looked for: an excerpt may end in between.
    const bool said = !inferred || facts.number("hosts_without_ib_device").value_or(0) > 0;
    const bool sure = reach == Reach::kSeveralNodes && said;
    const Accelerator* const gpu = accelerator_of(observed, seen);
    const bool perhaps_desk = reach == Reach::kUnknown && (hosts == 1 || (gpu != nullptr && is_consumer_card(*gpu)));
    finding.severity = sure ? FindingSeverity::kHigh : perhaps_desk ? FindingSeverity::kLow : FindingSeverity::kMedium;
    finding.title = sure && hosts && *hosts > 1
                        ? fmt::format("{:g} nodes talk over TCP sockets instead of RDMA", *hosts)
                        : std::string("NCCL talks over TCP sockets between nodes instead of RDMA");
    if (!sure) finding.title = "NCCL lists TCP sockets and no RDMA device: between nodes it talks over TCP";
    finding.cause = why_socket(seen);
    finding.expected = "NET/IB, or the cloud's RDMA plugin";
    finding.measured = "NET/Socket";
    finding.confidence = perhaps_desk ? 0.4 : !sure ? 0.55 : inferred ? 0.8 : 0.95;
    finding.fix = fix_socket();
    finding.consequences = {"collective.slow", "collective.collapse", "nccl.no-gdrdma"};
    lose_communication(finding, observed, seen, observed.setting().inter_node_comm_share, kSocketSlowdown,
                       "TCP against RDMA: nccl#952, nccl#226");
    if (!sure) {
      finding.loss.reset();
      finding.loss_unknown = "whether the job runs on several nodes over TCP is not certain";
    }
    findings.push_back(std::move(finding));
  }
}

// Links of a direction over an RDMA network, with and without GPUDirect.
struct NetLinks {
  std::size_t with = 0, without = 0;
  std::size_t receive_without = 0;
  const FactRecord* first_without = nullptr;
};

NetLinks net_links(const FactRecord& facts) {
  NetLinks links;
  for (const FactRecord* const link : records_of(facts, "links")) {
    const std::string_view transport = link->text("transport");
    if (!transport.starts_with("NET/") || !is_rdma(transport)) continue;
    if (contains(transport, "GDRDMA")) {
      ++links.with;
      continue;
    }
    ++links.without;
    if (link->text("direction") == "receive") ++links.receive_without;
    if (links.first_without == nullptr) links.first_without = link;
  }
  return links;
}

void no_gdrdma(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord& facts = *seen.facts;
    const NetLinks links = net_links(facts);
    const double disabled = facts.number("gpu_direct_rdma_disabled_lines").value_or(0);
    const double enabled = facts.number("gpu_direct_rdma_enabled_lines").value_or(0);
    const bool none = links.without > 0 && links.with == 0;
    const bool said = links.with + links.without == 0 && disabled > 0 && enabled == 0;
    // Sending without it and receiving with it is NCCL's choice where the GPU reads over PCIe (NCCL_NET_GDR_READ).
    const bool some = links.with > 0 && links.receive_without > 0;
    if (!none && !said && !some) continue;
    const Accelerator* const gpu = accelerator_of(observed, seen);
    const bool consumer = gpu != nullptr && is_consumer_card(*gpu);
    Finding finding = make_finding(rule, some ? FindingSeverity::kLow : FindingSeverity::kMedium, job_of(seen), "");
    if (consumer) finding.severity = FindingSeverity::kInfo;
    finding.title = said   ? "GPUDirect RDMA is disabled for all NICs"
                    : some ? fmt::format("{} of {} receiving links between nodes lack GPUDirect RDMA",
                                         links.receive_without, links.with + links.without)
                           : fmt::format("none of {} links between nodes uses GPUDirect RDMA", links.without);
    finding.cause = consumer
                        ? "GeForce cards cannot do GPUDirect RDMA: data goes through the host's memory, as it must."
                        : "Data goes through the host's memory: nvidia-peermem is not loaded and there is no DMA-BUF, "
                          "or the NIC is further from the GPU than NCCL_NET_GDR_LEVEL allows.";
    const std::optional<Setting> level = setting_of(facts, "NCCL_NET_GDR_LEVEL");
    if (level) finding.cause += " The log has " + setting_words(*level) + ".";
    finding.expected = "via NET/IB/…/GDRDMA";
    finding.measured = said ? "GPU Direct RDMA Disabled" : std::string(links.first_without->text("transport"));
    finding.confidence = some ? 0.6 : 0.9;
    finding.evidence.push_back(
        said ? evidence_of(seen, line_of_fact(facts, "gpu_direct_rdma_disabled_lines"), "GPU Direct RDMA Disabled")
             : evidence_of(seen, links.first_without->line, std::string(links.first_without->text("transport"))));
    if (!consumer) {
      finding.fix = {
          "modprobe nvidia-peermem; lsmod | grep peermem (or a kernel and driver with DMA-BUF: 5.12, 515)",
          "unset NCCL_NET_GDR_LEVEL, or set it to PHB or SYS to allow a NIC behind the CPU",
          "switch ACS off or set ATS in a VM: GPU and NIC must reach each other; then look for GDRDMA in the log"};
      finding.consequences = {"collective.slow"};
      if (some) {
        finding.loss_unknown = "how much goes over those links is not known";
      } else {
        lose_communication(finding, observed, seen, observed.setting().inter_node_comm_share, kStagedSlowdown,
                           "33 of 93 GB/s: nccl#1412");
      }
    }
    findings.push_back(std::move(finding));
  }
}

void gdrdma_in_use(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const NetLinks links = net_links(*seen.facts);
    if (links.with == 0 || links.receive_without > 0) continue;
    const std::vector<Fact>* const nics = seen.facts->find_list("nic_indices");
    Finding finding = make_finding(rule, FindingSeverity::kInfo, job_of(seen), "");
    finding.title = fmt::format("links between nodes use GPUDirect RDMA ({} of {}) over {} NICs", links.with,
                                links.with + links.without, nics == nullptr ? 0 : nics->size());
    finding.cause = "NIC and GPU exchange data without the host: this is how it should be.";
    finding.evidence.push_back(evidence_of(seen, line_of_fact(*seen.facts, "gdrdma"), "via NET/…/GDRDMA"));
    findings.push_back(std::move(finding));
  }
}

// Pairs of GPUs on one node that talk through host memory.
void shared_memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord* const transports = seen.facts->find_record("transports");
    if (transports == nullptr) continue;
    double shm = 0, direct = 0;
    for (const auto& [name, count] : transports->members()) {
      if (name.starts_with("SHM")) shm += count.number().value_or(0);
      if (name.starts_with("P2P")) direct += count.number().value_or(0);
    }
    if (shm == 0) continue;
    const Accelerator* const gpu = accelerator_of(observed, seen);
    const bool nvlink = has_link_domain(gpu);
    const bool off = is_set_to_one(*seen.facts, "NCCL_P2P_DISABLE");
    // Across the CPU link of a PCIe server some pairs through shared memory are NCCL's choice.
    if (direct > 0 && !nvlink && !off) continue;
    Finding finding =
        make_finding(rule, nvlink ? FindingSeverity::kMedium : FindingSeverity::kLow, job_of(seen),
                     fmt::format("{:g} of {:g} links within a node go through shared memory", shm, shm + direct));
    finding.cause = off ? "NCCL_P2P_DISABLE=1 forbids GPUs to reach each other."
                    : nvlink
                        ? "These GPUs have NVLink and do not use it: the container sees one GPU a process, ACS or the "
                          "IOMMU is on, or the fabric manager does not run."
                        : "The GPUs cannot reach each other: consumer cards without P2P, ACS or IOMMU on, or sockets "
                          "apart. Every byte crosses PCIe twice and the host's memory.";
    finding.expected = nvlink ? "P2P over NVLink" : "P2P where the platform allows it";
    finding.measured = "SHM";
    finding.confidence = off || nvlink ? 0.9 : 0.7;
    for (const FactRecord* const link : records_of(*seen.facts, "links")) {
      if (!link->text("transport").starts_with("SHM") || finding.evidence.size() >= 2) continue;
      finding.evidence.push_back(
          evidence_of(seen, link->line,
                      fmt::format("{} -> {} via {}", link->integer("from_rank").value_or(0),
                                  link->integer("to_rank").value_or(0), link->text("transport"))));
    }
    finding.fix = {"unset NCCL_P2P_DISABLE; nvidia-smi topo -p2p r shows which pairs may",
                   "containers: all GPUs of the job visible to each process, --ipc=host",
                   "switch ACS off (setpci) and the IOMMU to pt; systemctl status nvidia-fabricmanager"};
    finding.consequences = {"collective.slow"};
    finding.loss_unknown = "how much slower it is depends on the platform: measure with all_reduce_perf";
    findings.push_back(std::move(finding));
  }
}

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

struct HostNics {
  std::string host;
  std::vector<std::string> nics;
  std::int64_t line = 0;
};

std::vector<HostNics> nics_of_hosts(const FactRecord& facts) {
  std::vector<HostNics> all;
  for (const FactRecord* const host : records_of(facts, "hosts")) {
    std::vector<std::string> nics = texts_of(*host, "nics");
    if (!nics.empty()) all.push_back({std::string(host->text("name")), std::move(nics), line_of_fact(*host, "nics")});
  }
  return all;
}

// Hosts that bring other NICs to the job than the rest: fewer of them, or one each that are not the same rail.
void uneven_nics(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const std::vector<HostNics> hosts = nics_of_hosts(*seen.facts);
    if (hosts.size() < 2) continue;
    const auto [least, most] = std::minmax_element(
        hosts.begin(), hosts.end(), [](const HostNics& a, const HostNics& b) { return a.nics.size() < b.nics.size(); });
    std::map<std::vector<std::string>, std::vector<const HostNics*>> by_list;
    for (const HostNics& host : hosts) by_list[host.nics].push_back(&host);
    if (by_list.size() < 2) continue;
    const bool fewer = least->nics.size() < most->nics.size();
    // Names follow the PCIe addresses of each machine; with several NICs other names can be the same rails.
    const bool other_rail = !fewer && least->nics.size() == 1;
    Finding finding =
        make_finding(rule, fewer || other_rail ? FindingSeverity::kMedium : FindingSeverity::kInfo, job_of(seen), "");
    std::vector<std::string> words;
    for (const auto& [nics, members] : by_list) {
      words.push_back(fmt::format("{} has {}", members.front()->host, list_names(nics, 8)));
      if (finding.evidence.size() < 4) finding.evidence.push_back(evidence_of(seen, members[0]->line, words.back()));
    }
    if (fewer) {
      finding.subject = {"node", least->host, least->host};
      finding.title =
          fmt::format("{} brings {} NICs to the job, others {}", least->host, least->nics.size(), most->nics.size());
      finding.cause = "A NIC is down, missing, or left out by NCCL_IB_HCA; every ring runs at the pace of that node.";
      finding.loss_unknown = "which rings run through the node is not known";
    } else if (other_rail) {
      finding.title = fmt::format("one NIC a node, and not the same one: {}", list_names(words));
      finding.cause =
          "Traffic between different rails leaves the leaf switch or does not arrive at all; and one NIC serves all "
          "GPUs of the node.";
      finding.loss_unknown = "what the other rails would carry is not known";
    } else {
      finding.title = fmt::format("NICs have other names on some nodes: {}", list_names(words, 2));
      finding.cause =
          "Names follow the PCIe addresses; they may be the same rails. NCCL_IB_HCA by name would mix them.";
    }
    finding.expected = fmt::format("the same {} NICs on every node", most->nics.size());
    finding.confidence = fewer || other_rail ? 0.75 : 0.6;
    finding.fix = {"ibdev2netdev or rdma link on both nodes: which NIC is on which switch, and which is down",
                   "give the rails the same names (udev) or name them all: NCCL_IB_HCA==mlx5_0,mlx5_1,…"};
    finding.consequences = {"collective.slow"};
    findings.push_back(std::move(finding));
  }
}

// GPUs with NVLink that share one NIC.
void few_nics(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord& facts = *seen.facts;
    const std::optional<double> nics = facts.number("nic_count");
    const double gpus = std::max(facts.number("devices_per_host").value_or(0), facts.number("local_ranks").value_or(0));
    if (!nics || *nics < 1 || gpus < 4 || *nics * 4 > gpus || reach_of(facts) != Reach::kSeveralNodes) continue;
    const std::optional<Setting> hca = setting_of(facts, "NCCL_IB_HCA");
    Finding finding =
        make_finding(rule, hca ? FindingSeverity::kMedium : FindingSeverity::kLow, job_of(seen),
                     fmt::format("{:g} GPUs of a node share {:g} NIC{}", gpus, *nics, *nics > 1 ? "s" : ""));
    finding.cause =
        hca ? setting_words(*hca) + " leaves out the others."
            : "That is all the RDMA devices that NCCL sees; the node may have more that are down or hidden.";
    finding.measured = fmt::format("{:g} NICs", *nics);
    finding.confidence = hca ? 0.7 : 0.5;
    finding.evidence.push_back(evidence_of(seen, line_of_fact(facts, "nic_count"), "NET/IB : Using …"));
    finding.fix = {"ibstat: are more ports Active than NCCL uses? then unset NCCL_IB_HCA or name them all",
                   "with this one NIC keep tensor and expert parallelism inside the node"};
    finding.loss_unknown = "whether the node has more NICs is not known";
    finding.consequences = {"collective.slow"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"nccl.socket-transport", "Collectives over TCP",
     "NET/Socket between nodes that could use RDMA: four to ten times less bandwidth, and CPU time for it. On one node "
     "it is harmless, and `NET/Socket : Using` before a NET/IB line is no fallback.",
     "nccl#952, nccl#226, AReaL#639, nccl-tests#188", socket_transport},
    {"nccl.no-gdrdma", "GPUDirect RDMA is not used",
     "Without GDRDMA in the channels every message is copied through host memory: 33 instead of 93 GB/s.",
     "nccl#1412, nccl-tests#29, nccl#489, nccl-tests#293", no_gdrdma},
    {"nccl.gdrdma", "GPUDirect RDMA is used", "Said so that the question is answered.", "nccl#1412", gdrdma_in_use},
    {"nccl.shared-memory", "GPUs of a node talk through the host",
     "SHM between GPUs that have NVLink or could use P2P costs most of the bandwidth within a node.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", shared_memory},
    {"nccl.setting", "A setting that takes bandwidth",
     "NCCL_… variables left from a test switch transports off, on all nodes and for all jobs of the image.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", bad_settings},
    {"nccl.interface", "The start goes over an interface without neighbours",
     "Loopback, docker0 and virbr0 exist on every node and lead nowhere.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", wrong_interface},
    {"nccl.uneven-nics", "Nodes with other NICs than the rest",
     "Rings need the same rails on every node; one node with fewer NICs slows all.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", uneven_nics},
    {"nccl.few-nics", "Many GPUs behind few NICs",
     "NCCL uses the NICs it finds; a name in NCCL_IB_HCA hides the others.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", few_nics},
};

}  // namespace

std::span<const Rule> network_transport_rules() { return kRules; }

}  // namespace tare
