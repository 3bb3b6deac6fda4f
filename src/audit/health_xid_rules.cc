#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/xid_table.h"

namespace tare {
namespace {

// What an Xid says about the GPU. Numbers and actions: NVIDIA's catalog (ingest/xid_table.h).
enum class XidClass { kOffBus, kMemory, kNvlink, kFirmware, kCleanup, kProgram, kRecovery, kOther };

XidClass class_of(std::int64_t xid) {
  constexpr std::array<std::int64_t, 13> kMemory = {48, 63, 64, 92, 94, 95, 140, 156, 157, 160, 161, 171, 172};
  constexpr std::array<std::int64_t, 10> kNvlink = {74, 136, 144, 145, 146, 147, 148, 149, 150, 155};
  constexpr std::array<std::int64_t, 8> kProgram = {11, 13, 25, 31, 43, 69, 80, 137};
  const auto in = [xid](const auto& list) { return std::find(list.begin(), list.end(), xid) != list.end(); };
  if (xid == 79) return XidClass::kOffBus;
  if (xid == 119 || xid == 120) return XidClass::kFirmware;
  if (xid == 45) return XidClass::kCleanup;
  if (xid == 154) return XidClass::kRecovery;
  if (in(kMemory)) return XidClass::kMemory;
  if (in(kNvlink)) return XidClass::kNvlink;
  return in(kProgram) ? XidClass::kProgram : XidClass::kOther;
}

struct XidSeen {
  std::int64_t xid = 0, count = 1, line = 0;
  std::string_view action;
  bool named_as_cause = false;  // another line says that this one came before
};

// The Xids of one GPU of one class.
struct XidFault {
  const Seen* seen = nullptr;
  std::string node, gpu;
  std::vector<XidSeen> xids;
};

class XidFaults {
 public:
  explicit XidFaults(XidClass of) : of_(of) {}

  void add(const Seen& seen, std::string node, std::string gpu, XidSeen xid) {
    if (class_of(xid.xid) != of_) return;
    const auto found = std::find_if(faults_.begin(), faults_.end(), [&](const XidFault& one) {
      return one.gpu == gpu && one.node == node && (one.seen == &seen || !node.empty());
    });
    XidFault& fault =
        found != faults_.end() ? *found : faults_.emplace_back(XidFault{&seen, std::move(node), std::move(gpu), {}});
    const bool known =
        std::any_of(fault.xids.begin(), fault.xids.end(), [&](const XidSeen& one) { return one.xid == xid.xid; });
    if (!known) fault.xids.push_back(xid);
  }
  std::vector<XidFault> take() { return std::move(faults_); }

