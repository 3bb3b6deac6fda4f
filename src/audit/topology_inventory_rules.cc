// What the inventories of a node say: NUMA nodes, memory, CPUs, and which GPUs are there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/loss.h"
#include "audit/topology_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool has_cpus(const FactRecord& numa) {
  if (const std::optional<double> count = numa.number("cpu_count")) return *count > 0;
  const Fact* const cpus = numa.find("cpus");
  return cpus != nullptr && !cpus->is_unknown() && (cpus->number() || !cpus->text().empty());
}

void numa_without_cpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    const std::optional<double> with = seen.facts->number("numa_nodes_with_cpus");
    const std::vector<const FactRecord*> nodes = records_of(*seen.facts, "numa");
    if (!with || *with < 1 || static_cast<double>(nodes.size()) <= *with) continue;
    const auto count = static_cast<double>(nodes.size());
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", seen.node, seen.node},
                                   fmt::format("{} NUMA nodes, of which {} ha{} CPUs: the others are memory", count,
                                               *with, *with == 1 ? "s" : "ve"));
    for (const FactRecord* const node : nodes) {
      if (has_cpus(*node) || finding.evidence.size() >= 4) continue;
      finding.evidence.push_back(
          evidence_of(seen, node->line, fmt::format("node {} has no CPUs", node->integer("node").value_or(0))));
    }
    finding.cause =
        "GPUs whose memory the CPU addresses (Grace), CXL and HBM appear as NUMA nodes without CPUs: they are "
        "no sockets, and nothing can be bound to their CPUs.";
    finding.fix = {"count sockets by nodes with CPUs; numactl --membind to the others places memory there"};
    findings.push_back(std::move(finding));
  }
}

struct NumaMemory {
  const FactRecord* node = nullptr;
  double mib = 0;
};

// Nodes with CPUs whose memory is known, of numactl -H.
std::vector<NumaMemory> memory_of(const Seen& seen) {
  std::vector<NumaMemory> nodes;
  for (const FactRecord* const node : records_of(*seen.facts, "numa")) {
    const std::optional<double> size = node->number("size_mb");
    if (has_cpus(*node) && size) nodes.push_back({node, *size});
  }
  return nodes;
}

void numa_memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kADimmLess = 0.9;  // of the fullest: the kernel takes a few percent of the first node
  for (const Seen& seen : observed.of_format("numactl -H")) {
    std::vector<NumaMemory> nodes = memory_of(seen);
    if (nodes.size() < 2) continue;
    const auto less = [](const NumaMemory& a, const NumaMemory& b) { return a.mib < b.mib; };
    const auto [least, most] = std::minmax_element(nodes.begin(), nodes.end(), less);
    if (least->mib >= most->mib * kADimmLess) continue;
    const bool none = least->mib <= 0;
    const std::int64_t id = least->node->integer("node").value_or(0);
    Finding finding =
        make_finding(rule, none ? FindingSeverity::kMedium : FindingSeverity::kLow, {"node", seen.node, seen.node}, "");
    for (const NumaMemory* const one : {&*least, &*most}) {
      finding.evidence.push_back(
          evidence_of(seen, one->node->line,
                      fmt::format("node {} size: {:.0f} MB", one->node->integer("node").value_or(0), one->mib)));
    }
    finding.title =
        none ? fmt::format("NUMA node {} has CPUs and no memory", id)
             : fmt::format("NUMA node {} has {:.0f} GiB, another {:.0f} GiB", id, least->mib / 1024, most->mib / 1024);
    finding.cause =
        "DIMMs are missing, disabled or of other sizes: ranks at this node allocate on the far one, and its "
        "memory channels give less bandwidth.";
    finding.expected = fmt::format("{:.0f} GiB at each node", most->mib / 1024);
    finding.measured = fmt::format("{:.0f} GiB at node {}", least->mib / 1024, id);
    finding.confidence = 0.8;
    finding.loss_unknown = "how much of a step is host memory traffic is not known";
    finding.fix = {"dmidecode -t memory | grep -e Locator -e Size", "ipmitool sel list | grep -i -e dimm -e memory"};
    findings.push_back(std::move(finding));
  }
}

