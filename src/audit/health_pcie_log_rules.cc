#include <fmt/format.h>

#include <algorithm>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/log_events.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

void uncorrected(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [pci, errors] : events_by(seen, "aer_summary", "pci")) {
      const FactRecord* worst = nullptr;
      std::int64_t count = 0;
      for (const FactRecord* const one : errors) {
        if (is_true(*one, "corrected")) continue;
        count += one->integer("count").value_or(1);
        if (worst == nullptr || is_true(*one, "fatal")) worst = one;
      }
      if (worst == nullptr) continue;
      const bool fatal = is_true(*worst, "fatal");
      Finding finding =
          make_finding(rule, fatal ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"link", pci, node_of(seen)},
                       fmt::format("PCIe {}: {} uncorrected error{}{}", pci, count, count == 1 ? "" : "s",
                                   worst->text("error").empty() ? "" : fmt::format(" ({})", worst->text("error"))));
      finding.evidence.push_back(evidence_of(
          seen, worst->line,
          fmt::format("{}: {} {} {}", pci, worst->text("severity"), worst->text("type"), worst->text("error"))));
      finding.cause =
          fatal ? "The link is lost or cannot be trusted; the device behind it is reset or gone."
                : "A transaction failed for good: a device or driver at one end misbehaves, or the link is bad.";
      finding.fix = {fmt::format("lspci -vvv -s {}: which device is behind it, DevSta and UESta", pci),
                     "reseat card, riser and cables; update firmware; if it stays, replace the device"};
      finding.confidence = 0.85;
      finding.loss_unknown = "which device is behind the port is not known";
      finding.consequences = {"health.pcie-corrected", "health.pcie-link-down", "health.nic-events"};
      add_once(findings, std::move(finding));
    }
  }
}

// Corrected errors cost a replay each, some microseconds: only many are worth a look. PCIe allows a bit error in 10^12,
// that is some a day on a busy link at the limit of the specification.
constexpr std::int64_t kCorrectedWorthALook = 100;
constexpr std::int64_t kCorrectedBadLink = 10000;
constexpr double kCorrectedPerHour = 30;

void corrected(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    const auto span_s = seen.facts->number("span_s");
    for (const auto& [pci, errors] : events_by(seen, "aer_summary", "pci")) {
      std::int64_t count = 0;
      const FactRecord* first = nullptr;
      for (const FactRecord* const one : errors) {
        if (!is_true(*one, "corrected")) continue;
        if (first == nullptr) first = one;
        count += one->integer("count").value_or(1);
      }
      const double per_hour = span_s && *span_s >= 600 ? static_cast<double>(count) * 3600 / *span_s : 0;
      if (first == nullptr || (count < kCorrectedWorthALook && (count < 10 || per_hour < kCorrectedPerHour))) continue;
      const bool bad = count >= kCorrectedBadLink;
      Finding finding =
          make_finding(rule, bad ? FindingSeverity::kMedium : FindingSeverity::kLow, {"link", pci, node_of(seen)},
                       fmt::format("PCIe {}: {} corrected errors in the log{}", pci, count,
                                   per_hour > 0 ? fmt::format(", {:.0f} an hour", per_hour) : ""));
      finding.evidence.push_back(
          evidence_of(seen, first->line, fmt::format("{}: {} {}", pci, first->text("type"), first->text("error"))));
      finding.cause =
          "The link is noisy and repeats packets: no data is lost, but it loses bandwidth and may fail later.";
      finding.fix = {fmt::format("lspci -vvv -s {}: compare LnkSta with LnkCap", pci),
                     "reseat the card, riser or cable"};
      finding.expected = "none to a few a day";
      finding.measured = fmt::format("{} in the log", count);
      finding.confidence = 0.8;
      if (bad) finding.loss_unknown = "how much bandwidth the repeats take is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void link_down(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [pci, events] : events_by(seen, "pcie_links", "pci")) {
      const auto down =
          std::find_if(events.begin(), events.end(), [](const FactRecord* one) { return is_true(*one, "down"); });
      if (down == events.end()) continue;
      const bool gone = any_text_has(events, {"inaccessible", "Surprise", "change power state"});
      const std::string name = pci.empty() ? "a slot" : pci;
      Finding finding = make_finding(rule, gone ? FindingSeverity::kHigh : FindingSeverity::kMedium,
                                     {"link", name, node_of(seen)}, fmt::format("the PCIe link of {} went down", name));
      finding.evidence.push_back(evidence_of(seen, (*down)->line, std::string((*down)->text("text"))));
      finding.cause = "The device behind the slot lost power or contact, was removed, or reset itself.";
      finding.fix = {fmt::format("lspci -vvv -s {}: which device is it, and is it back", name),
                     "without a planned removal: check power and seating"};
      finding.confidence = 0.75;
      finding.loss_unknown = "which device is behind the slot is not known";
      add_once(findings, std::move(finding));
    }
  }
}

// Below this share of what the card can do; Gen4 for Gen5 is a half.
constexpr double kLimitedShare = 0.9;
// A card that needs more than this cannot be a board's own network port.
constexpr double kFastCardGbitPerS = 120;

