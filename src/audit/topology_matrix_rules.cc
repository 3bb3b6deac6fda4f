// NICs and their GPUs, and what a matrix does and does not say.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/topology_rules.h"

namespace tare {
namespace {

bool is_far(std::string_view link) { return link == "NODE" || link == "SYS" || link == "SOC"; }
bool is_near(std::string_view link) { return link == "PIX" || link == "PXB"; }

// Their memory is NUMA nodes of the CPU (Grace): GPU and NIC meet in the CPU by design, at the rate of NVLink-C2C.
bool are_on_the_cpu(const std::vector<const FactRecord*>& gpus) {
  return std::any_of(gpus.begin(), gpus.end(),
                     [](const FactRecord* gpu) { return gpu->number("gpu_numa_id").has_value(); });
}

// NICs that are near no GPU, by their device's name.
std::vector<std::string> nics_near_nothing(const TopoMatrix& matrix) {
  std::vector<std::string> names;
  if (matrix.partial()) return names;
  for (const FactRecord* const nic : records_of(*matrix.facts, "nics")) {
    if (!texts_of(*nic, "near_gpus").empty()) continue;
    const std::string_view device = nic->text("device");
    names.emplace_back(device.empty() ? nic->text("name") : device);
  }
  return names;
}

// A NIC further than its own PCIe switch: traffic crosses the CPU, and GPUDirect is slow or off.
void nic_far(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const std::vector<const FactRecord*> gpus = matrix.gpus();
    const double nics = matrix.facts->number("nic_count").value_or(0);
    std::vector<std::string> far;
    if (nics < 1 || are_on_the_cpu(gpus)) continue;
    bool some_near = false;
    std::size_t known = 0;
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix, "");
    for (const FactRecord* const gpu : gpus) {
      const std::string_view link = gpu->text("nearest_nic_link");
      some_near = some_near || is_near(link);
      known += link.empty() ? 0 : 1;
      if (!is_far(link)) continue;
      far.emplace_back(gpu->text("name"));
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(
            evidence_of(matrix.seen, gpu->line, fmt::format("{}: nearest NIC by {}", far.back(), link)));
      }
    }
    if (far.empty()) continue;
    // A single NIC for many GPUs cannot be near them all: nothing is in the wrong slot.
    if (!some_near && nics * 2 < static_cast<double>(gpus.size())) finding.severity = FindingSeverity::kInfo;
    if (far.size() == 1) finding.subject = {"gpu", far.front(), matrix.seen.node};
    finding.title = fmt::format("{} of {} GPUs have no NIC on their PCIe switch", far.size(), known);
    finding.cause =
        "The nearest NIC is reached through the CPU (NODE) or the other socket (SYS): traffic between nodes "
        "crosses the host bridge, and NCCL does not use GPUDirect RDMA over it by default.";
    finding.expected = "PIX or PXB";
    finding.measured = fmt::format("NODE or SYS for {}", list_names(far));
    finding.loss_unknown = "what a path through the CPU takes of the NIC's rate is not known";
    finding.fix = {"let these GPUs send through a neighbour that has a NIC: NCCL_PXN_DISABLE=0, ranks in rail order"};
    const std::vector<std::string> idle = nics_near_nothing(matrix);
    finding.fix.push_back(idle.empty() ? "check whether a NIC is missing from its slot: lspci | grep -i -e mellanox"
                                       : "move NICs that are near no GPU to their switch: " + list_names(idle));
    findings.push_back(std::move(finding));
  }
}

// Of a GPU's nearest NICs, how much is its own: a NIC that four GPUs share counts a quarter to each.
double own_nics(const FactRecord& gpu, const std::map<std::string, int, std::less<>>& users) {
  double own = 0;
  for (const std::string& nic : texts_of(gpu, "nearest_nics")) own += 1.0 / users.at(nic);
  return own;
}

void nic_shared(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kOne = 0.99;
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    std::map<std::string, int, std::less<>> users;
    const std::vector<const FactRecord*> gpus = matrix.gpus();
    const auto counts = [](const FactRecord& gpu) { return is_near(gpu.text("nearest_nic_link")); };
    for (const FactRecord* const gpu : gpus) {
      if (!counts(*gpu)) continue;
      for (const std::string& nic : texts_of(*gpu, "nearest_nics")) ++users[nic];
    }
    std::vector<std::string> sharing, alone;
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix, "");
    for (const FactRecord* const gpu : gpus) {
      if (!counts(*gpu)) continue;
      const double own = own_nics(*gpu, users);
      (own < kOne ? sharing : alone).emplace_back(gpu->text("name"));
      if (own < kOne && finding.evidence.size() < 4) {
        finding.evidence.push_back(
            evidence_of(matrix.seen, gpu->line,
                        fmt::format("{}: {} shared", sharing.back(), list_names(texts_of(*gpu, "nearest_nics")))));
      }
    }
    if (sharing.empty() || alone.empty() || matrix.partial()) continue;
    finding.title = fmt::format("{} share a NIC while {} other GPUs have their own", list_names(sharing), alone.size());
    finding.cause = "Rails are uneven: a collective between nodes runs at the rate of the GPUs that share.";
    finding.expected = "as many NICs at each GPU";
    finding.measured = fmt::format("{} GPUs share, {} do not", sharing.size(), alone.size());
    finding.confidence = 0.7;
    finding.loss_unknown = "the rates of the NICs are not in the matrix";
    finding.fix = {"check for a NIC that is missing or in another slot: lspci -tv",
                   "leave storage and management NICs out of NCCL_IB_HCA, and let rails be of one kind"};
    findings.push_back(std::move(finding));
  }
}

