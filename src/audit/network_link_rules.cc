#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/fabric_port.h"
#include "audit/loss.h"
#include "audit/network_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kNamedApart = 3;
// Counters stand since the last reset: a handful of symbol errors is a link that was replugged. InfiniBand allows a bit
// error rate of 1e-12 (IBTA volume 2), some ten a minute at HDR and all corrected by FEC: thousands are not that.
constexpr double kManySymbolErrors = 1000;
constexpr double kManyRecoveries = 10;
constexpr double kFlapping = 10;
constexpr double kManyDrops = 10'000;

double value_of(const FactRecord& record, std::string_view name) { return record.number(name).value_or(0); }

std::string end_of(const FactRecord& link) {
  const std::optional<std::int64_t> port = link.integer("port");
  return fmt::format("{}{}", link.text("node"), port ? fmt::format(" port {}", *port) : "");
}

// "Could be 4X", "Could be 53.125 Gbps": each link stands once, though both its ends are listed.
void link_below(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("iblinkinfo")) {
    const std::vector<const FactRecord*> links = records_of(*seen.facts, "links");
    std::map<std::string, std::vector<const FactRecord*>> by_remark;
    std::set<std::string> ends;
    std::size_t up = 0;
    for (const FactRecord* const link : links) {
      up += link->text("peer").empty() ? 0 : 1;
      if (!contains(link->text("remark"), "Could be")) continue;
      const std::optional<std::int64_t> lid = link->integer("lid"), peer = link->integer("peer_lid");
      const std::int64_t port = link->integer("port").value_or(0), other = link->integer("peer_port").value_or(0);
      if (lid && peer && ends.contains(fmt::format("{}/{}", *peer, other))) continue;
      if (lid) ends.insert(fmt::format("{}/{}", *lid, port));
      by_remark[std::string(link->text("remark"))].push_back(link);
    }
    for (const auto& [remark, below] : by_remark) {
      // Most of a fabric below what it could do is how it was wired: splitter cables, or a speed that was set.
      const bool all = below.size() * 4 > up && below.size() > 4;
      const bool apart = below.size() <= kNamedApart;
      for (std::size_t i = 0; i < (apart ? below.size() : 1); ++i) {
        const FactRecord& link = *below[i];
        const std::string name =
            end_of(link) + (link.text("peer").empty() ? "" : fmt::format(" - {}", link.text("peer")));
        Finding finding =
            make_finding(rule, all ? FindingSeverity::kLow : FindingSeverity::kMedium,
                         apart ? Subject{"link", name, seen.node} : Subject{"cluster", "fabric", ""},
                         apart ? fmt::format("{} runs at {} x {:g} Gb/s: {}", name, link.text("width"),
                                             value_of(link, "lane_gbit_per_s"), to_lower(remark))
                               : fmt::format("{} links of the fabric are below what both ends support: {}",
                                             below.size(), to_lower(remark)));
        finding.cause =
            all ? "So many links are alike that it may be meant: splitter cables or a speed set by hand."
                : "Both ends support more than they negotiated: a damaged cable or lane, or a wrong module.";
        finding.expected = remark.substr(remark.find("be") + 3);
        finding.measured = fmt::format("{} x {:g} Gb/s", link.text("width"), value_of(link, "lane_gbit_per_s"));
        finding.confidence = all ? 0.5 : 0.85;
        for (std::size_t k = i; k < (apart ? i + 1 : std::min<std::size_t>(4, below.size())); ++k) {
          finding.evidence.push_back(
              evidence_of(seen, below[k]->line, fmt::format("{}: {}", end_of(*below[k]), remark)));
        }
        finding.fix = {"reseat, then replace the cable; reset the port: ibportstate <lid> <port> reset",
                       "list all of them: iblinkinfo | grep -i 'could be'"};
        finding.consequences = {"collective.slow"};
        finding.loss_unknown = "which GPUs send over these links is not known";
        findings.push_back(std::move(finding));
      }
    }
  }
}

