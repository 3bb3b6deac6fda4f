// What disks are, as lsblk and nvme list show them, and how many.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/block_disks.h"
#include "audit/storage_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool is_virtual_disk(const FactRecord& device) {
  const std::string_view name = short_disk_name(device.text("name"));
  const std::string model = to_lower(device.text("model"));
  if (name.starts_with("vd") || name.starts_with("xvd") || device.text("vendor") == "0x1af4") return true;
  for (const char* const word : {"qemu", "virtual", "vbox", "vmware", "msft", "persistentdisk", "ephemeral"}) {
    if (contains(model, word)) return true;
  }
  return !network_disk_of(device.text("model")).empty();
}

// The controller answers for the disks behind it.
bool is_raid_volume(const FactRecord& device) {
  const std::string text = to_lower(std::string(device.text("vendor")) + ' ' + std::string(device.text("model")));
  for (const char* const word : {"raid", "perc", "avago", "lsi", "logical volume", "smart array", "mr9", "adaptec"}) {
    if (contains(text, word)) return true;
  }
  return false;
}

void rota_virtual(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_lsblk(seen)) continue;
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kInfo, seen);
    bool raid = false;
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const bool hidden = is_virtual_disk(*device) || is_raid_volume(*device);
      if (!is_disk(*device) || !is_true(*device, "rota") || !hidden) continue;
      raid = raid || !is_virtual_disk(*device);
      disks.add(seen, *device, fmt::format("ROTA 1, {}", is_virtual_disk(*device) ? "virtual disk" : "RAID volume"));
    }
    if (disks.names.empty()) continue;
    disks.finding.title = fmt::format("{}: ROTA 1 of a {} is no evidence of a spinning disk", list_names(disks.names),
                                      raid ? "RAID volume" : "virtual disk");
    disks.finding.cause =
        "ROTA is 1 unless the driver says otherwise; virtio and RAID controllers mostly say nothing, and "
        "the medium behind may be flash.";
    disks.finding.confidence = 0.9;
    disks.finding.fix = {
        "measure it: fio --name=r --rw=randread --bs=4k --iodepth=32 --direct=1 --runtime=30 --time_based"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

void spinning_disk(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_lsblk(seen)) continue;
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kInfo, seen);
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::string_view model = device->text("model");
      if (!is_disk(*device) || !is_true(*device, "rota") || model.empty()) continue;
      if (is_virtual_disk(*device) || is_raid_volume(*device) || device->text("tran") == "usb") continue;
      if (disk_size_bytes(*device).value_or(1) <= 0) continue;
      disks.add(seen, *device, fmt::format("{}, ROTA 1", model));
    }
    if (disks.names.empty()) continue;
    disks.finding.title =
        fmt::format("{}: spinning disk{}", list_names(disks.names), disks.names.size() == 1 ? "" : "s");
    disks.finding.cause =
        "Some 200 MB/s in one stream and a few hundred random reads a second: enough for logs, not for "
        "samples or checkpoints of many GPUs.";
    disks.finding.confidence = 0.85;
    disks.finding.fix = {"keep datasets and checkpoints on NVMe or the shared store"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

std::string_view network_disk(const FactRecord& device) {
  const std::string_view transport = device.text("transport");
  if (transport == "tcp" || transport == "rdma" || transport == "fc") return "a target over the network (NVMe-oF)";
  return network_disk_of(device.text("model"));
}

void nvme_remote(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_nvme_list(seen) && !is_lsblk(seen)) continue;
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kInfo, seen);
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::string_view name = short_disk_name(device->has("node") ? device->text("node") : device->text("name"));
      if (!name.starts_with("nvme") || network_disk(*device).empty()) continue;
      if (is_lsblk(seen) && !is_disk(*device)) continue;
      disks.add(seen, *device, fmt::format("{}: {}", device->text("model"), network_disk(*device)));
    }
    if (disks.names.empty()) continue;
    disks.finding.title =
        fmt::format("{}: {}, not local flash", list_names(disks.names), network_disk(*disks.records.front()));
    disks.finding.cause =
        "It has the name of a local NVMe disk and the latency, rate limit and failure domain of the "
        "network behind it.";
    disks.finding.confidence = 0.9;
    disks.finding.fix = {"do not count it as local scratch; look up the rate that is paid for it"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

bool has_512_byte_blocks(const FactRecord& device) {
  if (const std::optional<double> sector = device.number("sector_size_bytes")) return *sector == 512;
  return device.text("format").starts_with("512 B");
}

void nvme_512(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kDataDiskBytes = 1.5e12;  // smaller ones are for booting
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_nvme_list(seen)) continue;
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kInfo, seen);
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      if (!has_512_byte_blocks(*device) || !network_disk(*device).empty()) continue;
      if (disk_size_bytes(*device).value_or(0) < kDataDiskBytes) continue;
      disks.add(seen, *device, "512-byte blocks");
    }
    if (disks.names.empty()) continue;
    disks.finding.title = fmt::format("{}: formatted with 512-byte blocks", list_names(disks.names));
    disks.finding.cause =
        "Many data disks also offer 4 KiB blocks, which cost them less work; the gain is a few percent, "
        "and some models have 512 bytes only.";
    disks.finding.confidence = 0.6;
    disks.finding.fix = {"nvme id-ns -H /dev/nvmeXn1 | grep LBA: which formats it has, and which it calls best",
                         "nvme format --lbaf=N erases the disk: only before it is put to use"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

void firmware_mixed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_nvme_list(seen)) continue;
    std::map<std::string, std::map<std::string, std::vector<const FactRecord*>>> disks;  // by model and firmware
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::string_view firmware = device->text("firmware");
      if (!firmware.empty()) disks[std::string(device->text("model"))][std::string(firmware)].push_back(device);
    }
    for (const auto& [model, by_firmware] : disks) {
      if (by_firmware.size() < 2) continue;
      std::vector<std::string> versions;
      Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", seen.node, seen.node}, "");
      for (const auto& [firmware, devices] : by_firmware) {
        versions.push_back(fmt::format("{} × {}", devices.size(), firmware));
        if (finding.evidence.size() < 4) {
          finding.evidence.push_back(
              evidence_of(seen, devices.front()->line,
                          fmt::format("{}: {}", short_disk_name(devices.front()->text("node")), firmware)));
        }
      }
      finding.title = fmt::format("{} runs {} firmware versions: {}", model, by_firmware.size(), list_names(versions));
      finding.cause =
          "Firmware of the same disk differs in speed and in faults: one member of a stripe behaves otherwise.";
      finding.expected = "one version";
      finding.measured = list_names(versions);
      finding.confidence = 0.9;
      finding.loss_unknown = "what the versions differ in is not known";
      finding.fix = {"read the vendor's release notes, then nvme fw-download and fw-commit one disk at a time"};
      findings.push_back(std::move(finding));
    }
  }
}

