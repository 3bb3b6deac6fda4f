#include "storage_cases.h"

#include <algorithm>

namespace tare {
namespace {

std::string lsblk(const char* rows) {
  return std::string("NAME        TYPE   SIZE ROTA RO MODEL               FSTYPE MOUNTPOINT\n") + rows;
}
const char* const kVirtioRow = "vdb         disk  1.5T    1  0                            ext4   /data\n";
const char* const kVirtioFlashRow = "vdb         disk  1.5T    0  0                            ext4   /data\n";
const char* const kSpinningRow = "sdc         disk   12T    1  0 ST12000NM0127       xfs    /bulk\n";
const char* const kRaidRow = "sdc         disk   12T    1  0 PERC H755           xfs    /bulk\n";
const char* const kMountedNvmeRow = "nvme1n1     disk  3.5T    0  0 KCD8XPUG3T84        xfs    /scratch\n";
const char* const kRawNvmeRow = "nvme1n1     disk  3.5T    0  0 KCD8XPUG3T84               \n";
const char* const kReadOnlyRow = "nvme1n1     disk  3.5T    0  1 KCD8XPUG3T84        xfs    /scratch\n";
const char* const kEmptyNvmeRow = "nvme1n1     disk    0B    0  0 KCD8XPUG3T84               \n";
const char* const kEmptyReaderRow = "sdd         disk    0B    1  0 Card Reader                \n";

struct NvmeRow {
  const char* disk;
  const char* model;
  const char* usage;
  const char* format;
  const char* firmware;
};
std::string nvme_list(const std::vector<NvmeRow>& rows) {
  std::string text =
      "Node             SN                   Model                                    Namespace Usage                  "
      "  "
      "  Format           FW Rev\n"
      "---------------- -------------------- ---------------------------------------- --------- "
      "-------------------------- "
      "---------------- --------\n";
  const auto pad = [](std::string cell, std::size_t width) {
    cell.resize(std::max(width, cell.size()), ' ');
    return cell + ' ';
  };
  for (const NvmeRow& row : rows) {
    text += pad(row.disk, 16) + pad("S0000000000001", 20) + pad(row.model, 40) + pad("1", 9) + pad(row.usage, 26) +
            pad(row.format, 16) + row.firmware + '\n';
  }
  return text;
}
const char* const kLocal = "SOLIDIGM SSDPF2KX038T1";
const char* const kHalfFull = "  1.90  TB /   3.84  TB";
const char* const k4k = "  4 KiB +  0 B";
const char* const k512 = "512   B +  0 B";

std::string nvme_disks(int count) {
  static const std::vector<const char*> names = {"/dev/nvme0n1", "/dev/nvme1n1", "/dev/nvme2n1", "/dev/nvme3n1"};
  std::vector<NvmeRow> rows;
  rows.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    rows.push_back({names[static_cast<std::size_t>(i)], kLocal, kHalfFull, k4k, "9CV10490"});
  return nvme_list(rows);
}

std::string df(const char* row) {
  return std::string("Filesystem      1K-blocks       Used  Available Use% Mounted on\n") + row;
}

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium;

std::vector<RuleCase> kind_cases() {
  return {
      {"storage.rota-virtual", "Virtio", {{"lsblk.txt", lsblk(kVirtioRow)}}, true, kInfo, "vdb", "no evidence"},
      {"storage.rota-virtual", "BehindRaid", {{"lsblk.txt", lsblk(kRaidRow)}}, true, kInfo, "sdc", "RAID volume"},
      {"storage.rota-virtual", "VirtioThatSaysFlash", {{"lsblk.txt", lsblk(kVirtioFlashRow)}}, false},
      {"storage.spinning-disk", "Model", {{"lsblk.txt", lsblk(kSpinningRow)}}, true, kInfo, "sdc", "spinning disk"},
      {"storage.spinning-disk", "RaidVolume", {{"lsblk.txt", lsblk(kRaidRow)}}, false},
      {"storage.nvme-remote",
       "BlockStore",
       {{"nvme.txt",
         nvme_list({{"/dev/nvme3n1", "Amazon Elastic Block Store", "  0.00   B / 536.87  GB", k512, "1.0"}})}},
       true,
       kInfo,
       "nvme3n1",
       "Elastic Block Store"},
      {"storage.nvme-remote", "Local", {{"nvme.txt", nvme_disks(1)}}, false},
      {"storage.nvme-512",
       "DataDisk",
       {{"nvme.txt", nvme_list({{"/dev/nvme0n1", kLocal, kHalfFull, k512, "9CV10490"}})}},
       true,
       kInfo,
       "nvme0n1",
       "512-byte"},
      {"storage.nvme-512", "FourKib", {{"nvme.txt", nvme_disks(1)}}, false},
      {"storage.firmware-mixed",
       "TwoVersions",
       {{"nvme.txt", nvme_list({{"/dev/nvme0n1", kLocal, kHalfFull, k4k, "9CV10490"},
                                {"/dev/nvme1n1", kLocal, kHalfFull, k4k, "9CV10410"}})}},
       true,
       kLow,
       "",
       "2 firmware versions"},
      {"storage.firmware-mixed",
       "TwoModels",
       {{"nvme.txt", nvme_list({{"/dev/nvme0n1", kLocal, kHalfFull, k4k, "9CV10490"},
                                {"/dev/nvme1n1", "KCD8XPUG3T84", kHalfFull, k4k, "0105"}})}},
       false},
      {"storage.nvme-unused", "RawDisk", {{"lsblk.txt", lsblk(kRawNvmeRow)}}, true, kInfo, "nvme1n1", "no filesystem"},
      {"storage.nvme-unused", "Mounted", {{"lsblk.txt", lsblk(kMountedNvmeRow)}}, false},
      {"storage.disks-missing",
       "OneNodeHasFewer",
       {{"a/nvme.txt", nvme_disks(4)},
        {"a/df.txt", df("/dev/sda2       102400000   20480000   81920000  20% /\n")},
        {"b/nvme.txt", nvme_disks(3)},
        {"b/df.txt", df("/dev/sda2       102400000   20480000   81920000  20% /\n")},
        {"c/nvme.txt", nvme_disks(4)},
        {"c/df.txt", df("/dev/sda2       102400000   20480000   81920000  20% /\n")}},
       true,
       kMedium,
       "b",
       "3 of 4"},
      {"storage.disks-missing",
       "TwoKindsOfNode",
       {{"a/nvme.txt", nvme_disks(4)},
        {"a/df.txt", df("/dev/sda2       102400000   20480000   81920000  20% /\n")},
        {"b/nvme.txt", nvme_disks(2)},
        {"b/df.txt", df("/dev/sda2       102400000   20480000   81920000  20% /\n")}},
       false},
  };
}

std::vector<RuleCase> space_cases() {
  return {
      {"storage.nvme-full",
       "NearlyAll",
       {{"nvme.txt", nvme_list({{"/dev/nvme0n1", kLocal, "  3.76  TB /   3.84  TB", k4k, "9CV10490"}})}},
       true,
       kLow,
       "nvme0n1",
       "nearly all"},
      {"storage.nvme-full",
       "DiskThatKeepsNoCount",
       {{"nvme.txt", nvme_list({{"/dev/nvme0n1", kLocal, "  3.84  TB /   3.84  TB", k4k, "9CV10490"}})}},
       false},
      {"storage.filesystem-full",
       "NothingLeft",
       {{"df.txt", df("/dev/nvme0n1p1 3750000000 3712500000   37500000  99% /scratch\n")}},
       true,
       kMedium,
       "/scratch",
       "99 % full"},
      {"storage.filesystem-full",
       "LittleLeft",
       {{"df.txt", df("/dev/nvme0n1p1 3750000000 3450000000  300000000  92% /scratch\n")}},
       true,
       kLow,
       "/scratch",
       "92 %"},
      {"storage.filesystem-full",
       "ReadOnlyImage",
       {{"df.txt", df("/dev/loop3           65536      65536          0 100% /snap/core20/9999\n")}},
       false},
      {"storage.disk-empty", "NvmeWithoutNamespace", {{"lsblk.txt", lsblk(kEmptyNvmeRow)}}, true, kMedium, "nvme1n1"},
      {"storage.disk-empty", "CardReader", {{"lsblk.txt", lsblk(kEmptyReaderRow)}}, true, kInfo, "sdd", "size 0"},
      {"storage.disk-empty", "HasASize", {{"lsblk.txt", lsblk(kMountedNvmeRow)}}, false},
      {"storage.disk-read-only", "Nvme", {{"lsblk.txt", lsblk(kReadOnlyRow)}}, true, kMedium, "nvme1n1", "read-only"},
      {"storage.disk-read-only", "Writable", {{"lsblk.txt", lsblk(kMountedNvmeRow)}}, false},
  };
}

}  // namespace

std::vector<RuleCase> disk_cases() {
  std::vector<RuleCase> cases = kind_cases();
  const std::vector<RuleCase> space = space_cases();
  cases.insert(cases.end(), space.begin(), space.end());
  return cases;
}

std::span<const RuleCase> storage_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all = disk_cases();
    const std::vector<RuleCase> fio = fio_cases();
    all.insert(all.end(), fio.begin(), fio.end());
    return all;
  }();
  return cases;
}

}  // namespace tare
