#include "ingest/cluster_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "cluster/cluster.h"
#include "ingest/gpu_name.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr int kMostGpus = 64;
constexpr std::size_t kMostDisks = 256;
constexpr double kMib = 1024.0 * 1024;

std::string file_name(const FileFacts& file) {
  const std::size_t slash = file.path.find_last_of('/');
  return slash == std::string::npos ? file.path : file.path.substr(slash + 1);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string last_part(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::optional<int> small(std::optional<std::int64_t> value, std::int64_t most) {
  if (!value || *value < 1 || *value > most) return std::nullopt;
  return static_cast<int>(*value);
}

// One reading of one file, of a kind.
struct Source {
  const FileFacts* file = nullptr;
  const FormatReading* reading = nullptr;
  const FactRecord& facts() const { return reading->reading.facts; }
  std::string name() const { return file_name(*file); }
};

std::vector<Source> sources_of(const NodeFiles& node, std::string_view kind) {
  std::vector<Source> found;
  for (const FileFacts* const file : node.files) {
    for (const FormatReading& reading : file->readings) {
      if (reading.format->kind == kind) found.push_back({file, &reading});
    }
  }
  return found;
}

// --- GPUs ---------------------------------------------------------------------------------------------------------

struct GpuSeen {
  std::string text;  // as printed
  std::optional<double> memory_gib;
  int count = 0;
};

// GPUs of nvidia-smi by name, counted. "Graphics device" and the like have no name.
std::vector<GpuSeen> gpus_listed(const FactRecord& facts) {
  std::vector<GpuSeen> seen;
  const std::vector<Fact>* const list = facts.find_list("gpus");
  if (list == nullptr) return seen;
  std::set<std::string, std::less<>> buses;
  for (const Fact& one : *list) {
    const FactRecord* const gpu = one.as_record();
    if (gpu == nullptr) continue;
    // A log of many moments lists a GPU often; its bus address or index is there once.
    std::string key(gpu->text("bus_id"));
    if (key.empty()) {
      const std::optional<std::int64_t> index = gpu->integer("index");
      key = index ? fmt::format("#{}", *index) : fmt::format("@{}", buses.size());
    }
    if (!buses.insert(key).second) continue;
    const std::string_view name = gpu->text("name");
    const auto same = std::find_if(seen.begin(), seen.end(), [&](const GpuSeen& g) { return g.text == name; });
    if (same != seen.end()) {
      ++same->count;
      continue;
    }
    GpuSeen first{std::string(name), std::nullopt, 1};
    if (const std::optional<double> mib = gpu->number("mem_total_mib"); mib && *mib > 0) first.memory_gib = *mib / 1024;
    seen.push_back(std::move(first));
  }
  return seen;
}

void take_model(NodeDraft& draft, const GpuSeen& gpu, const Catalog& catalog, const std::string& source) {
  draft.gpu_text = gpu.text;
  if (says_unknown(gpu.text)) {
    draft.remarks.push_back(fmt::format("{} does not name the GPUs", source));
    return;
  }
  // A table cuts long names: "NVIDIA A100-SXM..."
  std::string name = gpu.text;
  while (name.ends_with('.')) name.pop_back();
  const GpuMatch match = match_gpu(catalog, {name, name, "", "", gpu.memory_gib});
  if (match.accelerator == nullptr) {
    draft.remarks.push_back(fmt::format("the catalog has no GPU {} ({})", in_quotes(gpu.text), source));
    return;
  }
  draft.gpu = match.accelerator->id;
  if (!match.doubt.empty()) draft.remarks.push_back(fmt::format("GPU {}: {}", in_quotes(gpu.text), match.doubt));
}

void take_pcie(NodeDraft& draft, const FactRecord& facts, const Catalog& catalog) {
  const std::vector<Fact>* const list = facts.find_list("gpus");
  if (list == nullptr || list->empty() || draft.pcie_generation) return;
  const FactRecord* const gpu = list->front().as_record();
  if (gpu == nullptr) return;
  // What slot and card can do together; the current generation falls when a GPU idles.
  draft.pcie_generation = small(gpu->integer("pcie_gen_max"), 9);
  draft.pcie_lanes = small(gpu->integer("pcie_lanes_max"), 16);
  const Accelerator* const known = draft.gpu.empty() ? nullptr : find_accelerator(catalog, draft.gpu);
  if (known == nullptr || known->pcie_generation == 0 || draft.pcie_generation.value_or(0) <= known->pcie_generation)
    return;
  draft.remarks.push_back(fmt::format("PCIe {}.0 is more than {} can do: taken as {}.0", *draft.pcie_generation,
                                      known->id, known->pcie_generation));
  draft.pcie_generation = known->pcie_generation;
}

void take_nvidia_smi(NodeDraft& draft, const NodeFiles& node, const Catalog& catalog) {
  for (const Source& source : sources_of(node, "nvidia-smi")) {
    std::vector<GpuSeen> seen = gpus_listed(source.facts());
    if (seen.empty()) continue;
    std::stable_sort(seen.begin(), seen.end(), [](const GpuSeen& a, const GpuSeen& b) { return a.count > b.count; });
    if (draft.gpu_text.empty()) {
      for (std::size_t i = 1; i < seen.size(); ++i) {
        draft.remarks.push_back(fmt::format("left out: {} of {} ({}): a node type has one GPU", seen[i].count,
                                            in_quotes(seen[i].text), source.name()));
      }
      take_model(draft, seen.front(), catalog, source.name());
      draft.gpus = small(seen.front().count, kMostGpus);
      // A paste may show some of the GPUs; the file says how many there are.
      if (const auto all = small(source.facts().integer("gpu_count"), kMostGpus); all && seen.size() == 1) {
        draft.gpus = std::max(*draft.gpus, *all);
      }
    }
    take_pcie(draft, source.facts(), catalog);
  }
}

// --- topology -----------------------------------------------------------------------------------------------------

void take_links(NodeDraft& draft, const Source& source) {
  const FactRecord& facts = source.facts();
  const Fact* const nvlink = facts.find("nvlink");
  const bool* const joined = nvlink == nullptr ? nullptr : std::get_if<bool>(&nvlink->value);
  if (joined == nullptr) {
    draft.remarks.push_back(fmt::format("{} does not say whether NVLink joins the GPUs", source.name()));
    return;
  }
  const Fact* const partial = facts.find("partial");
  const bool cut =
      partial != nullptr && std::get_if<bool>(&partial->value) != nullptr && std::get<bool>(partial->value);
  if (!*joined) {
    if (cut) {
      draft.remarks.push_back(fmt::format("{} is cut off and shows no NVLink: that proves nothing", source.name()));
    } else {
      draft.nvlink_domain = 1;
    }
    return;
  }
  const std::vector<Fact>* const islands = facts.find_list("nvlink_islands");
  if (islands == nullptr || islands->empty()) return;
  std::size_t least = SIZE_MAX, most = 0;
  for (const Fact& one : *islands) {
    const std::size_t size = one.as_list() == nullptr ? 0 : one.as_list()->size();
    least = std::min(least, size);
    most = std::max(most, size);
  }
  if (least != most) {
    draft.remarks.push_back(
        fmt::format("NVLink joins {} to {} GPUs ({}): the smallest set is taken", least, most, source.name()));
  }
  if (least >= 1 && least <= kMostGpus && !(cut && islands->size() > 1)) draft.nvlink_domain = static_cast<int>(least);
}

void take_topology(NodeDraft& draft, const NodeFiles& node) {
  for (const Source& source : sources_of(node, "topo")) {
    const std::optional<int> count = small(source.facts().integer("gpu_count"), kMostGpus);
    if (count && draft.gpus && *count != *draft.gpus) {
      draft.remarks.push_back(fmt::format("{} shows {} GPUs, other files {}: the greater number is taken",
                                          source.name(), *count, *draft.gpus));
    }
    if (count) draft.gpus = std::max(draft.gpus.value_or(0), *count);
    if (!draft.nvlink_domain) take_links(draft, source);
    const std::string_view vendor = source.facts().text("vendor");
    if (draft.gpu_text.empty() && !vendor.empty()) draft.remarks.push_back(fmt::format("GPUs are by {}", vendor));
  }
}

// --- NICs ---------------------------------------------------------------------------------------------------------

struct Port {
  double gbit_per_s = 0;
  std::string layer, type;
  auto operator<=>(const Port&) const = default;
};

// Families by the device id that ibstat prints as the type.
std::string nic_family(std::string_view type) {
  static const std::map<std::string, std::string, std::less<>> kFamilies = {
      {"MT4115", "ConnectX-4"}, {"MT4117", "ConnectX-4 Lx"}, {"MT4119", "ConnectX-5"},    {"MT4121", "ConnectX-5 Ex"},
      {"MT4123", "ConnectX-6"}, {"MT4125", "ConnectX-6 Dx"}, {"MT4127", "ConnectX-6 Lx"}, {"MT4129", "ConnectX-7"},
      {"MT4131", "ConnectX-8"}, {"MT41682", "BlueField"},    {"MT41686", "BlueField-2"},  {"MT41692", "BlueField-3"}};
  std::string key(type);
  // ibv_devinfo has the bare number.
  if (!key.empty() && key[0] >= '0' && key[0] <= '9') key = "MT" + key;
  const auto found = kFamilies.find(key);
  return found == kFamilies.end() ? std::string() : found->second;
}

std::string transport_of(std::string_view layer) {
  if (equals_ignoring_case(layer, "infiniband") || layer == "IB") return "ib";
  if (equals_ignoring_case(layer, "ethernet") || layer == "RoCE") return "roce";
  return {};
}

// The catalog's NIC of that family, transport and rate; else the family's name.
std::string model_of(const Port& port, const Catalog& catalog) {
  std::string family = nic_family(port.type);
  if (family.empty()) return {};
  const std::string transport = transport_of(port.layer);
  for (const Nic& nic : catalog.nics) {
    const bool same_rate = std::abs(nic.rate_bytes_per_s * 8e-9 - port.gbit_per_s) < 0.5;
    if (nic.scope == "port" && same_rate && nic.transport == transport && nic.name.starts_with(family + " ")) {
      return nic.name;
    }
  }
  return family;
}

void ports_of_devices(const FactRecord& facts, std::map<Port, int>& active, std::map<Port, int>& down) {
  const std::vector<Fact>* const devices = facts.find_list("devices");
  if (devices == nullptr) return;
  for (const Fact& one : *devices) {
    const FactRecord* const device = one.as_record();
    const std::vector<Fact>* const ports = device == nullptr ? nullptr : device->find_list("ports");
    if (ports == nullptr) continue;
    // Lists of several machines in one file: the first stands for the node.
    if (device->integer("machine").value_or(1) > 1) return;
    for (const Fact& each : *ports) {
      const FactRecord* const port = each.as_record();
      const std::optional<double> rate = port == nullptr ? std::nullopt : port->number("rate_gbit_per_s");
      if (!rate || !(*rate > 0)) continue;
      std::string type(device->text("ca_type"));
      if (const auto part = device->integer("vendor_part_id"); type.empty() && part) type = fmt::format("{}", *part);
      const bool up = contains(to_lower(port->text("state")), "active");
      ++(up ? active : down)[{*rate, std::string(port->text("link_layer")), type}];
    }
  }
}

void choose_nics(NodeDraft& draft, const std::map<Port, int>& active, const std::map<Port, int>& down,
                 const std::string& source, const Catalog& catalog) {
  if (active.empty()) return;
  // The fastest ports carry the GPUs' traffic; the rest are for storage and management.
  const auto best = std::max_element(active.begin(), active.end(), [](const auto& a, const auto& b) {
    return a.first.gbit_per_s != b.first.gbit_per_s ? a.first.gbit_per_s < b.first.gbit_per_s : a.second < b.second;
  });
  NodeNics nics;
  nics.model = model_of(best->first, catalog);
  nics.transport = transport_of(best->first.layer);
  nics.count = best->second;
  nics.gbit_per_s = best->first.gbit_per_s;
  for (const auto& [port, count] : active) {
    if (port == best->first) continue;
    draft.remarks.push_back(fmt::format("left out: {} active ports of {:g} Gb/s {}, for storage or management ({})",
                                        count, port.gbit_per_s, nic_family(port.type), source));
  }
  for (const auto& [port, count] : down) {
    if (port.type != best->first.type) continue;
    draft.remarks.push_back(
        fmt::format("{} further ports of that kind are down ({}): counted are those that work", count, source));
  }
  draft.nics = nics;
}

void take_nics(NodeDraft& draft, const NodeFiles& node, const Catalog& catalog) {
  for (const Source& source : sources_of(node, "infiniband")) {
    if (draft.nics) break;
    std::map<Port, int> active, down;
    ports_of_devices(source.facts(), active, down);
    choose_nics(draft, active, down, source.name(), catalog);
  }
  for (const Source& source : sources_of(node, "nccl-debug")) {
    const std::vector<Fact>* const list = source.facts().find_list("nics");
    if (draft.nics || list == nullptr) continue;
    std::map<Port, int> active;
    for (const Fact& one : *list) {
      const FactRecord* const nic = one.as_record();
      const std::optional<double> rate = nic == nullptr ? std::nullopt : nic->number("speed_gbit_per_s");
      if (rate && *rate > 0) ++active[{*rate, std::string(nic->text("layer")), {}}];
    }
    choose_nics(draft, active, {}, source.name(), catalog);
  }
  if (draft.nics) return;
  for (const Source& source : sources_of(node, "topo")) {
    const std::optional<std::int64_t> count = source.facts().integer("nic_count");
    if (count && *count > 0) {
      draft.remarks.push_back(fmt::format("{} shows {} NICs and not their rate", source.name(), *count));
    }
  }
  draft.remarks.emplace_back("NICs: no file gives their rate; 'ibstat' or 'ibv_devinfo -v' does");
}

// --- disks, CPUs, memory --------------------------------------------------------------------------------------------

std::optional<double> first_number(const FactRecord& record, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::optional<double> value = record.number(name); value && *value > 0) return value;
  }
  return std::nullopt;
}

