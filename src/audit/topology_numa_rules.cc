// CPUs and NUMA nodes beside the GPUs, as topology matrices show them.
#include <fmt/format.h>

#include <algorithm>

#include "audit/topology_rules.h"

namespace tare {
namespace {

std::string numa_text(const FactRecord& gpu) {
  if (const std::optional<std::int64_t> node = gpu.integer("numa_affinity")) return std::to_string(*node);
  return std::string(gpu.text("numa_affinity"));
}

// GPUs whose NUMA affinity is printed as unknown (N/A).
bool is_numa_unknown(const FactRecord& gpu) {
  const Fact* const fact = gpu.find("numa_affinity");
  return fact != nullptr && fact->is_unknown() && !gpu.has("numa_affinity_cut");
}

// Every path between devices is PHB, or NVLink: no switch and no socket to be seen.
bool all_paths_are_phb(const TopoMatrix& matrix) {
  bool any = false;
  for (const FactRecord* const gpu : matrix.gpus()) {
    const FactRecord* const links = gpu->find_record("links");
    if (links == nullptr) continue;
    for (const auto& [name, link] : links->members()) {
      if (nvlinks_of(link.text())) continue;
      if (link.text() != "PHB") return false;
      any = true;
    }
  }
  return any;
}

// The same range of several NUMA nodes for all GPUs: "0-1".
bool all_share_a_numa_range(const std::vector<const FactRecord*>& gpus) {
  const std::string first = gpus.empty() ? std::string() : numa_text(*gpus.front());
  if (first.find_first_of("-,") == std::string::npos) return false;
  return std::all_of(gpus.begin(), gpus.end(),
                     [&](const FactRecord* gpu) { return numa_text(*gpu) == first && !gpu->number("gpu_numa_id"); });
}

bool hides_the_tree(const TopoMatrix& matrix) {
  constexpr std::size_t kMoreThanOneSwitch = 4;  // four GPUs and more hang on no single host bridge
  const std::vector<const FactRecord*> gpus = matrix.gpus();
  if (gpus.size() > 1 && all_share_a_numa_range(gpus)) return true;
  const bool unknown =
      std::all_of(gpus.begin(), gpus.end(), [](const FactRecord* gpu) { return is_numa_unknown(*gpu); });
  return gpus.size() >= kMoreThanOneSwitch && unknown && all_paths_are_phb(matrix);
}

void tree_hidden(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    if (matrix.gpus().empty() || !hides_the_tree(matrix)) continue;
    const FactRecord& gpu = *matrix.gpus().front();
    const std::string numa = is_numa_unknown(gpu) ? "N/A" : numa_text(gpu);
    const std::string paths = all_paths_are_phb(matrix) ? ", PHB on every PCIe path" : "";
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix, fmt::format("NUMA affinity {}{}", numa, paths));
    finding.title =
        fmt::format("NUMA affinity {} for all {} GPUs: which socket a GPU is on is hidden", numa, matrix.gpus().size());
    finding.cause =
        "A virtual machine hides the PCIe tree: neither NUMA binding nor the choice of a near NIC can be "
        "derived from this matrix, and NCCL plans on a flat machine.";
    finding.expected = "one NUMA node for each GPU";
    finding.measured = numa + paths;
    finding.confidence = 0.85;
    finding.loss_unknown = "how far GPU, NIC and CPU really are from each other is hidden";
    finding.consequences = {"topology.sys-in-numa-node", "nccl.hidden-topology"};
    finding.fix = {
        "give NCCL the machine's real tree: NCCL_TOPO_FILE, as the provider publishes it for the instance type",
        "or have the hypervisor pass NUMA nodes and PCIe switches on"};
    findings.push_back(std::move(finding));
  }
}

void numa_unknown(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    std::vector<std::string> unknown;
    Finding finding = finding_of(rule, FindingSeverity::kInfo, matrix, "");
    for (const FactRecord* const gpu : matrix.gpus()) {
      if (!is_numa_unknown(*gpu)) continue;
      unknown.emplace_back(gpu->text("name"));
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(evidence_of(matrix.seen, gpu->line, unknown.back() + ": NUMA affinity N/A"));
      }
    }
    if (unknown.empty() || hides_the_tree(matrix)) continue;
    if (unknown.size() == 1) finding.subject = {"gpu", unknown.front(), matrix.seen.node};
    finding.title = fmt::format("NUMA affinity of {} is unknown (N/A), which is not node 0", list_names(unknown));
    finding.cause =
        "The firmware or a virtual machine names no NUMA node for the device (numa_node is -1): on a machine "
        "with one node nothing is lost, on others nothing can be bound by it.";
    finding.fix = {"lscpu | grep NUMA: with one node there is nothing to bind"};
    findings.push_back(std::move(finding));
  }
}