void limited(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const FactRecord* const one : records_of(*seen.facts, "pcie_bandwidth")) {
      const auto available = one->number("available_gbit_per_s");
      const auto capable = one->number("capable_gbit_per_s");
      if (!available || !capable || *available > kLimitedShare * *capable) continue;
      const std::string name(one->text("pci"));
      const bool fast = *capable >= kFastCardGbitPerS;
      Finding finding = make_finding(
          rule, fast ? FindingSeverity::kMedium : FindingSeverity::kLow, {"nic", name, node_of(seen)},
          fmt::format("{} {} has {:.0f} of {:.0f} Gbit/s of PCIe", one->text("driver"), name, *available, *capable));
      finding.evidence.push_back(evidence_of(
          seen, one->line, fmt::format("{:.3f} Gb/s available, limited at {}", *available, one->text("limited_by"))));
      finding.cause = "The slot or a bridge above the card is of an older generation or has fewer lanes than the card.";
      finding.expected = fmt::format("{:.0f} Gbit/s", *capable);
      finding.measured = fmt::format("{:.0f} Gbit/s", *available);
      finding.fix = {
          fmt::format("lspci -vvv -s {}: LnkSta against LnkCap, and of the bridges above it", one->text("limited_by")),
          "move the card to a slot that fits, or set the slot's speed to Auto in the BIOS"};
      finding.confidence = 0.8;
      finding.loss_unknown = "how much of the card's bandwidth the work needs is not known";
      add_once(findings, std::move(finding));
    }
  }
}

// As often as this a port did not just start or get its cable once.
constexpr std::size_t kFlaps = 3;

void nic(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [pci, events] : events_by(seen, "nic_events", "pci")) {
      std::size_t downs = 0;
      for (const FactRecord* const one : events) {
        downs += is_false(*one, "link_up") ? 1 : 0;
      }
      const auto hits = [&events = events](std::initializer_list<std::string_view> parts) {
        return std::find_if(events.begin(), events.end(), [&](const FactRecord* one) {
          return std::any_of(parts.begin(), parts.end(),
                             [&](std::string_view part) { return contains(one->text("text"), part); });
        });
      };
      const auto sick = hits({"health compromised", "Health issue", "health recovery", "fatal", "Fatal", "synd 0x",
                              "assert_var", "device's health"});
      const auto slow = hits({"TX timeout", "transmit queue", "timed out", "High Temperature", "high temperature",
                              "overheat", "temperature too high"});
      const auto power = hits({"insufficient power", "Insufficient power"});
      const FactRecord* which = nullptr;
      std::string what;
      FindingSeverity severity = FindingSeverity::kMedium;
      if (sick != events.end()) {
        which = *sick, what = "its firmware reports a failure", severity = FindingSeverity::kHigh;
      } else if (slow != events.end()) {
        which = *slow, what = "it is too hot or does not answer in time";
      } else if (downs >= kFlaps) {
        which = events.front(), what = fmt::format("its link went down {} times", downs);
      } else if (power != events.end()) {
        which = *power, what = "its slot gives too little power", severity = FindingSeverity::kLow;
      }
      if (which == nullptr) continue;
      const std::string name = pci.empty() ? "a network card" : pci;
      Finding finding = make_finding(rule, severity, {"nic", name, node_of(seen)}, fmt::format("{}: {}", name, what));
      finding.evidence.push_back(evidence_of(seen, which->line, std::string(which->text("text"))));
      finding.cause = severity == FindingSeverity::kLow
                          ? "The slot advertises less power than the card may need with active cables."
                          : "The card, its cable or the port at the other end fails: collectives over it stall or end.";
      finding.fix = {"ethtool -m or mlxlink -d <device> -m: module, temperature and error counters; swap the cable",
                     "update the card's firmware; if it stays, replace card or cable"};
      finding.confidence = 0.8;
      if (severity != FindingSeverity::kLow)
        finding.loss_unknown = "how much of the work goes over this card is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void iommu(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const auto& [pci, events] : events_by(seen, "iommu_faults", "pci")) {
      const std::string name = pci.empty() ? "a device" : pci;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"link", name, node_of(seen)},
                                     fmt::format("the IOMMU blocked accesses of {} ({} lines)", name, events.size()));
      finding.evidence.push_back(evidence_of(seen, events.front()->line, std::string(events.front()->text("text"))));
      finding.cause =
          "The device reached for memory that is not mapped for it: transfers fail, often peer-to-peer DMA "
          "with the IOMMU translating.";
      finding.fix = {"iommu=pt on the kernel's command line, or the IOMMU off where nothing is passed through",
                     "update the driver of the device"};
      finding.confidence = 0.7;
      finding.loss_unknown = "which transfers failed is not known";
      add_once(findings, std::move(finding));
    }
  }
}

constexpr Rule kRules[] = {
    {"health.pcie-uncorrected", "Uncorrected PCIe errors",
     "A transaction or a link was lost; the device behind it stops.", "Linux PCI/pcieaer-howto, wilicc/gpu-burn#1",
     uncorrected},
    {"health.pcie-corrected", "Many corrected PCIe errors", "A noisy link: repeats cost bandwidth and announce worse.",
     "Linux PCI/pcieaer-howto", corrected},
    {"health.pcie-link-down", "A PCIe link went down", "A slot lost its device.", "Linux pciehp", link_down},
    {"health.pcie-limited", "A card behind a slower PCIe link",
     "The driver says at start that the slot gives less than the card can use.", "Linux pcie_print_link_status",
     limited},
    {"health.nic-events", "A network card fails",
     "Firmware failures, timeouts, heat, flapping links, too little power.", "NVIDIA MLNX_OFED manual, imbue#4", nic},
    {"health.iommu-fault", "The IOMMU blocks a device", "DMA faults in the kernel's log.", "Linux arch/x86/iommu",
     iommu},
};

}  // namespace

std::span<const Rule> pcie_log_rules() { return kRules; }

}  // namespace tare