std::string_view first_text(const FactRecord& record, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::string_view value = record.text(name); !value.empty()) return value;
  }
  return {};
}

NodeDisk* disk_named(NodeDraft& draft, std::string_view name) {
  for (NodeDisk& disk : draft.disks) {
    if (disk.name == name) return &disk;
  }
  return nullptr;
}

std::string_view bare_device(std::string_view path) { return path.starts_with("/dev/") ? path.substr(5) : path; }

void take_disk_list(NodeDraft& draft, const FactRecord& facts, std::string_view list_name) {
  const std::vector<Fact>* const list = facts.find_list(list_name);
  if (list == nullptr) return;
  for (const Fact& one : *list) {
    const FactRecord* const disk = one.as_record();
    if (disk == nullptr || draft.disks.size() >= kMostDisks) continue;
    const std::string_view name = bare_device(first_text(*disk, {"name", "node", "device", "path"}));
    // Local NVMe drives are what jobs read from; others are system disks or come over a network.
    if (!name.starts_with("nvme") || disk_named(draft, name) != nullptr) continue;
    if (const std::string_view type = disk->text("type"); !type.empty() && type != "disk") continue;
    NodeDisk found;
    found.name = name;
    found.bytes = first_number(*disk, {"size_bytes", "bytes", "capacity_bytes", "physical_size_bytes"});
    draft.disks.push_back(std::move(found));
  }
}