void sys_in_numa_node(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    std::vector<std::string> pairs;
    std::int64_t line = 0;
    const std::vector<const FactRecord*> gpus = matrix.gpus();
    for (std::size_t a = 0; a < gpus.size(); ++a) {
      for (std::size_t b = a + 1; b < gpus.size(); ++b) {
        const std::optional<std::int64_t> node = gpus[a]->integer("numa_affinity");
        if (!node || gpus[b]->integer("numa_affinity") != node) continue;
        if (link_between(*gpus[a], gpus[b]->text("name")) != "SYS") continue;
        if (pairs.empty()) line = gpus[a]->line;
        pairs.push_back(fmt::format("{}-{}", gpus[a]->text("name"), gpus[b]->text("name")));
      }
    }
    if (pairs.empty()) continue;
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix, "");
    finding.evidence.push_back(evidence_of(matrix.seen, line, "SYS within one NUMA node: " + list_names(pairs)));
    finding.title = fmt::format("{} GPU pairs are SYS within one NUMA node: not a socket crossing", pairs.size());
    finding.cause =
        "Each GPU sits behind a root complex of its own, or is passed through one by one to a virtual "
        "machine: the class shows no common host bridge, and proves no path over the socket link.";
    finding.expected = "NODE, PHB or nearer within a NUMA node";
    finding.measured = "SYS";
    finding.confidence = 0.8;
    finding.loss_unknown = "the real path between the GPUs is hidden";
    finding.fix = {"measure it: p2pBandwidthLatencyTest or nvbandwidth between two GPUs of the node",
                   "in a virtual machine give NCCL the real tree: NCCL_TOPO_FILE"};
    findings.push_back(std::move(finding));
  }
}

void few_cpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  // A process, a data loader and NCCL's proxy thread each want one; cloud machines have four and more for each GPU.
  constexpr double kLeastPerGpu = 4;
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const std::optional<double> cpus = matrix.facts->number("logical_cpus");
    const auto gpus = static_cast<double>(matrix.gpus().size());
    if (!cpus || matrix.partial() || gpus < 1 || *cpus / gpus >= kLeastPerGpu) continue;
    const FactRecord& gpu = *matrix.gpus().front();
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix,
                                 fmt::format("{}: CPU affinity {}", gpu.text("name"), gpu.text("cpu_affinity")));
    if (gpus == 1) finding.subject = {"gpu", std::string(gpu.text("name")), matrix.seen.node};
    finding.title = fmt::format("{} CPU{} for {} GPU{}: the affinity is the container's, not the machine's", *cpus,
                                *cpus == 1 ? "" : "s", gpus, gpus == 1 ? "" : "s");
    finding.cause =
        "CPU affinity shows only the CPUs that this process may use (cgroup, Slurm, cpuset): so few leave "
        "data loading and NCCL's threads waiting for each other, and say nothing of the hardware.";
    finding.expected = fmt::format("at least {} CPUs for each GPU", kLeastPerGpu);
    finding.measured = fmt::format("{:.3g} CPUs for each GPU", *cpus / gpus);
    finding.confidence = 0.75;
    finding.loss_unknown = "how much the job's processes need of a CPU is not known";
    finding.fix = {"ask for more: --cpus-per-gpu (Slurm), resources.requests.cpu (Kubernetes), --cpuset-cpus (Docker)",
                   "nproc; taskset -cp $$"};
    findings.push_back(std::move(finding));
  }
}