 private:
  XidClass of_;
  std::vector<XidFault> faults_;
};

// The driver's action, that of the line before that of the number: Xid 144 to 150 say it in their registers.
std::string_view action_of(const FactRecord& record, std::int64_t xid) {
  if (!record.text("action").empty()) return record.text("action");
  const XidMeaning* const meaning = xid_meaning(xid);
  return meaning == nullptr ? std::string_view() : meaning->action;
}

void add_log(const Seen& seen, XidFaults& faults) {
  for (const char* const list : {"xid_summary", "previous_xids"}) {
    const bool cause = list == std::string_view("previous_xids");
    for (const FactRecord* const one : records_of(*seen.facts, list)) {
      const std::int64_t xid = one->integer("xid").value_or(0);
      faults.add(seen, node_of(seen), std::string(one->text("pci")),
                 {xid, one->integer("count").value_or(1), one->line, action_of(*one, xid), cause});
    }
  }
}

// The last Xid of each GPU stands in DCGM's metrics until the exporter restarts.
void add_metrics(const Observed& observed, XidFaults& faults) {
  constexpr std::string_view kCounted = "xid_errors_count_";
  for (const GpuGroup& group : gpu_groups(observed)) {
    for (const GpuSeen& gpu : group.gpus) {
      if (const auto xid = gpu.facts->integer("xid_errors"); xid && *xid > 0) {
        faults.add(*group.seen, group.node, gpu.name,
                   {*xid, 1, line_of(*gpu.facts, "xid_errors"), action_of(FactRecord(), *xid), false});
      }
      for (const auto& [name, value] : gpu.facts->members()) {
        if (!name.starts_with(kCounted)) continue;
        const auto xid = to_integer(std::string_view(name).substr(kCounted.size()));
        const auto count = value.number();
        if (!xid || *xid <= 0 || count.value_or(0) < 1) continue;
        faults.add(
            *group.seen, group.node, gpu.name,
            {*xid, static_cast<std::int64_t>(std::min(*count, 1e9)), value.line, action_of(FactRecord(), *xid), false});
      }
    }
  }
}

std::vector<XidFault> xid_faults(const Observed& observed, XidClass of) {
  XidFaults faults(of);
  for (const Seen& seen : observed.of_kind("dmesg")) add_log(seen, faults);
  add_metrics(observed, faults);
  return faults.take();
}

std::string numbers_of(const std::vector<XidSeen>& xids) {
  std::vector<std::string> texts;
  texts.reserve(xids.size());
  for (const XidSeen& one : xids) texts.push_back(std::to_string(one.xid));
  return "Xid " + join(texts, ", ");
}

std::string_view meaning_of(std::int64_t xid) {
  const XidMeaning* const meaning = xid_meaning(xid);
  return meaning == nullptr ? "NVIDIA has published no meaning" : meaning->meaning;
}

Finding finding_of(const Rule& rule, FindingSeverity severity, const XidFault& fault) {
  const XidSeen& first = fault.xids.front();
  std::int64_t count = 0;
  for (const XidSeen& one : fault.xids) count += one.count;
  Finding finding = make_finding(
      rule, severity, {"gpu", fault.gpu, fault.node},
      fmt::format("{} at {}: {}{}", numbers_of(fault.xids), fault.gpu, meaning_of(first.xid),
                  count > static_cast<std::int64_t>(fault.xids.size()) ? fmt::format(", {} times", count) : ""));
  for (const XidSeen& one : fault.xids) {
    if (finding.evidence.size() >= 4) break;
    const char* const how = one.named_as_cause ? " is named as the cause of another" : "";
    finding.evidence.push_back(evidence_of(
        *fault.seen, one.line, fmt::format("Xid {} at {}{}: {}", one.xid, fault.gpu, how, meaning_of(one.xid))));
  }
  if (const std::string_view words = action_in_words(first.action); !words.empty()) {
    finding.fix.push_back(fmt::format("NVIDIA's action for Xid {}: {}", first.xid, words));
  }
  return finding;
}

// More GPUs than these with the same trouble are one trouble of the node.
constexpr std::size_t kGpusBeforeNode = 3;

// One finding per GPU, or one for the node.
void add_all(const Rule& rule, std::vector<Finding> each, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<Finding>> by_place;
  for (Finding& one : each) by_place[one.subject.node + '\n' + one.evidence.front().file].push_back(std::move(one));
  for (auto& [place, list] : by_place) {
    if (list.size() <= kGpusBeforeNode) {
      for (Finding& one : list) add_once(findings, std::move(one));
      continue;
    }
    std::vector<std::string> names;
    Finding* worst = &list.front();
    double gpus_lost = 0;
    for (Finding& one : list) {
      names.push_back(one.subject.name);
      if (one.severity > worst->severity) worst = &one;
      gpus_lost += one.loss ? 1 : 0;
    }
    Finding joined = std::move(*worst);
    joined.rule_id = rule.id;
    joined.title = fmt::format("{} GPUs ({}), first: {}", names.size(), list_names(names), joined.title);
    joined.subject = {"node", joined.subject.node.empty() ? list_names(names) : joined.subject.node,
                      joined.subject.node};
    if (gpus_lost > 0) joined.loss = whole_gpus_lost(gpus_lost, "GPUs that the log names");
    add_once(findings, std::move(joined));
  }
}

const std::vector<std::string> kAfterLoss = {
    "health.xid-cleanup", "health.xid-nvlink",      "health.xid-firmware",     "health.xid-memory",
    "health.xid-other",   "health.xid-recovery",    "health.gpu-init-failed",  "health.pcie-link-down",
    "health.tool-failed", "health.gpu-missing",     "topology.gpu-not-listed", "health.reading-failed",
    "health.xid-program", "health.pcie-uncorrected"};

// The fatal PCIe error of a port that the log has before the GPU was gone, as evidence.
void add_surprise_down(const Seen& seen, Finding& finding) {
  for (const FactRecord* const aer : records_of(*seen.facts, "aer_summary")) {
    if (!contains(aer->text("error"), "Surprise Down") && !contains(aer->text("severity"), "(Fatal)")) continue;
    finding.evidence.push_back(
        evidence_of(seen, aer->line,
                    fmt::format("PCIe port {}: {} {}", aer->text("pci"), aer->text("severity"), aer->text("error"))));
    finding.cause = fmt::format(
        "The link of the PCIe port {} went down first ({}), so the fault is between port and GPU "
        "or in the GPU's supply: heat, power, seating, riser, board.",
        aer->text("pci"), aer->text("error"));
    return;
  }
}

void off_bus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  std::set<std::string> known;
  const auto add = [&](Finding finding, const Seen& seen) {
    finding.confidence = 0.97;
    finding.cause =
        "The GPU no longer answers on PCIe: its power or link failed, it overheated, or its board is broken.";
    add_surprise_down(seen, finding);
    finding.fix = {"drain the node; a GPU that is off the bus comes back only with a cold restart of the node",
                   "before that: nvidia-bug-report.sh, and the BMC's event log for power and temperature events",
                   "if it happens again: reseat card, riser and power cables, then have the GPU replaced"};
    finding.loss = whole_gpus_lost(1, "a GPU off the bus does nothing until the node restarts");
    finding.consequences = kAfterLoss;
    each.push_back(std::move(finding));
  };
  for (const XidFault& fault : xid_faults(observed, XidClass::kOffBus)) {
    known.insert(fault.gpu.substr(0, fault.gpu.find('.')));
    add(finding_of(rule, FindingSeverity::kHigh, fault), *fault.seen);
  }
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const FactRecord* const gone : records_of(*seen.facts, "gpus_off_the_bus")) {
      const std::string pci(gone->text("pci"));
      if (!known.insert(pci.substr(0, pci.find('.'))).second || (pci.empty() && known.size() > 1)) continue;
      const std::string name = pci.empty() ? "a GPU" : pci;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"gpu", name, node_of(seen)},
                                     name + " has fallen off the PCIe bus, without an Xid in the log");
      finding.evidence.push_back(evidence_of(seen, gone->line, std::string(gone->text("text"))));
      add(std::move(finding), seen);
    }
  }
  add_all(rule, std::move(each), findings);
}