// fio against a whole device measures that device; against a file it measures the file system.
void take_fio(NodeDraft& draft, const Source& source) {
  const std::vector<Fact>* const jobs = source.facts().find_list("jobs");
  if (jobs == nullptr) return;
  const FactRecord* const common = source.facts().find_record("global_options");
  for (const Fact& one : *jobs) {
    const FactRecord* const job = one.as_record();
    if (job == nullptr) continue;
    const FactRecord* const options = job->find_record("options");
    std::string_view file = options != nullptr ? options->text("filename") : std::string_view();
    if (file.empty() && common != nullptr) file = common->text("filename");
    NodeDisk* const disk = disk_named(draft, bare_device(file));
    if (disk == nullptr || !file.starts_with("/dev/")) continue;
    const auto better = [](std::optional<double>& kept, std::optional<double> now) {
      if (now && *now > 0) kept = std::max(kept.value_or(0), *now);
    };
    if (const FactRecord* const read = job->find_record("read")) {
      better(disk->read_bytes_per_s, read->number("bw_bytes_per_s"));
      better(disk->read_iops, read->number("iops"));
    }
    if (const FactRecord* const write = job->find_record("write")) {
      better(disk->write_bytes_per_s, write->number("bw_bytes_per_s"));
    }
  }
}

void take_inventory(NodeDraft& draft, const NodeFiles& node) {
  for (const Source& source : sources_of(node, "hw-inventory")) {
    for (const std::string_view list : {"disks", "drives", "block_devices", "namespaces", "devices"}) {
      take_disk_list(draft, source.facts(), list);
    }
    if (!draft.vcpus) {
      const auto cpus = first_number(source.facts(), {"vcpus", "logical_cpus", "cpus", "cpu_count"});
      if (cpus && *cpus <= 65536) draft.vcpus = static_cast<int>(*cpus);
    }
    if (!draft.memory_bytes) {
      draft.memory_bytes = first_number(source.facts(), {"memory_bytes", "memory_total_bytes", "mem_total_bytes"});
    }
    if (!draft.memory_bytes) {
      if (const auto mib = first_number(source.facts(), {"memory_mib", "memory_total_mib", "mem_total_mib"})) {
        draft.memory_bytes = *mib * kMib;
      }
    }
  }
  for (const Source& source : sources_of(node, "fio")) take_fio(draft, source);
  std::vector<std::string> open;
  for (const NodeDisk& disk : draft.disks) {
    if (!disk.complete()) open.push_back(disk.name);
  }
  if (!open.empty()) {
    draft.remarks.push_back(fmt::format(
        "disks left out: {}: size, read and write rate are not all known; 'lsblk -b -J' and fio on /dev/NAME show them",
        join(open, ", ")));
  } else if (draft.disks.empty()) {
    draft.remarks.emplace_back("disks: no file names any; 'lsblk -b -J' does");
  }
}

