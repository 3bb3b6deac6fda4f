#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/gpu_course.h"
#include "audit/gpu_seen.h"
#include "audit/telemetry_parts.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

Subject file_of(const Seen& seen) {
  return {seen.node.empty() ? "file" : "node", seen.node.empty() ? seen.file->path : seen.node, seen.node};
}

// A lane of PCIe one way, GB/s, by generation 1 to 6.
constexpr std::array<double, 6> kLaneGbPerS = {0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
constexpr int kWidest = 16;
constexpr double kTolerance = 1.05;

// What the link can carry at most one way; of any card, where the card is not known.
double link_gb_per_s(const Accelerator* gpu) {
  const bool known = gpu != nullptr && gpu->pcie_generation >= 1 && gpu->pcie_generation <= 6 && gpu->pcie_lanes >= 1;
  const std::size_t generation = known ? static_cast<std::size_t>(gpu->pcie_generation) : kLaneGbPerS.size();
  return kLaneGbPerS[generation - 1] * (known ? gpu->pcie_lanes : kWidest);
}

// The factor to GB/s of a rate over PCIe; nullopt for other columns.
std::optional<double> pcie_rate_unit(std::string_view name) {
  if (!contains(name, "pci") || !(contains(name, "rx") || contains(name, "tx"))) return std::nullopt;
  if (name.ends_with("mb_per_s")) return 1e-3;
  if (name.ends_with("kb_per_s")) return 1e-6;
  if (name.ends_with("bytes_per_s")) return 1e-9;
  return std::nullopt;
}

struct Outliers {
  std::size_t count = 0, samples = 0;
  double most_gb_per_s = 0;
  std::int64_t line = 0;
  std::string name;
};

void count_outliers(const FactRecord& record, double link, Outliers& outliers) {
  for (const auto& [name, value] : record.members()) {
    const auto unit = pcie_rate_unit(name);
    const auto number = value.number();
    if (!unit || !number) continue;
    ++outliers.samples;
    const double rate = *number * *unit;
    if (rate <= link * kTolerance) continue;
    ++outliers.count;
    if (rate > outliers.most_gb_per_s) outliers.most_gb_per_s = rate, outliers.line = record.line, outliers.name = name;
  }
}

void pcie_glitch(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const char* const kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      const double link = link_gb_per_s(observed.accelerator_beside(seen));
      Outliers outliers;
      for (const FactRecord* const run : runs_of(seen)) {
        for (const char* const list : {"rows", "gpus"}) {
          for (const FactRecord* const one : records_of(*run, list)) count_outliers(*one, link, outliers);
        }
      }
      if (outliers.count == 0) continue;
      Finding finding = make_finding(
          rule, FindingSeverity::kLow, file_of(seen),
          fmt::format(
              "{} of {} samples of PCIe traffic are above what the link can carry, up to {:.0f} GB/s: discard them",
              outliers.count, outliers.samples, outliers.most_gb_per_s));
      finding.evidence.push_back(
          evidence_of(seen, outliers.line, fmt::format("{}: {:.0f} GB/s", outliers.name, outliers.most_gb_per_s)));
      finding.cause =
          "The counter is sampled over 20 ms and wraps or glitches: such values are no traffic, and a mean over them "
          "is "
          "worthless.";
      finding.expected = fmt::format("at most {:.0f} GB/s one way", link);
      finding.measured = fmt::format("{:.0f} GB/s", outliers.most_gb_per_s);
      finding.fix = {"use the median, or leave out what is over the link's rate",
                     "DCGM's DCGM_FI_PROF_PCIE_RX_BYTES and _TX_BYTES are counted, not sampled"};
      finding.confidence = 0.95;
      add_once(findings, std::move(finding));
    }
  }
}