FindingSeverity memory_severity(const XidFault& fault) {
  FindingSeverity worst = FindingSeverity::kLow;
  for (const XidSeen& one : fault.xids) {
    switch (one.xid) {
      case 63:   // a row was remapped: works as designed, takes effect at the next reset
      case 92:   // many corrected errors
      case 160:  // a channel was retired
        break;
      case 94:  // contained: one program died
      case 171:
      case 172:
        worst = std::max(worst, FindingSeverity::kMedium);
        break;
      default:
        worst = FindingSeverity::kHigh;
    }
  }
  return worst;
}

void memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  for (const XidFault& fault : xid_faults(observed, XidClass::kMemory)) {
    Finding finding = finding_of(rule, memory_severity(fault), fault);
    finding.confidence = 0.95;
    finding.cause = "The GPU's memory had an error that ECC could not correct, or is being repaired by remapping rows.";
    finding.fix.push_back(
        "nvidia-smi -q -d ECC,ROW_REMAPPER: a pending remap takes effect at the next reset of the GPU");
    finding.fix.push_back("a failed remap, or errors that come back after the reset: have the GPU replaced");
    if (finding.severity == FindingSeverity::kHigh) {
      finding.loss = whole_gpus_lost(1, "a GPU that must be reset or replaced");
    } else {
      finding.loss_unknown = "what the program lost since its last checkpoint is not known";
    }
    finding.consequences = {"health.xid-cleanup", "health.xid-recovery", "health.xid-program"};
    each.push_back(std::move(finding));
  }
  add_all(rule, std::move(each), findings);
}

