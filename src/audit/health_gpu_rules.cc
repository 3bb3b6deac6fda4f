#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/loss.h"
#include "base/text.h"

namespace tare {
namespace {

// NVIDIA's limit for the sum of SRAM uncorrectable errors over the life of a GPU, from which it is to be replaced.
constexpr double kSramAggregateLimit = 4;

std::optional<double> volatile_uncorrectable(const FactRecord& gpu) {
  return first_number(gpu, {"ecc_volatile_uncorrectable", "ecc_uncorrectable", "ecc_dbe_vol_total"});
}
std::optional<double> aggregate_uncorrectable(const FactRecord& gpu) {
  return first_number(gpu, {"ecc_aggregate_uncorrectable", "ecc_dbe_agg_total"});
}

void ecc(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults replace(group), now(group), once(group);
    for (const GpuSeen& gpu : group.gpus) {
      const FactRecord& facts = *gpu.facts;
      const double sram = facts.number("ecc_aggregate_sram_uncorrectable").value_or(0);
      const double current = volatile_uncorrectable(facts).value_or(0);
      const double ever = aggregate_uncorrectable(facts).value_or(0);
      if (says(facts, "ecc_aggregate_sram_threshold_exceeded", "Yes")) {
        replace.add(gpu, "ecc_aggregate_sram_threshold_exceeded");
      } else if (sram > kSramAggregateLimit) {
        replace.add(
            gpu, line_of(facts, "ecc_aggregate_sram_uncorrectable"),
            fmt::format("{:.0f} SRAM uncorrectable errors over its life, {:.0f} since the last reset", sram, current));
      } else if (current > 0) {
        now.add(gpu,
                line_of(facts,
                        facts.has("ecc_volatile_uncorrectable") ? "ecc_volatile_uncorrectable" : "ecc_uncorrectable"),
                fmt::format("{:.0f} uncorrectable errors since the last reset", current));
      } else if (ever > 0) {
        once.add(gpu, line_of(facts, "ecc_aggregate_uncorrectable"),
                 fmt::format("{:.0f} uncorrectable errors over its life, none since the last reset", ever));
      }
    }
    if (!replace.empty()) {
      Finding finding = replace.finding(rule, FindingSeverity::kHigh,
                                        "has|have more SRAM uncorrectable errors than NVIDIA allows: to be replaced");
      finding.cause =
          "Uncorrectable errors in caches and registers cannot be repaired by remapping rows: the chip is failing.";
      finding.expected = fmt::format("at most {:.0f} over its life", kSramAggregateLimit);
      finding.fix = {"drain the node and reset the GPU; run dcgmi diag -r 4 or NVIDIA's field diagnostics",
                     "have the GPU replaced (RMA)"};
      finding.loss = replace.lost("GPUs to be taken out of work");
      finding.confidence = 0.95;
      finding.consequences = {"health.xid-memory", "health.row-remap"};
      add_once(findings, std::move(finding));
    }
    if (!now.empty()) {
      Finding finding =
          now.finding(rule, FindingSeverity::kHigh, "had uncorrectable memory errors since the last reset");
      finding.cause =
          "A program that touched the bad memory was ended, or computed with it; the page is out until a reset.";
      finding.expected = "0";
      finding.fix = {"drain and reset the GPU: nvidia-smi -r -i <gpu>; then nvidia-smi -q -d ECC,ROW_REMAPPER",
                     "dcgmi diag -r 3; if errors come back, have the GPU replaced"};
      finding.loss = now.lost("GPUs that need a reset");
      finding.confidence = 0.9;
      finding.consequences = {"health.xid-memory"};
      add_once(findings, std::move(finding));
    }
    if (!once.empty()) {
      Finding finding = once.finding(rule, FindingSeverity::kInfo,
                                     "had uncorrectable memory errors in the past, none since the last reset");
      finding.cause = "The memory was repaired by remapping rows or retiring pages, as it is made to.";
      finding.fix = {"nothing now; watch whether the number grows"};
      add_once(findings, std::move(finding));
    }
  }
}

// A row remapper has some spare rows per bank; NVIDIA calls for a replacement when it fails, or on field diagnostics.
void row_remap(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults failed(group), pending(group), past(group);
    for (const GpuSeen& gpu : group.gpus) {
      const FactRecord& facts = *gpu.facts;
      const double rows =
          first_number(facts, {"remapped_rows_uncorrectable", "uncorrectable_remapped_rows"}).value_or(0);
      if (says(facts, "remapping_failure", "Yes") || facts.number("row_remap_failure").value_or(0) > 0) {
        failed.add(gpu, facts.has("remapping_failure") ? "remapping_failure" : "row_remap_failure");
      } else if (says(facts, "remapping_pending", "Yes") || facts.number("row_remap_pending").value_or(0) > 0) {
        pending.add(gpu, line_of(facts, "remapping_pending"), fmt::format("remap pending, {:.0f} uncorrectable", rows));
      } else if (rows > 0) {
        past.add(gpu, line_of(facts, "remapped_rows_uncorrectable"), fmt::format("{:.0f} rows remapped", rows));
      }
    }
    if (!failed.empty()) {
      Finding finding =
          failed.finding(rule, FindingSeverity::kHigh, "could not remap a bad memory row: to be replaced");
      finding.cause = "No spare row is left in that bank: the memory stays bad.";
      finding.fix = {"take the GPU out of work and have it replaced (RMA)"};
      finding.loss = failed.lost("GPUs to be replaced");
      finding.consequences = {"health.xid-memory", "health.ecc-uncorrectable"};
      add_once(findings, std::move(finding));
    }
    if (!pending.empty()) {
      Finding finding = pending.finding(rule, FindingSeverity::kHigh, "has|have a memory row to remap: reset needed");
      finding.cause =
          "An uncorrectable error was found; the row is replaced by a spare one at the next reset, until then "
          "the page is out of use and programs may hit it.";
      finding.fix = {"drain the GPU, then nvidia-smi -r -i <gpu>, or restart the node",
                     "check after it: nvidia-smi -q -d ROW_REMAPPER; if rows keep coming, dcgmi diag -r 3"};
      finding.loss = pending.lost("GPUs that wait for a reset");
      finding.confidence = 0.95;
      finding.consequences = {"health.xid-memory", "health.ecc-uncorrectable"};
      add_once(findings, std::move(finding));
    }
    if (!past.empty()) {
      Finding finding =
          past.finding(rule, FindingSeverity::kInfo, "has|have remapped memory rows: repaired, no fault now");
      finding.cause = "Rows with uncorrectable errors were replaced by spare ones.";
      add_once(findings, std::move(finding));
    }
  }
}

