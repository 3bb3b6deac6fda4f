#include "audit/block_disks.h"

#include <fmt/format.h>

#include <utility>

#include "audit/storage_rules.h"

namespace tare {

bool is_lsblk(const Seen& seen) { return seen.format->name.starts_with("lsblk"); }

bool is_nvme_list(const Seen& seen) { return seen.format->name.starts_with("nvme list"); }

bool is_disk(const FactRecord& device) {
  const std::string_view name = short_disk_name(device.text("name"));
  if (name.starts_with("loop") || name.starts_with("zram") || name.starts_with("ram") || name.starts_with("sr")) {
    return false;
  }
  return device.has("type") ? device.text("type") == "disk" : !device.has("parent");
}

std::optional<double> disk_size_bytes(const FactRecord& device) {
  if (const std::optional<double> bytes = device.number("size_bytes")) return bytes;
  for (const auto& [name, unit] : {std::pair("size_tb", 1e12), std::pair("size_gb", 1e9), std::pair("size_mb", 1e6)}) {
    if (const std::optional<double> size = device.number(name)) return *size * unit;
  }
  return size_in_bytes(device.text("size"));
}

void DiskGroup::add(const Seen& seen, const FactRecord& device, const std::string& text) {
  const std::string_view node = device.text("node");
  names.emplace_back(short_disk_name(node.empty() ? device.text("name") : node));
  records.push_back(&device);
  if (finding.evidence.size() < 4) {
    finding.evidence.push_back(evidence_of(seen, device.line, fmt::format("{}: {}", names.back(), text)));
  }
}

DiskGroup new_disk_group(const Rule& rule, FindingSeverity severity, const Seen& seen) {
  return {make_finding(rule, severity, {"node", seen.node, seen.node}, ""), {}, {}};
}

void add_disk_finding(DiskGroup disks, const Seen& seen, std::vector<Finding>& findings) {
  if (disks.names.size() == 1) disks.finding.subject = {"disk", disks.names.front(), seen.node};
  findings.push_back(std::move(disks.finding));
}

}  // namespace tare
