// What joins the GPUs of a node: NVLink that is missing, cut into islands, or thinner than it should be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audit/loss.h"
#include "audit/topology_rules.h"
#include "perf/machine.h"

namespace tare {
namespace {

// Bandwidth of one link and direction, of the vendor's architecture papers; bridges have links of other widths.
std::optional<double> bytes_per_s_of_one_link(const Accelerator& gpu) {
  static const std::map<std::string_view, double> kRates = {
      {"nvlink1", 20e9}, {"nvlink2", 25e9}, {"nvlink3", 25e9}, {"nvlink4", 25e9}, {"nvlink5", 50e9}};
  const auto found = kRates.find(gpu.link);
  return found == kRates.end() ? std::nullopt : std::optional<double>(found->second);
}

bool is_bridged(const Accelerator& gpu) { return gpu.link == "nvlink_bridge"; }
bool has_nvlink(const Accelerator& gpu) { return gpu.link.starts_with("nvlink") && gpu.link_bytes_per_s.has_value(); }
// On a board that joins all GPUs of a node by itself.
bool is_on_nvlink_board(const Accelerator& gpu) { return has_nvlink(gpu) && !is_bridged(gpu) && gpu.link_domain > 1; }

// Collectives over PCIe instead of NVLink: the loss where it is known which GPU it is, else the reason why it is not.
void set_pcie_loss(const Observed& observed, const Accelerator* gpu, double gpus, Finding& finding) {
  if (gpu == nullptr) {
    finding.loss_unknown = "no file says which GPU it is, so not how fast its NVLink would be";
    return;
  }
  const double pcie = pcie_bytes_per_s(gpu->pcie_generation, gpu->pcie_lanes);
  if (pcie <= 0) {
    finding.loss_unknown = "the PCIe rate of this GPU is not known";
    return;
  }
  const std::string source = fmt::format("catalog: {} NVLink {:.0f} GB/s over PCIe {:.1f} GB/s", gpu->id,
                                         *gpu->link_bytes_per_s / 1e9, pcie / 1e9);
  finding.loss = slower_communication(observed.setting().intra_node_comm_share, *gpu->link_bytes_per_s / pcie, source,
                                      gpus, "GPUs of the matrix");
}

// Whether another reading of the node shows NVLink that works: a matrix, or nvidia-smi nvlink.
bool nvlink_elsewhere(const Observed& observed, const TopoMatrix& matrix) {
  for (const Seen& seen : observed.beside(matrix.seen)) {
    if (is_true(*seen.facts, "nvlink")) return true;
    if (seen.format->kind == "nvidia-smi" && seen.facts->number("active_links").value_or(0) > 0) return true;
  }
  return false;
}

bool lacks_nvlink(const TopoMatrix& matrix) {
  return is_nvidia(matrix) && is_false(*matrix.facts, "nvlink") && matrix.gpus().size() > 1;
}

// A rail for each GPU: eight or more GPUs, each with a NIC on its own switch that is near no other.
bool has_rail_per_gpu(const TopoMatrix& matrix) {
  constexpr std::size_t kGpusOfABoard = 8;
  std::size_t own = 0, gpus = matrix.gpus().size();
  for (const FactRecord* const nic : records_of(*matrix.facts, "nics")) own += texts_of(*nic, "near_gpus").size() == 1;
  // A damaged matrix may lack the last rows.
  return gpus >= kGpusOfABoard && own + (matrix.partial() ? 2 : 0) >= gpus;
}

bool all_pairs_by(const TopoMatrix& matrix, std::string_view link) {
  return matrix.facts->text("all_gpu_pairs") == link;
}

void nvlink_missing(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    if (!lacks_nvlink(matrix) || nvlink_elsewhere(observed, matrix)) continue;
    const Accelerator* const gpu = observed.accelerator_beside(matrix.seen);
    const bool known = gpu != nullptr && is_on_nvlink_board(*gpu);
    // Servers of PCIe cards have no rail for each GPU across root complexes of their own; passed-through boards do.
    const bool guessed = gpu == nullptr && has_rail_per_gpu(matrix) && all_pairs_by(matrix, "SYS");
    if (!known && !guessed) continue;
    const double gpus = static_cast<double>(matrix.gpus().size());
    Finding finding = finding_of(rule, FindingSeverity::kMedium, matrix,
                                 fmt::format("no NV# between any two of {} GPUs", matrix.gpus().size()));
    finding.confidence = known ? 0.9 : 0.6;
    finding.title = fmt::format("no NVLink visible between {} GPUs", matrix.gpus().size());
    finding.cause = known ? fmt::format(
                                "{} is joined by NVLink; here all traffic between GPUs crosses PCIe. The fabric "
                                "manager does not run, or a virtual machine hides the links.",
                                gpu->id)
                          : "A rail for each GPU is how boards with NVLink are built; that every pair is joined over "
                            "the socket link only means that the fabric manager does not run, or that a virtual "
                            "machine hides the links.";
    finding.expected = "NV# between all GPUs";
    finding.measured = matrix.facts->text("all_gpu_pairs").empty()
                           ? "PCIe paths only"
                           : std::string(matrix.facts->text("all_gpu_pairs")) + " between all GPUs";
    finding.fix = {"nvidia-smi nvlink -s", "systemctl status nvidia-fabricmanager; its version must be the driver's",
                   "in a virtual machine: ask for the NVSwitches or a shared NVLink partition to be passed through"};
    set_pcie_loss(observed, gpu, gpus, finding);
    finding.consequences = {"topology.sys-in-numa-node", "nccl.nvlink-unused", "nccl.nvls-missing"};
    findings.push_back(std::move(finding));
  }
}

void no_nvlink(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    if (!lacks_nvlink(matrix) || nvlink_elsewhere(observed, matrix)) continue;
    const Accelerator* const gpu = observed.accelerator_beside(matrix.seen);
    if (gpu != nullptr ? is_on_nvlink_board(*gpu) : has_rail_per_gpu(matrix) && all_pairs_by(matrix, "SYS")) continue;
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, matrix, fmt::format("{} GPUs, PCIe paths only", matrix.gpus().size()));
    finding.title = "GPUs are joined by PCIe only: no fault of cards that have no NVLink";
    finding.confidence = gpu != nullptr ? 0.95 : 0.7;
    if (gpu == nullptr) {
      finding.cause =
          "L4, L40S, T4, RTX cards and most PCIe cards have no NVLink; a matrix without NV# is normal there.";
    } else if (is_bridged(*gpu)) {
      finding.cause = fmt::format("{} has NVLink only over bridges that are bought apart; none is fitted.", gpu->id);
    } else {
      finding.cause = fmt::format("{} has no NVLink.", gpu->id);
    }
    finding.fix = {"plan tensor parallelism for the PCIe rate, or keep it within pairs under one switch (PIX, PXB)"};
    findings.push_back(std::move(finding));
  }
}

