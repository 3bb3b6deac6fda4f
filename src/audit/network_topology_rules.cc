#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/loss.h"
#include "audit/nccl_job.h"
#include "audit/network_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// NCCL counts PCIe 3.0 x16 as 12 GB/s and a 100 Gb/s NIC as 12.5: below this share it is another generation.
constexpr double kPathShare = 0.8;

constexpr double kVirtualShare = 0.1;

struct NicPath {
  std::string name;
  double nic_gb_per_s = 0, path_gb_per_s = 0;
  std::int64_t line = 0;
  std::string words;
};

std::vector<NicPath> paths_of_tree(const FactRecord& facts) {
  std::map<std::string, const FactRecord*> nodes;
  double gpu = 0, gpus = 0, nets = 0;
  for (const FactRecord* const node : records_of(facts, "topology")) {
    if (!nodes.emplace(std::string(node->text("node")), node).second) continue;
    nets += node->text("type") == "NET" ? 1 : 0;
    if (node->text("type") != "GPU" || node->text("link") != "PCI") continue;
    gpu = std::max(gpu, node->number("bw_gb_per_s").value_or(0));
    gpus += 1;
  }
  // Several GPUs may fill one NIC between them.
  const double of_gpus = gpu * std::max(1.0, nets > 0 ? gpus / nets : 1.0);
  std::vector<NicPath> paths;
  for (const auto& [name, node] : nodes) {
    if (node->text("type") != "NET") continue;
    const auto nic = nodes.find(std::string(node->text("parent")));
    if (nic == nodes.end() || nic->second->text("link") != "PCI") continue;
    const double own = nic->second->number("bw_gb_per_s").value_or(0);
    const double rate = node->number("bw_gb_per_s").value_or(0);
    if (own <= 0 || rate <= 0) continue;
    paths.push_back({name, rate, gpu > 0 ? std::min(own, of_gpus) : own, nic->second->line,
                     fmt::format("{} by PCI[{:g}], {} NET[{:g}]", nic->first, own, name, rate)});
  }
  return paths;
}

// "16.0 GT/s PCIe" and 16 lanes in GB/s, as NCCL counts them: 12 for 8 GT/s x16.
double pcie_gb_per_s(const FactRecord& device) {
  const std::optional<Measure> speed = to_measure(device.text("link_speed"));
  const double gt = speed ? speed->value : device.number("link_speed").value_or(0);
  return gt * device.number("link_width").value_or(0) * 12 / 128;
}

std::vector<NicPath> paths_of_xml(const FactRecord& facts) {
  std::vector<NicPath> paths;
  for (const FactRecord* const nic : records_of(facts, "nics")) {
    const double pcie = pcie_gb_per_s(*nic);
    const double rate = nic->number("speed_gbit_per_s").value_or(0) / 8;
    // Virtual functions show 2.5 GT/s x1 or the like: that is not their link.
    if (pcie <= kVirtualShare * rate || rate <= 0) continue;
    paths.push_back({std::string(nic->text("name")), rate, pcie, nic->line,
                     fmt::format("{}: {} x{}, {:g} Gb/s", nic->text("name"), nic->text("link_speed"),
                                 nic->integer("link_width").value_or(0), rate * 8)});
  }
  return paths;
}

// A NIC that is faster than the PCIe link it hangs on, or than the GPU's.
void pcie_below_nic(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("nccl-debug")) {
    std::vector<NicPath> paths = paths_of_tree(*seen.facts);
    if (paths.empty()) paths = paths_of_xml(*seen.facts);
    std::erase_if(paths, [](const NicPath& path) { return path.path_gb_per_s >= kPathShare * path.nic_gb_per_s; });
    if (paths.empty()) continue;
    std::vector<std::string> names;
    names.reserve(paths.size());
    for (const NicPath& path : paths) names.push_back(path.name);
    const NicPath& worst = *std::min_element(paths.begin(), paths.end(), [](const NicPath& a, const NicPath& b) {
      return a.path_gb_per_s / a.nic_gb_per_s < b.path_gb_per_s / b.nic_gb_per_s;
    });
    const std::string listed = list_names(names);
    const bool half = worst.path_gb_per_s <= 0.6 * worst.nic_gb_per_s;
    Finding finding =
        make_finding(rule, half ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"nic", listed, seen.node},
                     fmt::format("{} of {:g} GB/s {} by PCIe at {:g} GB/s", listed, worst.nic_gb_per_s,
                                 names.size() > 1 ? "hang" : "hangs", worst.path_gb_per_s));
    finding.cause =
        "The PCIe path between GPU and NIC runs at a lower generation or with fewer lanes than the NIC needs: the "
        "network "
        "can be used in part only.";
    finding.expected = fmt::format("{:g} GB/s", worst.nic_gb_per_s);
    finding.measured = fmt::format("{:g} GB/s", worst.path_gb_per_s);
    finding.confidence = 0.85;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, paths.size()); ++i) {
      finding.evidence.push_back(evidence_of(seen, paths[i].line, paths[i].words));
    }
    finding.fix = {"lspci -vv: LnkCap against LnkSta of NIC, GPU and every switch port between them",
                   "NIC in a slot with x16 of its generation; BIOS: link speed Auto or the highest; riser and cables"};
    finding.consequences = {"collective.slow", "network.perftest-below"};
    const std::optional<double> gpus = gpus_of_job(observed, seen);
    if (gpus) {
      finding.loss =
          slower_communication(observed.setting().inter_node_comm_share, worst.nic_gb_per_s / worst.path_gb_per_s,
                               "rate of the NIC over its PCIe path", *gpus, "GPUs of the node or job");
    } else {
      finding.loss_unknown = "how many GPUs send through it is not known";
    }
    findings.push_back(std::move(finding));
  }
}

