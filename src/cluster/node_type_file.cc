#include "cluster/node_type_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/toml_checks.h"
#include "cluster/pcie.h"

namespace tare {
namespace {

constexpr int kMostGpus = 64;
constexpr int kMostParts = 256;      // NICs or disks of a node
constexpr double kRounding = 1.001;  // 450e9 written as "450.1GB/s" is no broken law
// What an NVMe disk on four lanes of PCIe 5.0 reads at most, protocol overhead taken off.
constexpr double kFastestDiskBytesPerS = 14.5e9;
constexpr int kDiskLanes = 4;

constexpr std::string_view kLaw = "impossible-physics";

Pcie read_pcie(TomlTable& table, std::string_view key) {
  const auto text = table.string(key);
  if (!text) return {};
  const auto pcie = parse_pcie(*text);
  if (!pcie) {
    table.error(key, "unknown-value", fmt::format("expected a PCIe generation and width, found {}", in_quotes(*text)),
                "such as \"5.0 x16\"");
  }
  return pcie.value_or(Pcie());
}

const Accelerator* read_model(TomlTable& table, const Catalog& catalog) {
  const auto model = table.require_string("model");
  if (!model) return nullptr;
  const Accelerator* accelerator = find_accelerator(catalog, *model);
  if (accelerator == nullptr) {
    Diagnostic unknown = unknown_accelerator(catalog, *model);
    table.error("model", std::move(unknown.rule), std::move(unknown.text), std::move(unknown.help));
  }
  return accelerator;
}

bool is_card(const Accelerator& accelerator) { return equals_ignoring_case(accelerator.form_factor, "pcie"); }

void read_gpu_slot(TomlTable& table, const Accelerator* accelerator, NodeType& type) {
  const Pcie slot = read_pcie(table, "pcie");
  type.pcie_generation = slot.generation;
  type.pcie_lanes = slot.lanes;
  if (accelerator == nullptr || accelerator->pcie_generation == 0) return;
  if (slot.generation > accelerator->pcie_generation) {
    table.error("pcie", std::string(kLaw),
                fmt::format("expected at most PCIe {}.0, the generation of {}, found {}.0",
                            accelerator->pcie_generation, accelerator->id, slot.generation),
                "a card runs at its own generation in any slot");
  }
}

void read_link(TomlTable& table, const Accelerator* accelerator, NodeType& type) {
  const auto domain = read_int(table, "nvlink_domain", 1, 4096);
  const auto link = read_positive(table, "link", Dimension::kBandwidth);
  if (accelerator == nullptr) return;
  const int largest = largest_link_domain(*accelerator);
  // Modules of one baseboard are joined; whether cards are, only the person knows.
  const int by_default = is_card(*accelerator) ? 1 : std::min(type.gpus, largest);
  type.nvlink_domain = std::clamp(domain.value_or(by_default), 1, largest);
  if (domain && *domain > largest) {
    table.error("nvlink_domain", std::string(kLaw),
                largest == 1 ? fmt::format("expected nvlink_domain = 1, {} has no GPU-to-GPU link", accelerator->id)
                             : fmt::format("expected at most {}, what the links of {} join, found {}", largest,
                                           accelerator->id, *domain),
                "GPUs of other nodes are reached through the NICs");
  }
  if (*type.nvlink_domain > 1) type.intra_node_bytes_per_s = link ? link : accelerator->link_bytes_per_s;
  if (link && accelerator->link_bytes_per_s && *link > *accelerator->link_bytes_per_s * kRounding) {
    table.error("link", std::string(kLaw),
                fmt::format("expected at most {:g} GB/s, {} of {} per direction, found {:g} GB/s",
                            *accelerator->link_bytes_per_s * 1e-9, accelerator->link, accelerator->id, *link * 1e-9),
                "datasheets print both directions together: half of that is one");
  }
  if (link && !accelerator->link_bytes_per_s) {
    table.error("link", std::string(kLaw), fmt::format("{} has no GPU-to-GPU link", accelerator->id), "leave it out");
  }
}

void read_gpus(TomlTable& table, const Catalog& catalog, NodeType& type) {
  auto gpus = table.table("gpus");
  if (!gpus) {
    if (!table.has("gpus")) {
      table.error("gpus", "missing-key", "missing key 'gpus'", "add gpus = { model = \"H100-SXM5-80GB\", count = 8 }");
    }
    return;
  }
  const Accelerator* accelerator = read_model(*gpus, catalog);
  if (accelerator != nullptr) type.gpu = accelerator->id;
  if (!gpus->has("count")) gpus->require_integer("count");
  type.gpus = read_int(*gpus, "count", 1, kMostGpus).value_or(1);
  read_gpu_slot(*gpus, accelerator, type);
  read_link(*gpus, accelerator, type);
}

// What is known of a NIC by its name: the catalog's entry, else what its words say.
std::string transport_of(const std::string& model, const Catalog& catalog) {
  if (const Nic* nic = find_nic(catalog, model); nic != nullptr && !nic->transport.empty()) return nic->transport;
  const std::string text = to_lower(model);
  const std::pair<std::string_view, std::string_view> words[] = {
      {"roce", "roce"}, {"gbe", "ethernet"}, {"ethernet", "ethernet"},
      {"efa", "efa"},   {"tcp", "tcp"},      {"infiniband", "ib"},
      {"edr", "ib"},    {"hdr", "ib"},       {"ndr", "ib"},
      {"xdr", "ib"},
  };
  for (const auto& [word, transport] : words) {
    if (text.find(word) != std::string::npos) return std::string(transport);
  }
  return "unknown";
}

void read_nics(TomlTable& table, const Catalog& catalog, NodeType& type) {
  auto nics = table.table("nics");
  if (!nics) return;
  const auto model = nics->string("model");
  const auto transport = nics->one_of("transport", {"ib", "roce", "efa", "tcp", "ethernet"});
  type.nic_kind = transport ? *transport : model ? transport_of(*model, catalog) : "unknown";
  if (!nics->has("count")) nics->require_integer("count");
  type.nics = read_int(*nics, "count", 0, kMostParts);
  type.rail_optimized = nics->boolean("rails");
  const Nic* known = model ? find_nic(catalog, *model) : nullptr;
  const bool is_port = known != nullptr && known->scope == "port";
  if (!nics->has("rate") && !is_port) nics->require_quantity("rate", Dimension::kBandwidth);
  const auto stated = read_positive(*nics, "rate", Dimension::kBandwidth);
  const auto rate = stated ? stated : is_port ? std::optional<double>(known->rate_bytes_per_s) : std::nullopt;
  const Pcie own_slot = read_pcie(*nics, "pcie");
  if (!rate || !type.nics) return;
  type.nic_rate_bytes_per_s = rate;
  if (type.gpus > 0 && *type.nics > 0) type.inter_node_bytes_per_s_per_gpu = *rate * *type.nics / type.gpus;
  const Pcie slot = own_slot.generation > 0 ? own_slot : Pcie{type.pcie_generation, type.pcie_lanes};
  const auto carried = pcie_bytes_per_s(slot);
  if (carried && *rate > *carried * kRounding) {
    nics->error(
        stated ? "rate" : "model", std::string(kLaw),
        fmt::format("expected at most {:.0f} Gb/s, what PCIe {} carries, found {:g} Gb/s", *carried * 8e-9,
                    to_text(slot), *rate * 8e-9),
        "a NIC moves no more than its slot; if it has another slot than the GPUs, add pcie = \"5.0 x16\" to nics");
  }
}

void check_disk(TomlTable& table, const Disk& disk, const Pcie& slot) {
  const auto by_lanes = pcie_bytes_per_s(slot);
  const double fastest = slot.generation > 5
                             ? by_lanes.value_or(kFastestDiskBytesPerS)
                             : std::min(by_lanes.value_or(kFastestDiskBytesPerS), kFastestDiskBytesPerS);
  const std::pair<std::string_view, double> rates[] = {{"read", disk.read_bytes_per_s},
                                                       {"write", disk.write_bytes_per_s}};
  for (const auto& [key, rate] : rates) {
    if (rate <= fastest * kRounding) continue;
    table.error(key, std::string(kLaw),
                fmt::format("expected at most {:.1f} GB/s, what one disk on PCIe {} carries, found {:g} GB/s",
                            fastest * 1e-9, slot.generation > 0 ? to_text(slot) : "5.0 x4", rate * 1e-9),
                "list the disks of an array one by one");
  }
}

Disk read_disk(TomlTable& table, int node_generation) {
  Disk disk;
  disk.name = table.require_string("name").value_or("");
  disk.read_iops = read_positive(table, "read_iops");
  if (!table.has("read")) table.require_quantity("read", Dimension::kBandwidth);
  if (!table.has("write")) table.require_quantity("write", Dimension::kBandwidth);
  if (!table.has("bytes")) table.require_quantity("bytes", Dimension::kBytes);
  disk.read_bytes_per_s = read_positive(table, "read", Dimension::kBandwidth).value_or(0);
  disk.write_bytes_per_s = read_positive(table, "write", Dimension::kBandwidth).value_or(0);
  disk.bytes = read_positive(table, "bytes", Dimension::kBytes).value_or(0);
  const Pcie own_slot = read_pcie(table, "pcie");
  const Pcie by_node = node_generation > 0 ? Pcie{node_generation, kDiskLanes} : Pcie{};
  check_disk(table, disk, own_slot.generation > 0 ? own_slot : by_node);
  return disk;
}

void read_disks(TomlTable& table, ClusterNodeType& node) {
  std::vector<TomlTable> disks = table.tables("disks");
  if (disks.size() > kMostParts) {
    table.error("disks", "out-of-range", fmt::format("expected at most {} disks, found {}", kMostParts, disks.size()));
    return;
  }
  double read = 0;
  double write = 0;
  double bytes = 0;
  for (TomlTable& entry : disks) {
    Disk disk = read_disk(entry, node.type.pcie_generation);
    const bool repeated = std::any_of(node.disks.begin(), node.disks.end(),
                                      [&](const Disk& other) { return other.name == disk.name && !disk.name.empty(); });
    if (repeated) entry.error("name", "duplicate-name", fmt::format("a second disk named {}", in_quotes(disk.name)));
    read += disk.read_bytes_per_s;
    write += disk.write_bytes_per_s;
    bytes += disk.bytes;
    node.disks.push_back(std::move(disk));
  }
  if (node.disks.empty()) return;
  const auto count = static_cast<double>(node.disks.size());
  node.type.local_nvme_count = static_cast<int>(node.disks.size());
  node.type.local_nvme_bytes = bytes;
  node.type.local_nvme_read_bytes_per_s = read / count;  // of one disk, the mean
  node.type.local_nvme_write_bytes_per_s = write / count;
}

}  // namespace

int largest_link_domain(const Accelerator& accelerator) {
  const bool paired_baseboards = accelerator.link_domain == 8 && (accelerator.generation == GpuGeneration::kVolta ||
                                                                  accelerator.generation == GpuGeneration::kAmpere);
  return paired_baseboards ? 16 : std::max(1, accelerator.link_domain);
}

ClusterNodeType read_node_type(TomlTable& table, const std::string& name, const Catalog& catalog) {
  ClusterNodeType node;
  node.type.id = name;
  node.type.instance = name;
  read_gpus(table, catalog, node.type);
  read_nics(table, catalog, node.type);
  read_disks(table, node);
  node.type.vcpus = read_int(table, "vcpus", 1, 65536);
  node.type.memory_bytes = read_positive(table, "memory", Dimension::kBytes);
  node.type.node_power_w = read_positive(table, "power", Dimension::kPower);
  return node;
}

}  // namespace tare