// GPUs before Ampere retire pages, 64 at most.
constexpr double kRetiredPagesNearLimit = 60;

void retired_pages(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults full(group), pending(group);
    for (const GpuSeen& gpu : group.gpus) {
      const double pages = gpu.facts->number("retired_pages_single_bit").value_or(0) +
                           gpu.facts->number("retired_pages_double_bit").value_or(0);
      if (pages >= kRetiredPagesNearLimit) {
        full.add(gpu, line_of(*gpu.facts, "retired_pages_double_bit"), fmt::format("{:.0f} pages retired", pages));
      } else if (says(*gpu.facts, "retired_pages_pending", "Yes")) {
        pending.add(gpu, "retired_pages_pending");
      }
    }
    for (const auto& [faults, severity, text] :
         {std::tuple(&full, FindingSeverity::kHigh, "has|have used up its|their spare memory pages: to be replaced"),
          std::tuple(&pending, FindingSeverity::kMedium, "waits|wait for a reset to retire a bad memory page")}) {
      if (faults->empty()) continue;
      Finding finding = faults->finding(rule, severity, text);
      finding.cause = "Pages with memory errors are taken out of use, at the next load of the driver, 64 at most.";
      finding.fix = {"drain, then nvidia-smi -r -i <gpu>; replace the GPU when nearly 64 pages are retired"};
      finding.expected = "fewer than 64";
      if (severity == FindingSeverity::kHigh) {
        finding.loss = faults->lost("GPUs to be replaced");
      } else {
        finding.loss_unknown = "programs fail only when they hit the page";
      }
      add_once(findings, std::move(finding));
    }
  }
}