bool all_at_root(const std::vector<const FactRecord*>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [](const FactRecord* gpu) { return gpu->integer("numaid") == -1; });
}

// A virtual machine that shows GPUs on a flat bus: NCCL plans as if nothing were known.
void hidden_topology(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL topology XML")) {
    const FactRecord& facts = *seen.facts;
    const std::vector<const FactRecord*> gpus = records_of(facts, "gpus");
    if (gpus.size() < 2) continue;
    const bool no_speed = facts.number("gpus_without_link_speed").value_or(0) >= static_cast<double>(gpus.size());
    const bool flat = facts.number("pci_bridges").value_or(1) == 0;
    if (!no_speed && !(flat && all_at_root(gpus))) continue;
    const double nvlinks = facts.number("nvlinks").value_or(0);
    Finding finding = make_finding(
        rule, nvlinks > 0 ? FindingSeverity::kLow : FindingSeverity::kMedium, {"node", seen.node, seen.node},
        fmt::format("the machine hides its PCIe tree{} from NCCL: {} GPUs without {}", nvlinks > 0 ? "" : " and NVLink",
                    gpus.size(), no_speed ? "link speed" : "bridges"));
    if (seen.node.empty()) finding.subject = {"node", "the machine", ""};
    finding.cause =
        "In a virtual machine the GPUs stand on a flat bus without speed, NUMA node or NVLink: NCCL takes the slowest "
        "path for granted, and P2P and GPUDirect may stay off.";
    finding.expected = "link_speed, bridges and nvlink elements";
    finding.measured = fmt::format("{:g} of {} GPUs without link speed, {:g} NVLinks",
                                   facts.number("gpus_without_link_speed").value_or(0), gpus.size(), nvlinks);
    finding.confidence = 0.8;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, gpus.size()); ++i) {
      finding.evidence.push_back(
          evidence_of(seen, gpus[i]->line,
                      fmt::format("GPU {} at {}: link_speed \"{}\", numaid {}",
                                  gpus[i]->integer("dev").value_or(static_cast<int>(i)), gpus[i]->text("bus_id"),
                                  gpus[i]->text("link_speed"), gpus[i]->integer("numaid").value_or(-1))));
    }
    finding.fix = {
        "ask the provider for the instance's topology file and set NCCL_TOPO_FILE to it",
        "own hypervisor: pass the NVSwitches or use the shared NVSwitch mode of the fabric manager; expose the "
        "PCIe switches and NUMA nodes",
        "nvidia-smi nvlink -s in the guest: are the links there?"};
    finding.consequences = {"collective.slow", "nccl.shared-memory", "nccl.no-gdrdma"};
    finding.loss_unknown = "what NCCL could do with the real topology is not in the file";
    findings.push_back(std::move(finding));
  }
}

// GPUs of one machine that differ in NVLinks or in their PCIe link.
void uneven_gpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL topology XML")) {
    const std::vector<const FactRecord*> gpus = records_of(*seen.facts, "gpus");
    for (const char* const name : {"nvlink_count", "link_width"}) {
      std::map<double, std::vector<const FactRecord*>> by_value;
      for (const FactRecord* const gpu : gpus) {
        if (const std::optional<double> value = gpu->number(name)) by_value[*value].push_back(gpu);
      }
      if (by_value.size() < 2) continue;
      const auto& [least, few] = *by_value.begin();
      const auto& [most, many] = *by_value.rbegin();
      // A bridge joins two cards of four: none on the others is how it was bought.
      if (few.size() >= many.size() || (least == 0 && few.size() * 8 > gpus.size())) continue;
      std::vector<std::string> names;
      for (const FactRecord* const gpu : few) names.push_back(fmt::format("GPU{}", gpu->integer("dev").value_or(0)));
      const bool nvlink = std::string_view(name) == "nvlink_count";
      Finding finding =
          make_finding(rule, FindingSeverity::kMedium, {"gpu", list_names(names), seen.node},
                       fmt::format("{} {} {:g} {}, the others {:g}", list_names(names),
                                   names.size() > 1 ? "have" : "has", least, nvlink ? "NVLinks" : "PCIe lanes", most));
      finding.cause = nvlink ? "Links are down: every ring through that GPU runs at its pace, and NVLS may be off."
                             : "The card's link came up narrower: seating, riser, or a slot with fewer lanes.";
      finding.expected = fmt::format("{:g}", most);
      finding.measured = fmt::format("{:g}", least);
      finding.confidence = 0.8;
      finding.evidence.push_back(
          evidence_of(seen, few.front()->line, fmt::format("{} {}={:g}", names.front(), name, least)));
      finding.fix = {nvlink
                         ? "nvidia-smi nvlink -s -i <gpu>; reset the GPUs of the node; dmesg | grep -i -e nvlink -e xid"
                         : "lspci -vv -s <bus id>: LnkSta; reseat the card"};
      finding.consequences = {"collective.slow"};
      finding.loss_unknown = "how much of the traffic takes that link is not known";
      findings.push_back(std::move(finding));
    }
  }
}

