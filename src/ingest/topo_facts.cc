#include "ingest/topo_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// From near to far. What is not here has no place in the order.
constexpr std::array<std::string_view, 6> kPaths = {"PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};
constexpr std::array<std::string_view, 6> kAbilities = {"OK", "CNS", "GNS", "TNS", "NS", "DR"};

std::optional<std::size_t> distance(std::string_view link) {
  const auto at = std::find(kPaths.begin(), kPaths.end(), link);
  if (at == kPaths.end()) return std::nullopt;
  return static_cast<std::size_t>(at - kPaths.begin());
}

bool is_ability(std::string_view link) {
  return std::find(kAbilities.begin(), kAbilities.end(), link) != kAbilities.end();
}

bool is_self(std::string_view link) { return link == "X" || link == "S" || link == "SELF"; }

bool is_nvlink(std::string_view link) {
  return link.size() >= 3 && link.starts_with("NV") && to_integer(link.substr(2));
}

struct CpuRange {
  std::int64_t first = 0, last = 0;
};

// "0-31,64-95"; nothing when any part of it is no list of CPUs.
std::vector<CpuRange> cpus_in(std::string_view text) {
  std::vector<CpuRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const std::optional<std::int64_t> first = to_integer(part.substr(0, dash));
    const std::optional<std::int64_t> last = dash == std::string_view::npos ? first : to_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > 1'000'000) return {};
    ranges.push_back({*first, *last});
  }
  return ranges;
}

std::int64_t count_cpus(std::vector<CpuRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const CpuRange& a, const CpuRange& b) { return a.first < b.first; });
  std::int64_t count = 0, next = 0;
  for (const CpuRange& range : ranges) {
    const std::int64_t first = std::max(range.first, next);
    if (range.last < first) continue;
    count += range.last - first + 1;
    next = range.last + 1;
  }
  return count;
}

struct Device {
  std::string name;
  std::int64_t line = 0;  // of its row; of the header when it has none
  const DeviceRow* row = nullptr;
  std::size_t column = 0;  // kNoColumn: a row without a column
  bool shifted = false;    // its cells stand in wrong columns
};
constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