void mp_hides_nvlink(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const Fact* const nvlink = matrix.facts->find("nvlink");
    if (!is_nvidia(matrix) || nvlink == nullptr || !nvlink->is_unknown() || nvlink_elsewhere(observed, matrix))
      continue;
    Finding finding = finding_of(rule, FindingSeverity::kInfo, matrix, std::string(matrix.facts->text("command")));
    finding.title = "the matrix of topo -mp does not show NVLink: that there is no NV# proves nothing";
    finding.cause = "-mp prints the PCIe path of each pair, also where NVLink joins it.";
    finding.fix = {"nvidia-smi topo -m", "nvidia-smi nvlink -s"};
    findings.push_back(std::move(finding));
  }
}

struct Islands {
  std::vector<std::vector<std::string>> joined;  // of two GPUs and more
  std::vector<std::string> alone;
};

Islands islands_of(const TopoMatrix& matrix) {
  Islands islands;
  const std::vector<Fact>* const list = matrix.facts->find_list("nvlink_islands");
  if (list == nullptr || matrix.partial()) return islands;
  for (const Fact& one : *list) {
    std::vector<std::string> names;
    if (one.as_list() == nullptr) continue;
    for (const Fact& name : *one.as_list()) names.emplace_back(name.text());
    if (names.size() == 1) islands.alone.push_back(names.front());
    if (names.size() > 1) islands.joined.push_back(std::move(names));
  }
  return islands;
}