// The search found a path over PCIe between GPUs that are sold with NVLink.
void nvlink_unused(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const Accelerator* const gpu = accelerator_of(observed, seen);
    if (!has_link_domain(gpu)) continue;
    for (const FactRecord* const graph : records_of(*seen.facts, "graphs")) {
      const std::string_view type = graph->text("type_intra");
      const bool pcie = type == "PIX" || type == "PXB" || type == "PHB" || type == "SYS" || type == "NODE";
      if (!pcie || graph->text("pattern_name") != "ring") continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, job_of(seen),
                                     fmt::format("rings within the node go over PCIe ({}), not {}", type, gpu->link));
      finding.cause =
          "NCCL sees no NVLink between these GPUs: links down, a virtual machine that hides them, MIG, or GPUs "
          "that the container shows one a process.";
      finding.expected = fmt::format("NVL, {:g} GB/s a GPU", gpu->link_bytes_per_s.value_or(0) / 1e9);
      finding.measured = fmt::format("{}, {:g} GB/s a channel", type, graph->number("bw_intra_gb_per_s").value_or(0));
      finding.confidence = 0.85;
      finding.evidence.push_back(
          evidence_of(seen, graph->line, fmt::format("Pattern ring, type {}/{}", type, graph->text("type_inter"))));
      finding.fix = {"nvidia-smi nvlink -s; nvidia-smi topo -m; systemctl status nvidia-fabricmanager",
                     "virtual machine: NCCL_TOPO_FILE of the provider"};
      finding.consequences = {"collective.slow", "nccl.shared-memory"};
      finding.loss_unknown = "the share of traffic within the node is not known";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

// NVLink SHARP that Hopper's NVSwitch has and NCCL does not get.
void nvls_missing(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const Accelerator* const gpu = accelerator_of(observed, seen);
    const bool could = gpu != nullptr && gpu->vendor == "nvidia" && gpu->link_domain >= 8 &&
                       (gpu->generation == GpuGeneration::kHopper || gpu->generation == GpuGeneration::kBlackwell);
    if (!could || !is_false(*seen.facts, "nvls_available")) continue;
    if (seen.facts->number("devices_per_host").value_or(8) < 8) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, job_of(seen),
                                   "NVLink SHARP (NVLS) is not available, though the GPUs are on NVSwitch");
    finding.cause =
        "Driver below 530, fabric manager without multicast, a virtual machine, or NCCL_NVLS_ENABLE=0: an "
        "all-reduce in the node has some 360 instead of 480 GB/s.";
    finding.confidence = 0.7;
    finding.evidence.push_back(
        evidence_of(seen, line_of_fact(*seen.facts, "nvls_available"), "NVLS multicast support is not available"));
    finding.fix = {
        "nvidia-smi -q | grep -A3 Fabric: State Completed; restart nvidia-fabricmanager of the driver's version",
        "unset NCCL_NVLS_ENABLE"};
    finding.loss_unknown = "how much of a step is all-reduce in the node is not known";
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"nccl.pcie-below-nic", "PCIe slower than the NIC on it",
     "NCCL's graph has PCI[12.0] for PCIe 3.0 x16 below NET[25.0] of a 200 Gb/s NIC: half of the network is lost.",
     "nccl#1329", pcie_below_nic},
    {"nccl.hidden-topology", "A machine that hides its topology",
     "Empty link_speed, numaid -1 and GPUs without bridges: NCCL needs NCCL_TOPO_FILE to plan (320 against 180 GB/s).",
     "nccl#1329, nccl#1843, nccl-tests#380", hidden_topology},
    {"nccl.uneven-gpus", "GPUs of one machine with other links", "One GPU with fewer NVLinks or lanes slows all rings.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html", uneven_gpus},
    {"nccl.nvlink-unused", "NVLink that NCCL does not see",
     "SXM GPUs whose rings go over PCIe have a twentieth of their bandwidth.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html", nvlink_unused},
    {"nccl.nvls-missing", "NVLink SHARP is missing", "Hopper and Blackwell on NVSwitch reduce in the switch.",
     "nccl-tests#196", nvls_missing},
};

}  // namespace

std::span<const Rule> network_topology_rules() { return kRules; }

}  // namespace tare