// One matrix with its damage found: which devices it has and which cells can be used.
class Links {
 public:
  Links(const DeviceMatrix& matrix, Reading& reading) : matrix_(matrix), reading_(reading) {
    name_columns();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == "..." || columns_[i] == "…" || columns_[i] == ".." || columns_[i].empty()) continue;
      if (index_.emplace(columns_[i], devices_.size()).second)
        devices_.push_back({columns_[i], matrix.line, nullptr, i});
    }
    for (const DeviceRow& row : matrix.rows) take_row(row);
    at_column_.assign(columns_.size(), kNoColumn);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (devices_[d].column != kNoColumn) at_column_[devices_[d].column] = d;
    }
  }

  const std::vector<Device>& devices() const { return devices_; }
  bool partial() const { return partial_; }

  // The link from one device to another, read from its own row or else from the other's; empty when it is not there.
  std::string_view link(const Device& from, const Device& to) const {
    const std::string_view own = cell(from, to);
    return own.empty() ? cell(to, from) : own;
  }

  std::int64_t asymmetric_pairs() const {
    std::int64_t count = 0;
    for (std::size_t a = 0; a < devices_.size(); ++a) {
      for (std::size_t b = a + 1; b < devices_.size(); ++b) {
        const std::string_view one = cell(devices_[a], devices_[b]), other = cell(devices_[b], devices_[a]);
        if (!one.empty() && !other.empty() && one != other) ++count;
      }
    }
    return count;
  }

  // The row's affinity of that kind; `cut` when the end of the input may have cut it.
  std::optional<std::string_view> affinity(const Device& device, Affinity what, bool& cut) const {
    cut = false;
    if (device.row == nullptr) return std::nullopt;
    static const std::vector<Affinity> usual = {Affinity::kCpu, Affinity::kNuma, Affinity::kGpuNuma};
    const std::vector<Affinity>& order = matrix_.affinities.empty() ? usual : matrix_.affinities;
    const auto at = std::find(order.begin(), order.end(), what);
    if (at == order.end()) return std::nullopt;
    const auto index = static_cast<std::size_t>(at - order.begin());
    const std::vector<std::string>& rest = device.row->rest;
    if (index >= rest.size()) return std::nullopt;
    cut = index + 1 == rest.size() && is_cut(*device.row);
    return rest[index];
  }

 private:
  // Without a header the columns are named by the rows, whose own cell is X.
  void name_columns() {
    columns_ = matrix_.columns;
    if (!columns_.empty() || matrix_.rows.empty()) return;
    for (const DeviceRow& row : matrix_.rows) {
      const auto self = static_cast<std::size_t>(
          std::find_if(row.cells.begin(), row.cells.end(), [](const std::string& cell) { return is_self(cell); }) -
          row.cells.begin());
      if (self == row.cells.size()) continue;
      if (columns_.size() < row.cells.size()) columns_.resize(row.cells.size());
      columns_[self] = row.name;
    }
    // A gap between GPU0 and GPU2 is GPU1.
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& first = matrix_.rows.front().name;
      if (!columns_[i].empty() || !accelerator_index(first)) continue;
      if (i > 0 && accelerator_index(columns_[i - 1]) == static_cast<int>(i) - 1 && i < matrix_.rows.size()) {
        columns_[i] = fmt::format("{}{}", accelerator_prefix(first), i);
      }
    }
    partial_ = true;
    reading_.note("the matrix has no header: its columns are named by the rows");
  }

  void take_row(const DeviceRow& row) {
    auto [at, added] = index_.emplace(row.name, devices_.size());
    if (added) {
      if (!matrix_.columns.empty()) reading_.cannot_use(row.line, row.name, "a row that the header has no column for");
      devices_.push_back({row.name, row.line, nullptr, kNoColumn});
    }
    Device& device = devices_[at->second];
    if (device.row != nullptr) {
      reading_.cannot_use(row.line, row.name, "a second row of this device");
      return;
    }
    device.line = row.line;
    device.row = &row;
    if (row.cells.size() < columns_.size()) {
      partial_ = true;
      reading_.cannot_use(row.line, row.name,
                          fmt::format("the row has {} of {} links", row.cells.size(), columns_.size()));
    }
    const bool self_elsewhere =
        device.column != kNoColumn && device.column < row.cells.size() &&
        std::any_of(row.cells.begin(), row.cells.end(), [](const std::string& cell) { return is_self(cell); }) &&
        !is_self(row.cells[device.column]);
    if (self_elsewhere) {
      device.shifted = true;
      reading_.cannot_use(row.line, row.name, "its X stands in another column: links of this row are not used");
    }
  }

  std::string_view cell(const Device& from, const Device& to) const {
    if (from.row == nullptr || to.column == kNoColumn || to.column >= from.row->cells.size()) return {};
    if (from.shifted) return {};
    const std::string_view found = from.row->cells[to.column];
    // The last cell of a row that ends early may be half a word.
    if (to.column + 1 == from.row->cells.size() && from.row->cells.size() < columns_.size() &&
        !is_known_link_class(found) && !to_number(found)) {
      return {};
    }
    return found == "..." || found == "…" ? std::string_view() : found;
  }

  // Whether the end of this row was cut off: others have more, or its list goes on.
  bool is_cut(const DeviceRow& row) const {
    if (row.rest.back().ends_with(',') || row.rest.back().ends_with('-')) return true;
    if (&row != &matrix_.rows.back()) return false;
    for (const DeviceRow& other : matrix_.rows) {
      if (&other == &row) continue;
      if (other.rest.size() > row.rest.size()) return true;
      if (other.rest.size() != row.rest.size()) continue;
      const std::string &longer = other.rest.back(), &mine = row.rest.back();
      if (longer.size() > mine.size() && longer.starts_with(mine) && contains(longer.substr(0, mine.size() + 2), "-")) {
        return true;
      }
    }
    return matrix_.rows.size() == 1 && row.rest.size() < matrix_.affinities.size();
  }

  const DeviceMatrix& matrix_;
  Reading& reading_;
  std::vector<std::string> columns_;
  std::vector<Device> devices_;
  std::vector<std::size_t> at_column_;
  std::map<std::string, std::size_t, std::less<>> index_;
  bool partial_ = false;
};

