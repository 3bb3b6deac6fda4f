// The parts of the storage family, and what they know of disks. Internal to the family.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> storage_disk_rules();
std::span<const Rule> storage_space_rules();
std::span<const Rule> storage_fio_rules();
std::span<const Rule> storage_rate_rules();

// "/dev/nvme0n1" -> "nvme0n1".
std::string_view short_disk_name(std::string_view name);
// "1.74 TB", "10,49 MB", "256m", "4096", "1024KiB" in bytes; fio's and nvme's words.
std::optional<double> size_in_bytes(std::string_view text);
// What a disk of that model is when it is no flash in this machine: "Amazon Elastic Block Store"; empty for others.
std::string_view network_disk_of(std::string_view model);

}  // namespace tare