void no_data(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("Prometheus API")) {
    if (!is_true(*seen.facts, "no_data")) continue;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, file_of(seen),
                                   "Prometheus has no data for this query: that is not 0 % utilisation");
    finding.evidence.push_back(evidence_of(seen, std::max<std::int64_t>(1, seen.facts->line), "result: no series"));
    finding.cause =
        "No series matches: the exporter is not scraped or does not run, the metric is not in its list, or the labels "
        "of "
        "the query do not fit.";
    finding.fix = {"up{job=~\".*dcgm.*\"} in Prometheus: is the exporter scraped",
                   "curl <node>:9400/metrics | grep DCGM_FI_DEV_GPU_UTIL: does it export the metric",
                   "the ServiceMonitor's labels; exported_pod against pod (honorLabels)"};
    finding.confidence = 0.9;
    finding.loss_unknown = "GPUs that nobody watches may stand idle; how many is not known";
    add_once(findings, std::move(finding));
  }
}

void query_failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("Prometheus API")) {
    if (seen.facts->text("status") != "error" && seen.facts->text("error").empty()) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, file_of(seen),
                     fmt::format("Prometheus refused the query: {}", seen.facts->text("error").substr(0, 100)));
    finding.evidence.push_back(
        evidence_of(seen, line_of(*seen.facts, "error"), fact_in_words(*seen.facts, "error_type")));
    finding.cause = "The answer holds no measurement.";
    finding.fix = {"correct the query, or ask for a shorter range or a longer step"};
    add_once(findings, std::move(finding));
  }
}

// Metrics that say how a GPU is used. Others (fan of a GPU without one, memory temperature) are unknown by nature.
bool is_telling(std::string_view name) {
  constexpr std::array<std::string_view, 10> kTelling = {"gpu_util",     "sm_clock",    "power_usage", "_active",
                                                         "sm_occupancy", "dram_active", "fb_used",     "pipe_",
                                                         "sm_pct",       "util_pct"};
  constexpr std::array<std::string_view, 6> kOthers = {"enc", "dec", "jpeg", "ofa", "vgpu", "sync"};
  const auto has = [name](std::string_view part) { return contains(name, part); };
  return std::any_of(kTelling.begin(), kTelling.end(), has) && std::none_of(kOthers.begin(), kOthers.end(), has);
}

bool is_profiling(std::string_view name) {
  return contains(name, "_active") || contains(name, "occupancy") || contains(name, "pipe_");
}

bool has_nameless_instances(const Seen& seen) {
  const std::vector<const FactRecord*> instances = records_of(*seen.facts, "mig_instances");
  return std::any_of(instances.begin(), instances.end(),
                     [](const FactRecord* one) { return contains(one->text("gpu_i_profile"), "NULL"); });
}

// Statistics with counts but no value, of exporters and monitors.
void add_silent(const FactRecord& stat, std::string_view name, std::vector<std::string>& silent) {
  if (!is_telling(name) || stat.number("count") != 0.0 || stat.number("unknown_count").value_or(0) < 1) return;
  if (silent.size() < 64) silent.emplace_back(name);
}

