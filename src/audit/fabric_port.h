// A port of an HCA as ibstat, ibstatus, ibv_devinfo and `rdma link` describe it, and the rails it is one of.
//
// Rails are the ports of one kind of adapter and one link layer on one machine; they carry the traffic between nodes
// when no other group of ports is faster. They come in 2, 4, 8, 16: a port that is down beside seven that are up is a
// missing rail, beside eight it may belong to another network. Thread safety: pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/observed.h"

namespace tare {

struct FabricPort {
  std::string machine;  // of the listing: several machines one after the other
  std::string name;     // "mlx5_3", "mlx5_3/2" where the device has two ports
  std::string device;   // "mlx5_3"
  std::string type;     // of the adapter: "MT4129"; empty where not said
  std::string card;     // what both functions of a card share; empty where not said
  std::string layer;    // "InfiniBand", "Ethernet"
  std::string state;    // "active", "down", "init", "armed"
  std::string wire;     // "linkup", "polling", "disabled"; empty where not said
  std::string firmware;
  std::string width;                // "4X"
  std::optional<double> rate_gbps;  // of a port that is down: a default of the driver
  std::optional<double> active_mtu, max_mtu;
  bool has_lid = false;  // a subnet manager has given it one: it was up
  std::int64_t line = 0, rate_line = 0, state_line = 0;

  bool is_active() const { return state == "active"; }
  bool is_down() const { return state == "down" || (state.empty() && (wire == "polling" || wire == "disabled")); }
};

bool is_infiniband(const FabricPort& port);

std::vector<FabricPort> fabric_ports(const FactRecord& facts);

// The ports of a listing, by machine.
std::vector<std::vector<FabricPort>> ports_by_machine(const FactRecord& facts);

// One machine of a listing.
struct PortListing {
  const Seen* seen = nullptr;
  std::string node;
  const std::vector<FabricPort>* ports = nullptr;
};

// Every machine of every listing. Of a node that has two listings the first counts.
void each_port_listing(const Observed& observed, const std::function<void(const PortListing&)>& visit);

// Ports of the same adapter type and link layer as `port`, itself among them.
std::vector<const FabricPort*> rails_of(const std::vector<FabricPort>& machine, const FabricPort& port);

// The rate that most active ports of a group have; nullopt when none is active or says its rate.
std::optional<double> usual_rate(const std::vector<const FabricPort*>& group);
// The highest rate of an active port.
std::optional<double> highest_rate(const std::vector<FabricPort>& machine);

// Whether `more` ports added to `up` make 4, 8, 16 … where `up` alone does not.
bool completes_rails(std::size_t up, std::size_t more);
bool are_whole_rails(std::size_t ports);

// The rate of the device that a tool names, from the listings of the same node.
std::optional<double> rate_of_device(const Observed& observed, const Seen& here, std::string_view device);

}  // namespace tare
