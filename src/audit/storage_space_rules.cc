// Space and state of disks and filesystems, as lsblk, nvme list and df show them.
#include <fmt/format.h>

#include <algorithm>

#include "audit/block_disks.h"
#include "audit/storage_rules.h"
#include "ingest/scan.h"

namespace tare {
namespace {

void nvme_full(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kNearlyFull = 0.95;
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_nvme_list(seen)) continue;
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kLow, seen);
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::optional<double> size = disk_size_bytes(*device);
      const std::optional<double> used =
          device->has("used_bytes") ? device->number("used_bytes") : size_in_bytes(device->text("used"));
      // A disk that does not keep count says that all of it is in use.
      if (!size || !used || *size <= 0 || *used >= *size || *used < *size * kNearlyFull) continue;
      disks.add(seen, *device, fmt::format("{:.0f} % in use", 100 * *used / *size));
    }
    if (disks.names.empty()) continue;
    disks.finding.title = fmt::format("{}: nearly all blocks in use", list_names(disks.names));
    disks.finding.cause =
        "Flash without free blocks has to move data for every write: sustained writes, and so checkpoints, "
        "become slow. Files that were deleted without TRIM count, too.";
    disks.finding.confidence = 0.7;
    disks.finding.loss_unknown = "how much the work writes to it is not known";
    disks.finding.fix = {"fstrim -av", "delete what is not needed; leave a tenth free"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

// Read-only images are full by nature, and others are not disks.
bool is_image_or_memory(const FactRecord& filesystem) {
  const std::string_view device = filesystem.text("filesystem"), type = filesystem.text("type");
  const std::string_view mount = filesystem.text("mounted_on");
  for (const char* const word : {"squashfs", "iso9660", "overlay", "tmpfs", "devtmpfs", "efivarfs", "udev", "cvmfs2",
                                 "fuse.cvmfs2", "fuse.snapfuse", "erofs", "none", "shm"}) {
    if (type == word || device == word) return true;
  }
  return device.starts_with("/dev/loop") || mount.starts_with("/snap") || mount.starts_with("/cvmfs") ||
         mount.starts_with("/boot") || mount.starts_with("/sys") || mount.starts_with("/run");
}

// "FSUSE%" of lsblk: "97%".
std::optional<double> used_pct_of(const FactRecord& record) {
  if (const std::optional<double> pct = record.number("used_pct")) return pct;
  const std::optional<Measure> text = to_measure(record.text("fsuse"));
  return text ? std::optional<double>(text->value) : std::nullopt;
}

void filesystem_full(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLittleLeftPct = 90, kNothingLeftPct = 98;
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    std::vector<const FactRecord*> all = records_of(*seen.facts, "filesystems");
    if (is_lsblk(seen)) all = records_of(*seen.facts, "devices");
    for (const FactRecord* const one : all) {
      const double used = used_pct_of(*one).value_or(0), inodes = one->number("inodes_used_pct").value_or(0);
      const std::string mount(one->has("mounted_on") ? one->text("mounted_on") : one->text("mountpoint"));
      if (std::max(used, inodes) < kLittleLeftPct || is_image_or_memory(*one)) continue;
      if (short_disk_name(one->text("name")).starts_with("loop") || mount.starts_with("/boot") ||
          mount.starts_with("/snap"))
        continue;
      const bool full = std::max(used, inodes) >= kNothingLeftPct;
      const std::string what = inodes > used ? "inodes" : "space";
      Finding finding =
          make_finding(rule, full ? FindingSeverity::kMedium : FindingSeverity::kLow,
                       {"disk", mount.empty() ? std::string(one->text("filesystem")) : mount, seen.node}, "");
      finding.evidence.push_back(
          evidence_of(seen, one->line, fmt::format("{}: {:.0f} % of {} in use", mount, std::max(used, inodes), what)));
      finding.title =
          fmt::format("{} is {:.0f} % full{}", mount, std::max(used, inodes), inodes > used ? " of inodes" : "");
      finding.cause =
          full ? "The next checkpoint, log or core file does not fit: jobs die with 'No space left on device'."
               : "A checkpoint more may not fit, and filesystems slow down when little space is left.";
      finding.expected = fmt::format("below {} %", kLittleLeftPct);
      finding.measured = fmt::format("{:.0f} %", std::max(used, inodes));
      finding.confidence = 0.9;
      finding.loss_unknown = "what the work writes there is not known";
      finding.fix = {"du -xh --max-depth=2 " + (mount.empty() ? "/" : mount) + " | sort -h | tail",
                     "delete old checkpoints and caches; keep the last few only"};
      findings.push_back(std::move(finding));
    }
  }
}

