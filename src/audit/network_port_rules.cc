#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "audit/fabric_port.h"
#include "audit/loss.h"
#include "audit/network_rules.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kNamedApart = 3;  // more ports with one fault are one finding of the node
// One port in so many that is slower than its siblings is a fault; more of them are a network of their own.
constexpr std::size_t kOddOneIn = 4;

struct Machine {
  const Seen* seen = nullptr;
  std::string node;
  const std::vector<FabricPort>* ports = nullptr;
  bool whole = true;  // nothing of the listing is left out
};

// Every machine of every listing; of a node that has two listings with the state of the wire the first one counts.
void each_machine(const Observed& observed, const std::function<void(const Machine&)>& visit) {
  std::set<std::string> seen_nodes;
  for (const Seen& seen : observed.of_kind("infiniband")) {
    const std::vector<std::vector<FabricPort>> machines = ports_by_machine(*seen.facts);
    if (machines.empty()) continue;
    const std::string place = seen.node.empty() ? seen.file->path : seen.node;
    if (!seen_nodes.insert(place).second) continue;
    for (const std::vector<FabricPort>& ports : machines) {
      const bool named =
          !ports.front().machine.empty() && !std::isdigit(static_cast<unsigned char>(ports[0].machine[0]));
      const std::string node = machines.size() > 1 && named ? ports.front().machine : seen.node;
      visit({&seen, node, &ports, !seen.facts->has("elided")});
    }
  }
}

bool is_infiniband(const FabricPort& port) { return equals_ignoring_case(port.layer, "InfiniBand"); }