bool is_fatal(const Seen& seen, const std::string& gpu) {
  const std::vector<const FactRecord*> xids = records_of(*seen.facts, "xids");
  return std::any_of(xids.begin(), xids.end(),
                     [&](const FactRecord* xid) { return xid->text("pci") == gpu && is_true(*xid, "fatal"); });
}

// The action of the lines themselves: one that asks for nothing is a warning.
FindingSeverity nvlink_severity(const XidFault& fault) {
  FindingSeverity worst = FindingSeverity::kLow;
  for (const XidSeen& one : fault.xids) {
    if (one.named_as_cause || one.xid == 74 || one.xid == 136 || one.action == "RESET_GPU")
      return FindingSeverity::kHigh;
    if (one.action != "IGNORE") worst = FindingSeverity::kMedium;
  }
  return is_fatal(*fault.seen, fault.gpu) ? FindingSeverity::kHigh : worst;
}

// Only Xid 145: mostly what a link that went down elsewhere does to its neighbours.
bool is_neighbour(const XidFault& fault) {
  return std::all_of(fault.xids.begin(), fault.xids.end(), [](const XidSeen& one) { return one.xid == 145; });
}

void nvlink(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::vector<XidFault> faults = xid_faults(observed, XidClass::kNvlink);
  std::vector<Finding> each;
  for (const XidFault& fault : faults) {
    const auto same_place = [&](const XidFault& one) { return one.node == fault.node && one.seen == fault.seen; };
    const bool root_elsewhere = std::any_of(faults.begin(), faults.end(),
                                            [&](const XidFault& one) { return same_place(one) && !is_neighbour(one); });
    if (is_neighbour(fault) && root_elsewhere) continue;
    Finding finding = finding_of(rule, nvlink_severity(fault), fault);
    std::vector<std::string> hit;
    for (const XidFault& one : faults) {
      if (&one != &fault && same_place(one) && is_neighbour(one)) hit.push_back(one.gpu);
    }
    if (!hit.empty() && !is_neighbour(fault)) {
      finding.title += fmt::format("; its neighbours follow with Xid 145 ({})", list_names(hit));
    }
    finding.confidence = 0.9;
    finding.cause =
        "An NVLink of this GPU failed, or the device at its other end did. Programs that use the link end, and Xid 45 "
        "on "
        "the GPUs around it is the cleanup.";
    finding.fix.push_back("nvidia-smi nvlink -s and -e: which link is down, which counts errors");
    finding.fix.push_back(
        "if it comes back after a reset of all GPUs of the node: have link, baseboard or GPU checked");
    if (finding.severity == FindingSeverity::kHigh) {
      finding.loss = whole_gpus_lost(1, "the GPU needs a reset before its links work again");
    } else if (finding.severity == FindingSeverity::kMedium) {
      finding.loss_unknown = "whether the link still carries traffic is not known";
    }
    finding.consequences = {"health.xid-cleanup",  "health.nvlink-down",   "health.nvlink-errors",
                            "health.xid-recovery", "health.segfault",      "health.fabric-state",
                            "health.xid-program",  "health.reset-required"};
    each.push_back(std::move(finding));
  }
  add_all(rule, std::move(each), findings);
}

