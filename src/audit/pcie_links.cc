#include "audit/pcie_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/text.h"

namespace tare {
namespace {

// 2.5 GT/s -> 1, 5 -> 2, 8 -> 3, 16 -> 4, 32 -> 5, 64 -> 6.
std::optional<int> generation_of(const std::optional<double>& gt_per_s) {
  if (!gt_per_s || *gt_per_s < 2) return std::nullopt;
  if (*gt_per_s < 6) return *gt_per_s < 4 ? 1 : 2;
  return static_cast<int>(std::lround(std::log2(*gt_per_s)));
}

std::optional<int> whole(const std::optional<double>& number) {
  if (!number || *number < 1 || *number > 64) return std::nullopt;
  return static_cast<int>(*number);
}

// A number, or the statistics of one over the rows of a table: the best that was seen.
std::optional<double> number_or_max(const FactRecord& record, std::string_view name) {
  if (const std::optional<double> plain = record.number(name)) return plain;
  const FactRecord* const series = record.find_record(name);
  return series == nullptr ? std::nullopt : series->number("max");
}

// "16x", 16, or the lanes' own member.
std::optional<int> lanes_of(const FactRecord& gpu, std::string_view lanes, std::string_view width) {
  if (const std::optional<int> plain = whole(number_or_max(gpu, lanes))) return plain;
  if (const std::optional<int> plain = whole(number_or_max(gpu, width))) return plain;
  const std::string_view text = gpu.text(width);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 ? std::optional<int>(value) : std::nullopt;
}

std::optional<int> pstate_of(const FactRecord& gpu) {
  const std::string_view text = gpu.text("pstate");
  if (text.size() < 2 || text.size() > 3 || text.front() != 'P') return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
  return error == std::errc() ? std::optional<int>(value) : std::nullopt;
}

void add_smi_links(const Observed& observed, const Seen& seen, std::vector<PcieLink>& links) {
  const std::size_t before = links.size();
  for (const char* const list : {"gpus", "series"}) {
    if (links.size() > before) return;
    for (const FactRecord* const gpu : records_of(*seen.facts, list)) {
      PcieLink link;
      link.seen = seen;
      link.record = gpu;
      link.device = PcieDevice::kGpu;
      link.line = gpu->line;
      link.generation = whole(number_or_max(*gpu, "pcie_gen_current"));
      link.lanes = lanes_of(*gpu, "pcie_lanes_current", "pcie_width");
      if (!link.generation && !link.lanes) continue;
      // "max" is what device and slot can do together; the others tell whose limit it is.
      link.generation_max = whole(number_or_max(*gpu, "pcie_gen_max"));
      link.lanes_max = lanes_of(*gpu, "pcie_lanes_max", "pcie_width_max");
      link.host_generation_max = whole(number_or_max(*gpu, "pcie_gen_host_max"));
      if (const auto device = whole(number_or_max(*gpu, "pcie_gen_device_max"))) link.generation_max = device;
      link.pstate = pstate_of(*gpu);
      link.util_pct = number_or_max(*gpu, "util_pct");
      const std::optional<std::int64_t> index = gpu->integer("index");
      link.name = index                         ? fmt::format("GPU{}", *index)
                  : gpu->text("bus_id").empty() ? "GPU"
                                                : std::string(gpu->text("bus_id"));
      link.accelerator = accelerator_named(observed.catalog(), gpu->text("name"));
      if (link.accelerator == nullptr) link.accelerator = observed.accelerator_beside(seen);
      links.push_back(std::move(link));
    }
  }
}

// "NVIDIA Corporation GA102 [GeForce RTX 3090] (…)" -> "GeForce RTX 3090".
std::string_view product_in(std::string_view name) {
  const std::size_t open = name.rfind('['), close = name.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return name;
  return name.substr(open + 1, close - open - 1);
}

// "0000:5a:00.0" and "5a:00.0" -> "0000:5a"; empty where there is no address.
std::string bus_of(const FactRecord& device) {
  const std::vector<std::string_view> parts = split(device.text("address"), ':');
  if (parts.size() == 2) return "0000:" + to_lower(parts[0]);
  if (parts.size() == 3) return to_lower(parts[0]) + ':' + to_lower(parts[1]);
  return {};
}

// The bus right below a port, in the same form.
std::string bus_below(const FactRecord& port) {
  const std::string own = bus_of(port);
  const std::string_view secondary = port.text("secondary_bus");
  return own.empty() || secondary.empty() ? std::string() : own.substr(0, own.find(':') + 1) + to_lower(secondary);
}

PcieLink lspci_link(const Observed& observed, const Seen& seen, const LspciTree& tree, const FactRecord& device) {
  PcieLink link;
  link.seen = seen;
  link.record = &device;
  link.device = tree.kind(device);
  const Fact* const speed = device.find("link_speed");
  link.line = speed != nullptr && speed->line > 0 ? speed->line : device.line;
  link.name = device.text("address");
  link.generation = generation_of(device.number("link_speed_gt_per_s"));
  link.lanes = whole(device.number("link_width"));
  link.generation_max = generation_of(device.number("link_capable_speed_gt_per_s"));
  link.lanes_max = whole(device.number("link_capable_width"));
  link.says_generation_reduced = is_true(device, "link_speed_downgraded");
  link.says_lanes_reduced = is_true(device, "link_width_downgraded");
  if (link.device == PcieDevice::kGpu) {
    link.accelerator = accelerator_named(observed.catalog(), product_in(device.text("name")));
  }
  if (link.accelerator != nullptr) {
    if (!link.generation_max) link.generation_max = whole(link.accelerator->pcie_generation);
    if (!link.lanes_max) link.lanes_max = whole(link.accelerator->pcie_lanes);
  }
  if (const FactRecord* const port = tree.port_above(device)) {
    link.host_generation_max = generation_of(port->number("link_capable_speed_gt_per_s"));
    link.host_lanes_max = whole(port->number("link_capable_width"));
  }
  return link;
}

std::vector<PcieLink> all_links(const Observed& observed) {
  std::vector<PcieLink> links;
  std::set<std::string> nodes_with_smi;
  for (const Seen& seen : observed.all()) {
    const bool smi = seen.format->kind == "nvidia-smi" || seen.format->name == "nvidia-smi PCIe links";
    const std::size_t before = links.size();
    if (smi) add_smi_links(observed, seen, links);
    if (links.size() > before && !seen.node.empty()) nodes_with_smi.insert(seen.node);
  }
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    for (const FactRecord* const device : tree.devices()) {
      const PcieDevice kind = tree.kind(*device);
      if (!device->has("link_speed") || (kind == PcieDevice::kPort && device->text("port_type") != "Upstream Port"))
        continue;
      if (kind == PcieDevice::kGpu && nodes_with_smi.contains(seen.node)) continue;
      links.push_back(lspci_link(observed, seen, tree, *device));
    }
  }
  return links;
}

}  // namespace

