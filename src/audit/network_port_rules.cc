#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/fabric_port.h"
#include "audit/loss.h"
#include "audit/network_rules.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kNamedApart = 3;  // more ports with one fault are one finding of the node

std::string state_words(const FabricPort& port) {
  if (port.wire.empty()) return port.state;
  std::string words = port.wire;
  if (!words.empty()) words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

Evidence evidence_of_port(const PortListing& machine, const FabricPort& port) {
  return evidence_of(
      *machine.seen, port.state_line,
      fmt::format("{}: state {}{}", port.name, port.state, port.wire.empty() ? "" : ", physical state " + port.wire));
}

// Counts of a group: up, and down for whatever reason.
struct RailCount {
  std::size_t up = 0, down = 0;
};

RailCount count_rails(const std::vector<const FabricPort*>& group) {
  RailCount count;
  for (const FabricPort* const port : group) {
    count.up += port->is_active() ? 1 : 0;
    count.down += port->is_down() ? 1 : 0;
  }
  return count;
}

// Whether the port is the second of a card of which everybody uses one only.
bool is_spare_port(const std::vector<const FabricPort*>& group, const FabricPort& port) {
  const auto shares_card = [](const FabricPort& a, const FabricPort& b) {
    if (&a == &b) return false;
    return a.device == b.device || (!a.card.empty() && a.card == b.card);
  };
  bool sibling_up = false;
  for (const FabricPort* const one : group) {
    if (!one->is_active()) continue;
    sibling_up = sibling_up || shares_card(*one, port);
    for (const FabricPort* const other : group) {
      if (other->is_active() && shares_card(*one, *other)) return false;
    }
  }
  return sibling_up;
}

enum class Why { kRail, kPerhapsRail, kWasUp, kAlone, kSpare };

Why why_down(const PortListing& machine, const FabricPort& port) {
  const std::vector<const FabricPort*> group = rails_of(*machine.ports, port);
  const RailCount count = count_rails(group);
  const std::optional<double> usual = usual_rate(group), highest = highest_rate(*machine.ports);
  // A group without rates counts as the fastest when nothing else is up.
  const bool fastest = count.up > 0 && (!highest || !usual || *usual >= 0.9 * *highest);
  if (is_spare_port(group, port)) return Why::kSpare;
  if (fastest && count.up > count.down && !are_whole_rails(count.up)) return Why::kRail;
  if (port.has_lid && is_infiniband(port)) return Why::kWasUp;
  if (fastest && count.up >= count.down) return Why::kPerhapsRail;
  const bool any_up =
      std::any_of(machine.ports->begin(), machine.ports->end(), [](const FabricPort& one) { return one.is_active(); });
  return any_up ? Why::kSpare : Why::kAlone;
}

FindingSeverity severity_of(const FabricPort& port, Why why, RailCount count) {
  const bool disabled = port.wire == "disabled";
  // Four of eight that poll are more than cards that were never cabled; fewer are not.
  if (why == Why::kPerhapsRail) {
    return !disabled && are_whole_rails(count.up) && count.up == count.down ? FindingSeverity::kMedium
                                                                            : FindingSeverity::kLow;
  }
  if (why == Why::kRail) return disabled || count.up < 3 ? FindingSeverity::kMedium : FindingSeverity::kHigh;
  if (why == Why::kWasUp) return disabled ? FindingSeverity::kMedium : FindingSeverity::kHigh;
  return is_infiniband(port) && !disabled ? FindingSeverity::kMedium : FindingSeverity::kLow;
}

std::vector<std::string> fix_of(const FabricPort& port, const std::string& names) {
  if (port.wire == "disabled") {
    return {"find out who disabled it: a port is off by the administrator, by the switch or for a wrong module",
            is_infiniband(port) ? "enable it: ibportstate <lid> <port> enable, or mlxlink -d <device> --port_state UP"
                                : "bring it up: ip link set <interface> up; mlxlink -d <device> --port_state UP",
            "until it is up keep it out of the job: NCCL_IB_HCA=^" + names};
  }
  return {"reseat the transceiver and the cable at both ends, look at the switch port: mlxlink -d <device> -m -c",
          "swap the cable with a neighbour's: a fault that moves is the cable, one that stays is the NIC or the switch",
          "until it is up keep it out of the job: NCCL_IB_HCA=^" + names};
}

std::string cause_of(const FabricPort& port) {
  if (port.wire == "disabled") {
    return "The port is switched off: by hand, by the switch, or since the module is not accepted.";
  }
  if (port.wire == "polling") {
    return "The port sends and nobody answers: a pulled or broken cable, a bad transceiver, or the switch port is off.";
  }
  return "The link is not up.";
}

// What a node loses that sends through fewer rails: the traffic of all goes over those left.
void add_rail_loss(Finding& finding, const PortListing& machine, const Observed& observed, RailCount count,
                   std::size_t named) {
  const std::optional<double> gpus = observed.gpus_beside(*machine.seen);
  if (!gpus || count.up == 0) {
    finding.loss_unknown =
        gpus ? "no rail is up: what the job does then is not known" : "how many GPUs the node has is not known";
    return;
  }
  const auto total = static_cast<double>(count.up + count.down);
  const double all = total / static_cast<double>(count.up) - 1;
  const double slowdown = 1 + all * static_cast<double>(named) / static_cast<double>(count.down);
  finding.loss = slower_communication(observed.setting().inter_node_comm_share, slowdown,
                                      fmt::format("{} rails instead of {}", count.up, count.up + count.down), *gpus,
                                      "GPUs of the node");
}

struct DownGroup {
  Why why = Why::kRail;
  std::vector<const FabricPort*> ports;
};

void report_down(const Rule& rule, const Observed& observed, const PortListing& machine, const DownGroup& group,
                 std::vector<Finding>& findings) {
  const FabricPort& first = *group.ports.front();
  const std::vector<const FabricPort*> rails = rails_of(*machine.ports, first);
  const RailCount count = count_rails(rails);
  std::vector<std::string> names;
  names.reserve(group.ports.size());
  for (const FabricPort* const port : group.ports) names.push_back(port->name);
  const std::string listed = list_names(names, 8);
  const bool apart = names.size() <= kNamedApart;
  for (std::size_t i = 0; i < (apart ? names.size() : 1); ++i) {
    const FabricPort& port = *group.ports[i];
    Finding finding = make_finding(rule, severity_of(port, group.why, count),
                                   apart ? Subject{"nic", port.name, machine.node}
                                         : Subject{"node", machine.node.empty() ? listed : machine.node, machine.node},
                                   "");
    const std::string what = apart ? port.name + " is " : listed + " are ";
    const std::optional<double> rate = usual_rate(rails);
    if (count.up > 0) {
      finding.title = fmt::format("{}{}: {} of {}{} ports are up", what, state_words(port), count.up,
                                  count.up + count.down, rate ? fmt::format(" {:g} Gb/s", *rate) : "");
      finding.expected = fmt::format("{} ports up", count.up + count.down);
      finding.measured = fmt::format("{} ports up", count.up);
    } else {
      finding.title = fmt::format("{}{} and no port of its kind is up", what, state_words(port));
    }
    finding.cause = cause_of(port);
    finding.confidence = group.why == Why::kRail ? 0.95 : group.why == Why::kWasUp ? 0.85 : 0.5;
    if (group.why == Why::kPerhapsRail) finding.cause += " It may also be a port that nobody uses.";
    if (group.why == Why::kWasUp) finding.cause += " It has a LID, so it was up before.";
    for (std::size_t k = apart ? i : 0; k < (apart ? i + 1 : std::min<std::size_t>(4, names.size())); ++k) {
      finding.evidence.push_back(evidence_of_port(machine, *group.ports[k]));
    }
    finding.fix = fix_of(port, apart ? port.name : listed);
    finding.consequences = {"collective.slow", "collective.slow-node", "nccl.uneven-nics", "nccl.rails-unused"};
    add_rail_loss(finding, machine, observed, count, apart ? 1 : names.size());
    findings.push_back(std::move(finding));
  }
}

// Ports that are down and should be up, grouped by the state of their wire.
void port_down(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_port_listing(observed, [&](const PortListing& machine) {
    std::map<std::string, DownGroup> groups;
    for (const FabricPort& port : *machine.ports) {
      if (!port.is_down()) continue;
      const Why why = why_down(machine, port);
      if (why == Why::kSpare) continue;
      DownGroup& group = groups[fmt::format("{}/{}/{}/{}", static_cast<int>(why), port.type, port.layer, port.wire)];
      group.why = why;
      group.ports.push_back(&port);
    }
    for (const auto& [key, group] : groups) report_down(rule, observed, machine, group, findings);
  });
}

void unused_port(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_port_listing(observed, [&](const PortListing& machine) {
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", machine.node, machine.node}, "");
    for (const FabricPort& port : *machine.ports) {
      if (!port.is_down() || why_down(machine, port) != Why::kSpare) continue;
      names.push_back(port.name);
      if (names.size() <= 4) finding.evidence.push_back(evidence_of_port(machine, port));
    }
    if (names.empty()) return;
    const auto up = static_cast<std::size_t>(std::count_if(machine.ports->begin(), machine.ports->end(),
                                                           [](const FabricPort& port) { return port.is_active(); }));
    if (machine.node.empty()) finding.subject = {"nic", list_names(names), ""};
    finding.title = fmt::format("{} {} down and unused by the look of it; {} of {} ports are up", list_names(names),
                                names.size() == 1 ? "is" : "are", up, machine.ports->size());
    finding.cause =
        "Of another kind or slower than the ports that are up, or the second port of its card: no rail of the fabric.";
    finding.confidence = 0.8;
    finding.fix = {"nothing, unless one of them is meant to be cabled"};
    findings.push_back(std::move(finding));
  });
}

// A port whose link trains and that no subnet manager brings to Active.
void port_not_armed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_port_listing(observed, [&](const PortListing& machine) {
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kHigh, {"node", machine.node, machine.node}, "");
    for (const FabricPort& port : *machine.ports) {
      if (port.state != "init" && port.state != "armed") continue;
      names.push_back(port.name);
      if (names.size() <= 4) finding.evidence.push_back(evidence_of_port(machine, port));
    }
    if (names.empty()) return;
    if (names.size() == 1 || machine.node.empty()) finding.subject = {"nic", list_names(names, 8), machine.node};
    finding.title = fmt::format("{} {} a link but {} not active: no subnet manager has set {} up", list_names(names, 8),
                                names.size() == 1 ? "has" : "have", names.size() == 1 ? "is" : "are",
                                names.size() == 1 ? "it" : "them");
    finding.cause =
        "State Initializing or Armed means that the cable is well and that no subnet manager gave the port a LID.";
    finding.expected = "Active";
    finding.measured = "Initializing or Armed";
    finding.confidence = 0.9;
    finding.fix = {"look for a subnet manager: sminfo; start opensm on one host or switch it on at the switch",
                   "with a running manager: is the port's GUID or P_Key shut out in partitions.conf?"};
    finding.loss_unknown = "whether jobs run on the node is not known";
    findings.push_back(std::move(finding));
  });
}

constexpr Rule kRules[] = {
    {"network.port-down", "A port of the fabric is down",
     "Polling, Disabled or Down while ports of its kind are up, or while it has a LID: the traffic of its GPU goes "
     "over "
     "the rails that are left, or the job does not start.",
     "imbue-ai/cluster-health#4, ibstat(8)", port_down},
    {"network.unused-port", "Ports that are down and belong to no rail",
     "Ethernet ports for management or storage and second ports of a card are often not cabled: they are no fault.",
     "ibstat(8)", unused_port},
    {"network.no-subnet-manager", "A link that trains but is not brought up",
     "Without a subnet manager an InfiniBand port stays in Initializing: no LID, no traffic.", "opensm(8)",
     port_not_armed},
};

}  // namespace

std::span<const Rule> network_port_rules() { return kRules; }

}  // namespace tare