const FactRecord* gpu_named(const TopoMatrix& matrix, std::string_view name) {
  for (const FactRecord* const gpu : matrix.gpus()) {
    if (gpu->text("name") == name) return gpu;
  }
  return nullptr;
}

// The farthest path that `from` has to other GPUs: PIX < PXB < PHB < NODE < SYS.
std::string farthest_link(const TopoMatrix& matrix, std::string_view from) {
  static const std::vector<std::string_view> kFarther = {"PIX", "PXB", "PHB", "NODE", "SOC", "SYS"};
  const FactRecord* const gpu = gpu_named(matrix, from);
  std::ptrdiff_t farthest = -1;
  for (const FactRecord* const other : matrix.gpus()) {
    if (gpu == nullptr || other == gpu) continue;
    const auto at = std::find(kFarther.begin(), kFarther.end(), link_between(*gpu, other->text("name")));
    if (at != kFarther.end()) farthest = std::max(farthest, at - kFarther.begin());
  }
  return farthest < 0 ? std::string("PCIe") : std::string(kFarther[static_cast<std::size_t>(farthest)]);
}

Finding left_out_finding(const Rule& rule, const TopoMatrix& matrix, const std::vector<std::string>& alone) {
  const std::string names = list_names(alone), link = farthest_link(matrix, alone.front());
  Finding finding = finding_of(rule, FindingSeverity::kMedium, matrix, "");
  if (alone.size() == 1) finding.subject = {"gpu", alone.front(), matrix.seen.node};
  for (const std::string& name : alone) {
    const FactRecord* const gpu = gpu_named(matrix, name);
    if (gpu != nullptr && finding.evidence.size() < 4) {
      finding.evidence.push_back(evidence_of(matrix.seen, gpu->line, fmt::format("{}: {} to the others", name, link)));
    }
  }
  finding.title = fmt::format("{} {} no NVLink, the other GPUs have", names, alone.size() == 1 ? "has" : "have");
  finding.cause = fmt::format(
      "No bridge is fitted, or its links are down: a collective over all GPUs runs at the rate of "
      "its slowest pair, which is {}.",
      link);
  finding.expected = "NV# to at least one other GPU";
  finding.measured = link + " to all others";
  finding.confidence = 0.85;
  finding.fix = {"nvidia-smi nvlink -s: are its links inactive, or not there at all?",
                 "reseat or fit the bridge; until then keep jobs on the GPUs that have NVLink: CUDA_VISIBLE_DEVICES"};
  return finding;
}

void nvlink_left_out(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const Islands islands = islands_of(matrix);
    if (islands.alone.empty() || islands.joined.empty()) continue;
    Finding finding = left_out_finding(rule, matrix, islands.alone);
    const Accelerator* const gpu = observed.accelerator_beside(matrix.seen);
    if (gpu != nullptr && !has_nvlink(*gpu)) continue;  // of another model than the ones with NVLink
    if (gpu != nullptr && is_on_nvlink_board(*gpu)) {
      set_pcie_loss(observed, gpu, static_cast<double>(matrix.gpus().size()), finding);
    } else {
      finding.loss_unknown = "whether jobs span the GPUs without a bridge is not known";
    }
    findings.push_back(std::move(finding));
  }
}

// Whether some pair of two islands is joined by that link.
bool joined_by(const TopoMatrix& matrix, const Islands& islands, std::string_view link) {
  for (std::size_t a = 0; a < islands.joined.size(); ++a) {
    for (std::size_t b = a + 1; b < islands.joined.size(); ++b) {
      const FactRecord* const gpu = gpu_named(matrix, islands.joined[a].front());
      if (gpu != nullptr && link_between(*gpu, islands.joined[b].front()) == link) return true;
    }
  }
  return false;
}