bool is_accelerator(const Device& device) {
  return accelerator_index(device.name).has_value() || contains(device.name, ":");
}

// "Link Type between two GPUs" -> "links", "HOPS TABLE:" -> "hops"; an untitled matrix has links.
std::string slug_of(std::string_view title) {
  std::string text = to_lower(title.substr(0, std::min(title.find(" between"), title.find(" TABLE"))));
  if (text.empty() || text == "link type") return "links";
  for (char& c : text) {
    if (c == ' ' || c == '-') c = '_';
  }
  return text == "weight" ? "weights" : text;
}

struct Tool {
  std::string_view word, name, vendor;
};
constexpr std::array<Tool, 12> kTools = {{{"nvidia-smi", "nvidia-smi", "NVIDIA"},
                                          {"npu-smi", "npu-smi", "Huawei Ascend"},
                                          {"rocm-smi", "rocm-smi", "AMD"},
                                          {"amd-smi", "amd-smi", "AMD"},
                                          {"mthreads-gmi", "mthreads-gmi", "Moore Threads"},
                                          {"mx-smi", "mx-smi", "MetaX"},
                                          {"ixsmi", "ixsmi", "Iluvatar CoreX"},
                                          {"hy-smi", "hy-smi", "Hygon"},
                                          {"xpu-smi", "xpu-smi", "Intel"},
                                          {"cnmon", "cnmon", "Cambricon"},
                                          {"brsmi", "brsmi", "Biren"},
                                          {"vasmi", "vasmi", "Vastai"}}};

// Who made the devices, by the command, else by what only one maker has. Empty: nothing says so.
std::string_view vendor_of(const TopoBlock& block, const std::map<std::string, std::int64_t>& counts,
                           std::string_view prefix) {
  for (const Tool& tool : kTools) {
    if (contains(block.command, tool.word)) return tool.vendor;
  }
  for (const TopoLegend& one : block.classes) {
    if (contains(one.meaning, "NVLink")) return "NVIDIA";
    if (contains(one.meaning, "HCCS")) return "Huawei Ascend";
    if (contains(one.meaning, "MTLink") || contains(one.meaning, "MTLINK")) return "Moore Threads";
    if (contains(one.meaning, "MetaXLink")) return "MetaX";
  }
  for (const auto& [link, count] : counts) {
    if (is_nvlink(link)) return "NVIDIA";
    if (link.starts_with("HCCS")) return "Huawei Ascend";
    if (link.starts_with("XGMI")) return prefix == "DCU" || prefix == "HCU" ? "Hygon" : "AMD";
    if (link.starts_with("MTL")) return "Moore Threads";
  }
  if (prefix == "NPU") return "Huawei Ascend";
  if (prefix == "MLU") return "Cambricon";
  for (const DeviceMatrix& matrix : block.matrices) {
    for (const Affinity one : matrix.affinities) {
      if (one == Affinity::kGpuNuma) return "NVIDIA";
    }
    if (contains(matrix.title, "between two GPUs")) return "AMD";
  }
  return {};
}

void add_command(const TopoBlock& block, FactRecord& facts) {
  if (block.command.empty()) return;
  facts.set("command", block.command);
  for (const Tool& tool : kTools) {
    if (contains(block.command, tool.word)) facts.set("tool", tool.name);
  }
  const std::optional<std::string_view> options = after(block.command, "topo ");
  if (options && !options->empty()) facts.set("option", *options);
}

struct NearestNics {
  std::string_view link;
  std::vector<std::string> names;
};

NearestNics nearest_nics(const Links& links, const Device& gpu, const std::vector<const Device*>& nics) {
  NearestNics nearest;
  std::optional<std::size_t> best;
  for (const Device* const nic : nics) {
    const std::string_view link = links.link(gpu, *nic);
    const std::optional<std::size_t> far = distance(link);
    if (!far || (best && *far > *best)) continue;
    if (!best || *far < *best) nearest.names.clear();
    best = far;
    nearest.link = link;
    nearest.names.push_back(nic->name);
  }
  return nearest;
}

std::vector<Fact> texts(const std::vector<std::string>& list, std::int64_t line) {
  std::vector<Fact> facts;
  facts.reserve(list.size());
  for (const std::string& one : list) facts.push_back(Fact::of(std::string_view(one), line));
  return facts;
}