void disk_empty(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_lsblk(seen)) continue;
    for (const bool nvme : {true, false}) {
      DiskGroup disks = new_disk_group(rule, nvme ? FindingSeverity::kMedium : FindingSeverity::kInfo, seen);
      for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
        const std::string_view name = short_disk_name(device->text("name"));
        const bool empty = disk_size_bytes(*device).value_or(1) == 0;
        if (is_disk(*device) && empty && name.starts_with("nvme") == nvme) disks.add(seen, *device, "size 0");
      }
      if (disks.names.empty()) continue;
      disks.finding.title = fmt::format("{}: size 0", list_names(disks.names));
      disks.finding.cause =
          nvme ? "The controller answers and its namespace does not: the disk failed, or has none."
               : "A card reader or the BMC's virtual medium without a medium in it: no disk of the machine.";
      disks.finding.confidence = nvme ? 0.85 : 0.8;
      if (nvme) disks.finding.loss_unknown = "what is kept on it is not known";
      disks.finding.fix = {nvme ? "nvme smart-log, nvme list-ns; replace it when it stays at 0"
                                : "leave it out of lists of disks"};
      add_disk_finding(std::move(disks), seen, findings);
    }
  }
}

void disk_read_only(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_lsblk(seen)) continue;
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kLow, seen);
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::string_view name = short_disk_name(device->text("name"));
      const bool boot_area = name.starts_with("mmcblk") && (contains(name, "boot") || contains(name, "rpmb"));
      if (!is_disk(*device) || !is_true(*device, "ro") || boot_area || disk_size_bytes(*device).value_or(1) <= 0)
        continue;
      if (name.starts_with("nvme")) disks.finding.severity = FindingSeverity::kMedium;
      disks.add(seen, *device, "RO 1");
    }
    if (disks.names.empty()) continue;
    disks.finding.title =
        fmt::format("{} {} read-only", list_names(disks.names), disks.names.size() == 1 ? "is" : "are");
    disks.finding.cause =
        "Flash at the end of its life or with a failed controller lets itself only be read; volumes may "
        "also have been attached so.";
    disks.finding.confidence = 0.7;
    disks.finding.loss_unknown = "what the work writes to it is not known";
    disks.finding.fix = {"nvme smart-log /dev/…: critical_warning, percentage_used, available_spare",
                         "dmesg | grep -i -e nvme -e 'I/O error'"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

constexpr Rule kRules[] = {
    {"storage.nvme-full", "NVMe disks with nearly all blocks in use", "Sustained writes become slow.", "nvme-list(1)",
     nvme_full},
    {"storage.filesystem-full", "Filesystems that are nearly full", "Checkpoints do not fit, and jobs die.", "df(1)",
     filesystem_full},
    {"storage.disk-empty", "DiskGroup of size 0", "A failed namespace, or no disk at all.", "lsblk(8)", disk_empty},
    {"storage.disk-read-only", "DiskGroup that are read-only", "Flash at the end of its life, or a volume attached so.",
     "lsblk(8)", disk_read_only},
};

}  // namespace

std::span<const Rule> storage_space_rules() { return kRules; }

}  // namespace tare