LspciTree::LspciTree(const Seen& seen) : devices_(records_of(*seen.facts, "devices")) {
  for (const auto& [list, kind] : {std::pair("gpus", PcieDevice::kGpu), std::pair("nics", PcieDevice::kNic),
                                   std::pair("nvme_controllers", PcieDevice::kDisk)}) {
    for (std::string& address : texts_of(*seen.facts, list)) {
      if (!address.empty()) kinds_.emplace(std::move(address), kind);
    }
  }
  for (const FactRecord* const device : devices_) {
    const PcieDevice what = kind(*device);
    if (what == PcieDevice::kGpu || what == PcieDevice::kNic) peers_.push_back(device);
    if (std::string bus = bus_of(*device); !bus.empty()) first_on_bus_.emplace(std::move(bus), device);
    if (std::string bus = bus_below(*device); !bus.empty()) port_to_bus_.emplace(std::move(bus), device);
  }
}

PcieDevice LspciTree::kind(const FactRecord& device) const {
  const auto found = kinds_.find(std::string(device.text("address")));
  return found == kinds_.end() ? PcieDevice::kPort : found->second;
}

const FactRecord* LspciTree::port_above(const FactRecord& device) const {
  const auto found = port_to_bus_.find(bus_of(device));
  return found == port_to_bus_.end() || found->second == &device ? nullptr : found->second;
}

const FactRecord* LspciTree::below(const FactRecord& port) const {
  const auto found = first_on_bus_.find(bus_below(port));
  return found == first_on_bus_.end() || found->second == &port ? nullptr : found->second;
}

bool is_behind(const FactRecord& port, const FactRecord& device) {
  const std::string bus = bus_of(device), first = bus_below(port);
  const std::string last = to_lower(port.text("subordinate_bus"));
  if (bus.empty() || first.empty() || bus.size() != first.size() || last.size() != 2) return false;
  // Two hexadecimal digits each behind the same domain: they compare as texts.
  return first <= bus && bus <= first.substr(0, first.size() - 2) + last;
}

std::vector<PcieLink> pcie_links(const Observed& observed) {
  std::vector<PcieLink> links = all_links(observed);
  // The same GPU may stand in several files, or in one that two formats read.
  std::set<std::pair<std::string, std::string>> known;
  std::erase_if(links, [&](const PcieLink& link) {
    const std::string& place = link.seen.node.empty() ? link.seen.file->path : link.seen.node;
    return !link.name.empty() && !known.emplace(place, link.name).second;
  });
  return links;
}

std::string link_text(const std::optional<int>& generation, const std::optional<int>& lanes) {
  std::string text = generation ? fmt::format("Gen{}", *generation) : std::string();
  if (lanes) text += fmt::format("{}x{}", text.empty() ? "" : " ", *lanes);
  return text;
}

std::string subject_kind(PcieDevice device) {
  switch (device) {
    case PcieDevice::kGpu:
      return "gpu";
    case PcieDevice::kNic:
      return "nic";
    case PcieDevice::kDisk:
      return "disk";
    case PcieDevice::kPort:
      break;
  }
  return "link";
}

}  // namespace tare