FactRecord links_record(const Links& links, const Device& from) {
  FactRecord record(from.line);
  for (const Device& to : links.devices()) {
    if (to.name == from.name) continue;
    const std::string_view link = links.link(from, to);
    if (!link.empty()) record.add(to.name, Fact::parsed(link, from.line));
  }
  return record;
}

// Sets of GPUs that NVLink joins, in the order of their first member.
std::vector<std::vector<std::string>> islands(const Links& links, const std::vector<const Device*>& gpus) {
  std::vector<int> island(gpus.size(), -1);
  std::vector<std::vector<std::string>> found;
  for (std::size_t start = 0; start < gpus.size(); ++start) {
    if (island[start] >= 0) continue;
    const int id = static_cast<int>(found.size());
    std::vector<std::size_t> open = {start};
    island[start] = id;
    for (std::size_t next = 0; next < open.size(); ++next) {
      for (std::size_t other = 0; other < gpus.size(); ++other) {
        if (island[other] >= 0 || !is_nvlink(links.link(*gpus[open[next]], *gpus[other]))) continue;
        island[other] = id;
        open.push_back(other);
      }
    }
    std::sort(open.begin(), open.end());
    found.emplace_back();
    for (const std::size_t one : open) found.back().push_back(gpus[one]->name);
  }
  return found;
}

class TopoFacts {
 public:
  TopoFacts(const TopoBlock& block, FactRecord& facts, Reading& reading)
      : block_(block), facts_(facts), reading_(reading), links_(main_matrix(block), reading) {
    for (const Device& device : links_.devices()) {
      (is_accelerator(device) ? gpus_ : nics_).push_back(&device);
    }
  }

  void add() {
    if (!block_.source.empty()) facts_.set("source", block_.source);
    add_command(block_, facts_);
    count_links();
    add_counts();
    add_link_summary();
    add_gpus();
    add_nics();
    add_numa_nodes();
    add_legend();
    if (const std::int64_t count = links_.asymmetric_pairs(); count > 0) {
      facts_.set("asymmetric_pairs", count);
      reading_.note(fmt::format("{} pairs have one link in one direction and another in the other", count));
    }
  }

 private:
  // The one that says what joins the devices.
  static const DeviceMatrix& main_matrix(const TopoBlock& block) {
    for (const DeviceMatrix& matrix : block.matrices) {
      if (slug_of(matrix.title) == "links") return matrix;
    }
    return block.matrices.front();
  }