struct ErrorKind {
  const char* what;  // of a title
  double count = 0;
  std::string counters;
  std::int64_t line = 0;
};

void add_error(ErrorKind& kind, std::string_view name, double value) {
  if (value <= 0) return;
  kind.count += value;
  kind.counters += fmt::format("{}{} {:g}", kind.counters.empty() ? "" : ", ", name, value);
}

// Counters of bit errors, of links lost, of packets dropped; of ibqueryerrors and of ethtool -S.
constexpr std::array<std::string_view, 9> kBitErrors = {
    "SymbolErrorCounter", "SymbolErrorsExt",   "LinkErrorRecoveryCounter", "PortRcvErrors", "LocalLinkIntegrityErrors",
    "rx_crc_errors_phy",  "rx_symbol_err_phy", "rx_pcs_symbol_err_phy",    "rx_crc_errors"};
constexpr std::array<std::string_view, 3> kLinkLost = {"LinkDownedCounter", "link_down_events_phy", "link_down_events"};

bool is_drop(std::string_view name) {
  return name == "PortXmitDiscards" || name == "rx_out_of_buffer" || name == "out_of_buffer" ||
         name == "rx_discards_phy" || name == "tx_discards_phy" ||
         (name.starts_with("rx_prio") && name.ends_with("_discards"));
}

bool is_retransmit(std::string_view name) {
  return name == "out_of_sequence" || name == "packet_seq_err" || name == "local_ack_timeout_err" ||
         name == "roce_adp_retrans" || name == "rnr_nak_retry_err" || name == "implied_nak_seq_err";
}

struct CountersOf {
  const Seen* seen = nullptr;
  std::string name;  // "leaf1 port 13", "eth2"
  Subject subject;
  const FactRecord* counters = nullptr;
  std::int64_t line = 0;
};

std::vector<CountersOf> all_counters(const Observed& observed) {
  std::vector<CountersOf> all;
  for (const Seen& seen : observed.of_format("iblinkinfo")) {
    for (const FactRecord* const row : records_of(*seen.facts, "port_errors")) {
      all.push_back({&seen, end_of(*row), {"link", end_of(*row), seen.node}, row, row->line});
    }
  }
  for (const Seen& seen : observed.of_format("ethtool")) {
    for (const FactRecord* const one : records_of(*seen.facts, "interfaces")) {
      const FactRecord* const counters = one->find_record("counters");
      if (counters == nullptr) continue;
      const std::string name(one->text("name").empty() ? "the interface" : one->text("name"));
      all.push_back({&seen, name, {"nic", name, seen.node}, counters, counters->line});
    }
  }
  return all;
}

ErrorKind collect(const CountersOf& of, bool (*wanted)(std::string_view), const char* what) {
  ErrorKind kind{what, 0, {}, of.line};
  for (const auto& [name, fact] : of.counters->members()) {
    const std::optional<double> value = fact.number();
    if (!value || !wanted(name)) continue;
    if (kind.count == 0 && fact.line > 0) kind.line = fact.line;
    add_error(kind, name, *value);
  }
  return kind;
}