bool holds_nothing(const FactRecord& disk, const std::set<std::string_view>& parents) {
  const std::vector<Fact>* const mounts = disk.find_list("mountpoints");
  const bool mounted = !disk.text("mountpoint").empty() || (mounts != nullptr && !mounts->empty());
  const bool asked = disk.has("mountpoint") || disk.has("mountpoints");
  return asked && !mounted && disk.text("mountpoints").empty() && disk.text("fstype").empty() &&
         !parents.contains(disk.text("name"));
}

void nvme_unused(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kScratchBytes = 400e9;
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (!is_lsblk(seen)) continue;
    const std::vector<const FactRecord*> devices = records_of(*seen.facts, "devices");
    std::set<std::string_view> parents;
    for (const FactRecord* const device : devices) parents.insert(device->text("parent"));
    DiskGroup disks = new_disk_group(rule, FindingSeverity::kInfo, seen);
    double bytes = 0;
    for (const FactRecord* const device : devices) {
      const double size = disk_size_bytes(*device).value_or(0);
      if (!short_disk_name(device->text("name")).starts_with("nvme") || !is_disk(*device)) continue;
      if (size < kScratchBytes || !holds_nothing(*device, parents)) continue;
      bytes += size;
      disks.add(seen, *device, fmt::format("{:.2f} TB, no filesystem and no mount", size / 1e12));
    }
    if (disks.names.empty()) continue;
    disks.finding.title =
        fmt::format("{} NVMe disk{} ({:.1f} TB) carr{} no filesystem", disks.names.size(),
                    disks.names.size() == 1 ? "" : "s", bytes / 1e12, disks.names.size() == 1 ? "ies" : "y");
    disks.finding.cause =
        "Local flash that nothing uses, or that a storage system (WEKA, Ceph, DAOS) uses raw; within a "
        "container mounts are not to be seen.";
    disks.finding.confidence = 0.6;
    disks.finding.fix = {"if nothing uses them raw: stripe them as scratch for datasets, caches and fast checkpoints"};
    add_disk_finding(std::move(disks), seen, findings);
  }
}

