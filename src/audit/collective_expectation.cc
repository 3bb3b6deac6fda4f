#include "audit/collective_expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "audit/fabric_port.h"
#include "perf/collective.h"
#include "perf/machine.h"

namespace tare {
namespace {

std::optional<Collective> collective_of(std::string_view name) {
  if (name == "all_reduce") return Collective::kAllReduce;
  if (name == "reduce_scatter") return Collective::kReduceScatter;
  if (name == "all_gather" || name == "broadcast" || name == "reduce") return Collective::kAllGather;
  if (name == "alltoall") return Collective::kAllToAll;
  return std::nullopt;
}

// Rate within a node, per GPU and direction; how sure it is that these GPUs have it.
struct InNode {
  double bytes_per_s = 0;
  int domain = 1;
  bool sure = true;
  std::string source;
};

InNode in_node(const Accelerator& gpu, int gpus) {
  InNode in;
  const double link = gpu.link_bytes_per_s.value_or(0);
  const bool mesh = gpu.vendor != "nvidia" || gpu.generation == GpuGeneration::kVolta;
  if (gpus > 1 && gpu.link_domain > 2 && link > 0 && gpus <= gpu.link_domain && gpu.form_factor != "PCIe") {
    in.domain = gpus;
    in.bytes_per_s = link;
    in.sure = gpus >= 4;  // two GPUs of a board of four have a third of their links to each other
    in.source = fmt::format("{} of {}, {:g} GB/s a GPU", gpu.link, gpu.id, link / 1e9);
    // Which links of a mesh a ring or a tree gets, and whether a device is a module or half of one, is not known.
    if (mesh) {
      in.bytes_per_s *= static_cast<double>(gpus - 1) / (gpu.link_domain - 1);
      in.sure = false;
    }
    return in;
  }
  in.bytes_per_s = pcie_bytes_per_s(gpu.pcie_generation > 0 ? gpu.pcie_generation : 4, gpu.pcie_lanes);
  in.sure = false;  // bridges, switches, root ports and sockets decide
  in.source = fmt::format("PCIe {} x{} of {}", gpu.pcie_generation, gpu.pcie_lanes > 0 ? gpu.pcie_lanes : 16, gpu.id);
  return in;
}

// What nodes of that GPU have between them in the catalog: the lower quartile of those with RDMA.
std::optional<NodeNetwork> network_of_catalog(const Catalog& catalog, const Accelerator& gpu, int gpus_per_node) {
  std::vector<double> rates;
  for (const NodeType& type : catalog.node_types) {
    if (type.gpu != gpu.id || !type.inter_node_bytes_per_s_per_gpu || type.nic_kind == "ethernet") continue;
    rates.push_back(*type.inter_node_bytes_per_s_per_gpu);
  }
  if (rates.size() < 3 || gpu.link_domain <= 2) return std::nullopt;
  std::sort(rates.begin(), rates.end());
  const double quartile = rates[rates.size() / 4];
  return NodeNetwork{quartile * gpus_per_node, fmt::format("nodes of {} in the catalog have {:g} Gb/s a GPU or more",
                                                           gpu.id, quartile * 8 / 1e9)};
}

double rails_gbps(const FactRecord& facts) {
  double most = 0;
  for (const std::vector<FabricPort>& machine : ports_by_machine(facts)) {
    for (const FabricPort& port : machine) {
      double sum = 0;
      const std::vector<const FabricPort*> group = rails_of(machine, port);
      if (usual_rate(group) != highest_rate(machine)) continue;
      for (const FabricPort* const one : group) sum += one->is_active() ? one->rate_gbps.value_or(0) : 0;
      most = std::max(most, sum);
    }
  }
  return most;
}

double nets_gb_per_s(const FactRecord& facts) {
  double sum = 0;
  std::set<std::string> seen;
  for (const FactRecord* const node : records_of(facts, "topology")) {
    if (node->text("type") != "NET" || !seen.insert(std::string(node->text("node"))).second) continue;
    sum += node->number("bw_gb_per_s").value_or(0);
  }
  for (const FactRecord* const nic : records_of(facts, "nics")) sum += nic->number("speed_gbit_per_s").value_or(0) / 8;
  return sum;
}

}  // namespace

std::optional<NodeNetwork> network_beside(const Observed& observed, const Seen& seen) {
  for (const Seen& other : observed.of_kind_beside("infiniband", seen)) {
    if (const double rate = rails_gbps(*other.facts); rate > 0) {
      return NodeNetwork{rate * 1e9 / 8, fmt::format("{:g} Gb/s of active ports in {}", rate, other.file->path)};
    }
  }
  for (const Seen& other : observed.of_kind_beside("nccl-debug", seen)) {
    if (const double rate = nets_gb_per_s(*other.facts); rate > 0) {
      return NodeNetwork{rate * 1e9, fmt::format("{:g} GB/s of NICs in NCCL's topology", rate)};
    }
  }
  if (const std::optional<double>& stated = observed.setting().node_network_bytes_per_s) {
    return NodeNetwork{*stated, fmt::format("{:g} GB/s of NICs a node, as --on says", *stated / 1e9)};
  }
  return std::nullopt;
}

std::optional<BusExpectation> expected_busbw(const Observed& observed, const BenchRun& run, double bytes) {
  const std::optional<Collective> kind = collective_of(run.judged_as);
  if (!kind || run.gpu == nullptr || !run.ranks || !run.nodes || *run.ranks < 2 || *run.nodes < 1) return std::nullopt;
  const int nodes = static_cast<int>(std::min(*run.nodes, 1e6));
  const int per_node = static_cast<int>(std::min(*run.ranks, 1e6)) / nodes;
  if (per_node < 1 || per_node * nodes != static_cast<int>(*run.ranks)) return std::nullopt;
  // On a rack that is one NVLink domain the network may not be used at all.
  if (nodes > 1 && run.gpu->link_domain > 16) return std::nullopt;

  BusExpectation expected;
  const InNode in = in_node(*run.gpu, per_node);
  NodeType type;
  type.gpus = per_node;
  type.nvlink_domain = in.domain;
  type.intra_node_bytes_per_s = in.bytes_per_s;
  type.pcie_generation = run.gpu->pcie_generation;
  type.pcie_lanes = run.gpu->pcie_lanes;
  expected.source = in.source;
  expected.sure = in.sure;
  double slowest = in.bytes_per_s;
  if (nodes > 1) {
    std::optional<NodeNetwork> network = network_beside(observed, *run.seen);
    expected.sure = network.has_value();
    if (!network) network = network_of_catalog(observed.catalog(), *run.gpu, per_node);
    if (!network) return std::nullopt;
    const double pcie = pcie_bytes_per_s(run.gpu->pcie_generation, run.gpu->pcie_lanes);
    double per_gpu = network->bytes_per_s / per_node;
    if (pcie > 0) per_gpu = std::min(per_gpu, pcie);  // a GPU drives no more NICs than its own link does
    type.inter_node_bytes_per_s_per_gpu = per_gpu;
    expected.source = network->source;
    expected.between_nodes = true;
    const double out = per_gpu * (*kind == Collective::kAllToAll ? 1 : per_node);
    slowest = per_node > 1 ? std::min(slowest, out) : out;
  }
  const StepConstants& constants = default_constants();
  const Machine machine = machine_of_node(*run.gpu, type, nodes);
  const int ranks = per_node * nodes;
  const double time =
      collective_s(*kind, bytes, machine, place_group(machine, ranks, 1), constants.dp_bus_share, constants);
  if (time <= 0) return std::nullopt;
  // Bus bandwidth as nccl-tests define it (PERFORMANCE.md): 2 (n-1)/n or (n-1)/n of the size over the time; a broadcast
  // in a ring takes the time that the whole size needs, which the model's all-gather has as (n-1)/n of it.
  const double share = static_cast<double>(ranks - 1) / ranks;
  const double rounds = *kind == Collective::kAllReduce ? 2 : 1;
  expected.busbw_gb_per_s = rounds * share * bytes / time / 1e9;
  expected.line_rate_gb_per_s = slowest / 1e9;
  expected.confidence = expected.sure ? 0.9 : 0.5;
  return expected;
}

}  // namespace tare