// One finding a port; where many ports count the same, one for all of them.
void report_counters(const Rule& rule, const std::vector<CountersOf>& all, bool (*wanted)(std::string_view),
                     const char* what, FindingSeverity (*severity)(const CountersOf&, double), const Finding& rest,
                     std::vector<Finding>& findings) {
  std::vector<std::pair<const CountersOf*, ErrorKind>> bad;
  for (const CountersOf& of : all) {
    ErrorKind kind = collect(of, wanted, what);
    if (kind.count > 0) bad.emplace_back(&of, std::move(kind));
  }
  std::stable_sort(bad.begin(), bad.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  const bool apart = bad.size() <= kNamedApart;
  for (std::size_t i = 0; i < (apart ? bad.size() : std::min<std::size_t>(1, bad.size())); ++i) {
    const auto& [of, kind] = bad[i];
    Finding finding = rest;
    finding.rule_id = rule.id;
    finding.severity = severity(*of, kind.count);
    finding.subject = of->subject;
    finding.title = fmt::format("{} counts {}: {}", of->name, what, kind.counters);
    if (!apart) {
      std::vector<std::string> names;
      names.reserve(bad.size());
      for (const auto& one : bad) names.push_back(one.first->name);
      finding.subject = {"cluster", list_names(names), of->seen->node};
      finding.title = fmt::format("{} ports count {}, the most {}: {}", bad.size(), what, of->name, kind.counters);
    }
    finding.measured = kind.counters;
    for (std::size_t k = i; k < (apart ? i + 1 : std::min<std::size_t>(4, bad.size())); ++k) {
      finding.evidence.push_back(evidence_of(*bad[k].first->seen, bad[k].second.line,
                                             fmt::format("{}: {}", bad[k].first->name, bad[k].second.counters)));
    }
    findings.push_back(std::move(finding));
  }
}

void bit_errors(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  Finding rest;
  rest.cause =
      "Bits arrive damaged: a dirty or bent cable, a failing transceiver, a bad port. FEC or a retry hides them.";
  rest.confidence = 0.7;
  rest.expected = "0, or a few since the last reset";
  rest.fix = {"clear the counters and look again in an hour: perfquery -R, mlxlink -d <device> --pc",
              "rising: mlxlink -d <device> -m -c (BER, power of each lane); clean or replace the cable"};
  rest.loss_unknown = "whether they still rise is not known";
  report_counters(
      rule, all_counters(observed),
      [](std::string_view name) { return std::find(kBitErrors.begin(), kBitErrors.end(), name) != kBitErrors.end(); },
      "bit errors",
      [](const CountersOf& of, double count) {
        const bool recovers = value_of(*of.counters, "LinkErrorRecoveryCounter") >= kManyRecoveries;
        return recovers || count >= kManySymbolErrors ? FindingSeverity::kMedium : FindingSeverity::kLow;
      },
      rest, findings);
}

void link_flaps(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  Finding rest;
  rest.cause = "The link went down and came back. Each time NCCL waits for its retries, some 20 s, and then fails.";
  rest.confidence = 0.7;
  rest.expected = "one or two, of reboots";
  rest.fix = {"compare with the machine's reboots; dmesg -T | grep -i 'link down'",
              "replace cable and transceiver; raise NCCL_IB_TIMEOUT (22) and NCCL_IB_RETRY_CNT to live through a flap"};
  rest.loss_unknown = "how often a job dies of it is not known";
  rest.consequences = {"nccl.completion-error"};
  report_counters(
      rule, all_counters(observed),
      [](std::string_view name) { return std::find(kLinkLost.begin(), kLinkLost.end(), name) != kLinkLost.end(); },
      "links lost",
      [](const CountersOf&, double count) {
        return count >= kFlapping ? FindingSeverity::kMedium
               : count > 2        ? FindingSeverity::kLow
                                  : FindingSeverity::kInfo;
      },
      rest, findings);
}

void drops(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  Finding rest;
  rest.cause =
      "Packets were thrown away: the host took them too slowly, or the fabric is congested and not lossless (PFC, "
      "ECN).";
  rest.confidence = 0.6;
  rest.expected = "0 on a lossless fabric";
  rest.fix = {"RoCE: check PFC and ECN of the priority that NCCL uses (NCCL_IB_TC, NCCL_IB_SL) on NIC and switch",
              "out_of_buffer: more receive buffers (ethtool -G), interrupts on the right NUMA node",
              "read twice, a minute apart, under load: only what rises matters"};
  rest.loss_unknown = "over which time they were counted is not known";
  report_counters(
      rule, all_counters(observed), is_drop, "packets dropped",
      [](const CountersOf&, double count) {
        return count >= kManyDrops ? FindingSeverity::kLow : FindingSeverity::kInfo;
      },
      rest, findings);
}

void retransmits(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  Finding rest;
  rest.cause = "RoCE packets arrived out of order or not at all and were sent again: loss, or paths that differ.";
  rest.confidence = 0.6;
  rest.expected = "0 with a lossless fabric and one path a flow";
  rest.fix = {"look for drops on the switch ports of the path; check PFC and ECN",
              "with adaptive routing on the NIC out_of_sequence is counted and harmless: see whether it is on",
              "read twice, a minute apart, under load: only what rises matters"};
  rest.loss_unknown = "over which time they were counted is not known";
  report_counters(
      rule, all_counters(observed), is_retransmit, "RoCE retransmissions",
      [](const CountersOf& of, double) {
        return value_of(*of.counters, "local_ack_timeout_err") >= kManyRecoveries ? FindingSeverity::kMedium
                                                                                  : FindingSeverity::kLow;
      },
      rest, findings);
}

// "100000baseCR4/Full" -> 100000.
double speed_of_mode(std::string_view mode) {
  const std::size_t digits = mode.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || !mode.substr(digits).starts_with("base")) return 0;
  return to_number(mode.substr(0, digits)).value_or(0);
}