void firmware(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  for (const XidFault& fault : xid_faults(observed, XidClass::kFirmware)) {
    Finding finding = finding_of(rule, FindingSeverity::kHigh, fault);
    finding.confidence = 0.95;
    finding.cause =
        "The GPU's system processor (GSP) hangs: nvidia-smi and every program that touches this GPU wait for it and "
        "fail.";
    finding.fix.push_back("drain the node and reset the GPU; restart the node where the reset fails");
    finding.fix.push_back(
        "if it comes back: update the driver, or switch GSP off (NVreg_EnableGpuFirmware=0) where the "
        "driver still allows it; on the same GPU again: have it replaced");
    finding.loss = whole_gpus_lost(1, "a GPU whose firmware does not answer");
    finding.consequences = {"health.xid-cleanup", "health.xid-recovery", "health.xid-other", "health.kernel-stall",
                            "health.tool-failed"};
    each.push_back(std::move(finding));
  }
  add_all(rule, std::move(each), findings);
}

void program(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  for (const XidFault& fault : xid_faults(observed, XidClass::kProgram)) {
    const bool only_43 =
        std::all_of(fault.xids.begin(), fault.xids.end(), [](const auto& one) { return one.xid == 43; });
    Finding finding = finding_of(rule, only_43 ? FindingSeverity::kLow : FindingSeverity::kMedium, fault);
    finding.confidence = 0.7;
    finding.cause =
        "Mostly the program's own fault (an address or index out of bounds); the program ends, the GPU stays healthy.";
    finding.fix.push_back(
        "run the program under compute-sanitizer, or with CUDA_LAUNCH_BLOCKING=1, to find the kernel");
    finding.fix.push_back("if other programs end the same way on this GPU alone: dcgmi diag -r 3 -i <gpu>");
    finding.loss_unknown = "what the program lost since its last checkpoint is not known";
    finding.consequences = {"health.xid-cleanup"};
    each.push_back(std::move(finding));
  }
  add_all(rule, std::move(each), findings);
}

// The last word on each GPU counts.
void recovery(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  for (const Seen& seen : observed.of_kind("dmesg")) {
    std::map<std::string, const FactRecord*> last;
    for (const FactRecord* const xid : records_of(*seen.facts, "xids")) {
      if (xid->integer("xid") == 154 && !xid->text("recovery_action").empty())
        last[std::string(xid->text("pci"))] = xid;
    }
    for (const auto& [pci, xid] : last) {
      const std::string action(xid->text("recovery_action"));
      if (equals_ignoring_case(action, "None")) continue;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"gpu", pci, node_of(seen)},
                                     fmt::format("Xid 154 at {}: the driver asks for \"{}\"", pci, action));
      finding.evidence.push_back(evidence_of(seen, xid->line, std::string(xid->text("text"))));
      finding.cause = "Other errors before it left the GPU in a state that only this recovery ends.";
      finding.fix = {fmt::format("drain the node, then: {}", action), "look at the Xids before it for the reason"};
      finding.loss = whole_gpus_lost(1, "a GPU that waits for its recovery");
      each.push_back(std::move(finding));
    }
  }
  add_all(rule, std::move(each), findings);
}

FindingSeverity severity_of_action(std::string_view action, const XidMeaning* meaning) {
  if (meaning == nullptr || meaning->meaning == "unused") return FindingSeverity::kLow;
  if (action.starts_with("RESET") || action == "RESTART_BM" || action == "RESTART_VM" ||
      action == "CHECK_MECHANICALS") {
    return FindingSeverity::kHigh;
  }
  if (action == "RESTART_APP") return FindingSeverity::kMedium;
  return FindingSeverity::kLow;
}