void cpus_offline(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    const Fact* const offline = seen.facts->find("offline_cpus");
    if (offline == nullptr || offline->is_unknown()) continue;
    const std::string text = offline->number() ? fmt::format("{}", *offline->number()) : std::string(offline->text());
    if (text.empty()) continue;
    // Threads that are switched off leave one a core.
    const bool smt_off = seen.facts->number("threads_per_core").value_or(0) == 1;
    Finding finding = make_finding(rule, smt_off ? FindingSeverity::kInfo : FindingSeverity::kLow,
                                   {"node", seen.node, seen.node}, fmt::format("CPUs {} are offline", text));
    finding.evidence.push_back(evidence_of(seen, offline->line, "offline CPUs: " + text));
    finding.cause = smt_off ? "One thread a core is left: hyper-threads were switched off."
                            : "Somebody took them out, or the kernel did after errors of the core.";
    if (!smt_off) finding.loss_unknown = "whether the work needs these CPUs is not known";
    finding.fix = {"cat /sys/devices/system/cpu/smt/control", "dmesg | grep -i -e mce -e offline"};
    findings.push_back(std::move(finding));
  }
}

struct Product {
  std::string name;
  std::string gpu;  // "GPU3", "0000:5a:00.0"
  std::int64_t line = 0;
};

std::vector<Product> products_of_smi(const Seen& seen) {
  std::vector<Product> products;
  const auto add = [&products](const FactRecord& gpu) {
    const std::string_view name = gpu.text("name");
    const bool cut = name.empty() || name.ends_with("...") || is_true(gpu, "name_is_cut");
    const std::optional<std::int64_t> index = gpu.integer("index");
    if (!cut && index) products.push_back({std::string(name), fmt::format("GPU{}", *index), gpu.line});
  };
  for (const char* const list : {"gpus", "series"}) {
    if (!products.empty()) break;
    for (const FactRecord* const gpu : records_of(*seen.facts, list)) add(*gpu);
  }
  return products;
}

std::vector<const FactRecord*> nvidia_gpus_of_lspci(const Seen& seen) {
  std::vector<const FactRecord*> gpus;
  const std::vector<std::string> addresses = texts_of(*seen.facts, "gpus");
  for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
    const bool nvidia = device->text("vendor_id") == "10de" || contains(device->text("name"), "NVIDIA");
    const bool gpu = std::find(addresses.begin(), addresses.end(), device->text("address")) != addresses.end();
    if (nvidia && gpu) gpus.push_back(device);
  }
  return gpus;
}

std::vector<Product> products_of_lspci(const Seen& seen) {
  std::vector<Product> products;
  for (const FactRecord* const device : nvidia_gpus_of_lspci(seen)) {
    if (device->text("name").empty()) continue;
    products.push_back({std::string(device->text("name")), std::string(device->text("address")), device->line});
  }
  return products;
}

std::vector<Product> products_of(const Seen& seen) {
  if (seen.format->name == "lspci") return products_of_lspci(seen);
  const bool smi = seen.format->kind == "nvidia-smi" || seen.format->name == "nvidia-smi PCIe links";
  return smi ? products_of_smi(seen) : std::vector<Product>();
}

void gpus_mixed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::set<std::string> nodes_told;
  for (const Seen& seen : observed.all()) {
    std::map<std::string, std::vector<Product>> by_name;
    for (const Product& one : products_of(seen)) by_name[one.name].push_back(one);
    if (by_name.size() < 2 || (!seen.node.empty() && !nodes_told.insert(seen.node).second)) continue;
    std::vector<std::string> counts;
    Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", seen.node, seen.node}, "");
    for (const auto& [name, gpus] : by_name) {
      counts.push_back(fmt::format("{} × {}", gpus.size(), name));
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(evidence_of(seen, gpus.front().line, gpus.front().gpu + ": " + name));
      }
    }
    finding.title = fmt::format("{} GPU models in one node: {}", by_name.size(), list_names(counts));
    finding.cause =
        "A job over all of them runs at the pace and with the memory of the weakest; one of them may be there "
        "for a display only.";
    finding.expected = "one model";
    finding.measured = list_names(counts);
    finding.confidence = 0.8;
    finding.loss_unknown = "whether one job uses both models is not known";
    finding.fix = {"give jobs GPUs of one model: CUDA_VISIBLE_DEVICES, a GRES type or a node label for each"};
    findings.push_back(std::move(finding));
  }
}

// "00000000:1B:00.0", "0000:1b:00.0", "1b:00.0" -> "1b:00.0".
std::string short_address(std::string_view address) {
  const std::string lower = to_lower(address);
  const std::size_t last = lower.rfind(':');
  const std::size_t before = last == std::string::npos || last == 0 ? std::string::npos : lower.rfind(':', last - 1);
  return before == std::string::npos ? lower : lower.substr(before + 1);
}