double highest_mode(const FactRecord& interface, std::string_view list) {
  double highest = 0;
  for (const std::string& text : texts_of(interface, list)) {
    for (const std::string_view word : split(text, ' ')) highest = std::max(highest, speed_of_mode(word));
  }
  return highest;
}

// An interface that negotiated far less than both what it supports and what its partner offers.
void ethernet_speed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("ethtool")) {
    for (const FactRecord* const one : records_of(*seen.facts, "interfaces")) {
      const std::optional<double> speed = one->number("speed_mbit_per_s");
      if (!speed || *speed <= 0 || one->text("link_detected") == "no") continue;
      const double able = highest_mode(*one, "supported_link_modes");
      const double partner = highest_mode(*one, "link_partner_advertised_link_modes");
      const double both = partner > 0 ? std::min(able, partner) : able;
      const bool half = equals_ignoring_case(one->text("duplex"), "half");
      if (!half && (both <= 0 || *speed > 0.55 * both)) continue;
      // A slower switch is a choice; a tenth of what the NIC can do is a cable, a module or a failed negotiation.
      const bool fault = half || partner > 0 || *speed * 8 <= both;
      const std::string name(one->text("name").empty() ? "the interface" : one->text("name"));
      const Fact* const fact = one->find("speed_mbit_per_s");
      Finding finding =
          make_finding(rule, fault ? FindingSeverity::kMedium : FindingSeverity::kLow, {"nic", name, seen.node},
                       half ? fmt::format("{} runs half duplex at {:g} Mb/s", name, *speed)
                            : fmt::format("{} runs at {:g} Gb/s, it supports {:g}", name, *speed / 1000, both / 1000));
      finding.cause =
          fault ? "Negotiation failed or the module does not do more: wrong cable, autoneg or FEC that differ."
                : "The switch port or the module is slower than the NIC; that may be all there is.";
      finding.expected = fmt::format("{:g} Gb/s", both / 1000);
      finding.measured = fmt::format("{:g} Gb/s", *speed / 1000);
      finding.confidence = fault ? 0.75 : 0.4;
      finding.evidence.push_back(evidence_of(seen, fact->line, fmt::format("{}: Speed {:g} Mb/s", name, *speed)));
      finding.fix = {
          fmt::format("ethtool -m {}: what the module can do; the switch port's speed, autoneg and FEC", name),
          "set both ends alike: ethtool -s <if> speed <n> autoneg off, or on at both"};
      finding.loss_unknown = "what goes over the interface is not known";
      findings.push_back(std::move(finding));
    }
  }
}

