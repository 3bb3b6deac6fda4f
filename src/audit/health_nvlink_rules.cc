#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/log_events.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct LinkCount {
  double up = 0, down = 0, not_supported = 0;
};

// Of dcgmi nvlink or nvidia-smi nvlink; nullopt where neither counts the links of this GPU.
std::optional<LinkCount> links_of(const FactRecord& gpu) {
  if (gpu.has("up") || gpu.has("down")) {
    return LinkCount{gpu.number("up").value_or(0), gpu.number("down").value_or(0),
                     gpu.number("not_supported").value_or(0)};
  }
  if (!gpu.has("active_links")) return std::nullopt;
  return LinkCount{gpu.number("active_links").value_or(0), gpu.number("inactive_links").value_or(0), 0};
}

// A card whose links are only there with a bridge on it, or not at all.
bool may_lack_links(const Observed& observed, const Seen& seen, const FactRecord& gpu) {
  const Accelerator* known = accelerator_named(observed.catalog(), gpu.text("name"));
  if (known == nullptr) known = observed.accelerator_beside(seen);
  return known != nullptr && !has_nvlink_fabric(*known);
}

void down(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group), without(group);
    double lost = 0, all = 0;
    bool every_link = true;
    for (const GpuSeen& gpu : group.gpus) {
      const std::optional<LinkCount> links = links_of(*gpu.facts);
      if (!links) continue;
      if (links->down == 0) {
        every_link = every_link && links->up == 0;
        continue;
      }
      every_link = every_link && links->up == 0;
      const std::string text = fmt::format("{:.0f} links down, {:.0f} up", links->down, links->up);
      if (links->up == 0 && may_lack_links(observed, *group.seen, *gpu.facts)) {
        without.add(gpu, gpu.facts->line, text);
        continue;
      }
      lost += links->down, all += links->down + links->up;
      faults.add(gpu, gpu.facts->line, text);
    }
    if (!faults.empty()) {
      Finding finding = faults.finding(
          rule, FindingSeverity::kHigh,
          every_link ? "has|have no NVLink up" : fmt::format("has|have {:.0f} of {:.0f} NVLinks down", lost, all));
      finding.cause = every_link
                          ? "The fabric does not come up: the fabric manager does not run, the bridge is off, or the "
                            "baseboard fails. Traffic between GPUs goes over PCIe."
                          : "A link failed: collectives over it are slower by its share or fail.";
      finding.measured = fmt::format("{:.0f} of {:.0f} links down", lost, all);
      finding.fix = {
          "systemctl status nvidia-fabricmanager; its version must be the driver's (NVSwitch systems)",
          "dmesg | grep -iE 'nvlink|xid': what took the link down; reset all GPUs of the node, then the bridge or "
          "board",
          "dcgmi diag -r 1 and 2 pass with all links down: check nvidia-smi nvlink -s itself"};
      finding.confidence = every_link ? 0.85 : 0.9;
      // The links that are left carry the traffic of all.
      if (!every_link && lost > 0 && lost < all) {
        finding.loss = slower_communication(
            observed.setting().intra_node_comm_share, all / (all - lost), "links of the GPU over links that are up",
            observed.gpus_beside(*group.seen).value_or(static_cast<double>(group.gpus.size())),
            "GPUs of the node, which wait for the slowest");
      } else {
        finding.loss_unknown = "how much slower PCIe is for this job is not known";
      }
      finding.consequences = {"health.diag-passed", "health.nvlink-errors"};
      add_once(findings, std::move(finding));
    }
    if (!without.empty()) {
      Finding finding = without.finding(rule, FindingSeverity::kInfo,
                                        "shows|show no NVLink up; the card has links only with a bridge");
      finding.cause =
          "PCIe cards have no NVLink without a bridge between two of them: links that are down are no fault then.";
      finding.fix = {"if a bridge is fitted: reseat it; otherwise nothing"};
      finding.confidence = 0.7;
      add_once(findings, std::move(finding));
    }
  }
}

void reduced(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    double up = 0, absent = 0;
    for (const GpuSeen& gpu : group.gpus) {
      const std::optional<LinkCount> links = links_of(*gpu.facts);
      if (!links || links->up == 0 || links->down > 0 || links->not_supported == 0) continue;
      up = links->up, absent = links->not_supported;
      faults.add(gpu, gpu.facts->line, fmt::format("{:.0f} links up, {:.0f} not supported", up, absent));
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kInfo,
                       fmt::format("has|have {:.0f} of {:.0f} NVLinks by design, none down", up, up + absent));
    finding.cause =
        "Links that are not supported are not built in: export parts (A800, H800) and some boards have fewer. "
        "Their bandwidth is the measure, not that of the full part.";
    finding.confidence = 0.9;
    add_once(findings, std::move(finding));
  }
}

