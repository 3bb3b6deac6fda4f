// PCIe links that run below what they could: trained down, limited by their slot, or only saving power.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "audit/loss.h"
#include "audit/pcie_links.h"
#include "audit/topology_rules.h"

namespace tare {
namespace {

constexpr int kBusyPstate = 2;       // P0 … P2: a GPU at work
constexpr double kBusyUtilPct = 10;  // below, a GPU may save power between kernels
constexpr int kFastLanes = 8;        // devices with fewer lanes move little
constexpr int kFastGeneration = 3;

// Devices whose link matters to the work: a management NIC on x1 does not.
bool is_fast(const PcieLink& link) {
  if (link.device == PcieDevice::kGpu || link.device == PcieDevice::kDisk) return true;
  return link.lanes_max.value_or(0) >= kFastLanes && link.generation_max.value_or(0) >= kFastGeneration;
}

bool is_slower_than(const std::optional<int>& now, const std::optional<int>& could) {
  return now && could && *now < *could;
}

// The slot or switch above cannot do more than the link does.
bool lanes_are_the_slots(const PcieLink& link) {
  return link.lanes && link.host_lanes_max && *link.host_lanes_max <= *link.lanes;
}
bool generation_is_the_slots(const PcieLink& link) {
  return link.generation && link.host_generation_max && *link.host_generation_max <= *link.generation;
}

bool has_fewer_lanes(const PcieLink& link) {
  return is_fast(link) && link.lanes && !lanes_are_the_slots(link) &&
         (link.says_lanes_reduced || is_slower_than(link.lanes, link.lanes_max));
}

bool is_slower(const PcieLink& link) {
  return is_fast(link) && link.generation && !generation_is_the_slots(link) &&
         (link.says_generation_reduced || is_slower_than(link.generation, link.generation_max));
}

bool is_busy(const PcieLink& link) {
  return link.pstate && *link.pstate <= kBusyPstate && link.util_pct.value_or(0) >= kBusyUtilPct;
}

// GPUs lower their link when idle, to Gen1 or Gen2; only a busy one, or one in between, is slow for sure.
bool may_save_power(const PcieLink& link) {
  if (link.device != PcieDevice::kGpu || is_busy(link)) return false;
  if (link.pstate && *link.pstate > kBusyPstate) return true;
  return *link.generation <= 2;
}

// Not made for the traffic between GPUs: disks, and Ethernet cards that may be for anything.
bool is_minor(const PcieLink& link) {
  if (link.device == PcieDevice::kDisk) return true;
  return link.device == PcieDevice::kNic && link.record->text("class").starts_with("Ethernet");
}

using Choice = std::function<bool(const PcieLink&)>;

// Those of one file, that one finding tells of.
std::vector<std::vector<PcieLink>> links_by_file(const Observed& observed, const Choice& choice) {
  std::map<std::pair<std::string, PcieDevice>, std::vector<PcieLink>> by_file;
  for (PcieLink& link : pcie_links(observed)) {
    if (choice(link)) by_file[{link.seen.file->path, link.device}].push_back(std::move(link));
  }
  std::vector<std::vector<PcieLink>> groups;
  groups.reserve(by_file.size());
  for (auto& [key, links] : by_file) groups.push_back(std::move(links));
  return groups;
}

std::string names_of(const std::vector<PcieLink>& links) {
  std::vector<std::string> names;
  names.reserve(links.size());
  for (const PcieLink& link : links) names.push_back(link.name.empty() ? "a device" : link.name);
  return list_names(names);
}

Finding finding_about(const Rule& rule, FindingSeverity severity, const std::vector<PcieLink>& links) {
  const PcieLink& first = links.front();
  const Subject node{"node", first.seen.node, first.seen.node};
  Finding finding = make_finding(
      rule, severity, links.size() == 1 ? Subject{subject_kind(first.device), first.name, first.seen.node} : node, "");
  for (const PcieLink& link : links) {
    if (finding.evidence.size() >= 4) break;
    const std::string could = link_text(link.generation_max, link.lanes_max);
    finding.evidence.push_back(evidence_of(link.seen, link.line,
                                           fmt::format("{}: {}{}", link.name, link_text(link.generation, link.lanes),
                                                       could.empty() ? "" : ", could do " + could)));
  }
  finding.expected = link_text(first.generation_max, first.lanes_max);
  finding.measured = link_text(first.generation, first.lanes);
  return finding;
}

// What a GPU's slower link takes where collectives cross it; with NVLink they do not.
void set_loss(const Observed& observed, const std::vector<PcieLink>& links, double slowdown, const std::string& source,
              Finding& finding) {
  const PcieLink& first = links.front();
  const std::optional<double> gpus = observed.gpus_beside(first.seen);
  if (first.device != PcieDevice::kGpu) {
    finding.loss_unknown = first.device == PcieDevice::kNic ? "the rate of the NIC's port is not known"
                                                            : "how much of the work crosses this link is not known";
  } else if (first.accelerator == nullptr || gpus.value_or(0) < 2) {
    finding.loss_unknown = "how much of a step crosses PCIe is not known";
  } else if (first.accelerator->link_domain > 1) {
    finding.loss_unknown = "GPUs of this model talk over NVLink; how much copies from the host matter is not known";
  } else {
    finding.loss = slower_communication(observed.setting().intra_node_comm_share, slowdown, source, *gpus,
                                        "GPUs of the node: a ring runs at its slowest link");
  }
}

const std::vector<std::string>& retrain_steps() {
  static const std::vector<std::string> steps = {
      "lspci -vvv -s ADDRESS | grep -e LnkCap -e LnkSta, at the device and at the port above it, under load",
      "reseat the card, its riser or cable; compare with a twin in another slot",
      "BIOS: link speed of the slot on Auto, bifurcation as the slot is wired; update firmware"};
  return steps;
}

void width_reduced(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const std::vector<PcieLink>& links : links_by_file(observed, has_fewer_lanes)) {
    const PcieLink& worst = *std::min_element(links.begin(), links.end(),
                                              [](const PcieLink& a, const PcieLink& b) { return *a.lanes < *b.lanes; });
    // A mark without LnkCap: half at least is gone.
    const int lanes_max = is_slower_than(worst.lanes, worst.lanes_max) ? *worst.lanes_max : *worst.lanes * 2;
    // Boards for several cards split their lanes, and inference cards come on half of them; a link that also trained to
    // a low rate has more wrong with it.
    const bool card = worst.accelerator != nullptr && worst.accelerator->link_domain <= 2;
    const bool by_design = card && *worst.lanes * 2 >= lanes_max && !is_slower(worst);
    const bool minor = is_minor(worst) && *worst.lanes * 4 > lanes_max;
    Finding finding = finding_about(rule, by_design || minor ? FindingSeverity::kLow : FindingSeverity::kMedium, links);
    finding.title = fmt::format("{}: PCIe x{} of x{}{}", names_of(links), *worst.lanes, lanes_max,
                                is_slower(worst) ? fmt::format(", at Gen{}", *worst.generation) : "");
    finding.cause =
        "Lanes do not change to save power: the slot is wired or split for fewer, or contacts, riser or cable "
        "lost some.";
    finding.confidence = by_design ? 0.6 : 0.85;
    finding.fix = retrain_steps();
    finding.consequences = {"nccl.pcie-below-nic", "network.perftest-below", "health.pcie-limited"};
    set_loss(observed, links, static_cast<double>(lanes_max) / *worst.lanes,
             fmt::format("x{} of x{}", *worst.lanes, lanes_max), finding);
    findings.push_back(std::move(finding));
  }
}

void speed_reduced(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const auto choice = [](const PcieLink& link) {
    return is_slower(link) && !may_save_power(link) && !has_fewer_lanes(link);
  };
  for (const std::vector<PcieLink>& links : links_by_file(observed, choice)) {
    const PcieLink& worst = *std::min_element(
        links.begin(), links.end(), [](const PcieLink& a, const PcieLink& b) { return *a.generation < *b.generation; });
    const int could = std::max(worst.generation_max.value_or(0), *worst.generation + 1);
    Finding finding = finding_about(rule, is_minor(worst) ? FindingSeverity::kLow : FindingSeverity::kMedium, links);
    finding.title = fmt::format("{}: PCIe Gen{} of Gen{}{}", names_of(links), *worst.generation, could,
                                is_busy(worst) ? " under load" : "");
    finding.cause =
        "The link trained below what both of its ends can do: signal quality of seat, riser, retimer or cable, "
        "or a limit in the BIOS.";
    finding.confidence = is_busy(worst) ? 0.9 : worst.host_generation_max ? 0.8 : 0.6;
    finding.fix = retrain_steps();
    finding.consequences = {"nccl.pcie-below-nic", "network.perftest-below", "health.pcie-limited"};
    set_loss(observed, links, static_cast<double>(1 << (could - *worst.generation)),
             fmt::format("Gen{} of Gen{}", *worst.generation, could), finding);
    findings.push_back(std::move(finding));
  }
}

void idle_link(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const auto choice = [](const PcieLink& link) {
    return is_slower(link) && may_save_power(link) && !has_fewer_lanes(link);
  };
  for (const std::vector<PcieLink>& links : links_by_file(observed, choice)) {
    const PcieLink& first = links.front();
    Finding finding = finding_about(rule, FindingSeverity::kInfo, links);
    finding.title = fmt::format("{}: PCIe Gen{} is idle power saving until measured under load", names_of(links),
                                *first.generation);
    finding.cause =
        first.pstate ? fmt::format("At P{} the driver lowers the link; it rises with the first copies.", *first.pstate)
                     : "Idle GPUs lower their link; a paste without load says nothing of its speed.";
    finding.confidence = first.pstate ? 0.95 : 0.7;
    finding.fix = {
        "measure while a copy runs: nvbandwidth -t host_to_device_memcpy_ce & nvidia-smi -q | grep -A3 'PCIe Gen'"};
    findings.push_back(std::move(finding));
  }
}

void slot_slower(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const auto choice = [](const PcieLink& link) {
    return is_fast(link) && (is_slower_than(link.host_generation_max, link.generation_max) ||
                             is_slower_than(link.host_lanes_max, link.lanes_max));
  };
  for (const std::vector<PcieLink>& links : links_by_file(observed, choice)) {
    const PcieLink& first = links.front();
    Finding finding = finding_about(rule, FindingSeverity::kLow, links);
    finding.measured = "the port above: " + link_text(first.host_generation_max, first.host_lanes_max);
    finding.title = fmt::format("{}: made for {}, the slot or switch gives {}", names_of(links),
                                link_text(first.generation_max, first.host_lanes_max ? first.lanes_max : std::nullopt),
                                link_text(first.host_generation_max, first.host_lanes_max));
    finding.cause =
        "Slot, riser, switch or CPU are of an older generation or wired narrower than the card: this is the "
        "machine's design or the wrong slot, not a fault of the link.";
    finding.confidence = 0.75;
    finding.loss_unknown = "whether the work is bound by this link is not known";
    finding.fix = {"put the card into a slot that is wired for it: see the board's manual",
                   "otherwise plan with the slower rate"};
    findings.push_back(std::move(finding));
  }
}

// "16 GT/s x4" of a port below whose own limit nothing is wrong, since the device behind it can do no more.
bool is_up_to_its_device(const FactRecord& port, const FactRecord& device) {
  const auto at_most = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && *a <= *b;
  };
  return at_most(device.number("link_capable_speed_gt_per_s"), port.number("link_speed_gt_per_s")) &&
         at_most(device.number("link_capable_width"), port.number("link_width"));
}