void reset_required(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    std::string action = "a reset";
    for (const GpuSeen& gpu : group.gpus) {
      const std::string_view recovery = gpu.facts->text("recovery_action");
      if (!recovery.empty() && !equals_ignoring_case(recovery, "None")) {
        action = std::string(recovery);
        faults.add(gpu, "recovery_action");
      } else if (says(*gpu.facts, "reset_required", "Yes")) {
        faults.add(gpu, "reset_required");
      } else if (says(*gpu.facts, "drain_and_reset_recommended", "Yes")) {
        faults.add(gpu, "drain_and_reset_recommended");
      }
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kHigh, fmt::format("needs|need {}, says the driver", action));
    finding.cause = "An error left the GPU in a state that only this ends.";
    finding.fix = {"drain the node, then nvidia-smi -r -i <gpu>, or restart it as the driver says",
                   "dmesg | grep -i xid for the reason"};
    finding.loss = faults.lost("GPUs that wait for a reset");
    add_once(findings, std::move(finding));
  }
}

// "ERR!" in what is no fan: the GPU does not answer the driver.
void reading_failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      for (const char* const name :
           {"power_w", "temp_c", "util_pct", "mem_used_mib", "pstate", "power_limit_w", "name"}) {
        const std::string_view text = gpu.facts->text(name);
        if (!text.starts_with("ERR") && text.find("GPU is lost") == std::string_view::npos) continue;
        faults.add(gpu, name);
        break;
      }
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kHigh,
                                     "does|do not answer: nvidia-smi prints an error for its|their state");
    finding.cause = "The driver cannot read power, temperature or load of the GPU: it is lost or about to be.";
    finding.fix = {"dmesg | grep -iE 'xid|fallen off': the reason", "drain the node and restart it"};
    finding.confidence = 0.85;
    finding.loss = faults.lost("GPUs that do not answer");
    add_once(findings, std::move(finding));
  }
}

struct ToolError {
  std::string_view error;
  FindingSeverity severity;
  const char* title;
  const char* cause;
  const char* fix;
};
constexpr ToolError kToolErrors[] = {
    {"gpu-lost", FindingSeverity::kHigh, "nvidia-smi cannot reach a GPU: it is lost",
     "The GPU has fallen off the bus or its firmware hangs.",
     "dmesg | grep -iE 'xid|fallen off'; drain and restart the node"},
    {"version-mismatch", FindingSeverity::kHigh,
     "nvidia-smi fails: library and kernel module are of different versions",
     "The driver was updated while the old module stayed loaded: new CUDA programs cannot start.",
     "drain the node, then reload the nvidia modules or restart it"},
    {"driver-not-running", FindingSeverity::kHigh, "nvidia-smi fails: the NVIDIA driver does not answer",
     "The kernel module is not loaded, often after a kernel update without DKMS, or it does not fit the GPU.",
     "modprobe nvidia; dmesg | tail; rebuild or install the driver for the running kernel"},
    {"no-devices", FindingSeverity::kHigh, "nvidia-smi finds no GPU",
     "No GPU is on the bus, it is given to another driver (vfio), or the container has none.",
     "lspci | grep -i nvidia; in a container: was it started with GPUs"},
    {"inforom-corrupted", FindingSeverity::kMedium, "a GPU's infoROM is corrupted",
     "The board's store of its identity and error counters is damaged: counters and remapping cannot be trusted.",
     "nvidia-smi -q -d INFOROM-CHECKSUM where supported; have the GPU replaced"},
    {"access-blocked", FindingSeverity::kMedium, "the operating system blocks access to the GPU",
     "WSL, a container or a virtual machine without the GPU's devices.", "check the devices and rights it was given"},
    {"nvml-not-initialised", FindingSeverity::kMedium, "nvidia-smi cannot start NVML",
     "The library does not get to the driver: a missing device node, a container whose GPU went away (Unknown Error).",
     "ls -l /dev/nvidia*; restart the container (cgroup devices are lost at a daemon reload); dmesg | grep NVRM"},
};

