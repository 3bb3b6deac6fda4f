#include "audit/network_rules.h"

namespace tare {

std::span<const Rule> network_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto subject :
         {network_port_rules, network_port_setting_rules, network_link_rules, network_transport_rules,
          network_setting_rules, network_nic_rules, network_topology_rules, network_message_rules}) {
      const std::span<const Rule> rules = subject();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
