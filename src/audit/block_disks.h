// DiskGroup of lsblk and nvme list, in one form for the rules over them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/rule.h"

namespace tare {

bool is_lsblk(const Seen& seen);
bool is_nvme_list(const Seen& seen);
// Whole disks: what lsblk calls so, or what hangs on nothing where it was not asked for the type.
bool is_disk(const FactRecord& device);
std::optional<double> disk_size_bytes(const FactRecord& device);  // bytes

// DiskGroup of one file that share a finding.
struct DiskGroup {
  Finding finding;
  std::vector<std::string> names;
  std::vector<const FactRecord*> records;

  void add(const Seen& seen, const FactRecord& device, const std::string& text);
};
DiskGroup new_disk_group(const Rule& rule, FindingSeverity severity, const Seen& seen);
// Of one disk the finding is about the disk, of more about the node.
void add_disk_finding(DiskGroup disks, const Seen& seen, std::vector<Finding>& findings);

}  // namespace tare