// Repeats are what the protocol is made for; these many, or any recovery, mean a bad link.
constexpr double kManyReplayErrors = 10000;

void errors(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults bad(group), some(group);
    for (const GpuSeen& gpu : group.gpus) {
      double recoveries = 0, crc = 0, repeats = 0;
      std::string name;
      for (const auto& [member, value] : gpu.facts->members()) {
        const bool counts = member.ends_with("_errors") || member.find("error_count") != std::string::npos;
        if ((member.find("nvlink") == std::string::npos && !gpu.facts->has("links")) || !counts) continue;
        const double number = value.number().value_or(0);
        if (number <= 0) continue;
        name = member;
        if (member.find("recovery") != std::string::npos) {
          recoveries += number;
        } else if (member.find("crc") != std::string::npos) {
          crc += number;
        } else {
          repeats += number;
        }
      }
      if (name.empty()) continue;
      const std::string text =
          fmt::format("{:.0f} recoveries, {:.0f} CRC errors, {:.0f} repeats", recoveries, crc, repeats);
      if (recoveries > 0 || crc >= kManyReplayErrors || repeats >= kManyReplayErrors) {
        bad.add(gpu, line_of(*gpu.facts, name), text);
      } else {
        some.add(gpu, line_of(*gpu.facts, name), text);
      }
    }
    for (const auto& [faults, severity, title] :
         {std::tuple(&bad, FindingSeverity::kMedium, "has|have NVLink errors that the link had to recover from"),
          std::tuple(&some, FindingSeverity::kLow, "counts|count a few NVLink errors")}) {
      if (faults->empty()) continue;
      Finding finding = faults->finding(rule, severity, title);
      finding.cause = "The link is noisy: it repeats packets and, at worst, trains again; it may go down next.";
      finding.fix = {"nvidia-smi nvlink -e twice, minutes apart under load: which counter grows",
                     "growing: reset the GPUs; then have link, bridge or board checked"};
      finding.confidence = 0.75;
      if (severity == FindingSeverity::kMedium)
        finding.loss_unknown = "how much bandwidth the repeats take is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void fabric_state(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const std::string_view state = gpu.facts->text("fabric_state"), status = gpu.facts->text("fabric_status");
      const bool waits = equals_ignoring_case(state, "In Progress") || equals_ignoring_case(state, "Not Started");
      const bool failed =
          equals_ignoring_case(state, "Completed") && !status.empty() && !equals_ignoring_case(status, "Success");
      const bool unwell = equals_ignoring_case(gpu.facts->text("fabric_health"), "Unhealthy") ||
                          equals_ignoring_case(gpu.facts->text("fabric_health_bandwidth"), "Degraded");
      if (waits || failed) {
        faults.add(gpu, waits ? "fabric_state" : "fabric_status");
      } else if (unwell) {
        faults.add(gpu, gpu.facts->has("fabric_health") ? "fabric_health" : "fabric_health_bandwidth");
      }
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kHigh, "is|are not ready in the NVLink fabric");
    finding.cause =
        "The fabric manager has not set up NVSwitch for this GPU: CUDA fails to start (error 802) or goes over PCIe.";
    finding.fix = {"systemctl restart nvidia-fabricmanager; journalctl -u nvidia-fabricmanager",
                   "its version must be exactly the driver's; on NVL72 check the IMEX domain"};
    finding.confidence = 0.9;
    finding.loss = faults.lost("GPUs that cannot start a CUDA program");
    add_once(findings, std::move(finding));
  }
}

struct SwitchError {
  std::int64_t number = 0, port = -1, line = 0, count = 0;
  bool fatal = false;
  std::string meaning;
};

// Repeats on a link are counted and repaired by the link itself.
bool is_harmless(std::int64_t number) { return number == 20001; }

