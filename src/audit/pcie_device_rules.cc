// PCIe devices and bridges: ACS, errors that are recorded, devices that are gone.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/loss.h"
#include "audit/pcie_links.h"
#include "audit/topology_rules.h"

namespace tare {
namespace {

bool has_flag(const FactRecord& device, std::string_view list, std::string_view flag) {
  const std::vector<std::string> flags = texts_of(device, list);
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

std::int64_t line_of(const FactRecord& device, std::string_view member) {
  const Fact* const fact = device.find(member);
  return fact != nullptr && fact->line > 0 ? fact->line : device.line;
}

std::string name_of_device(const FactRecord& device) {
  const std::string_view address = device.text("address");
  return address.empty() ? fmt::format("device at line {}", device.line) : std::string(address);
}

// GPUs and NICs whose traffic passes the bridge.
std::vector<std::string> peers_behind(const LspciTree& tree, const FactRecord& bridge) {
  std::vector<std::string> peers;
  for (const FactRecord* const device : tree.peers()) {
    if (is_behind(bridge, *device)) peers.emplace_back(device->text("address"));
  }
  return peers;
}

void acs_redirect(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    std::vector<std::string> bridges;
    std::set<std::string> peers;
    bool only_root_ports = true;
    Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", seen.node, seen.node}, "");
    for (const FactRecord* const device : tree.devices()) {
      if (!has_flag(*device, "acs_control", "ReqRedir")) continue;
      bridges.push_back(name_of_device(*device));
      only_root_ports = only_root_ports && device->text("port_type").starts_with("Root Port");
      const std::vector<std::string> behind = peers_behind(tree, *device);
      if (!device->text("port_type").starts_with("Root Port")) peers.insert(behind.begin(), behind.end());
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(evidence_of(
            seen, line_of(*device, "acs_control_text"),
            fmt::format("{} {}: {}", bridges.back(), device->text("port_type"), device->text("acs_control_text"))));
      }
    }
    if (bridges.empty()) continue;
    if (only_root_ports) finding.severity = FindingSeverity::kInfo;
    if (peers.size() > 1) finding.severity = FindingSeverity::kMedium;
    if (bridges.size() == 1) finding.subject = {"link", bridges.front(), seen.node};
    finding.title = fmt::format(
        "ACS redirects peer traffic at {}",
        bridges.size() == 1 ? bridges.front() : fmt::format("{} bridges: {}", bridges.size(), list_names(bridges)));
    if (peers.size() > 1) {
      finding.title += fmt::format(", with {} GPUs and NICs behind", peers.size());
    }
    finding.cause =
        only_root_ports
            ? "At root ports traffic passes the root complex anyway: this matters only to peers below a switch."
            : "With ReqRedir+ a switch sends traffic between two devices below it up to the CPU and down again: "
              "GPUDirect P2P and RDMA lose bandwidth, or hang where the IOMMU translates.";
    finding.expected = "ReqRedir- CmpltRedir- on bridges between GPUs and NICs";
    finding.measured = "ReqRedir+";
    finding.consequences = {"topology.p2p-off"};
    finding.confidence = peers.size() > 1 ? 0.9 : only_root_ports ? 0.7 : 0.6;
    if (!only_root_ports) finding.loss_unknown = "which traffic passes these bridges is not known";
    finding.fix = {"bare metal: setpci -s ADDRESS ECAP_ACS+0x6.w=0000 for each bridge, at every boot",
                   "or IOMMU off in the BIOS (VT-d, AMD-Vi), or iommu=pt on the kernel's command line",
                   "virtual machines need ACS: use ATS of NIC and GPU there"};
    findings.push_back(std::move(finding));
  }
}

// Correctable errors that a good link does not collect. AdvNonFatalErr is noise of probing.
constexpr std::string_view kSignalErrors[] = {"RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout"};
// Uncorrectable errors that lose data or the device. UnsupReq, CmpltAbrt and UnxCmplt come of probing, too.
constexpr std::string_view kFatalErrors[] = {"DLP", "SDES", "TLP", "FCP", "CmpltTO", "RxOF", "MalfTLP", "ECRC"};

std::vector<std::string> errors_in(const FactRecord& device, std::string_view list,
                                   std::span<const std::string_view> known) {
  std::vector<std::string> found;
  for (const std::string_view error : known) {
    if (has_flag(device, list, error)) found.emplace_back(error);
  }
  return found;
}

void link_errors(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    for (const FactRecord* const device : tree.devices()) {
      const std::vector<std::string> fatal = errors_in(*device, "uncorrectable_errors", kFatalErrors);
      const std::vector<std::string> signal = errors_in(*device, "correctable_errors", kSignalErrors);
      // A device that resets with all bits set reports nothing.
      if ((fatal.empty() && signal.empty()) || signal.size() == std::size(kSignalErrors)) continue;
      const std::string name = name_of_device(*device);
      Finding finding = make_finding(rule, fatal.empty() ? FindingSeverity::kLow : FindingSeverity::kMedium,
                                     {subject_kind(tree.kind(*device)), name, seen.node}, "");
      const char* const member = fatal.empty() ? "correctable_errors" : "uncorrectable_errors";
      const std::string errors = list_names(fatal.empty() ? signal : fatal);
      finding.evidence.push_back(evidence_of(seen, line_of(*device, member), fmt::format("{}: {}", name, errors)));
      finding.title = fmt::format("{} has recorded {} PCIe errors: {}", name,
                                  fatal.empty() ? "correctable" : "uncorrectable", errors);
      finding.cause = fatal.empty()
                          ? "Bits were lost on the link and sent again: seat, riser, cable or retimer. The record "
                            "stays until it is cleared; one error at boot looks the same as a thousand."
                          : "A packet was lost or the device vanished from the bus at least once since the record "
                            "was last cleared.";
      finding.confidence = fatal.empty() ? 0.5 : 0.7;
      finding.loss_unknown = "how often it happens is not in the text";
      finding.fix = {"clear the record and look again under load: setpci -s ADDRESS ECAP_AER+0x10.l=ffffffff",
                     "dmesg | grep -i -e aer -e pcieport", "reseat the card, its riser or cable"};
      findings.push_back(std::move(finding));
    }
  }
}