// What the driver of the node lists as GPUs: how many, and where on the bus.
struct DriverView {
  double count = 0;
  std::set<std::string> addresses;
  bool selected = false;  // asked for some of them only: their indices leave gaps
};

bool has_gaps(const std::vector<const FactRecord*>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::optional<std::int64_t> index = gpus[i]->integer("index");
    if (index && *index != static_cast<std::int64_t>(i)) return true;
  }
  return false;
}

DriverView driver_view(const Observed& observed, const Seen& here) {
  DriverView view;
  for (const Seen& seen : observed.of_kind_beside("nvidia-smi", here)) {
    view.count = std::max(view.count, seen.facts->number("gpu_count").value_or(0));
    const std::vector<const FactRecord*> gpus = records_of(*seen.facts, "gpus");
    view.selected = view.selected || has_gaps(gpus);
    for (const FactRecord* const gpu : gpus) {
      if (!gpu->text("bus_id").empty()) view.addresses.insert(short_address(gpu->text("bus_id")));
    }
  }
  return view;
}

void gpu_not_listed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("lspci")) {
    const DriverView view = driver_view(observed, seen);
    const std::vector<const FactRecord*> gpus = nvidia_gpus_of_lspci(seen);
    if (view.count < 1 || view.selected || static_cast<double>(gpus.size()) <= view.count) continue;
    const double missing = static_cast<double>(gpus.size()) - view.count;
    Finding finding = make_finding(rule, FindingSeverity::kHigh, {"node", seen.node, seen.node}, "");
    std::vector<std::string> names;
    bool given_away = false, taken = true;
    for (const FactRecord* const gpu : gpus) {
      taken = taken && gpu->text("driver") == "nvidia";
      if (view.addresses.contains(short_address(gpu->text("address")))) continue;
      given_away = given_away || contains(gpu->text("driver"), "vfio");
      if (view.addresses.size() != static_cast<std::size_t>(view.count)) continue;
      names.emplace_back(gpu->text("address"));
      finding.evidence.push_back(evidence_of(seen, gpu->line, std::string(gpu->text("name"))));
    }
    if (given_away) continue;  // passed through to a virtual machine
    // Without a word of the driver, nvidia-smi may have been run in a container.
    if (!taken) finding.severity = FindingSeverity::kMedium;
    if (names.size() == 1) finding.subject = {"gpu", names.front(), seen.node};
    if (finding.evidence.empty()) {
      finding.evidence.push_back(evidence_of(seen, gpus.front()->line, fmt::format("{} GPUs on the bus", gpus.size())));
    }
    finding.title = names.empty() ? fmt::format("{} GPUs on the bus, {} in nvidia-smi", gpus.size(), view.count)
                                  : fmt::format("{} is on the bus and not in nvidia-smi", list_names(names));
    finding.cause =
        "The driver did not take the device, or lost it: an Xid, a failed initialisation, or a driver too old "
        "for it.";
    finding.expected = fmt::format("{} GPUs", gpus.size());
    finding.measured = fmt::format("{} GPUs", view.count);
    finding.confidence = taken ? 0.8 : 0.6;
    finding.loss = whole_gpus_lost(missing, "lspci against nvidia-smi");
    finding.consequences = {"health.gpu-missing"};
    finding.fix = {"dmesg | grep -e NVRM -e Xid",
                   "drain the node and reboot it; if it stays away, reseat or replace the GPU"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"topology.numa-without-cpus", "NUMA nodes that are memory only", "They are no sockets; nothing can run there.",
     "xpu-perf#129", numa_without_cpus},
    {"topology.numa-memory", "NUMA nodes with less memory than others",
     "DIMMs are missing or disabled; ranks allocate on the far node.", "numactl -H", numa_memory},
    {"topology.cpus-offline", "CPUs that are offline", "Switched off, or taken out after errors.", "lscpu",
     cpus_offline},
    {"topology.gpus-mixed", "GPU models mixed in one node",
     "A job over all of them runs at the pace and with the memory of the weakest.", "nvidia-smi -L", gpus_mixed},
    {"topology.gpu-not-listed", "A GPU on the bus that the driver does not list",
     "The driver lost it or did not take it; jobs that want all GPUs do not start.", "gpud#1209", gpu_not_listed},
};

}  // namespace

std::span<const Rule> topology_inventory_rules() { return kRules; }

}  // namespace tare