void nvlink_islands(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const Islands islands = islands_of(matrix);
    if (islands.joined.size() < 2) continue;
    const Accelerator* const gpu = observed.accelerator_beside(matrix.seen);
    const bool board = gpu != nullptr && is_on_nvlink_board(*gpu);
    const bool socket = joined_by(matrix, islands, "SYS");
    std::vector<std::string> names;
    for (const std::vector<std::string>& one : islands.joined) {
      names.push_back(one.size() == 2 ? fmt::format("{}-{}", one.front(), one.back())
                                      : fmt::format("{}…{}", one.front(), one.back()));
    }
    Finding finding = finding_of(rule, socket || board ? FindingSeverity::kMedium : FindingSeverity::kLow, matrix,
                                 "NVLink joins " + list_names(names));
    finding.title = fmt::format("{} NVLink islands ({}) joined only {}", islands.joined.size(), list_names(names),
                                socket ? "across the socket link" : "by PCIe");
    finding.cause = "Bridges join pairs; a ring over all GPUs crosses PCIe between the islands and runs at its rate.";
    finding.expected = board ? "NV# between all GPUs" : "work laid out so that only one island talks much";
    finding.measured = socket ? "SYS between islands" : "PCIe between islands";
    finding.confidence = 0.9;
    finding.fix = {"tensor parallelism within an island only, data or pipeline parallelism between them",
                   "one job per island: CUDA_VISIBLE_DEVICES and numactl by island"};
    if (board) {
      set_pcie_loss(observed, gpu, static_cast<double>(matrix.gpus().size()), finding);
    } else {
      finding.loss_unknown = "how the work is laid out over the islands is not known";
    }
    findings.push_back(std::move(finding));
  }
}

// NVLinks of a GPU: towards a switch all pairs print the same links; in a mesh each pair has its own.
struct LinkCount {
  const FactRecord* gpu = nullptr;
  int links = 0;
};

struct LinkCounts {
  std::vector<LinkCount> gpus;
  bool switched = true;     // every pair is joined
  bool shared_out = false;  // … by links of its own, which together are not more than a GPU has
};

// What a GPU of the model has, where all its links go to a switch.
std::optional<int> links_of_model(const Accelerator* gpu) {
  if (gpu == nullptr || !is_on_nvlink_board(*gpu)) return std::nullopt;
  const std::optional<double> one = bytes_per_s_of_one_link(*gpu);
  return one ? std::optional<int>(static_cast<int>(std::lround(*gpu->link_bytes_per_s / *one))) : std::nullopt;
}

// `model`: what a GPU of it has. Four GPUs that share them out pair by pair (NV6 of 18 to each of three) have them all
// without a switch.
LinkCounts count_links(const TopoMatrix& matrix, const std::optional<int>& model) {
  LinkCounts counts;
  std::vector<int> most, sum;
  const std::vector<const FactRecord*> gpus = matrix.gpus();
  for (const FactRecord* const gpu : gpus) {
    most.push_back(0), sum.push_back(0);
    for (const FactRecord* const other : gpus) {
      if (other == gpu) continue;
      const std::optional<int> links = nvlinks_of(link_between(*gpu, other->text("name")));
      counts.switched = counts.switched && links.has_value();
      most.back() = std::max(most.back(), links.value_or(0));
      sum.back() += links.value_or(0);
    }
  }
  const int largest_sum = sum.empty() ? 0 : *std::max_element(sum.begin(), sum.end());
  counts.shared_out = gpus.size() > 2 && model && largest_sum <= *model;
  const bool direct = !counts.switched || counts.shared_out;
  counts.gpus.reserve(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) counts.gpus.push_back({gpus[i], direct ? sum[i] : most[i]});
  return counts;
}

bool is_mesh(const TopoMatrix& matrix, const LinkCounts& counts) {
  const Islands islands = islands_of(matrix);
  constexpr std::size_t kLeastOfAMesh = 4;
  return !counts.switched && islands.alone.empty() && islands.joined.size() == 1 && counts.gpus.size() >= kLeastOfAMesh;
}