void cpus_uneven(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kUneven = 1.5;
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const std::vector<const FactRecord*> nodes = records_of(*matrix.facts, "numa_nodes");
    if (nodes.size() < 2 || matrix.partial()) continue;
    const auto less = [](const FactRecord* a, const FactRecord* b) {
      return a->number("cpus_per_gpu").value_or(0) < b->number("cpus_per_gpu").value_or(0);
    };
    const auto [poorest, richest] = std::minmax_element(nodes.begin(), nodes.end(), less);
    const double least = (*poorest)->number("cpus_per_gpu").value_or(0);
    const double most = (*richest)->number("cpus_per_gpu").value_or(0);
    if (least <= 0 || most < least * kUneven) continue;
    Finding finding = finding_of(rule, FindingSeverity::kLow, matrix, "");
    for (const FactRecord* const node : nodes) {
      if (finding.evidence.size() >= 4) break;
      finding.evidence.push_back(
          evidence_of(matrix.seen, node->line,
                      fmt::format("NUMA node {}: {} GPUs, {} CPUs", node->integer("id").value_or(0),
                                  texts_of(*node, "gpus").size(), node->number("cpu_count").value_or(0))));
    }
    finding.title =
        fmt::format("uneven sockets: {:.3g} CPU threads for each GPU on NUMA node {}, {:.3g} on node {}", least,
                    (*poorest)->integer("id").value_or(0), most, (*richest)->integer("id").value_or(0));
    finding.cause =
        "GPUs are not spread evenly over the sockets: those on the fuller one share its cores, memory "
        "bandwidth and host bridge, and every step waits for the slowest rank.";
    finding.expected = "as many CPU threads for each GPU";
    finding.measured = fmt::format("{:.3g} and {:.3g}", least, most);
    finding.loss_unknown = "whether the CPU bounds the step is not known";
    finding.fix = {"give each rank the same number of loader workers and threads, sized for the fuller socket",
                   "spread the cards evenly when the machine is next open"};
    findings.push_back(std::move(finding));
  }
}

void numa_binding(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TopoMatrix& matrix : topo_matrices(observed)) {
    const std::vector<const FactRecord*> nodes = records_of(*matrix.facts, "numa_nodes");
    if (nodes.size() < 2 || !nodes.front()->has("cpu_count")) continue;
    Finding finding = finding_of(rule, FindingSeverity::kInfo, matrix, "");
    for (const FactRecord* const gpu : matrix.gpus()) {
      const std::optional<std::int64_t> node = gpu->integer("numa_affinity");
      const std::string_view cpus = gpu->text("cpu_affinity");
      const bool first = finding.evidence.empty() || finding.evidence.back().text.find(fmt::format(
                                                         "NUMA node {},", node.value_or(-1))) == std::string::npos;
      if (!node || cpus.empty() || !first || finding.evidence.size() >= 8) continue;
      finding.evidence.push_back(evidence_of(matrix.seen, gpu->line,
                                             fmt::format("{}: NUMA node {}, CPUs {}", gpu->text("name"), *node, cpus)));
    }
    if (finding.evidence.empty()) continue;
    std::vector<std::string> places;
    places.reserve(nodes.size());
    for (const FactRecord* const node : nodes) {
      places.push_back(
          fmt::format("{} near node {}", list_names(texts_of(*node, "gpus")), node->integer("id").value_or(0)));
    }
    finding.title = fmt::format("GPUs stand at {} NUMA nodes: bind each rank to its own", nodes.size());
    finding.cause =
        list_names(places) + ": a rank on the other socket pays the socket link for every copy from the host.";
    const std::int64_t first = nodes.front()->integer("id").value_or(0);
    finding.fix = {fmt::format("numactl --cpunodebind={0} --membind={0} for the ranks of {1}, and so on", first,
                               list_names(texts_of(*nodes.front(), "gpus"))),
                   "torchrun --numa-binding=node, mpirun --bind-to numa, srun --cpu-bind=ldoms or --gpu-bind=closest"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"topology.tree-hidden", "A virtual machine hides the PCIe tree",
     "Neither NUMA binding nor the near NIC can be derived, and NCCL plans on a flat machine.",
     "nccl#1329, nccl#1843, nccl-tests#380", tree_hidden},
    {"topology.numa-unknown", "NUMA affinity N/A", "It means unknown, and not node 0.", "HAMi, nvidia-smi topo -m",
     numa_unknown},
    {"topology.sys-in-numa-node", "SYS between GPUs of one NUMA node",
     "Root complexes of their own or passthrough: the class proves no socket crossing there.", "nccl#1329",
     sys_in_numa_node},
    {"topology.few-cpus", "Very few CPUs for each GPU",
     "The affinity is that of the container; data loading and NCCL's threads wait for CPUs.", "parallelcluster#5797",
     few_cpus},
    {"topology.cpus-uneven", "Uneven CPU threads for each GPU",
     "Ranks on the fuller socket are slower, and every step waits for them.", "nvidia-smi topo -m", cpus_uneven},
    {"topology.numa-binding", "Ranks to be bound to their NUMA node",
     "Unbound ranks copy over the socket link; what each should be bound to stands in the matrix.",
     "stas00/ml-engineering", numa_binding},
};

}  // namespace

std::span<const Rule> topology_numa_rules() { return kRules; }

}  // namespace tare
