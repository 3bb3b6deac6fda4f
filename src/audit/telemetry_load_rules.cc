#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/gpu_course.h"
#include "audit/gpu_seen.h"
#include "audit/loss.h"
#include "audit/telemetry_parts.h"

namespace tare {
namespace {

// GPU-Util counts time in which any kernel is there. One that waits in a collective counts as well, but draws little
// power (open threads: 90 W of 300 W on an A800) and touches no memory; a GPU at work draws half of its limit and more.
constexpr double kBusyPct = 95;
constexpr double kWaitingPowerShare = 0.40;
constexpr double kWorkingPowerShare = 0.50;
constexpr double kMemoryAtWorkPct = 20;  // the memory controller's utilisation of work that is bound by memory
constexpr double kMemoryWaitingPct = 5;  // and of a kernel that only looks at a flag

struct Load {
  std::optional<double> util_pct, memory_pct, watts, limit_w;
};

bool is_waiting(const Load& load) {
  if (load.util_pct.value_or(0) < kBusyPct || !load.watts) return false;
  if (load.limit_w) {
    return *load.watts <= kWaitingPowerShare * *load.limit_w && load.memory_pct.value_or(0) < kMemoryAtWorkPct;
  }
  return load.memory_pct && *load.memory_pct <= kMemoryWaitingPct;
}

bool is_working(const Load& load) {
  return load.util_pct.value_or(0) >= 90 && load.watts && load.limit_w &&
         *load.watts >= kWorkingPowerShare * *load.limit_w;
}

Load load_of(const FactRecord& gpu) {
  return {util_pct(gpu), first_number(gpu, {"mem_util_pct", "mem_copy_util_pct"}), power_w(gpu), power_limit_w(gpu)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string in_words(const Load& load) {
  std::string text = fmt::format("{:.0f} % busy at {:.0f} W", load.util_pct.value_or(0), load.watts.value_or(0));
  if (load.limit_w) text += fmt::format(" of {:.0f} W", *load.limit_w);
  if (load.memory_pct) text += fmt::format(", memory {:.0f} %", *load.memory_pct);
  return text;
}

const std::vector<std::string>& how_to_find_the_waiting() {
  static const std::vector<std::string> steps = {
      "which rank comes late: a trace of a step, or py-spy dump of the ranks on the GPUs that work and that wait",
      "pipeline stages: even out layers per stage, more microbatches; data parallel: look for one slow GPU, NIC or "
      "loader",
      "NCCL_DEBUG=INFO for the transport; a collective that never ends is a hang"};
  return steps;
}

// How far the power of the two must be apart.
constexpr double kApart = 1.6;

void part_stalled(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    std::vector<double> waiting, working;
    for (const GpuSeen& gpu : group.gpus) {
      const Load load = load_of(*gpu.facts);
      if (is_working(load)) working.push_back(*load.watts);
      if (gpu.partitioned || !is_waiting(load)) continue;
      waiting.push_back(*load.watts);
      faults.add(gpu, line_of(*gpu.facts, "power_w"), in_words(load));
    }
    if (waiting.empty() || working.empty() || median(working) < kApart * median(waiting)) continue;
    Finding finding = faults.finding(
        rule, FindingSeverity::kMedium,
        fmt::format("waits|wait at {:.0f} W while {} other{} work at {:.0f} W, all \"{:.0f} % busy\"", median(waiting),
                    working.size(), working.size() == 1 ? "" : "s", median(working), kBusyPct + 5));
    finding.cause =
        "They spin in a collective until the others arrive: stages or ranks with unequal work, or one that is late.";
    finding.expected = "about equal power over the GPUs of a job";
    finding.measured = fmt::format("{:.0f} W against {:.0f} W", median(waiting), median(working));
    finding.fix = how_to_find_the_waiting();
    finding.confidence = 0.8;
    finding.loss_unknown = "one moment does not tell how long they wait";
    add_once(findings, std::move(finding));
  }
}

void busy_low_power(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    if (group.seen->facts->has("rows")) continue;  // told below, from all of them
    GpuFaults faults(group);
    bool working = false;
    for (const GpuSeen& gpu : group.gpus) {
      const Load load = load_of(*gpu.facts);
      working = working || is_working(load);
      if (!gpu.partitioned && is_waiting(load)) faults.add(gpu, line_of(*gpu.facts, "power_w"), in_words(load));
    }
    if (faults.empty() || working) continue;
    Finding finding = faults.finding(rule, faults.count() > 1 ? FindingSeverity::kMedium : FindingSeverity::kLow,
                                     "shows|show full utilisation at a small share of its|their power");
    finding.cause =
        "Utilisation counts any kernel, also one that waits: for a collective, for the host, for a few threads. "
        "Work that fills the GPU draws half of the limit and more.";
    finding.expected = fmt::format("over {:.0f} % of the power limit", kWorkingPowerShare * 100);
    finding.fix = how_to_find_the_waiting();
    finding.confidence = 0.6;
    finding.loss_unknown = "one moment does not tell how long they wait";
    add_once(findings, std::move(finding));
  }
}

struct WaitTally {
  double rows = 0, busy = 0, waiting = 0;
  std::int64_t line = 0;
  std::string text;
};

// At least so many samples of a GPU, before a share of them is a measure of its time.
constexpr double kSamplesToPrice = 10;
constexpr std::size_t kGpusForMedium = 4;
constexpr double kWaitsForMedium = 20;

Load load_of_row(const FactRecord& row, const Accelerator* gpu) {
  Load load{row_util_pct(row), first_number(row, {"mem_pct", "mem_util_pct", "mem_copy_util_pct"}),
            first_number(row, {"pwr_w", "power_w", "power_usage_w", "power_draw_w"}), power_limit_w(row)};
  if (!load.limit_w && gpu != nullptr) load.limit_w = gpu->tdp_w;
  return load;
}

void add_waits(const Rule& rule, const Observed& observed, const Seen& seen, const FactRecord& run,
               std::vector<Finding>& findings) {
  const Accelerator* const known = observed.accelerator_beside(seen);
  std::map<std::string, WaitTally> tallies;
  for (const FactRecord* const row : records_of(run, "rows")) {
    const auto gpu = first_number(*row, {"gpu", "index", "gpu_id", "entity"});
    if (!gpu || row->text("entity_type").starts_with("GPU-")) continue;
    const Load load = load_of_row(*row, known);
    WaitTally& tally = tallies[fmt::format("GPU{:.0f}", *gpu)];
    ++tally.rows;
    tally.busy += load.util_pct.value_or(0) >= kBusyPct ? 1 : 0;
    if (!is_waiting(load)) continue;
    if (tally.waiting++ == 0) tally.line = row->line, tally.text = in_words(load);
  }
  double busy = 0, waiting = 0, rows = 0, least_rows = 1e9;
  std::vector<std::string> names;
  std::vector<Evidence> evidence;
  for (const auto& [name, tally] : tallies) {
    busy += tally.busy, waiting += tally.waiting, rows += tally.rows;
    least_rows = std::min(least_rows, tally.rows);
    if (tally.waiting < 1) continue;
    names.push_back(name);
    if (evidence.size() < 4) evidence.push_back(evidence_of(seen, tally.line, name + ": " + tally.text));
  }
  if (busy < 3 || waiting < 2 || waiting * 2 < busy) return;
  const bool much = names.size() >= kGpusForMedium || waiting >= kWaitsForMedium;
  Subject subject{names.size() == 1 ? "gpu" : "node", list_names(names, 8), seen.node};
  Finding finding =
      make_finding(rule, much ? FindingSeverity::kMedium : FindingSeverity::kLow, std::move(subject),
                   fmt::format("{}: {:.0f} of {:.0f} samples of full utilisation are waiting, by power and memory",
                               list_names(names), waiting, busy));
  finding.evidence = std::move(evidence);
  finding.cause =
      "Utilisation counts any kernel, also one that waits in a collective: its power is low and it hardly touches "
      "memory. This is a phase bound by communication or by a late rank.";
  finding.measured = fmt::format("{:.0f} of {:.0f} samples", waiting, busy);
  finding.fix = how_to_find_the_waiting();
  finding.confidence = known != nullptr ? 0.7 : 0.55;
  if (least_rows >= kSamplesToPrice) {
    finding.loss = share_lost(known_ratio("waiting_ratio", waiting / rows, "samples that wait over all samples"),
                              static_cast<double>(tallies.size()), "GPUs that were measured");
  } else {
    finding.loss_unknown = "a few samples do not tell how long they wait";
  }
  add_once(findings, std::move(finding));
}

void waiting(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  busy_low_power(rule, observed, findings);
  for (const char* const kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      for (const FactRecord* const run : runs_of(seen)) add_waits(rule, observed, seen, *run, findings);
    }
  }
}

// Of DCGM's profiling metrics. A matrix kernel that runs well keeps the tensor pipe active half of the time and more; a
// kernel bound by memory keeps DRAM active at 60 % and more (NVIDIA DCGM user guide, profiling metrics).
constexpr double kTensorAtWork = 0.5;
constexpr double kDramAtWork = 0.6;

void add_info(const Rule& rule, const GpuFaults& faults, std::string_view title, const char* cause,
              std::vector<Finding>& findings) {
  if (faults.empty()) return;
  Finding finding = faults.finding(rule, FindingSeverity::kInfo, title);
  finding.cause = cause;
  finding.confidence = 0.85;
  add_once(findings, std::move(finding));
}

void compute_bound(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults tensor(group), memory(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto active = gpu.facts->number("pipe_tensor_active"), dram = gpu.facts->number("dram_active");
      if (active.value_or(0) >= kTensorAtWork) {
        tensor.add(gpu, line_of(*gpu.facts, "pipe_tensor_active"),
                   fmt::format("tensor pipe {:.0f} % active", *active * 100));
      } else if (dram.value_or(0) >= kDramAtWork) {
        memory.add(gpu, line_of(*gpu.facts, "dram_active"), fmt::format("memory {:.0f} % active", *dram * 100));
      }
    }
    add_info(rule, tensor, "is|are bound by compute and healthy: the tensor pipe is active most of the time",
             "Matrix kernels fill the GPU; more speed comes from fewer or cheaper operations, not from less waiting.",
             findings);
    add_info(rule, memory, "is|are bound by memory: it works, the tensor pipe waits for data",
             "Decoding of language models and elementwise kernels live on memory bandwidth; a low tensor figure is "
             "normal then.",
             findings);
  }
}