void port_above_device(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", seen.node, seen.node}, "");
    for (const FactRecord* const port : tree.devices()) {
      if (!is_true(*port, "link_speed_downgraded") && !is_true(*port, "link_width_downgraded")) continue;
      const FactRecord* const below = tree.below(*port);
      if (below == nullptr || !is_up_to_its_device(*port, *below)) continue;
      names.emplace_back(port->text("address"));
      if (finding.evidence.size() < 4) {
        const Fact* const speed = port->find("link_speed");
        finding.evidence.push_back(
            evidence_of(seen, speed == nullptr ? port->line : speed->line,
                        fmt::format("{}: {}; {} behind it can do {}", names.back(), port->text("link_speed"),
                                    below->text("address"), below->text("link_capable_speed"))));
      }
    }
    if (names.empty()) continue;
    if (names.size() == 1) finding.subject = {"link", names.front(), seen.node};
    finding.title = fmt::format("{}: 'downgraded' is expected, the device behind can do no more", list_names(names));
    finding.cause =
        "lspci marks a port that could do more than its link runs at; the device behind it runs at its best.";
    finding.fix = {"judge a link by its device's LnkCap, not by the port's"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"pcie.width-reduced", "A PCIe link with fewer lanes than its device has",
     "Half the lanes are half the rate, whatever the generation; lanes do not change to save power.", "nvtop#6",
     width_reduced},
    {"pcie.speed-reduced", "A PCIe link below the generation of both of its ends",
     "Each generation less halves copies from the host, GPUDirect traffic and, without NVLink, collectives.", "nvtop#6",
     speed_reduced},
    {"pcie.idle-power-saving", "Gen1 of an idle GPU",
     "Idle GPUs lower their link; it is no fault until seen under load.", "nvtop#6", idle_link},
    {"pcie.slot-slower", "A slot or switch slower than the card in it",
     "The card is limited by the machine: by design, or in the wrong slot.", "dmesg 'limited by' of pci", slot_slower},
    {"pcie.port-above-device", "A port that could do more than its device",
     "The mark 'downgraded' at the port is expected and no fault.", "lspci -vvv", port_above_device},
};

}  // namespace

std::span<const Rule> pcie_link_rules() { return kRules; }

}  // namespace tare
