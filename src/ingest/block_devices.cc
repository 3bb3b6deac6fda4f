#include "ingest/block_devices.h"

#include <array>
#include <map>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// Columns of 0 and 1 in text, of true and false in JSON.
bool is_truth(std::string_view name) {
  return name == "rota" || name == "ro" || name == "rm" || name == "rand" || name == "hotplug" || name == "dax";
}

std::string_view short_name(std::string_view name) { return name.starts_with("/dev/") ? name.substr(5) : name; }

bool is_virtual(const FactRecord& device) {
  const std::string_view name = short_name(device.text("name"));
  return name.starts_with("vd") || name.starts_with("xvd") || device.text("vendor") == "0x1af4";
}

bool truth(const FactRecord& record, std::string_view name) {
  const Fact* const fact = record.find(name);
  const bool* const value = fact == nullptr ? nullptr : std::get_if<bool>(&fact->value);
  return value != nullptr && *value;
}

}  // namespace

void set_block_device_field(FactRecord& device, std::string_view column, const Fact& value) {
  std::string name = to_lower(column);
  for (char& c : name) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) c = '_';
  }
  while (name.ends_with('_')) name.pop_back();
  if (name.empty() || device.members().size() >= 100) return;
  Fact fact = value;
  if (const std::string* const text = std::get_if<std::string>(&fact.value)) {
    const std::string trimmed(trim(*text));
    if (name == "size" && to_integer(trimmed)) {
      fact.value = *to_integer(trimmed);
    } else if (is_truth(name) && (trimmed == "0" || trimmed == "1")) {
      fact.value = trimmed == "1";
    } else if (trimmed.empty()) {
      fact.value = std::monostate{};
    } else {
      fact.value = trimmed;
    }
  }
  if (is_truth(name)) {
    const std::int64_t* const number = std::get_if<std::int64_t>(&fact.value);
    if (number != nullptr && (*number == 0 || *number == 1)) fact.value = *number == 1;
  }
  if (name == "size" && fact.number()) name = "size_bytes";
  device.set(name, std::move(fact));
}

void summarise_block_devices(Reading& reading) {
  FactRecord& facts = reading.facts;
  const std::vector<Fact>* const devices = facts.find_list("devices");
  if (devices == nullptr) return;
  std::map<std::string, std::int64_t> types, models;
  std::int64_t nvme = 0, empty = 0;
  std::vector<Fact> disks;
  std::string virtual_names;
  for (const Fact& fact : *devices) {
    const FactRecord& device = *fact.as_record();
    const std::string_view name = short_name(device.text("name"));
    std::string type(device.text("type"));
    if (type.empty() && !device.has("type")) {
      // The column was not asked for: what hangs on nothing is a disk.
      type = name.starts_with("loop") ? "loop" : device.has("parent") ? "child" : "disk";
    }
    if (!type.empty()) ++types[type];
    if (type != "disk") continue;
    disks.push_back(Fact::of(device.text("name"), device.line));
    if (name.starts_with("nvme")) ++nvme;
    if (!device.text("model").empty()) ++models[std::string(device.text("model"))];
    if (device.integer("size_bytes").value_or(1) == 0 || device.text("size") == "0B" || device.text("size") == "0")
      ++empty;
    if (truth(device, "rota") && is_virtual(device) && virtual_names.size() < 100) {
      virtual_names += (virtual_names.empty() ? "" : ", ") + std::string(name);
    }
  }
  facts.set("device_count", static_cast<std::int64_t>(devices->size()));
  facts.set("disk_count", static_cast<std::int64_t>(disks.size()));
  facts.set("nvme_disk_count", nvme);
  if (empty > 0) facts.set("empty_disk_count", empty);
  facts.set("loop_device_count", types.contains("loop") ? types["loop"] : 0);
  FactRecord& by_type = facts.record("types");
  for (const auto& [type, count] : types) by_type.set(type, count);
  for (const auto& [model, count] : models) {
    FactRecord& record = facts.append("disk_models", 0);
    record.set("model", model);
    record.set("count", count);
  }
  facts.set("disks", Fact::of(std::move(disks)));
  if (!virtual_names.empty()) {
    reading.note("ROTA is 1 for the virtual disk " + virtual_names + ": that says nothing of the medium behind it");
  }
}

}  // namespace tare
