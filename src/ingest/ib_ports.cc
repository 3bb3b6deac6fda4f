#include "ingest/ib_ports.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {

std::string port_state(std::string_view text) {
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) text.remove_prefix(colon + 1);
  std::string state = to_lower(trim(text.substr(0, text.find('('))));
  if (state.starts_with("port_")) state.erase(0, 5);
  std::erase_if(state, [](char c) { return c == '_' || c == ' '; });
  return state;
}

void IbPorts::device(std::string_view name, std::string_view source, std::int64_t line, bool repeats) {
  in_port_ = false;
  const std::string key = std::string(source) + '\n' + std::string(name);
  if (repeats && names_.contains(key)) {
    ++machines_;
    names_.clear();
  }
  full_ = devices_.size() >= kMostDevices;
  if (full_) return;
  names_.insert(key);
  FactRecord record(line);
  if (name.empty()) {
    record.set_unknown("name");
  } else {
    record.set("name", name);
  }
  if (!source.empty()) record.set("source", source);
  record.set("machine", machines_);
  devices_.push_back(Fact::of(std::move(record)));
}

void IbPorts::port(std::string_view number, std::int64_t line) {
  if (devices_.empty()) device({}, {}, line, false);
  if (full_) return;
  FactRecord& record = std::get<FactRecord>(devices_.back().value);
  if (record.list("ports").size() >= kMostPorts) return;
  in_port_ = true;
  FactRecord& port = record.append("ports", line);
  port.set_parsed("port", number);
}

FactRecord* IbPorts::current() {
  if (devices_.empty() || full_) return nullptr;
  FactRecord& device = std::get<FactRecord>(devices_.back().value);
  if (!in_port_) return &device;
  return &std::get<FactRecord>(device.list("ports").back().value);
}

bool IbPorts::set(std::string_view name, std::string_view value, std::int64_t line) {
  FactRecord* const record = current();
  if (record == nullptr || record->members().size() > 400) return false;
  if (trim(value) == "...") {
    record->set_unknown(name, line);
  } else {
    record->set_parsed(name, value, line);
  }
  return true;
}

namespace {

// Counts of one kind of value, by the value's text.
class Tally {
 public:
  void add(const Fact* fact) {
    if (fact == nullptr || fact->is_unknown()) return;
    if (const std::optional<double> number = fact->number()) return add(fmt::format("{}", *number));
    add(std::string(fact->text()));
  }
  void add(std::string text) {
    if (counts_.size() < 256 || counts_.contains(text)) ++counts_[std::move(text)];
  }
  void put(FactRecord& facts, std::string_view name) const {
    if (counts_.empty()) return;
    FactRecord& record = facts.record(name);
    for (const auto& [text, count] : counts_) record.add(text, Fact::of(count));
  }
  std::int64_t of(const std::string& text) const {
    const auto found = counts_.find(text);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace

void IbPorts::finish(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (devices_.empty()) return;
  std::int64_t ports = 0, active = 0, known = 0;
  Tally rates, active_rates, layers, states, physical, types, firmware, active_layers;
  for (const Fact& one : devices_) {
    const FactRecord& device = *one.as_record();
    types.add(device.find(device.has("ca_type") ? "ca_type" : "vendor_part_id"));
    firmware.add(device.find(device.has("firmware_version") ? "firmware_version" : "fw_ver"));
    const std::vector<Fact>* const list = device.find_list("ports");
    if (list == nullptr) continue;
    for (const Fact& each : *list) {
      const FactRecord& port = *each.as_record();
      ++ports;
      const std::string state = port_state(port.text("state"));
      if (!state.empty()) ++known, states.add(state);
      const std::string_view wire = port.text(port.has("physical_state") ? "physical_state" : "phys_state");
      if (!wire.empty()) physical.add(port_state(wire));
      rates.add(port.find("rate_gbit_per_s"));
      layers.add(port.find("link_layer"));
      if (state != "active") continue;
      ++active;
      active_rates.add(port.find("rate_gbit_per_s"));
      active_layers.add(port.find("link_layer"));
    }
  }
  facts.set("ca_count", static_cast<std::int64_t>(devices_.size()));
  facts.set("port_count", ports);
  if (machines_ > 1) facts.set("machine_count", machines_);
  if (known > 0) {
    facts.set("active", active);
    facts.set("down", states.of("down"));
    facts.set("not_active", known - active);
    facts.set("polling", physical.of("polling"));
    facts.set("disabled", physical.of("disabled"));
  }
  states.put(facts, "states");
  physical.put(facts, "physical_states");
  rates.put(facts, "rates");
  active_rates.put(facts, "active_rates");
  layers.put(facts, "link_layers");
  active_layers.put(facts, "active_link_layers");
  types.put(facts, "ca_types");
  firmware.put(facts, "firmware_versions");
  facts.set("devices", Fact::of(std::move(devices_), 1));
  if (known > active && ports > 0) {
    reading.note("the rate of a port that is down is a default of the driver, not what the port can do");
  }
}

}  // namespace tare
