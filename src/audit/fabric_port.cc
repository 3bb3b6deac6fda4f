#include "audit/fabric_port.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "ingest/ib_ports.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr double kNoLid = 65535;  // what a port shows that never got one

std::string text_or_number(const FactRecord& record, std::string_view name) {
  const std::string_view text = record.text(name);
  if (!text.empty()) return std::string(text);
  const std::optional<std::int64_t> number = record.integer(name);
  return number ? std::to_string(*number) : std::string();
}

std::string first_of(const FactRecord& record, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    std::string text = text_or_number(record, name);
    if (!text.empty()) return text;
  }
  return {};
}

std::int64_t line_of(const FactRecord& record, const char* name) {
  const Fact* const fact = record.find(name);
  return fact != nullptr && fact->line > 0 ? fact->line : record.line;
}

// Both functions of a card differ in one place of their names: "ens1f0np0" and "ens1f1np1", "rocep1s0f0" and
// "rocep1s0f1". What stands before it names the card; empty where the name has no function.
std::string card_in_name(std::string_view name) {
  const std::size_t port = name.rfind("np");
  if (port != std::string_view::npos && port > 0) name = name.substr(0, port);
  const std::size_t function = name.rfind('f');
  const bool named = function != std::string_view::npos && function > 3 && name.size() == function + 2;
  return named && to_integer(name.substr(function + 1)) ? std::string(name.substr(0, function)) : std::string();
}

FabricPort port_of(const FactRecord& device, const FactRecord& port, bool several) {
  FabricPort one;
  one.machine = first_of(device, {"source", "machine"});
  one.device = first_of(device, {"name", "device"});
  one.name = one.device;
  if (several) one.name += "/" + text_or_number(port, "port");
  one.type = first_of(device, {"ca_type", "vendor_part_id", "part"});
  one.card = std::string(device.text("system_image_guid").empty() ? device.text("sys_image_guid")
                                                                  : device.text("system_image_guid"));
  if (one.card.empty()) one.card = card_in_name(port.text("netdev"));
  if (one.card.empty()) one.card = card_in_name(one.device);
  one.layer = std::string(port.text("link_layer"));
  one.state = port_state(port.text(port.has("state") ? "state" : "port_state"));
  if (one.state == "initializing") one.state = "init";
  one.wire = port_state(first_of(port, {"physical_state", "phys_state"}));
  one.firmware = first_of(device, {"firmware_version", "fw_ver", "fw"});
  one.width = std::string(port.text("active_width"));
  one.rate_gbps = port.number("rate_gbit_per_s");
  one.active_mtu = port.number("active_mtu");
  one.max_mtu = port.number("max_mtu");
  const std::optional<double> lid = port.number(port.has("base_lid") ? "base_lid" : "port_lid");
  one.has_lid = lid && *lid > 0 && *lid < kNoLid;
  one.line = port.line;
  one.rate_line = line_of(port, "rate_gbit_per_s");
  one.state_line = line_of(port, port.has("state") ? "state" : "port_state");
  return one;
}

}  // namespace

bool is_infiniband(const FabricPort& port) { return equals_ignoring_case(port.layer, "InfiniBand"); }

std::vector<FabricPort> fabric_ports(const FactRecord& facts) {
  std::vector<FabricPort> ports;
  for (const FactRecord* const device : records_of(facts, "devices")) {
    const std::vector<const FactRecord*> own = records_of(*device, "ports");
    for (const FactRecord* const port : own) ports.push_back(port_of(*device, *port, own.size() > 1));
  }
  // `rdma link`: a flat list, the state in each. The (Up) and (Down) of ibdev2netdev are of the interface, not of this.
  for (const FactRecord* const port : records_of(facts, "ports")) {
    if (port->has("port_state")) ports.push_back(port_of(*port, *port, false));
  }
  return ports;
}

std::vector<std::vector<FabricPort>> ports_by_machine(const FactRecord& facts) {
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<FabricPort>> machines;
  for (FabricPort& port : fabric_ports(facts)) {
    const auto [found, fresh] = places.emplace(port.machine, machines.size());
    if (fresh) machines.emplace_back();
    machines[found->second].push_back(std::move(port));
  }
  return machines;
}

void each_port_listing(const Observed& observed, const std::function<void(const PortListing&)>& visit) {
  std::set<std::string> seen_places;
  for (const Seen& seen : observed.of_kind("infiniband")) {
    const std::vector<std::vector<FabricPort>> machines = ports_by_machine(*seen.facts);
    if (machines.empty() || !seen_places.insert(seen.node.empty() ? seen.file->path : seen.node).second) continue;
    for (const std::vector<FabricPort>& ports : machines) {
      const std::string& name = ports.front().machine;
      // Machines without a name are numbered.
      const bool named = !name.empty() && to_integer(name) == std::nullopt;
      visit({&seen, machines.size() > 1 && named ? name : seen.node, &ports});
    }
  }
}

std::vector<const FabricPort*> rails_of(const std::vector<FabricPort>& machine, const FabricPort& port) {
  std::vector<const FabricPort*> group;
  for (const FabricPort& other : machine) {
    if (other.type == port.type && equals_ignoring_case(other.layer, port.layer)) group.push_back(&other);
  }
  return group;
}

std::optional<double> usual_rate(const std::vector<const FabricPort*>& group) {
  std::map<double, int> counts;
  for (const FabricPort* const port : group) {
    if (port->is_active() && port->rate_gbps) ++counts[*port->rate_gbps];
  }
  if (counts.empty()) return std::nullopt;
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::optional<double> highest_rate(const std::vector<FabricPort>& machine) {
  std::optional<double> highest;
  for (const FabricPort& port : machine) {
    if (port.is_active() && port.rate_gbps) highest = std::max(highest.value_or(0), *port.rate_gbps);
  }
  return highest;
}

bool are_whole_rails(std::size_t ports) { return ports >= 4 && (ports & (ports - 1)) == 0; }

bool completes_rails(std::size_t up, std::size_t more) { return !are_whole_rails(up) && are_whole_rails(up + more); }

std::optional<double> rate_of_device(const Observed& observed, const Seen& here, std::string_view device) {
  for (const Seen& seen : observed.of_kind_beside("infiniband", here)) {
    for (const FabricPort& port : fabric_ports(*seen.facts)) {
      if (port.device == device && port.is_active() && port.rate_gbps) return port.rate_gbps;
    }
  }
  return std::nullopt;
}

}  // namespace tare