void device_gone(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    for (const FactRecord* const device : tree.devices()) {
      const PcieDevice kind = tree.kind(*device);
      if (device->text("revision") != "ff") continue;
      const std::string name = name_of_device(*device);
      const bool gpu = kind == PcieDevice::kGpu;
      Finding finding = make_finding(
          rule, gpu || kind == PcieDevice::kNic ? FindingSeverity::kHigh : FindingSeverity::kMedium,
          {subject_kind(kind), name, seen.node}, fmt::format("{} no longer answers on the bus (rev ff)", name));
      finding.evidence.push_back(evidence_of(seen, device->line, fmt::format("{} (rev ff)", device->text("name"))));
      finding.cause = "Reads of a device that has left the bus give all ones: power, seat or the device itself failed.";
      finding.confidence = 0.9;
      finding.fix = {"dmesg | grep -e Xid -e 'fallen off' -e pcieport",
                     "drain the node, power it off and on (not only reboot)",
                     "if it comes back, reseat and watch it; if not, replace it"};
      finding.consequences = {"topology.gpu-not-listed", "health.gpu-missing"};
      if (gpu) {
        finding.loss = whole_gpus_lost(1, "the device");
      } else {
        finding.loss_unknown = "what hangs on this device is not known";
      }
      findings.push_back(std::move(finding));
    }
  }
}

void gpu_driver(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", seen.node, seen.node}, "");
    for (const FactRecord* const device : tree.devices()) {
      if (tree.kind(*device) != PcieDevice::kGpu || device->text("driver") != "nouveau") continue;
      names.push_back(name_of_device(*device));
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(evidence_of(seen, line_of(*device, "driver"), names.back() + ": driver nouveau"));
      }
    }
    if (names.empty()) continue;
    if (names.size() == 1) finding.subject = {"gpu", names.front(), seen.node};
    finding.title = fmt::format("{}: driver nouveau, so no CUDA", list_names(names));
    finding.cause = "The kernel's own display driver took the GPU before NVIDIA's: nothing can compute on it.";
    finding.expected = "Kernel driver in use: nvidia";
    finding.measured = "nouveau";
    finding.confidence = 0.8;
    finding.loss = whole_gpus_lost(static_cast<double>(names.size()), "lspci");
    finding.fix = {"echo 'blacklist nouveau' > /etc/modprobe.d/nouveau.conf; rebuild the initramfs; reboot",
                   "install the NVIDIA driver"};
    findings.push_back(std::move(finding));
  }
}

void small_reads(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  // Advice of the NIC's vendor for rates of 100 Gb/s and more; x16 at Gen3 and up is such a NIC.
  constexpr double kReadRequestBytes = 4096, kFastGtPerS = 8, kFastLanes = 16;
  for (const Seen& seen : observed.of_format("lspci")) {
    const LspciTree tree(seen);
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", seen.node, seen.node}, "");
    double least = kReadRequestBytes;
    for (const FactRecord* const device : tree.devices()) {
      const double size = device->number("max_read_request_bytes").value_or(kReadRequestBytes);
      const bool fast = device->number("link_capable_speed_gt_per_s").value_or(0) >= kFastGtPerS &&
                        device->number("link_capable_width").value_or(0) >= kFastLanes;
      if (tree.kind(*device) != PcieDevice::kNic || !fast || size >= kReadRequestBytes) continue;
      names.push_back(name_of_device(*device));
      least = std::min(least, size);
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(evidence_of(seen, line_of(*device, "max_read_request_bytes"),
                                               fmt::format("{}: MaxReadReq {} bytes", names.back(), size)));
      }
    }
    if (names.empty()) continue;
    if (names.size() == 1) finding.subject = {"nic", names.front(), seen.node};
    finding.title = fmt::format("{}: MaxReadReq {} bytes, {} is advised for fast NICs", list_names(names), least,
                                kReadRequestBytes);
    finding.cause =
        "A NIC fetches what it sends by reads of this size; small ones cost rate where round trips are long.";
    finding.expected = "4096 bytes";
    finding.measured = fmt::format("{} bytes", least);
    finding.confidence = 0.6;
    finding.fix = {"setpci -s ADDRESS CAP_EXP+8.w: the first digit 5 is 4096 bytes; measure before and after"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"pcie.acs-redirect", "ACS redirects peer traffic",
     "Traffic between GPU and NIC below a switch goes up to the CPU: bandwidth falls, or NCCL hangs.",
     "nccl#949, nccl-tests#252, nccl-tests#74", acs_redirect},
    {"pcie.errors-recorded", "PCIe errors recorded at a device",
     "Bits are lost on the link; more of it ends in lower rates or a device that drops off.", "PCIe AER", link_errors},
    {"pcie.device-gone", "A device that no longer answers", "It left the bus: revision ff is what all ones read as.",
     "gpud#1209", device_gone},
    {"pcie.gpu-driver", "A GPU in the hands of nouveau", "CUDA does not see it.", "lspci -k", gpu_driver},
    {"pcie.small-read-requests", "A fast NIC with small read requests",
     "MaxReadReq below 4096 bytes can cost rate on some platforms.", "NVIDIA: Performance tuning for Mellanox adapters",
     small_reads},
};

}  // namespace

std::span<const Rule> pcie_device_rules() { return kRules; }

}  // namespace tare
