#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/fabric_port.h"
#include "audit/loss.h"
#include "audit/network_rules.h"
#include "base/text.h"

namespace tare {
namespace {

// One port in so many that is slower than its siblings is a fault; more of them are a network of their own.
constexpr std::size_t kOddOneIn = 4;

Finding slow_port(const Rule& rule, const PortListing& machine, const FabricPort& port, double usual, bool fault) {
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
  each_port_listing(observed, [&](const PortListing& machine) {
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
  each_port_listing(observed, [&](const PortListing& machine) {
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
  each_port_listing(observed, [&](const PortListing& machine) {
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
  each_port_listing(observed, [&](const PortListing& machine) {
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
  each_port_listing(observed, [&](const PortListing& machine) {
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

// An Ethernet interface that is down among rails whose interfaces are up: RoCE needs its address.
void roce_netdev_down(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("ibdev2netdev")) {
    std::map<std::string, std::vector<const FactRecord*>> by_part;
    for (const FactRecord* const port : records_of(*seen.facts, "ports")) {
      const std::string_view state = port->text("netdev_state");
      if (port->text("netdev").starts_with("ib") || state.empty()) continue;
      by_part[std::string(port->text("part"))].push_back(port);
    }
    for (const auto& [part, ports] : by_part) {
      std::vector<const FactRecord*> down;
      for (const FactRecord* const port : ports) {
        if (equals_ignoring_case(port->text("netdev_state"), "down")) down.push_back(port);
      }
      const std::size_t up = ports.size() - down.size();
      if (down.empty() || up <= down.size() || !completes_rails(up, down.size())) continue;
      for (const FactRecord* const port : down) {
        const std::string device(port->text("device"));
        Finding finding = make_finding(rule, FindingSeverity::kMedium, {"nic", device, seen.node},
                                       fmt::format("{} ({}) is down: {} of {} Ethernet ports are up", device,
                                                   port->text("netdev"), up, ports.size()));
        finding.cause =
            "RoCE needs the interface up and an address on it; unlike InfiniBand there is no link without it.";
        finding.expected = fmt::format("{} up", ports.size());
        finding.measured = fmt::format("{} up", up);
        finding.confidence = 0.7;
        finding.evidence.push_back(
            evidence_of(seen, port->line, fmt::format("{} ==> {} (Down)", device, port->text("netdev"))));
        finding.fix = {fmt::format("ip link set {} up; ibstat {}: Polling means the cable, Disabled the administrator",
                                   port->text("netdev"), device)};
        finding.consequences = {"collective.slow"};
        finding.loss_unknown = "whether it is a rail of the job is not known";
        findings.push_back(std::move(finding));
        if (down.size() > 3) break;
      }
    }
  }
}

constexpr Rule kRules[] = {
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
    {"network.roce-netdev-down", "An Ethernet rail whose interface is down", "RoCE has no link without its interface.",
     "ibdev2netdev, ip-link(8)", roce_netdev_down},
};

}  // namespace

std::span<const Rule> network_port_setting_rules() { return kRules; }

}  // namespace tare