void tool_failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("nvidia-smi")) {
    std::set<std::string> said;
    for (const FactRecord* const error : records_of(*seen.facts, "errors")) {
      const auto* const known = std::find_if(std::begin(kToolErrors), std::end(kToolErrors),
                                             [&](const ToolError& one) { return one.error == error->text("error"); });
      // The first word on it: "Failed to initialize NVML" goes before "version mismatch" on the same line only.
      if (known == std::end(kToolErrors) || !said.insert(std::string(known->error)).second) continue;
      Finding finding = make_finding(rule, known->severity, {"node", node_of(seen), node_of(seen)}, known->title);
      finding.evidence.push_back(evidence_of(seen, error->line, std::string(error->text("text"))));
      finding.cause = known->cause;
      finding.fix = {known->fix};
      finding.confidence = 0.9;
      if (known->error == "gpu-lost") {
        finding.loss = whole_gpus_lost(1, "the GPU that is lost");
      } else {
        finding.loss_unknown = "how many GPUs the node has is not known";
      }
      add_once(findings, std::move(finding));
    }
  }
}

// Whether a listing is of all GPUs: their indexes are 0, 1, 2 …
bool is_whole(const FactRecord& facts) {
  const std::vector<Fact>* const listed = facts.find_list("gpus_listed");
  if (listed == nullptr)
    return facts.has("attached_gpus") || facts.text("command").find("discovery") != std::string::npos;
  for (std::size_t i = 0; i < listed->size(); ++i) {
    if ((*listed)[i].number() != static_cast<double>(i)) return false;
  }
  return !listed->empty();
}

struct Counted {
  const Seen* seen = nullptr;
  double gpus = 0;
};

std::optional<Counted> counted_in(const Seen& seen) {
  const auto count = first_number(*seen.facts, {"attached_gpus", "gpu_count"});
  const bool lists = seen.format->kind == "topo" || seen.format->kind == "nvidia-smi" || seen.format->kind == "dcgm";
  if (!count || *count < 1 || !lists || seen.facts->has("series") || seen.facts->has("host_count")) return std::nullopt;
  return Counted{&seen, *count};
}

void missing(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("nvidia-smi")) {
    const std::optional<Counted> here = counted_in(seen);
    if (!here || !is_whole(*seen.facts)) continue;
    std::optional<Counted> more;
    if (!seen.node.empty()) {
      for (const Seen& other : observed.beside(seen)) {
        const std::optional<Counted> there = counted_in(other);
        if (there && there->gpus > here->gpus && (!more || there->gpus > more->gpus)) more = there;
      }
    }
    const Accelerator* const gpu = observed.accelerator_beside(seen);
    const bool one_short = gpu != nullptr && has_nvlink_fabric(*gpu) && gpu->link_domain == 8 && here->gpus == 7;
    if (!more && !one_short) continue;
    const double expected = more ? more->gpus : 8;
    Finding finding = make_finding(
        rule, more ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"node", node_of(seen), node_of(seen)},
        more ? fmt::format("nvidia-smi lists {:.0f} GPUs, {} {:.0f}", here->gpus, more->seen->format->name, expected)
             : fmt::format("nvidia-smi lists {:.0f} GPUs of a board that is sold with {:.0f}", here->gpus, expected));
    finding.evidence.push_back(evidence_of(seen, seen.facts->line, fmt::format("{:.0f} GPUs", here->gpus)));
    if (more) {
      finding.evidence.push_back(
          evidence_of(*more->seen, more->seen->facts->line, fmt::format("{:.0f} GPUs", more->gpus)));
    }
    finding.cause = "A GPU is off the bus, failed to start, or is hidden from this machine or container on purpose.";
    finding.expected = fmt::format("{:.0f} GPUs", expected);
    finding.measured = fmt::format("{:.0f} GPUs", here->gpus);
    finding.fix = {"lspci -d 10de: | grep -iE '3D|VGA': is it on the bus",
                   "dmesg | grep -iE 'xid|fallen|RmInit': why not"};
    finding.confidence = more ? 0.8 : 0.5;
    finding.loss = whole_gpus_lost(expected - here->gpus, "GPUs that the driver does not see");
    add_once(findings, std::move(finding));
  }
}