// Engine active, and neither tensor pipe nor memory does anything.
constexpr double kEngineBusy = 0.9;
constexpr double kNothing = 0.03;

void busy_without_work(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto engine = gpu.facts->number("gr_engine_active"), tensor = gpu.facts->number("pipe_tensor_active"),
                 dram = gpu.facts->number("dram_active");
      if (engine.value_or(0) < kEngineBusy || tensor.value_or(1) > kNothing || dram.value_or(1) > kNothing) continue;
      const bool other_pipes =
          first_number(*gpu.facts, {"pipe_fp32_active", "pipe_fp64_active", "pipe_fp16_active"}).value_or(0) > kNothing;
      if (other_pipes) continue;
      faults.add(gpu, line_of(*gpu.facts, "gr_engine_active"),
                 fmt::format("engine {:.0f} %, tensor pipe {:.0f} %, memory {:.0f} %", *engine * 100, *tensor * 100,
                             *dram * 100));
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kMedium,
                                     "is|are busy without doing anything: neither tensor pipe nor memory works");
    finding.cause = "A kernel spins: a collective waits for another rank, or a loop on a flag.";
    finding.fix = how_to_find_the_waiting();
    finding.confidence = 0.75;
    finding.loss_unknown = "one moment does not tell how long they wait";
    add_once(findings, std::move(finding));
  }
}