void other(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  for (const XidFault& fault : xid_faults(observed, XidClass::kOther)) {
    FindingSeverity severity = FindingSeverity::kLow;
    for (const XidSeen& one : fault.xids)
      severity = std::max(severity, severity_of_action(one.action, xid_meaning(one.xid)));
    Finding finding = finding_of(rule, severity, fault);
    finding.confidence = 0.8;
    finding.cause =
        fmt::format("The driver reports it as {}.", xid_meaning(fault.xids.front().xid) != nullptr
                                                        ? xid_meaning(fault.xids.front().xid)->mnemonic
                                                        : std::string_view("a number without a published meaning"));
    finding.fix.push_back("if it comes back on the same GPU: dcgmi diag -r 3, then the vendor's support");
    if (severity == FindingSeverity::kHigh) {
      finding.loss = whole_gpus_lost(1, "a GPU that must be reset");
    } else if (severity == FindingSeverity::kMedium) {
      finding.loss_unknown = "what the program lost since its last checkpoint is not known";
    }
    finding.consequences = {"health.xid-cleanup", "health.xid-recovery"};
    each.push_back(std::move(finding));
  }
  add_all(rule, std::move(each), findings);
}

void cleanup(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    std::vector<std::string> gpus;
    bool other_xids = !records_of(*seen.facts, "previous_xids").empty();
    const FactRecord* first = nullptr;
    std::int64_t count = 0;
    for (const FactRecord* const one : records_of(*seen.facts, "xid_summary")) {
      if (one->integer("xid") != 45) {
        other_xids = true;
        continue;
      }
      if (first == nullptr) first = one;
      gpus.emplace_back(one->text("pci"));
      count += one->integer("count").value_or(1);
    }
    if (first == nullptr) continue;
    Finding finding = make_finding(
        rule, other_xids ? FindingSeverity::kInfo : FindingSeverity::kLow,
        {gpus.size() == 1 ? "gpu" : "node", list_names(gpus), node_of(seen)},
        fmt::format("Xid 45 at {}, {} times: cleanup{}", list_names(gpus), count,
                    other_xids ? " after the other Xids, no fault of its own" : ", without its reason in the log"));
    finding.evidence.push_back(evidence_of(seen, first->line, fmt::format("Xid 45 at {}", first->text("pci"))));
    finding.cause =
        "The driver removes what a program left on the GPU after it was aborted or hit an error: a consequence.";
    finding.fix = {"look for what came before: another Xid, a killed process, a stopped fabric manager"};
    finding.confidence = other_xids ? 0.95 : 0.7;
    add_once(findings, std::move(finding));
  }
}

void init_failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::vector<Finding> each;
  for (const Seen& seen : observed.of_kind("dmesg")) {
    std::map<std::string, std::vector<const FactRecord*>> by_gpu;
    for (const FactRecord* const one : records_of(*seen.facts, "init_failures")) {
      by_gpu[std::string(one->text("pci"))].push_back(one);
    }
    for (const auto& [pci, events] : by_gpu) {
      const std::string name = pci.empty() ? "a GPU" : pci;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"gpu", name, node_of(seen)},
                                     fmt::format("the driver cannot initialise {}{}", name,
                                                 events.size() > 1 ? fmt::format(", {} times", events.size()) : ""));
      finding.evidence.push_back(evidence_of(seen, events.front()->line, std::string(events.front()->text("text"))));
      finding.cause = "The GPU does not come up: broken hardware or power, or a driver that does not fit it.";
      finding.fix = {"restart the node cold and try again; compare the driver with the list of GPUs it supports",
                     "reseat the card and its power cables; if it stays, have it replaced"};
      finding.loss = whole_gpus_lost(1, "a GPU that the driver cannot use");
      finding.consequences = {"health.gpu-missing", "topology.gpu-not-listed", "health.tool-failed"};
      each.push_back(std::move(finding));
    }
  }
  add_all(rule, std::move(each), findings);
}