void not_nvidia(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const std::string vendor(matrix.facts->text("vendor"));
    if (vendor.empty() || vendor == "NVIDIA") continue;
    const std::size_t count = matrix.gpus().size();
    const std::string link(matrix.facts->text("all_gpu_pairs"));
    Finding finding = finding_of(rule, FindingSeverity::kInfo, matrix,
                                 link.empty() ? vendor : fmt::format("{} between all pairs", link));
    finding.title = fmt::format("{} accelerators of {}, not NVIDIA GPUs", count, vendor);
    finding.cause = link.empty() ? "Links are named by their maker: NV# is not to be expected here."
                                 : fmt::format("All pairs are joined by {}: what NVLink is elsewhere.", link);
    finding.fix = {"judge links with the maker's own tool and collectives with its own library"};
    findings.push_back(std::move(finding));
  }
}

void matrix_damaged(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const double asymmetric = matrix.facts->number("asymmetric_pairs").value_or(0);
    const double rows = matrix.facts->number("gpu_rows_visible").value_or(0);
    const double gpus = matrix.facts->number("gpu_count").value_or(0);
    if (!matrix.partial() && asymmetric < 1) continue;
    Finding finding = finding_of(rule, FindingSeverity::kInfo, matrix, fmt::format("{} of {} GPU rows", rows, gpus));
    if (asymmetric >= 1) {
      finding.title = fmt::format("{} pairs have one link in one direction and another in the other", asymmetric);
      finding.cause = "A link is the same from both ends: the text is damaged, or put together from two machines.";
    } else {
      finding.title =
          rows < gpus ? fmt::format("only {} of {} GPU rows are there", rows, gpus) : "a part of the matrix is missing";
      finding.cause = "What the missing part would show is not judged: no finding there is no clean bill.";
    }
    finding.fix = {"nvidia-smi topo -m > topo.txt"};
    findings.push_back(std::move(finding));
  }
}

// Pairs whose ability is not OK, by what the tool prints for it: CNS, GNS, TNS, NS, DR.
std::map<std::string, int> refused_pairs(const FactRecord& facts) {
  std::map<std::string, int> refused;
  const FactRecord* const counts = facts.find_record("link_counts");
  if (counts == nullptr) return refused;
  for (const auto& [ability, count] : counts->members()) {
    if (ability != "OK") refused[ability] = static_cast<int>(count.number().value_or(0));
  }
  return refused;
}

std::string_view meaning_of(std::string_view ability) {
  if (ability == "CNS") return "the chipset does not support it";
  if (ability == "GNS") return "the GPU does not support it";
  if (ability == "TNS") return "the topology does not support it";
  if (ability == "DR") return "a registry key of the driver disables it";
  return "not supported";
}

// -p2p n and a ask for NVLink and atomics, which PCIe pairs lack by design.
bool asks_for_memory(const FactRecord& facts) {
  const std::string_view option = facts.text("option");
  return option.empty() || option.ends_with(" r") || option.ends_with(" w");
}

void p2p_off(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("topo")) {
    if (!is_false(*seen.facts, "p2p_everywhere") || !asks_for_memory(*seen.facts)) continue;
    const std::map<std::string, int> refused = refused_pairs(*seen.facts);
    if (refused.empty()) continue;
    const Accelerator* const gpu = observed.accelerator_beside(seen);
    const bool joined = gpu != nullptr && gpu->link_domain > 1;
    // GeForce drivers refuse it by design since the RTX 40 series; server parts do not.
    const bool consumer = gpu != nullptr && gpu->link_domain <= 1 && gpu->id.starts_with("RTX");
    const auto& [ability, pairs] = *refused.begin();
    Finding finding = make_finding(
        rule,
        joined     ? FindingSeverity::kMedium
        : consumer ? FindingSeverity::kInfo
                   : FindingSeverity::kLow,
        {"node", seen.node, seen.node},
        fmt::format("{} GPU pairs cannot reach each other's memory: {} ({})", pairs, ability, meaning_of(ability)));
    const std::vector<const FactRecord*> gpus = records_of(*seen.facts, "gpus");
    finding.evidence.push_back(evidence_of(seen, gpus.empty() ? 0 : gpus.front()->line, ability));
    finding.cause = "Without peer-to-peer access traffic between GPUs is staged in host memory.";
    finding.expected = "OK";
    finding.measured = ability;
    finding.confidence = seen.facts->text("option").empty() ? 0.5 : 0.85;
    if (finding.severity != FindingSeverity::kInfo) finding.loss_unknown = "how much GPUs talk is not known";
    finding.fix = {"IOMMU and ACS redirection off on bare metal: dmesg | grep -i iommu; lspci -vvv | grep ACSCtl",
                   "nvidia-smi topo -m: pairs across sockets may be refused by design"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"topology.nic-far", "GPUs without a NIC near them",
     "A GPU whose nearest NIC is behind the CPU sends its inter-node traffic over the host bridge or the socket link.",
     "nccl#1591", nic_far},
    {"topology.nic-shared", "GPUs that share a NIC while others have their own",
     "Uneven rails: a collective between nodes runs at the rate of the GPUs that share.", "DeepEP#397", nic_shared},
    {"topology.not-nvidia", "Accelerators of another maker",
     "Links have the maker's names; rules and libraries for NVLink do not apply.", "npu-smi info -t topo", not_nvidia},
    {"topology.matrix-damaged", "A topology matrix that is cut or contradicts itself",
     "What is missing is not judged, and silence about it is no clean bill.", "nvidia-smi topo -m", matrix_damaged},
    {"topology.p2p-off", "GPU pairs without peer-to-peer access", "Traffic between GPUs is staged in host memory.",
     "nccl-tests#252", p2p_off},
};

}  // namespace

std::span<const Rule> topology_matrix_rules() { return kRules; }

}  // namespace tare