void metric_missing(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const char* const kind : {"dcgm", "nvidia-smi"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      std::vector<std::string> silent;
      for (const FactRecord* const metric : records_of(*seen.facts, "metrics"))
        add_silent(*metric, metric->text("fact"), silent);
      for (const FactRecord* const run : runs_of(seen)) {
        const FactRecord* const overall = run->find_record("overall");
        if (overall == nullptr) continue;
        for (const auto& [name, stat] : overall->members()) {
          if (stat.as_record() != nullptr) add_silent(*stat.as_record(), name, silent);
        }
      }
      const bool nameless = has_nameless_instances(seen);
      if (silent.empty() && !nameless) continue;
      const bool profiling =
          std::any_of(silent.begin(), silent.end(), [](const std::string& one) { return is_profiling(one); });
      const std::string what = silent.empty() ? std::string("MIG instances") : list_names(silent);
      Finding finding =
          make_finding(rule, profiling || nameless ? FindingSeverity::kMedium : FindingSeverity::kLow, file_of(seen),
                       nameless ? fmt::format("{}: no values, and the MIG profile is unknown", what)
                                : fmt::format("{}: asked for, and not measured", what));
      finding.evidence.push_back(evidence_of(seen, std::max<std::int64_t>(1, seen.facts->line), "no value: " + what));
      finding.cause =
          nameless ? "DCGM and the exporter do not know the instance (partitioned after their start, or GPUs of a "
                     "group that "
                     "do not fit together), so its metrics are not collected. Unknown is not 0."
          : profiling
              ? "Profiling metrics need rights (CAP_SYS_ADMIN), a GPU that has them, and no other profiler at the same "
                "time. Unknown is not 0."
              : "The tool has nothing to say: a partitioned or virtual GPU, or missing rights. Unknown is not 0.";
      finding.fix = {
          "restart nv-hostengine and the exporter after a change of partitions",
          "run the exporter with CAP_SYS_ADMIN; stop other profilers (Nsight, dcgmi dmon) while it measures"};
      finding.confidence = 0.8;
      finding.loss_unknown = "what is not measured may be idle; how much is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void blank_values(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    const auto blanks = seen.facts->number("blank_values");
    if (blanks.value_or(0) < 1) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, file_of(seen),
                     fmt::format("{:.0f} values are DCGM's mark for \"blank\", no measurements", *blanks));
    finding.evidence.push_back(
        evidence_of(seen, std::max<std::int64_t>(1, seen.facts->line), fact_in_words(*seen.facts, "blank_values")));
    finding.cause =
        "DCGM writes huge numbers (9.2e18, 2147483632) for what it does not know; some exporters pass them on. Sums, "
        "means "
        "and alerts over them are wrong.";
    finding.fix = {"update the exporter; in queries keep what is below the mark: metric < 1e15"};
    finding.confidence = 0.95;
    add_once(findings, std::move(finding));
  }
}

void mig_sums(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    std::map<std::string, std::vector<const FactRecord*>> by_gpu;
    for (const FactRecord* const one : records_of(*seen.facts, "mig_instances")) {
      if (const auto gpu = one->integer("gpu")) by_gpu[fmt::format("GPU{}", *gpu)].push_back(one);
    }
    std::erase_if(by_gpu, [](const auto& one) { return one.second.size() < 2; });
    if (by_gpu.empty()) continue;
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"gpu", "", seen.node}, "");
    for (const auto& [gpu, instances] : by_gpu) {
      names.push_back(gpu);
      if (finding.evidence.size() >= 4) continue;
      finding.evidence.push_back(evidence_of(
          seen, instances.front()->line,
          fmt::format("{}: {} instances, {}", gpu, instances.size(), instances.front()->text("gpu_i_profile"))));
    }
    finding.subject.name = list_names(names);
    if (names.size() > 1) finding.subject.kind = "node";
    finding.title =
        fmt::format("{} {} partitioned (MIG): metrics of the whole GPU stand once for each instance, never sum them",
                    list_names(names), names.size() == 1 ? "is" : "are");
    finding.cause =
        "Clock, power and temperature are the GPU's own and are repeated with the labels of each instance; a sum over "
        "the "
        "series counts them several times.";
    finding.fix = {"max by (UUID) (metric), not sum"};
    finding.confidence = 0.95;
    add_once(findings, std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"telemetry.pcie-glitch", "PCIe counters above the link's rate",
     "Such samples are no traffic; a mean over them misleads.", "nvidia-smi manual: dmon", pcie_glitch},
    {"telemetry.no-data", "An empty answer is not zero", "A query without series says that nothing is measured.",
     "NVIDIA/gpu-operator#983", no_data},
    {"telemetry.query-failed", "Prometheus refused the query", "The answer holds no measurement.",
     "Prometheus HTTP API", query_failed},
    {"telemetry.metric-missing", "Metrics that are not measured", "N/A of a metric is not 0.",
     "NVIDIA/DCGM#3, NVIDIA/DCGM#151, NVIDIA/DCGM#244", metric_missing},
    {"telemetry.blank-values", "Blank values taken for numbers", "DCGM's mark for unknown is a huge number.",
     "NVIDIA/gpu-monitoring-tools#152", blank_values},
    {"telemetry.mig-sums", "Metrics of a partitioned GPU", "Those of the device are repeated for each instance.",
     "NVIDIA/dcgm-exporter MIG labels", mig_sums},
};

}  // namespace

std::span<const Rule> telemetry_data_rules() { return kRules; }

}  // namespace tare