void persistence(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const Accelerator* const known = accelerator_named(observed.catalog(), gpu.facts->text("name"));
      const bool server = known != nullptr && known->vendor == "nvidia" && is_data_centre(*known);
      const bool off = says(*gpu.facts, "persistence", "Off") || says(*gpu.facts, "persistence", "Disabled");
      if (server && off) faults.add(gpu, "persistence");
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kLow, "runs|run without persistence mode");
    finding.cause =
        "The driver unloads the GPU whenever nothing uses it: the next program waits seconds for it, and clock "
        "and power settings are lost.";
    finding.expected = "Enabled";
    finding.measured = "Disabled";
    finding.fix = {"systemctl enable --now nvidia-persistenced, or nvidia-smi -pm 1"};
    finding.loss_unknown = "how often programs start is not known";
    add_once(findings, std::move(finding));
  }
}

void ecc_off(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const Accelerator* const known = accelerator_named(observed.catalog(), gpu.facts->text("name"));
      const bool server = known != nullptr && known->vendor == "nvidia" && is_data_centre(*known);
      const bool off = says(*gpu.facts, "ecc", "Off") || says(*gpu.facts, "ecc", "Disabled");
      if (server && off) faults.add(gpu, "ecc");
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kLow, "runs|run with ECC off");
    finding.cause = "Memory errors are neither corrected nor counted: a bad cell shows as NaN or a wrong result.";
    finding.expected = "Enabled";
    finding.measured = "Disabled";
    finding.fix = {"nvidia-smi -e 1, then reset the GPU; on memory with its own ECC (HBM) it costs nothing"};
    finding.loss_unknown = "wrong results cannot be priced";
    add_once(findings, std::move(finding));
  }
}

void mig_pending(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const std::string_view now = gpu.facts->text("mig"), later = gpu.facts->text("mig_pending");
      if (now.ends_with('*')) {
        faults.add(gpu, "mig");
      } else if (!now.empty() && !later.empty() && !equals_ignoring_case(now, later)) {
        faults.add(gpu, "mig_pending");
      }
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kLow, "has|have a change of MIG mode that waits for a reset");
    finding.cause =
        "The mode was switched while programs ran: it changes at the next reset, to the surprise of whoever "
        "runs then.";
    finding.fix = {
        "drain the GPU and reset it (nvidia-smi -r -i <gpu>), or set the mode back (nvidia-smi -i <gpu> -mig 0)"};
    add_once(findings, std::move(finding));
  }
}

// Settings that should be the same on all GPUs of a node.
void settings_differ(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("nvidia-smi")) {
    const FactRecord* const differs = seen.facts->find_record("differs");
    if (differs == nullptr) continue;
    for (const char* const name : {"vbios", "power_limit_w", "graphics_clock_application_mhz", "ecc", "compute_mode"}) {
      const std::vector<const FactRecord*> values = records_of(*differs, name);
      const FactRecord* const names = differs->find_record("name");
      if (values.size() < 2 || names != nullptr || !records_of(*differs, "name").empty()) continue;
      std::vector<std::string> texts;
      Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", node_of(seen), node_of(seen)}, "");
      for (const FactRecord* const value : values) {
        texts.push_back(
            fmt::format("{} on {}", fact_in_words(*value, "value").substr(7), value->integer("count").value_or(0)));
        if (finding.evidence.size() < 4)
          finding.evidence.push_back(evidence_of(seen, value->line, fmt::format("{} {}", name, texts.back())));
      }
      finding.title = fmt::format("the GPUs of one node differ in {}: {}", name, list_names(texts));
      finding.cause = "One GPU was replaced or set by hand: in lockstep the slowest of them sets the pace.";
      finding.fix = {"set them alike (nvidia-smi -pl, -ac, -rgc, -e; firmware for the VBIOS)"};
      finding.loss_unknown = "how much slower the odd ones are is not known";
      finding.confidence = 0.8;
      add_once(findings, std::move(finding));
    }
  }
}