void nvswitch(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    std::map<std::string, std::vector<SwitchError>> by_switch;
    for (const auto& [list, number, port] :
         {std::tuple("sxids", "sxid", "link"), std::tuple("nvswitch_errors", "error", "port")}) {
      for (const FactRecord* const one : records_of(*seen.facts, list)) {
        SwitchError error{one->integer(number).value_or(0), one->integer(port).value_or(-1),  one->line, 1,
                          is_true(*one, "fatal"),           std::string(one->text("meaning"))};
        std::vector<SwitchError>& there = by_switch[std::string(one->text("pci"))];
        const auto same = std::find_if(there.begin(), there.end(), [&](const SwitchError& other) {
          return other.number == error.number && other.port == error.port;
        });
        if (same == there.end()) {
          there.push_back(std::move(error));
        } else {
          ++same->count;
        }
      }
    }
    for (const auto& [pci, list] : by_switch) {
      const bool fatal = std::any_of(list.begin(), list.end(), [](const SwitchError& one) { return one.fatal; });
      const bool harmless = std::all_of(list.begin(), list.end(),
                                        [](const SwitchError& one) { return is_harmless(one.number) && !one.fatal; });
      const SwitchError& first = *std::max_element(
          list.begin(), list.end(), [](const SwitchError& a, const SwitchError& b) { return a.fatal < b.fatal; });
      const FindingSeverity severity = fatal      ? FindingSeverity::kHigh
                                       : harmless ? FindingSeverity::kLow
                                                  : FindingSeverity::kMedium;
      const std::string name = pci.empty() ? "NVSwitch" : "NVSwitch " + pci;
      Finding finding =
          make_finding(rule, severity, {"link", name, node_of(seen)},
                       fmt::format("{}: {} error {}{}{}", name, fatal ? "fatal" : "non-fatal", first.number,
                                   first.port >= 0 ? fmt::format(" on port {}", first.port) : "",
                                   first.meaning.empty() ? "" : ": " + first.meaning));
      for (const SwitchError& one : list) {
        if (finding.evidence.size() >= 4) break;
        finding.evidence.push_back(
            evidence_of(seen, one.line,
                        fmt::format("error {} port {}, {} times: {}", one.number, one.port, one.count, one.meaning)));
      }
      finding.cause =
          fatal ? "The switch or one of its ports stopped: all jobs on the node that use it fail."
                : "The switch met an error and went on; when it repeats on one port, that link or its GPU is bad.";
      finding.fix = {
          "nvidia-smi nvlink -s and -e of the GPUs; which GPU is behind the port",
          "fatal: drain, reset all GPUs of the node (nvidia-smi -r) or restart it; repeated: have the baseboard "
          "checked"};
      finding.confidence = 0.85;
      if (fatal) {
        if (const auto gpus = observed.gpus_beside(seen))
          finding.loss = whole_gpus_lost(*gpus, "GPUs behind the switch");
      }
      if (!finding.loss && !harmless) finding.loss_unknown = "which GPUs are behind the port is not known";
      finding.consequences = {"health.xid-nvlink", "health.nvlink-down", "health.xid-cleanup", "health.fabric-manager"};
      add_once(findings, std::move(finding));
    }
  }
}

void fabric_manager(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    std::vector<const FactRecord*> bad;
    for (const FactRecord* const one : records_of(*seen.facts, "fabric_manager")) {
      if (one->text("level") != "WARNING") bad.push_back(one);
    }
    if (bad.empty()) continue;
    const bool stops = any_text_has(bad, {"ailed to init", "ersion mismatch", "ailed to start", "fatal error",
                                          "not supported", "ailed to configure", "ailed to load"}) ||
                       any_text_has(bad, {"training failed", "raining failed"});
    Finding finding = make_finding(rule, stops ? FindingSeverity::kHigh : FindingSeverity::kMedium,
                                   {"node", node_of(seen), node_of(seen)},
                                   fmt::format("the fabric manager reports {} error{}: {}", bad.size(),
                                               bad.size() == 1 ? "" : "s", bad.front()->text("text").substr(0, 80)));
    for (const FactRecord* const one : bad) {
      if (finding.evidence.size() < 4)
        finding.evidence.push_back(evidence_of(seen, one->line, std::string(one->text("text"))));
    }
    finding.cause =
        "The service that sets up NVSwitch met an error: GPUs may be unable to start CUDA or to reach each other.";
    finding.fix = {"systemctl status nvidia-fabricmanager; its version must be exactly the driver's",
                   "nvidia-smi -q | grep -A2 Fabric: Completed, Success on all GPUs"};
    finding.confidence = 0.8;
    finding.loss_unknown = "which GPUs it concerns is not known";
    add_once(findings, std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"health.nvlink-down", "NVLinks are down", "Traffic between GPUs goes over fewer links or over PCIe, or fails.",
     "NVIDIA/DCGM#198", down},
    {"health.nvlink-reduced", "Fewer NVLinks by design", "Links that are not supported are not down.",
     "NVIDIA/DCGM#198", reduced},
    {"health.nvlink-errors", "NVLink errors", "Repeats, CRC errors and recoveries of a noisy link.",
     "nvidia-smi manual: nvlink -e", errors},
    {"health.fabric-state", "The NVLink fabric is not ready", "A GPU is not registered with the fabric manager.",
     "NVIDIA Fabric Manager guide", fabric_state},
    {"health.nvswitch-error", "An NVSwitch error", "SXid in the kernel's log, or an error in the fabric manager's.",
     "NVIDIA Fabric Manager guide", nvswitch},
    {"health.fabric-manager", "The fabric manager reports errors", "Errors in its log that are not one of a switch.",
     "NVIDIA Fabric Manager guide", fabric_manager},
};

}  // namespace

std::span<const Rule> nvlink_rules() { return kRules; }

}  // namespace tare