  void count_links() {
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < gpus_.size(); ++b) {
        const std::string_view link = links_.link(*gpus_[a], *gpus_[b]);
        if (!link.empty()) ++counts_[std::string(link)];
      }
    }
  }

  void add_counts() {
    const std::string_view prefix = gpus_.empty() ? std::string_view() : accelerator_prefix(gpus_.front()->name);
    if (const std::string_view vendor = vendor_of(block_, counts_, prefix); !vendor.empty()) {
      facts_.set("vendor", vendor);
    }
    if (!prefix.empty()) facts_.set("device_prefix", prefix);
    const auto count = [](const std::vector<const Device*>& list) { return static_cast<std::int64_t>(list.size()); };
    const auto rows = [](const std::vector<const Device*>& list) {
      return static_cast<std::int64_t>(
          std::count_if(list.begin(), list.end(), [](const Device* device) { return device->row != nullptr; }));
    };
    facts_.set("device_count", count(gpus_));
    facts_.set("gpu_count", count(gpus_));
    facts_.set("gpu_columns",
               static_cast<std::int64_t>(std::count_if(gpus_.begin(), gpus_.end(),
                                                       [](const Device* one) { return one->column != kNoColumn; })));
    facts_.set("gpu_rows_visible", rows(gpus_));
    facts_.set("nic_count", count(nics_));
    facts_.set("nic_rows_visible", rows(nics_));
    // Old versions print no rows for NICs; a matrix that has some has them all.
    const bool missing = rows(gpus_) < count(gpus_) || (rows(nics_) > 0 && rows(nics_) < count(nics_));
    facts_.set("partial", missing || links_.partial());
    if (missing)
      reading_.note(fmt::format("{} of {} rows are there", rows(gpus_) + rows(nics_), count(gpus_) + count(nics_)));
  }

  void add_link_summary() {
    FactRecord& counts = facts_.record("link_counts");
    bool nvlink = false, ability = false;
    for (const auto& [link, count] : counts_) {
      counts.add(link, Fact::of(count, block_.line));
      nvlink = nvlink || is_nvlink(link);
      ability = ability || is_ability(link);
    }
    if (counts_.size() == 1) facts_.set("all_gpu_pairs", counts_.begin()->first);
    if (gpus_.size() > 1) {
      const std::string_view link = links_.link(*gpus_[0], *gpus_[1]);
      if (!link.empty()) {
        facts_.set(to_lower(fmt::format("link_{}_{}", gpus_[0]->name, gpus_[1]->name)), link, gpus_[0]->line);
      }
    }
    const bool pci_only = contains(block_.command, "-mp");
    if (ability) {
      facts_.set("p2p_everywhere", counts_.size() == 1 && counts_.begin()->first == "OK");
    } else if (pci_only) {
      facts_.set_unknown("nvlink");
      reading_.note("topo -mp shows PCI paths only: that there is no NV# in it says nothing of NVLink");
    } else if (!counts_.empty()) {
      facts_.set("nvlink", nvlink);
    }
    if (!nvlink) return;
    std::vector<Fact> list;
    for (const std::vector<std::string>& one : islands(links_, gpus_)) list.push_back(Fact::of(texts(one, 0)));
    facts_.set("nvlink_islands", Fact::of(std::move(list), block_.line));
  }

  // An affinity under its name; N/A is unknown, and so is what was cut.
  void add_affinity(FactRecord& gpu, const Device& device, Affinity what, std::string_view name, bool as_text) {
    bool cut = false;
    const std::optional<std::string_view> text = links_.affinity(device, what, cut);
    if (!text) return;
    if (cut) {
      gpu.set_unknown(name);
      gpu.set(std::string(name) + "_cut", *text);
      reading_.cannot_use(device.line, *text, fmt::format("the {} is cut off", name));
    } else if (as_text && !says_unknown(*text)) {
      gpu.set(name, *text);
    } else {
      gpu.set_parsed(name, *text);
    }
    // By name once more: the line is that of the GPU.
    Fact value = *gpu.find(name);
    value.line = block_.line;
    facts_.record(what == Affinity::kNuma ? "numa" : name, block_.line).add(device.name, std::move(value));
  }

  void add_gpus() {
    std::vector<CpuRange> all;
    facts_.list("gpus", block_.line);
    for (const Device* const device : gpus_) {
      FactRecord gpu(device->line);
      gpu.set("name", device->name);
      if (const std::optional<int> index = accelerator_index(device->name)) gpu.set("index", *index);
      if (device->row == nullptr) gpu.set("row_missing", true);
      add_affinity(gpu, *device, Affinity::kCpu, "cpu_affinity", true);
      add_affinity(gpu, *device, Affinity::kNuma, "numa_affinity", false);
      add_affinity(gpu, *device, Affinity::kGpuNuma, "gpu_numa_id", false);
      add_affinity(gpu, *device, Affinity::kMemory, "memory_affinity", false);
      for (const TopoLegend& numa : block_.numa) {
        if (numa.name == device->name) facts_.record("numa").add(numa.name, Fact::parsed(numa.meaning, numa.line));
      }
      const std::vector<CpuRange> cpus = cpus_in(gpu.text("cpu_affinity"));
      if (!cpus.empty()) gpu.set("cpu_count", count_cpus(cpus));
      all.insert(all.end(), cpus.begin(), cpus.end());
      const NearestNics nearest = nearest_nics(links_, *device, nics_);
      if (!nearest.names.empty()) {
        gpu.set("nearest_nic_link", nearest.link);
        gpu.set("nearest_nics", Fact::of(texts(nearest.names, device->line), device->line));
      }
      for (const DeviceMatrix& matrix : block_.matrices) add_links(gpu, matrix, *device);
      facts_.list("gpus").push_back(Fact::of(std::move(gpu)));
    }
    if (!all.empty()) facts_.set("logical_cpus", count_cpus(all));
  }

  void add_links(FactRecord& gpu, const DeviceMatrix& matrix, const Device& device) {
    if (&matrix == &main_matrix(block_)) {
      gpu.set(slug_of(matrix.title), Fact::of(links_record(links_, device)));
      return;
    }
    Reading silent;
    const auto row = std::find_if(matrix.rows.begin(), matrix.rows.end(),
                                  [&](const DeviceRow& one) { return one.name == device.name; });
    if (row == matrix.rows.end()) return;
    FactRecord record(row->line);
    for (std::size_t i = 0; i < row->cells.size() && i < matrix.columns.size(); ++i) {
      if (matrix.columns[i] != device.name) record.add(matrix.columns[i], Fact::parsed(row->cells[i], row->line));
    }
    gpu.set(slug_of(matrix.title), Fact::of(std::move(record)));
  }

  void add_nics() {
    std::vector<std::string> names;
    facts_.list("nics", block_.line);
    for (const Device* const device : nics_) {
      FactRecord nic(device->line);
      nic.set("name", device->name);
      const auto legend = std::find_if(block_.devices.begin(), block_.devices.end(),
                                       [&](const TopoLegend& one) { return one.name == device->name; });
      const bool known = legend != block_.devices.end();
      // A column that is not NICn is named by the device.
      const bool own_name = !device->name.starts_with("NIC");
      if (known) nic.set("device", legend->meaning, legend->line);
      if (!known && own_name) nic.set("device", device->name);
      names.push_back(known ? legend->meaning : device->name);
      nic.set("links", Fact::of(links_record(links_, *device)));
      std::vector<std::string> near;
      for (const Device* const gpu : gpus_) {
        const std::string_view link = links_.link(*gpu, *device);
        if (link == "PIX" || link == "PXB") near.push_back(gpu->name);
      }
      nic.set("near_gpus", Fact::of(texts(near, device->line), device->line));
      facts_.list("nics").push_back(Fact::of(std::move(nic)));
    }
    if (!names.empty()) facts_.set("nic_names", Fact::of(texts(names, block_.line), block_.line));
  }

  // GPUs and CPUs by NUMA node, where that is one number.
  void add_numa_nodes() {
    struct Node {
      std::vector<std::string> gpus;
      std::vector<CpuRange> cpus;
    };
    std::map<std::int64_t, Node> nodes;
    for (const Fact& one : *facts_.find_list("gpus")) {
      const FactRecord& gpu = *one.as_record();
      const std::optional<std::int64_t> id = gpu.integer("numa_affinity");
      if (!id) continue;
      nodes[*id].gpus.emplace_back(gpu.text("name"));
      for (const CpuRange& range : cpus_in(gpu.text("cpu_affinity"))) nodes[*id].cpus.push_back(range);
    }
    for (auto& [id, node] : nodes) {
      FactRecord& record = facts_.append("numa_nodes", block_.line);
      record.set("id", id);
      record.set("gpus", Fact::of(texts(node.gpus, block_.line), block_.line));
      const std::int64_t cpus = count_cpus(node.cpus);
      if (cpus == 0) continue;
      record.set("cpu_count", cpus);
      record.set("cpus_per_gpu", static_cast<double>(cpus) / static_cast<double>(node.gpus.size()));
    }
  }

  void add_legend() {
    for (const TopoLegend& one : block_.classes) facts_.record("legend").add(one.name, Fact::of(one.meaning, one.line));
    for (const TopoLegend& one : block_.devices) {
      facts_.record("nic_legend").add(one.name, Fact::of(one.meaning, one.line));
    }
  }

  const TopoBlock& block_;
  FactRecord& facts_;
  Reading& reading_;
  Links links_;
  std::vector<const Device*> gpus_, nics_;
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace

bool shows_paths(const TopoBlock& block) {
  for (const DeviceMatrix& matrix : block.matrices) {
    for (const DeviceRow& row : matrix.rows) {
      for (const std::string& cell : row.cells) {
        if (!is_self(cell)) return !is_ability(cell);
      }
    }
  }
  return true;
}

void add_topo_facts(const TopoBlock& block, FactRecord& facts, Reading& reading) {
  if (block.matrices.empty()) return;
  TopoFacts(block, facts, reading).add();
}

}  // namespace tare
