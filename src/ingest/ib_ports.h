// InfiniBand and RoCE devices with their ports, as ibstat, ibstatus and ibv_devinfo list them, and what they add up to.
// Thread safety: one thread at a time.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ingest/fact.h"
#include "ingest/format.h"
#include "ingest/line_source.h"

namespace tare {

// Collects devices[] with their ports[] and, at the end, the counts over all ports.
class IbPorts {
 public:
  static constexpr std::size_t kMostDevices = 20'000;
  static constexpr std::size_t kMostPorts = 4096;  // of one device

  // The device of that name, made when it is not there. `repeats`: a device of a name that is there already begins
  // another machine's list.
  void device(std::string_view name, std::string_view source, std::int64_t line, bool repeats);
  void port(std::string_view number, std::int64_t line);
  // A value of the port, or of the device when no port has begun. False: nowhere to put it.
  bool set(std::string_view name, std::string_view value, std::int64_t line);
  FactRecord* current();  // the port, else the device, else nullptr
  bool in_port() const { return in_port_; }
  bool empty() const { return devices_.empty(); }
  void finish(Reading& reading);

 private:
  std::vector<Fact> devices_;
  std::set<std::string, std::less<>> names_;  // of the machine being read: source and name
  std::int64_t machines_ = 1;
  bool in_port_ = false;
  bool full_ = false;  // more devices than are kept: what follows has no place
};

// "PORT_ACTIVE (4)", "4: ACTIVE", "Active" -> "active".
std::string port_state(std::string_view text);

}  // namespace tare