std::string state_words(const FabricPort& port) {
  if (port.wire.empty()) return port.state;
  std::string words = port.wire;
  if (!words.empty()) words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

Evidence evidence_of_port(const Machine& machine, const FabricPort& port) {
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

Why why_down(const Machine& machine, const FabricPort& port) {
  const std::vector<const FabricPort*> group = rails_of(*machine.ports, port);
  const RailCount count = count_rails(group);
  const std::optional<double> usual = usual_rate(group), highest = highest_rate(*machine.ports);
  // A group without rates counts as the fastest when nothing else is up.
  const bool fastest = count.up > 0 && (!highest || !usual || *usual >= 0.9 * *highest);
  if (is_spare_port(group, port)) return Why::kSpare;
  if (fastest && (completes_rails(count.up, count.down) || (count.up > count.down && !are_whole_rails(count.up)))) {
    return Why::kRail;
  }
  if (port.has_lid && is_infiniband(port)) return Why::kWasUp;
  if (fastest && count.up >= count.down) return Why::kPerhapsRail;
  const bool any_up =
      std::any_of(machine.ports->begin(), machine.ports->end(), [](const FabricPort& one) { return one.is_active(); });
  return any_up ? Why::kSpare : Why::kAlone;
}

FindingSeverity severity_of(const FabricPort& port, Why why, std::size_t up) {
  const bool disabled = port.wire == "disabled";
  if (why == Why::kPerhapsRail) return FindingSeverity::kLow;
  if (why == Why::kRail) return disabled || up < 3 ? FindingSeverity::kMedium : FindingSeverity::kHigh;
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
void add_rail_loss(Finding& finding, const Machine& machine, const Observed& observed, RailCount count,
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

void report_down(const Rule& rule, const Observed& observed, const Machine& machine, const DownGroup& group,
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
    Finding finding = make_finding(rule, severity_of(port, group.why, count.up),
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
    finding.consequences = {"collective.slow", "nccl.uneven-nics", "network.unlike-siblings"};
    add_rail_loss(finding, machine, observed, count, apart ? 1 : names.size());
    findings.push_back(std::move(finding));
  }
}

// Ports that are down and should be up, grouped by the state of their wire.
void port_down(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_machine(observed, [&](const Machine& machine) {
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
  each_machine(observed, [&](const Machine& machine) {
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
    finding.title = fmt::format("{} {} down and unused by the look of it; the {} others are up", list_names(names),
                                names.size() == 1 ? "is" : "are", up);
    finding.cause =
        "Of another kind or slower than the ports that are up, or the second port of its card: no rail of the fabric.";
    finding.confidence = 0.8;
    finding.fix = {"nothing, unless one of them is meant to be cabled"};
    findings.push_back(std::move(finding));
  });
}

// A port whose link trains and that no subnet manager brings to Active.
void port_not_armed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_machine(observed, [&](const Machine& machine) {
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

Finding slow_port(const Rule& rule, const Machine& machine, const FabricPort& port, double usual, bool fault) {
  Finding finding =
      make_finding(rule, fault ? FindingSeverity::kMedium : FindingSeverity::kLow, {"nic", port.name, machine.node},
                   fmt::format("{} runs at {:g} Gb/s, its siblings at {:g}", port.name, *port.rate_gbps, usual));
  finding.cause =
      "The link came up with fewer lanes or at a lower speed: a bad lane in the cable or module, or a speed set at the "
      "switch.";
  if (!fault) finding.cause += " Several ports share that rate, so they may belong to another network.";
  finding.expected = fmt::format("{:g} Gb/s", usual);
  finding.measured = fmt::format("{:g} Gb/s", *port.rate_gbps);
  finding.confidence = fault ? 0.9 : 0.4;
  finding.evidence.push_back(
      evidence_of(*machine.seen, port.rate_line, fmt::format("{}: rate {:g} Gb/s", port.name, *port.rate_gbps)));
  finding.fix = {"mlxlink -d <device> -m -c shows width, speed and errors of each lane; compare with a sibling",
                 "reseat or replace the cable or module; check the speed that the switch port is set to"};
  finding.consequences = {"collective.slow"};
  return finding;
}

// A port that is up at a lower rate than others of its kind.
void port_slower(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_machine(observed, [&](const Machine& machine) {
    for (const FabricPort& port : *machine.ports) {
      if (!port.is_active() || !port.rate_gbps) continue;
      const std::vector<const FabricPort*> group = rails_of(*machine.ports, port);
      const std::optional<double> usual = usual_rate(group);
      if (!usual || *port.rate_gbps > 0.9 * *usual) continue;
      const auto at = [&](auto wanted) {
        return static_cast<std::size_t>(std::count_if(group.begin(), group.end(), [&](const FabricPort* one) {
          return one->is_active() && one->rate_gbps && wanted(*one->rate_gbps);
        }));
      };
      const std::size_t slow = at([&](double rate) { return rate <= 0.9 * *usual; });
      const std::size_t well = at([&](double rate) { return rate > 0.9 * *usual; });
      if (well < 2 || port.type.empty()) continue;
      const bool fault = completes_rails(well, slow) || (slow == 1 && !are_whole_rails(well) && well + 1 >= kOddOneIn);
      if (!fault && slow * kOddOneIn > group.size()) continue;
      Finding finding = slow_port(rule, machine, port, *usual, fault);
      const std::optional<double> gpus = observed.gpus_beside(*machine.seen);
      if (gpus && fault) {
        // A ring takes the same share of every rail: the slowest sets the pace.
        finding.loss = slower_communication(observed.setting().inter_node_comm_share, *usual / *port.rate_gbps,
                                            "rate of the siblings over that of the port", *gpus, "GPUs of the node");
      } else {
        finding.loss_unknown = "how many GPUs send through it is not known";
      }
      findings.push_back(std::move(finding));
    }
  });
}

// Among rails that run InfiniBand one that is in Ethernet mode, or the other way round.
void mixed_link_layer(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_machine(observed, [&](const Machine& machine) {
    std::map<std::string, std::vector<const FabricPort*>> by_type;
    for (const FabricPort& port : *machine.ports) {
      if (port.is_active() && !port.type.empty() && !port.layer.empty()) by_type[port.type].push_back(&port);
    }
    for (const auto& [type, ports] : by_type) {
      const auto ib = static_cast<std::size_t>(
          std::count_if(ports.begin(), ports.end(), [](const FabricPort* port) { return is_infiniband(*port); }));
      const std::size_t other = ports.size() - ib;
      if (std::min(ib, other) != 1 || !completes_rails(std::max(ib, other), 1)) continue;
      const auto odd = std::find_if(ports.begin(), ports.end(),
                                    [&](const FabricPort* port) { return is_infiniband(*port) == (ib == 1); });
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"nic", (*odd)->name, machine.node},
                                     fmt::format("{} runs {}, the {} others of its kind {}", (*odd)->name,
                                                 (*odd)->layer, ports.size() - 1, ib == 1 ? "Ethernet" : "InfiniBand"));
      finding.cause =
          "The port type of the adapter is configured the other way: it is on another fabric than its rail.";
      finding.confidence = 0.8;
      finding.evidence.push_back(
          evidence_of(*machine.seen, (*odd)->line, fmt::format("{}: link layer {}", (*odd)->name, (*odd)->layer)));
      finding.fix = {fmt::format("mlxconfig -d <device> set LINK_TYPE_P1={} and reset the card", ib == 1 ? 2 : 1)};
      finding.loss_unknown = "which ports the job uses is not known";
      findings.push_back(std::move(finding));
    }
  });
}

// Adapters of one type with several firmware versions.
void firmware_mixed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_machine(observed, [&](const Machine& machine) {
    std::map<std::string, std::map<std::string, std::vector<const FabricPort*>>> versions;
    for (const FabricPort& port : *machine.ports) {
      if (!port.type.empty() && !port.firmware.empty()) versions[port.type][port.firmware].push_back(&port);
    }
    for (const auto& [type, by_version] : versions) {
      if (by_version.size() < 2) continue;
      const auto fewest = std::min_element(by_version.begin(), by_version.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
      std::vector<std::string> names, counts;
      for (const FabricPort* const port : fewest->second) names.push_back(port->name);
      for (const auto& [version, ports] : by_version) counts.push_back(fmt::format("{} ({})", version, ports.size()));
      Finding finding = make_finding(
          rule, FindingSeverity::kLow, {"nic", list_names(names), machine.node},
          fmt::format("{} adapters with {} firmware versions: {}", type, by_version.size(), list_names(counts)));
      finding.cause =
          "Versions differ in congestion control and defaults, and a fault that only one has is hard to find.";
      finding.confidence = 0.9;
      for (const auto& [version, ports] : by_version) {
        finding.evidence.push_back(
            evidence_of(*machine.seen, ports.front()->line, fmt::format("{}: firmware {}", ports[0]->name, version)));
      }
      finding.fix = {"bring all of them to one version: mlxfwmanager --online, or the vendor's bundle; then reset"};
      findings.push_back(std::move(finding));
    }
  });
}

// Rails with a smaller packet than they could have: RoCE over interfaces with an MTU of 1500, most of the time.
void small_mtu(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kFastGbps = 100;  // below that the packet rate is no limit
  each_machine(observed, [&](const Machine& machine) {
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", machine.node, machine.node}, "");
    const FabricPort* first = nullptr;
    for (const FabricPort& port : *machine.ports) {
      if (!port.is_active() || !port.active_mtu || !port.max_mtu) continue;
      if (*port.active_mtu > 1024 || *port.max_mtu < 2 * *port.active_mtu) continue;
      if (port.rate_gbps && *port.rate_gbps < kFastGbps) continue;
      if (first == nullptr) first = &port;
      names.push_back(port.name);
      if (names.size() <= 4) {
        finding.evidence.push_back(evidence_of(
            *machine.seen, port.line,
            fmt::format("{}: active_mtu {:g} of max_mtu {:g}", port.name, *port.active_mtu, *port.max_mtu)));
      }
    }
    if (first == nullptr) return;
    if (names.size() == 1 || machine.node.empty()) finding.subject = {"nic", list_names(names), machine.node};
    finding.title = fmt::format("{} use{} packets of {:g} bytes, {:g} are possible", list_names(names),
                                names.size() == 1 ? "s" : "", *first->active_mtu, *first->max_mtu);
    finding.cause = is_infiniband(*first)
                        ? "The partition or the switch allows a small MTU only."
                        : "RoCE takes the largest of 256 … 4096 bytes that fits the interface's MTU: 1500 leaves 1024.";
    finding.expected = fmt::format("{:g} bytes", *first->max_mtu);
    finding.measured = fmt::format("{:g} bytes", *first->active_mtu);
    finding.confidence = 0.8;
    finding.fix = {"set the interface's MTU to 4200 or 9000 on both ends and on every switch port between them",
                   "measure before and after: ib_write_bw -d <device> -R"};
    finding.loss_unknown = "some percent of bandwidth; how much depends on the NIC";
    findings.push_back(std::move(finding));
  });
}

// One lane of four.
void narrow_link(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  each_machine(observed, [&](const Machine& machine) {
    for (const FabricPort& port : *machine.ports) {
      if (!port.is_active() || port.width.empty()) continue;
      const std::vector<const FabricPort*> group = rails_of(*machine.ports, port);
      const auto same = static_cast<std::size_t>(
          std::count_if(group.begin(), group.end(), [&](const FabricPort* one) { return one->width == port.width; }));
      const bool single = port.width == "1X" || port.width == "1";
      // Two lanes on all ports are splitter cables; on one port they are a broken cable.
      const bool odd = port.width.starts_with('2') && same == 1 && group.size() >= kOddOneIn;
      if (!is_infiniband(port) || (!single && !odd)) continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"nic", port.name, machine.node},
                                     fmt::format("{} runs on {} of 4 lanes", port.name, port.width.substr(0, 1)));
      finding.cause = "Lanes failed to train: a dirty or damaged cable, or a module that is not seated.";
      finding.expected = "4X";
      finding.measured = port.width;
      finding.confidence = single ? 0.85 : 0.75;
      finding.evidence.push_back(
          evidence_of(*machine.seen, port.line, fmt::format("{}: active_width {}", port.name, port.width)));
      finding.fix = {
          "clean and reseat the cable at both ends, then replace it; mlxlink -d <device> -m shows the lanes"};
      finding.consequences = {"collective.slow", "network.port-slower"};
      finding.loss_unknown = "how many GPUs send through it is not known";
      findings.push_back(std::move(finding));
    }
  });
}

// "(Down)" of ibdev2netdev: said so that nobody takes rails for dead.
void netdev_down(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("ibdev2netdev")) {
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", seen.node, seen.node}, "");
    for (const FactRecord* const port : records_of(*seen.facts, "ports")) {
      const bool ib =
          port->text("netdev").starts_with("ib") || equals_ignoring_case(port->text("link_layer"), "InfiniBand");
      if (!ib || !equals_ignoring_case(port->text("netdev_state"), "down")) continue;
      names.emplace_back(port->text("device"));
      if (names.size() <= 4) {
        finding.evidence.push_back(
            evidence_of(seen, port->line, fmt::format("{} ==> {} (Down)", names.back(), port->text("netdev"))));
      }
    }
    if (names.empty()) continue;
    if (seen.node.empty()) finding.subject = {"nic", list_names(names), ""};
    finding.title = fmt::format("(Down) of {} InfiniBand ports is their IP interface, not the link", names.size());
    finding.cause =
        "ibdev2netdev shows the network interface: without IPoIB it stays down while RDMA runs. ibstat has the link.";
    finding.confidence = 0.9;
    finding.fix = {"see ibstat or rdma link for the state of the link; nothing to do where it says Active"};
    findings.push_back(std::move(finding));
  }
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
    {"network.port-slower", "A port slower than its siblings",
     "A rail at half the rate of the others holds up every ring that uses all rails.", "mlxlink(1)", port_slower},
    {"network.link-layer", "One rail on the other link layer",
     "A VPI adapter in Ethernet mode among InfiniBand ones, or the reverse, reaches nobody on its rail.",
     "mlxconfig(1)", mixed_link_layer},
    {"network.firmware-mixed", "Several firmware versions of one adapter",
     "Adapters of one type on one node should have one firmware.", "mlxfwmanager(1)", firmware_mixed},
    {"network.small-mtu", "Small packets on a fast port",
     "A RoCE MTU of 1024 costs packet rate and some percent of the bandwidth; a few KiB need the interface's MTU "
     "raised.",
     "ibv_devinfo(1)", small_mtu},
    {"network.narrow-link", "An InfiniBand link with fewer lanes",
     "A link that trains with 1X or 2X of 4X has a quarter or half of its bandwidth and looks up.", "iblinkinfo(8)",
     narrow_link},
    {"network.netdev-down", "(Down) that is not the link",
     "ibdev2netdev prints the state of the IP interface; pure InfiniBand rails show (Down) and are well.",
     "ibdev2netdev, ibstat(8)", netdev_down},
};

}  // namespace

std::span<const Rule> network_port_rules() { return kRules; }

}  // namespace tare