// What a bandwidth test between two NICs reached, against the rate of the port where a listing beside it says that.
void perftest_below(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLargeBytes = 65536;  // smaller messages do not fill a link
  constexpr double kWell = 0.8;          // of the line rate; healthy links reach 0.92 … 0.99
  for (const Seen& seen : observed.of_format("perftest")) {
    const FactRecord* const settings = seen.facts->find_record("settings");
    const std::string device(settings == nullptr ? std::string_view() : settings->text("device"));
    double most = 0, bytes = 0;
    std::int64_t line = 0;
    for (const FactRecord* const row : records_of(*seen.facts, "rows")) {
      // MB of perftest are 2^20 bytes.
      const double rate =
          std::max({value_of(*row, "bw_average_gbit_per_s"), value_of(*row, "bw_average_mb_per_s") * 8 * 1048576 / 1e9,
                    value_of(*row, "bw_average_mib_per_s") * 8 * 1048576 / 1e9});
      bytes = std::max(bytes, value_of(*row, "bytes"));
      if (rate > most) {
        most = rate;
        line = row->line;
      }
    }
    const std::optional<double> rate = rate_of_device(observed, seen, device);
    if (most <= 0 || bytes < kLargeBytes || !rate) continue;
    const double both = contains(seen.facts->text("test"), "Bidirectional") ? 2 : 1;
    const double share = most / (*rate * both);
    if (share >= kWell) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kMedium, {"nic", device, seen.node},
                     fmt::format("{} moves {:.1f} of {:g} Gb/s ({:.0f} %)", device, most, *rate * both, 100 * share));
    finding.cause =
        "One queue pair fills a link in a well set up host. Below that: PCIe slower than the NIC, a far NUMA node, a "
        "small "
        "MTU, power saving, or congestion.";
    finding.expected = fmt::format("{:.0f} Gb/s", 0.95 * *rate * both);
    finding.measured = fmt::format("{:.1f} Gb/s", most);
    finding.confidence = 0.8;
    finding.evidence.push_back(evidence_of(seen, line, fmt::format("BW average {:.1f} Gb/s", most)));
    finding.fix = {fmt::format("lspci -vv -s <{}>: LnkSta speed and width; MaxReadReq 4096", device),
                   "repeat on the NIC's NUMA node: numactl -N <node> ib_write_bw -q 4 --report_gbits",
                   "repeat between two ports of one switch: is it the fabric or the host?"};
    finding.consequences = {"collective.slow"};
    finding.loss_unknown = "how many GPUs send through it is not known";
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"network.link-below", "A link below what both ends support",
     "iblinkinfo says Could be: the two ends could run wider or faster than they do.", "iblinkinfo(8)", link_below},
    {"network.bit-errors", "Bit errors on a link",
     "Symbol and CRC errors are repaired by FEC or a retry until they are too many: then bandwidth drops and jobs "
     "hang.",
     "ibqueryerrors(8)", bit_errors},
    {"network.link-flaps", "A link that goes down and comes back", "NCCL fails a few seconds after a link is lost.",
     "ibqueryerrors(8)", link_flaps},
    {"network.drops", "Dropped packets", "RDMA over a fabric that drops packets falls to a fraction of its rate.",
     "ethtool(8)", drops},
    {"network.retransmits", "RoCE retransmissions", "Every lost packet costs a round trip and halves the sending rate.",
     "ethtool(8)", retransmits},
    {"network.ethernet-speed", "An interface slower than it can be",
     "A port that negotiated a tenth of its speed looks up and moves little.", "ethtool(8)", ethernet_speed},
    {"network.perftest-below", "An RDMA test below the rate of the port",
     "ib_write_bw without GPUs tells the fabric and the host from NCCL: healthy links reach 92 to 99 % of their rate.",
     "linux-rdma/perftest", perftest_below},
};

}  // namespace

std::span<const Rule> network_link_rules() { return kRules; }

}  // namespace tare