// --- text -----------------------------------------------------------------------------------------------------------

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : as_text(text)) {
    if (c == '"' || c == '\\') out += '\\';
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    out += control ? ' ' : c;
  }
  return out + '"';
}

void comment(std::string& out, std::string_view text) {
  out += "# ";
  for (const char c : as_text(text)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  out += '\n';
}

// Names of TOML tables: letters, digits, '-' and '_'.
std::string bare_key(std::string_view text) {
  std::string key;
  for (const char c : to_lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (plain || (!key.empty() && key.back() != '-')) key += plain ? c : '-';
  }
  while (key.ends_with('-')) key.pop_back();
  return key;
}

// What tells one node type from another: all that is written of it.
std::string gpus_text(const NodeDraft& draft) {
  std::string text = fmt::format("gpus = {{ model = {}, count = {}", quoted(draft.gpu), *draft.gpus);
  if (draft.nvlink_domain) text += fmt::format(", nvlink_domain = {}", *draft.nvlink_domain);
  if (draft.pcie_generation && draft.pcie_lanes) {
    text += fmt::format(", pcie = \"{}.0 x{}\"", *draft.pcie_generation, *draft.pcie_lanes);
  }
  return text + " }\n";
}

std::string nics_text(const NodeNics& nics) {
  std::string text = "nics = { ";
  if (!nics.model.empty()) text += fmt::format("model = {}, ", quoted(nics.model));
  text += fmt::format("count = {}, rate = \"{:g}Gb/s\"", nics.count, nics.gbit_per_s);
  if (!nics.transport.empty()) text += fmt::format(", transport = \"{}\"", nics.transport);
  return text + " }\n";
}

std::string disks_text(const NodeDraft& draft) {
  std::string rows;
  for (const NodeDisk& disk : draft.disks) {
    if (!disk.complete()) continue;
    rows += fmt::format("  {{ name = {}, ", quoted(disk.name));
    if (disk.read_iops) rows += fmt::format("read_iops = {:.0f}, ", *disk.read_iops);
    rows += fmt::format("read = \"{:.3f}GB/s\", write = \"{:.3f}GB/s\", bytes = \"{:.0f}B\" }},\n",
                        *disk.read_bytes_per_s * 1e-9, *disk.write_bytes_per_s * 1e-9, *disk.bytes);
  }
  return rows.empty() ? std::string() : "disks = [\n" + rows + "]\n";
}

std::string type_text(const NodeDraft& draft) {
  std::string text;
  if (draft.gpu.empty() || !draft.gpus) {
    text += fmt::format("# gpus = {{ model = \"?\", count = {} }}   # needed: {} in no file\n",
                        draft.gpus ? fmt::format("{}", *draft.gpus) : "?",
                        draft.gpu.empty() ? "a model that the catalog has is" : "their number is");
  } else {
    text += gpus_text(draft);
  }
  if (draft.nics) text += nics_text(*draft.nics);
  text += disks_text(draft);
  if (draft.memory_bytes) text += fmt::format("memory = \"{:.1f}GiB\"\n", *draft.memory_bytes / (kMib * 1024));
  if (draft.vcpus) text += fmt::format("vcpus = {}\n", *draft.vcpus);
  return text;
}

std::string type_name(const NodeDraft& draft, const std::set<std::string>& taken) {
  std::string base = draft.gpu.empty() ? "node" : bare_key(draft.gpu);
  if (draft.gpus && !draft.gpu.empty()) base += fmt::format("-x{}", *draft.gpus);
  std::string name = base;
  for (int i = 2; taken.contains(name); ++i) name = fmt::format("{}-{}", base, i);
  return name;
}

struct TypeOfNodes {
  std::string name, text;
  std::vector<const NodeDraft*> nodes;
};

std::vector<TypeOfNodes> types_of(const std::vector<NodeDraft>& nodes) {
  std::vector<TypeOfNodes> types;
  std::set<std::string> names;
  for (const NodeDraft& node : nodes) {
    std::string text = type_text(node);
    const auto same =
        std::find_if(types.begin(), types.end(), [&](const TypeOfNodes& one) { return one.text == text; });
    if (same != types.end()) {
      same->nodes.push_back(&node);
      continue;
    }
    types.push_back({type_name(node, names), std::move(text), {&node}});
    names.insert(types.back().name);
  }
  return types;
}

void write_type(std::string& out, const TypeOfNodes& type) {
  out += fmt::format("\n[node_type.{}]\n", type.name);
  std::set<std::string> said;
  for (const NodeDraft* const node : type.nodes) {
    for (const std::string& remark : node->remarks) {
      if (said.insert(remark).second) comment(out, type.nodes.size() > 1 ? node->name + ": " + remark : remark);
    }
  }
  out += type.text;
}

}  // namespace