void nvlink_fewer(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kSlowsATenth = 1.1;
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const std::optional<int> model = links_of_model(observed.accelerator_beside(matrix.seen));
    const LinkCounts counts = count_links(matrix, model);
    if (!shows_nvlink(matrix) || matrix.partial() || counts.gpus.size() < 2) continue;
    if (!counts.switched && !is_mesh(matrix, counts)) continue;
    int most = 0;
    for (const LinkCount& one : counts.gpus) most = std::max(most, one.links);
    const bool below_model = counts.switched && !counts.shared_out && model && *model > most;
    const int expected = below_model ? *model : most;
    std::vector<std::string> fewer;
    int least = most;
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix, "");
    for (const LinkCount& one : counts.gpus) {
      if (one.links >= expected) continue;
      fewer.emplace_back(one.gpu->text("name"));
      least = std::min(least, one.links);
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(
            evidence_of(matrix.seen, one.gpu->line, fmt::format("{}: {} NVLinks", fewer.back(), one.links)));
      }
    }
    // A link between two GPUs that is down takes one from each: more than half short is another kind of machine.
    if (fewer.empty() || least == 0 || (!below_model && fewer.size() * 2 > counts.gpus.size())) continue;
    const double slowdown = static_cast<double>(expected) / least;
    if (slowdown >= kSlowsATenth) finding.severity = FindingSeverity::kMedium;
    if (fewer.size() == 1) finding.subject = {"gpu", fewer.front(), matrix.seen.node};
    finding.title = fmt::format("{}: {} NVLinks of {}", list_names(fewer), least, expected);
    finding.cause =
        below_model
            ? fmt::format("{} has {} links; fewer are trained.", observed.accelerator_beside(matrix.seen)->id, expected)
            : "Links of these GPUs are down: their peers have more. A ring runs at the thinnest place.";
    finding.expected = fmt::format("{} NVLinks", expected);
    finding.measured = fmt::format("{} NVLinks", least);
    finding.confidence = below_model ? 0.8 : 0.85;
    finding.fix = {"nvidia-smi nvlink -s: which links are inactive", "dmesg | grep -e NVRM -e Xid",
                   "reset the GPUs with the fabric manager stopped; if the link stays down, have the board replaced"};
    finding.loss = slower_communication(observed.setting().intra_node_comm_share, slowdown,
                                        fmt::format("{} of {} NVLinks", least, expected),
                                        static_cast<double>(counts.gpus.size()), "GPUs of the matrix");
    findings.push_back(std::move(finding));
  }
}

void nvlink_mesh(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const LinkCounts counts = count_links(matrix, std::nullopt);
    if (!shows_nvlink(matrix) || !is_mesh(matrix, counts)) continue;
    const bool even = std::all_of(counts.gpus.begin(), counts.gpus.end(),
                                  [&](const LinkCount& one) { return one.links == counts.gpus.front().links; });
    if (!even) continue;
    Finding finding = finding_of(rule, FindingSeverity::kInfo, matrix,
                                 fmt::format("{} NVLinks at each GPU", counts.gpus.front().links));
    finding.title = fmt::format("GPU pairs without NVLink are normal here: a mesh with {} links at each GPU",
                                counts.gpus.front().links);
    finding.cause =
        "Boards without a switch (DGX-1 and its kin) join each GPU to some of the others; all links are there, "
        "and NCCL finds rings over them.";
    finding.fix = {"tensor parallelism over four GPUs that are joined pair by pair"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"topology.nvlink-missing", "NVLink expected, none visible",
     "Collectives within the node run over PCIe, an order of magnitude slower than over NVLink.",
     "DCGM#198, DeepEP#397", nvlink_missing},
    {"topology.nvlink-left-out", "GPUs without NVLink among GPUs that have it",
     "A collective over all GPUs runs at the rate of the pair without a bridge.", "nccl#1591", nvlink_left_out},
    {"topology.nvlink-islands", "NVLink islands joined only by PCIe",
     "Bridges join pairs: work that spans them crosses PCIe or the socket link.", "nvidia-smi topo -m", nvlink_islands},
    {"topology.nvlink-fewer", "GPUs with fewer NVLinks than their peers or their model",
     "Links that are down thin the ring at one place, and the whole ring runs at that rate.", "DCGM#198", nvlink_fewer},
    {"topology.nvlink-mesh", "A mesh in which some pairs have no NVLink",
     "On boards without a switch this is the design and no fault.", "DGX-1 system architecture paper", nvlink_mesh},
    {"topology.no-nvlink", "PCIe only, as the cards are built",
     "Cards without NVLink show PCIe paths only; nothing is broken.", "nccl#1329", no_nvlink},
    {"topology.mp-hides-nvlink", "topo -mp shows no NVLink even where it is",
     "The option prints PCIe paths; the absence of NV# is no evidence.", "DeepEP#397", mp_hides_nvlink},
};

}  // namespace

std::span<const Rule> topology_nvlink_rules() { return kRules; }

}  // namespace tare