// NVMe disks in the machine, by node; of the largest listing where a node has several.
struct NodeDisks {
  int count = 0;
  Seen seen;
};

std::map<std::string, NodeDisks> local_disks_by_node(const Observed& observed) {
  std::map<std::string, NodeDisks> nodes;
  for (const Seen& seen : observed.of_kind("hw-inventory")) {
    if (seen.node.empty() || (!is_lsblk(seen) && !is_nvme_list(seen))) continue;
    int count = 0;
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::string_view name = short_disk_name(device->has("node") ? device->text("node") : device->text("name"));
      const bool whole = is_nvme_list(seen) || is_disk(*device);
      count += name.starts_with("nvme") && whole && network_disk(*device).empty() ? 1 : 0;
    }
    NodeDisks& node = nodes[seen.node];
    if (node.seen.file == nullptr || count > node.count) node = {count, seen};
  }
  return nodes;
}

void disks_missing(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr std::size_t kLeastNodes = 3;
  const std::map<std::string, NodeDisks> nodes = local_disks_by_node(observed);
  std::map<int, std::size_t> how_many;
  for (const auto& [name, node] : nodes) ++how_many[node.count];
  if (nodes.size() < kLeastNodes) return;
  const auto usual = std::max_element(how_many.begin(), how_many.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (usual->second * 2 <= nodes.size()) return;  // no majority: another kind of node
  for (const auto& [name, node] : nodes) {
    if (node.count >= usual->first) continue;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", name, name},
                                   fmt::format("{} of {} NVMe disks that its peers have", node.count, usual->first));
    finding.evidence.push_back(evidence_of(node.seen, 0, fmt::format("{} NVMe disks", node.count)));
    finding.cause =
        "A disk has left the bus or was never seated: striped scratch does not assemble, or is slower than on "
        "the other nodes.";
    finding.expected = fmt::format("{} disks, as {} of {} nodes", usual->first, usual->second, nodes.size());
    finding.measured = fmt::format("{} disks", node.count);
    finding.confidence = 0.8;
    finding.loss_unknown = "what the work keeps on local disks is not known";
    finding.consequences = {"storage.node-slower-than-peers"};
    finding.fix = {"lspci | grep -i 'non-volatile'; dmesg | grep -i nvme", "reseat or replace the disk"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"storage.rota-virtual", "ROTA 1 of a virtual disk or RAID volume", "It says nothing of the medium behind.",
     "lsblk(8)", rota_virtual},
    {"storage.spinning-disk", "Spinning disks", "Too slow for samples and checkpoints of many GPUs.", "lsblk(8)",
     spinning_disk},
    {"storage.nvme-remote", "NVMe disks that are network volumes",
     "They have the latency, rate limit and failure domain of the network.", "SPDK, NVMe-oF", nvme_remote},
    {"storage.nvme-512", "NVMe disks with 512-byte blocks", "4 KiB blocks cost many data disks less work.",
     "nvme-format(1)", nvme_512},
    {"storage.firmware-mixed", "One model, several firmware versions", "One member of a stripe behaves otherwise.",
     "nvme-list(1)", firmware_mixed},
    {"storage.nvme-unused", "Local flash that carries no filesystem", "Scratch that nobody uses.", "lsblk(8)",
     nvme_unused},
    {"storage.disks-missing", "Fewer NVMe disks than on the other nodes", "A disk has left the bus.", "nvme-list(1)",
     disks_missing},
};

}  // namespace

std::span<const Rule> storage_disk_rules() { return kRules; }

}  // namespace tare
