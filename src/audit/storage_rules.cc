#include "audit/storage_rules.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {

std::string_view short_disk_name(std::string_view name) { return name.starts_with("/dev/") ? name.substr(5) : name; }

std::optional<double> size_in_bytes(std::string_view text) {
  std::string plain(trim(text));
  for (char& c : plain) {
    if (c == ',') c = '.';
  }
  const std::optional<Measure> measure = to_measure(plain);
  if (!measure || measure->value < 0) return std::nullopt;
  const std::string unit = to_lower(trim(measure->unit));
  if (unit.empty() || unit == "b") return measure->value;
  constexpr std::string_view kPrefixes = "kmgtp";
  const std::size_t power = kPrefixes.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  // nvme prints "TB" and means powers of ten; fio and lsblk print "k", "T" or "KiB" and mean powers of two.
  const double base = unit.ends_with("b") && !contains(unit, "i") ? 1000 : 1024;
  double bytes = measure->value;
  for (std::size_t i = 0; i <= power; ++i) bytes *= base;
  return bytes;
}

std::string_view network_disk_of(std::string_view model) {
  // As targets and clouds name themselves to the NVMe driver.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames = {
      {{"SPDK", "an SPDK target over the network (NVMe-oF)"},
       {"Amazon Elastic Block Store", "Amazon's Elastic Block Store"},
       {"nvme_card-pd", "a Google Persistent Disk"},
       {"PersistentDisk", "a Google Persistent Disk"},
       {"MSFT NVMe Accelerator", "an Azure remote disk"},
       {"SNAP Controller", "a DPU's emulation of a remote disk"},
       {"NetApp ONTAP", "a NetApp array over the network"},
       {"Pure Storage", "a Pure Storage array over the network"},
       {"PowerStore", "a Dell array over the network"},
       {"INFINIDAT", "an Infinidat array over the network"},
       {"HUAWEI-XSG", "a Huawei array over the network"}}};
  if (model == "Linux") return "a Linux target over the network (nvmet)";
  for (const auto& [name, what] : kNames) {
    if (contains(model, name)) return what;
  }
  return {};
}

std::span<const Rule> storage_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part : {storage_disk_rules, storage_space_rules, storage_fio_rules, storage_rate_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