// Nodes of one audit with different drivers.
void drivers_differ(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::map<std::string, std::map<std::string, const Seen*>> nodes_by_driver;
  for (const std::string_view kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      const std::string driver(seen.facts->text("driver"));
      if (!driver.empty() && !seen.node.empty()) nodes_by_driver[driver].emplace(seen.node, &seen);
    }
  }
  std::size_t most = 0, nodes = 0;
  for (const auto& [driver, on] : nodes_by_driver) most = std::max(most, on.size()), nodes += on.size();
  if (nodes_by_driver.size() < 2 || nodes < 3) return;  // of two nodes nobody knows which is the odd one
  for (const auto& [driver, on] : nodes_by_driver) {
    if (on.size() == most) continue;
    std::vector<std::string> names;
    for (const auto& [node, seen] : on) names.push_back(node);
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, {"cluster", list_names(names), ""},
                     fmt::format("driver {} on {} of {} nodes: {}", driver, on.size(), nodes, list_names(names)));
    for (const auto& [node, seen] : on) {
      if (finding.evidence.size() < 4)
        finding.evidence.push_back(evidence_of(*seen, line_of(*seen->facts, "driver"), driver));
    }
    finding.cause = "Nodes were set up at different times: jobs behave differently by where they land.";
    finding.fix = {"bring all nodes to one driver version at the next maintenance"};
    add_once(findings, std::move(finding));
  }
}

constexpr const char* kMemoryManual = "NVIDIA GPU Memory Error Management";
constexpr Rule kRules[] = {
    {"health.ecc-uncorrectable", "Uncorrectable memory errors",
     "Errors that ECC could not correct: since the last reset, or more in SRAM than NVIDIA allows over a GPU's life.",
     kMemoryManual, ecc},
    {"health.row-remap", "Row remapping pending or failed",
     "A bad memory row waits for a reset to be replaced, or cannot be replaced.", kMemoryManual, row_remap},
    {"health.retired-pages", "Retired memory pages", "GPUs before Ampere: pages to retire, or none left to spare.",
     "NVIDIA Dynamic Page Retirement", retired_pages},
    {"health.reset-required", "The driver asks for a reset",
     "nvidia-smi -q says that the GPU needs a reset or restart.", "nvidia-smi manual", reset_required},
    {"health.reading-failed", "A GPU does not answer", "ERR! in power, temperature or load.", "nvidia-smi manual",
     reading_failed},
    {"health.tool-failed", "nvidia-smi fails",
     "It says why instead of an answer: no driver, a lost GPU, versions that do "
     "not fit.",
     "nvidia-smi manual", tool_failed},
    {"health.gpu-missing", "Fewer GPUs than there should be",
     "Fewer GPUs than another tool sees on this node, or one fewer than the board is sold with.",
     "awsome-distributed-ai#361", missing},
    {"health.persistence-off", "Persistence mode is off", "Each first use of the GPU waits for the driver.",
     "NVIDIA driver persistence", persistence},
    {"health.ecc-off", "ECC is off on a data-centre GPU", "Memory errors go unseen.", kMemoryManual, ecc_off},
    {"health.mig-pending", "A MIG mode waits for a reset", "The mode will change by surprise.", "NVIDIA MIG User Guide",
     mig_pending},
    {"health.settings-differ", "GPUs of one node are set differently",
     "Power limit, clocks, VBIOS or ECC of one GPU is not that of its neighbours.", "nvidia-smi manual",
     settings_differ},
    {"health.drivers-differ", "Nodes have different drivers", "Some nodes run another driver version than most.",
     "nvidia-smi manual", drivers_differ},
};

}  // namespace

std::span<const Rule> gpu_state_rules() { return kRules; }

}  // namespace tare