namespace {

// A name that a cluster file takes as it is: brackets would be ranges.
std::string node_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 200)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    name += plain ? c : '-';
  }
  return name;
}

}  // namespace

std::vector<NodeFiles> nodes_of(const std::vector<FileFacts>& files) {
  std::map<std::string, NodeFiles> by_folder;
  for (const FileFacts& file : files) {
    if (file.readings.empty()) continue;
    NodeFiles& node = by_folder[folder_of(file.path)];
    node.files.push_back(&file);
  }
  std::vector<NodeFiles> nodes;
  std::set<std::string> names;
  for (auto& [folder, node] : by_folder) {
    // Folders of one name under different parents are told apart by the whole path.
    node.name = node_name(last_part(folder));
    if (node.name.empty() || node.name == "." || by_folder.size() == 1) node.name = "node1";
    if (!names.insert(node.name).second) node.name = node_name(folder);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

NodeDraft draft_of(const NodeFiles& node, const Catalog& catalog) {
  NodeDraft draft;
  draft.name = node.name;
  take_nvidia_smi(draft, node, catalog);
  take_topology(draft, node);
  if (draft.gpu_text.empty()) draft.remarks.emplace_back("GPUs: no file names the model; 'nvidia-smi' does");
  if (!draft.nvlink_domain && draft.gpus.value_or(0) > 1 && sources_of(node, "topo").empty()) {
    draft.remarks.emplace_back("nvlink_domain is the model's default; 'nvidia-smi topo -m' shows it");
  }
  take_nics(draft, node, catalog);
  take_inventory(draft, node);
  return draft;
}

ClusterDraft cluster_of(const std::vector<NodeFiles>& nodes, const Catalog& catalog, const std::string& name) {
  ClusterDraft cluster;
  for (const NodeFiles& node : nodes) cluster.nodes.push_back(draft_of(node, catalog));
  const std::vector<TypeOfNodes> types = types_of(cluster.nodes);

  std::string& out = cluster.toml;
  comment(out,
          "Written from the outputs of tools. What they do not say is left out; docs/cluster-file.md has all keys.");
  out += "format_version = \"1.0\"\n\n[cluster]\n";
  out += fmt::format("name = {}\n", quoted(name));
  comment(out, "price = { usd_per_gpu_h = … }   or owned = { capex_usd = … }: without either the bill is unknown");
  comment(out, "delivery = { host = …, packaging = …, gpu_share = …, tenancy = … }");
  for (const TypeOfNodes& type : types) write_type(out, type);
  for (const TypeOfNodes& type : types) {
    std::vector<std::string> names;
    for (const NodeDraft* const node : type.nodes) names.push_back(quoted(node->name));
    out += fmt::format("\n[[node]]\nnames = [{}]\ntype = \"{}\"\n", join(names, ", "), type.name);
    for (const NodeDraft* const node : type.nodes) {
      if (node->gpu.empty()) cluster.to_fill_in.push_back(fmt::format("{}: the model of the GPUs", node->name));
      if (!node->gpus) cluster.to_fill_in.push_back(fmt::format("{}: the number of GPUs", node->name));
    }
  }
  if (cluster.nodes.size() > 1) {
    out += '\n';
    comment(out, "[fabric]: how the nodes are joined is in no file; without it one non-blocking leaf is taken");
  }
  if (cluster.nodes.empty()) cluster.to_fill_in.emplace_back("no file tells of a node");
  const Result<Cluster> read = parse_cluster(out, "cluster.toml", catalog);
  cluster.loads = read.has_value();
  if (!read) {
    for (const Diagnostic& error : read.error()) cluster.to_fill_in.push_back(error.text);
  }
  return cluster;
}

}  // namespace tare
