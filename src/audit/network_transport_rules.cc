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
    finding.title = fmt::format("links between nodes use GPUDirect RDMA ({} of {}) over {} NIC{}", links.with,
                                links.with + links.without, nics == nullptr ? 0 : nics->size(),
                                nics != nullptr && nics->size() == 1 ? "" : "s");
    finding.cause = "NIC and GPU exchange data without the host: this is how it should be.";
    finding.evidence.push_back(evidence_of(seen, line_of_fact(*seen.facts, "gdrdma"), "via NET/…/GDRDMA"));
    findings.push_back(std::move(finding));
  }
}

// "SHM/direct/direct", of old versions "direct shared memory".
bool is_through_host(std::string_view transport) {
  return transport.starts_with("SHM") || contains(transport, "shared memory");
}

// Pairs of GPUs on one node that talk through host memory.
void shared_memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord* const transports = seen.facts->find_record("transports");
    if (transports == nullptr) continue;
    double shm = 0, direct = 0;
    for (const auto& [name, count] : transports->members()) {
      if (is_through_host(name)) shm += count.number().value_or(0);
      if (name.starts_with("P2P")) direct += count.number().value_or(0);
    }
    if (shm == 0) continue;
    const Accelerator* const gpu = accelerator_of(observed, seen);
    const bool nvlink = has_link_domain(gpu);
    const bool off = is_set_to_one(*seen.facts, "NCCL_P2P_DISABLE");
    // In the cube mesh of V100 some pairs have no link.
    const bool mesh = gpu != nullptr && gpu->generation == GpuGeneration::kVolta;
    // Across the CPU link of a PCIe server some pairs through shared memory are NCCL's choice.
    if (direct > 0 && (!nvlink || mesh) && !off) continue;
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
      if (!is_through_host(link->text("transport")) || finding.evidence.size() >= 2) continue;
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
};

}  // namespace

std::span<const Rule> network_transport_rules() { return kRules; }

}  // namespace tare