void driver_mismatch(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const FactRecord* const one : records_of(*seen.facts, "driver_messages")) {
      if (!contains(one->text("text"), "API mismatch") && !contains(one->text("text"), "version mismatch")) continue;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"node", node_of(seen), node_of(seen)},
                                     "the NVIDIA libraries and the loaded kernel module are of different versions");
      finding.evidence.push_back(evidence_of(seen, one->line, std::string(one->text("text"))));
      finding.cause = "The driver was updated while the old module stayed loaded: new CUDA programs cannot start.";
      finding.fix = {
          "drain the node, then reload the module (rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe "
          "nvidia) or restart the node",
          "hold the driver packages back from unattended upgrades"};
      if (const auto gpus = observed.gpus_beside(seen)) {
        finding.loss = whole_gpus_lost(*gpus, "GPUs of the node");
      } else {
        finding.loss_unknown = "how many GPUs the node has is not known";
      }
      finding.consequences = {"health.tool-failed"};
      add_once(findings, std::move(finding));
      break;
    }
  }
}

void peermem(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dmesg")) {
    for (const FactRecord* const one : records_of(*seen.facts, "driver_messages")) {
      if (!contains(one->text("text"), "nvidia-peermem")) continue;
      Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", node_of(seen), node_of(seen)},
                                     "nvidia-peermem reports errors: GPU memory registered for RDMA went away");
      finding.evidence.push_back(evidence_of(seen, one->line, std::string(one->text("text"))));
      finding.cause =
          "A process ended, or freed GPU memory, while a network card had it registered; a job around that time may "
          "have failed in NCCL.";
      finding.fix = {"look at the jobs of that minute; update driver and MLNX_OFED together",
                     "kernels from 5.12 can do without it: dma-buf"};
      finding.confidence = 0.6;
      finding.loss_unknown = "whether a job failed is not known";
      add_once(findings, std::move(finding));
      break;
    }
  }
}

constexpr const char* kCatalog = "NVIDIA Xid catalog";
constexpr Rule kRules[] = {
    {"health.gpu-off-bus", "A GPU has fallen off the bus",
     "Xid 79, the same words without an Xid, with the PCIe error of its port where one came first. The GPU is gone "
     "until "
     "the node restarts, and jobs that span it stop.",
     "NVIDIA Xid catalog, NVIDIA/NVSentinel#155, leptonai/gpud#1209", off_bus},
    {"health.xid-memory", "Xid of the GPU's memory",
     "Uncorrectable ECC errors and row remapping (48, 63, 64, 94, 95, 140 …). Programs end; some need a reset, some a "
     "new "
     "GPU.",
     kCatalog, memory},
    {"health.xid-nvlink", "Xid of an NVLink",
     "NVLink errors (74, 136, 144 to 150, 155) with the GPU where they began; Xid 145 and 45 on others follow from "
     "them.",
     "NVIDIA Xid catalog, NVIDIA/open-gpu-kernel-modules#1150", nvlink},
    {"health.xid-firmware", "The GPU's firmware does not answer",
     "Xid 119 or 120: calls to the GPU's system processor time out, and whatever touches the GPU hangs.", kCatalog,
     firmware},
    {"health.xid-program", "Xid that a program caused",
     "Xid 13, 31, 43 and their kin: mostly a kernel that reads or writes where it may not.", kCatalog, program},
    {"health.xid-recovery", "The driver asks for a recovery",
     "Xid 154 names what brings the GPU back: a reset, a drain, a restart of the node.", kCatalog, recovery},
    {"health.xid-other", "Another Xid", "Any other Xid, with the action that NVIDIA's catalog gives it.", kCatalog,
     other},
    {"health.xid-cleanup", "Xid 45 is cleanup", "Xid 45 follows from another error or an aborted program.", kCatalog,
     cleanup},
    {"health.gpu-init-failed", "The driver cannot initialise a GPU", "RmInitAdapter failed in the kernel's log.",
     "NVIDIA driver README", init_failed},
    {"health.peermem-error", "GPUDirect RDMA's module reports errors", "nvidia-peermem in the kernel's log.",
     "leptonai/gpud peermem component", peermem},
    {"health.driver-mismatch", "Libraries and kernel module of different versions",
     "API mismatch in the kernel's log: no new CUDA program starts.", "NVIDIA driver README", driver_mismatch},
};

}  // namespace

std::span<const Rule> xid_rules() { return kRules; }

}  // namespace tare
