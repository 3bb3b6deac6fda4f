// The subjects of the network family, each a file of its own: what a node's ports say, what a link counts, which way
// NCCL sends, what it thinks the machine looks like, what it complains of.
#pragma once

#include <span>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> network_port_rules();
std::span<const Rule> network_port_setting_rules();
std::span<const Rule> network_link_rules();
std::span<const Rule> network_transport_rules();
std::span<const Rule> network_setting_rules();
std::span<const Rule> network_nic_rules();
std::span<const Rule> network_topology_rules();
std::span<const Rule> network_message_rules();

}  // namespace tare