constexpr double kNearlyFull = 0.98;

void memory_full(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto used = memory_used_ratio(*gpu.facts);
      if (used.value_or(0) < kNearlyFull || gpu.partitioned) continue;
      faults.add(gpu, line_of(*gpu.facts, gpu.facts->has("mem_used_mib") ? "mem_used_mib" : "fb_used_mib"),
                 fmt::format("{:.1f} % of memory in use", *used * 100));
    }
    add_info(rule, faults, "has|have nearly all memory in use",
             "Frameworks keep what they once took, so this alone is no fault; but the next larger batch, sequence or "
             "buffer of "
             "NCCL may fail with out of memory.",
             findings);
  }
}

// Over the median of the others, with power to match; a heat sink or a fan of one GPU then.
constexpr double kHotterC = 15;
constexpr double kMuchHotterC = 25;
constexpr std::size_t kEnoughGpus = 4;
constexpr double kSimilarPower = 1.25;

void uneven_heat(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    std::vector<double> all, watts;
    for (const GpuSeen& gpu : group.gpus) {
      if (const auto temp = temperature_c(*gpu.facts)) all.push_back(*temp);
      if (const auto power = power_w(*gpu.facts)) watts.push_back(*power);
    }
    if (all.size() < kEnoughGpus || watts.size() != all.size()) continue;
    const double usual = median(all), usual_w = median(watts);
    GpuFaults faults(group);
    double worst = 0;
    for (const GpuSeen& gpu : group.gpus) {
      const auto temp = temperature_c(*gpu.facts), power = power_w(*gpu.facts);
      if (!temp || !power || *temp < usual + kHotterC || *power > kSimilarPower * usual_w) continue;
      worst = std::max(worst, *temp - usual);
      faults.add(gpu, line_of(*gpu.facts, gpu.facts->has("temp_c") ? "temp_c" : "gpu_temp_c"),
                 fmt::format("{:.0f} °C at {:.0f} W; the others {:.0f} °C", *temp, *power, usual));
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, worst >= kMuchHotterC ? FindingSeverity::kMedium : FindingSeverity::kLow,
                                     fmt::format("is|are {:.0f} °C hotter than the others at like power", worst));
    finding.cause =
        "Heat of this GPU does not get away as it does next door: paste, heat sink, fan, blocked air, coolant.";
    finding.expected = fmt::format("about {:.0f} °C", usual);
    finding.fix = {"compare under equal load (dcgmi diag -r 3); then clean, reseat the heat sink or replace the fan"};
    finding.confidence = 0.7;
    finding.loss_unknown = "nothing until it slows down";
    add_once(findings, std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"telemetry.part-stalled", "Some GPUs wait for the others",
     "All show full utilisation, but some draw a fraction of the power of the rest.", "nvidia-smi manual: utilization",
     part_stalled},
    {"telemetry.busy-low-power", "Full utilisation, little power",
     "GPU-Util of 100 % is not work: a kernel that waits counts too.", "nvidia-smi manual: utilization", waiting},
    {"telemetry.bound-by", "What the GPU is bound by", "A busy tensor pipe or memory is work, and healthy.",
     "NVIDIA DCGM user guide: profiling metrics", compute_bound},
    {"telemetry.busy-without-work", "Busy and idle at once", "The engine is active; tensor pipe and memory are not.",
     "NVIDIA DCGM user guide: profiling metrics", busy_without_work},
    {"telemetry.memory-full", "Nearly all memory in use", "The next larger allocation may fail.",
     "PyTorch CUDA memory notes", memory_full},
    {"telemetry.uneven-heat", "One GPU is hotter than the others", "At like power; cooling of that GPU.",
     "nvidia-smi manual", uneven_heat},
};

}  // namespace

std::span<const Rule> telemetry_load_rules() { return kRules; }

}  // namespace tare
