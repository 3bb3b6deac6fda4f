// GPU memory over a run: growing, full, hardly used.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/training_run.h"

namespace tare {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kFull = 0.97, kLittle = 0.40;

struct Peak {
  double bytes = 0;
  std::int64_t line = 0;
};

// The most that the run held, by its steps or by reports of its ranks; nullopt where the unit is not said.
std::optional<Peak> most_held(const TrainingRun& run, std::initializer_list<StepField> fields,
                              std::string_view report) {
  Peak peak;
  for (const StepField field : fields) {
    for (const StepRow& row : run.series.rows) {
      const double bytes = run.series.base(row, field);
      if (bytes > peak.bytes && !run.series.unit(field).suffix.empty()) peak = {bytes, row.line};
    }
  }
  for (const auto& [suffix, factor] : {std::pair("_mb", 1024.0 * 1024), std::pair("_gb", kGiB)}) {
    const std::string name = std::string(report) + suffix;
    const double bytes = run.number(name).value_or(0) * factor;
    if (bytes > peak.bytes) peak = {bytes, run.facts->find(name)->line};
  }
  if (peak.bytes < kGiB / 64) return std::nullopt;
  return peak;
}

void growth(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const StepField field =
        run.series.has(StepField::kMemoryAllocated) ? StepField::kMemoryAllocated : StepField::kMemoryReserved;
    std::vector<double> bytes;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < run.series.rows.size(); ++i) {
      const double value = run.series.base(run.series.rows[i], field);
      if (!(value > 0)) continue;
      bytes.push_back(value);
      rows.push_back(i);
    }
    if (bytes.size() < 16) continue;
    // After the first quarter memory is settled; a leak goes on from quarter to quarter.
    const std::size_t quarter = bytes.size() / 4;
    const auto middle = [&](std::size_t part) {
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(part * quarter);
      return median(std::vector<double>(from, from + static_cast<std::ptrdiff_t>(quarter)));
    };
    const double second = middle(1), third = middle(2), fourth = middle(3);
    const bool steady = third > 1.01 * second && fourth > 1.01 * third;
    const double more = fourth / second - 1;
    if (!steady || more < 0.05) continue;
    const StepRow& first = run.series.rows[rows[quarter]];
    const StepRow& last = run.series.rows[rows.back()];
    const std::optional<double> limit = run.gpu == nullptr ? std::nullopt : std::optional(run.gpu->memory_bytes);
    const double rate = last.step > first.step ? (fourth - second) / static_cast<double>(last.step - first.step) : 0;
    const double left = limit && rate > 0 ? (*limit - fourth) / rate : kNotSaid;
    const bool will_burst = std::isfinite(left) && run.series.total_steps > 0 &&
                            static_cast<double>(last.step) + left < static_cast<double>(run.series.total_steps);
    Finding finding = finding_of(
        rule, will_burst ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
        fmt::format("GPU memory grows: {:.1f} GiB at {}, {:.1f} GiB at {}{}", second / kGiB, place_of(first),
                    fourth / kGiB, place_of(last), will_burst ? fmt::format("; full in about {:.0f} steps", left) : ""),
        first.line, fmt::format("{}: {:.1f} GiB", place_of(first), second / kGiB));
    finding.evidence.push_back(
        evidence_of(run.seen, last.line, fmt::format("{}: {:.1f} GiB", place_of(last), fourth / kGiB)));
    finding.cause =
        "Tensors are kept from step to step (a loss that is summed with its graph, a growing cache), or memory falls "
        "into "
        "fragments under sequences of changing length.";
    finding.confidence = field == StepField::kMemoryAllocated ? 0.75 : 0.55;
    finding.fix = {"keep loss.item() or loss.detach(), not the loss",
                   "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                   "torch.cuda.memory._record_memory_history() over some steps shows who holds what"};
    finding.loss_unknown = "it costs when it bursts: the steps since the last checkpoint";
    findings.push_back(std::move(finding));
  }
}

double allocation_retries(const TrainingRun& run, std::int64_t& line) {
  double most = 0;
  for (const FactRecord* const rank : records_of(*run.facts, "rank_memory")) {
    for (const char* const name : {"alloc_retires", "alloc_retries"}) {
      const double retries = rank->number(name).value_or(0);
      if (retries <= most) continue;
      most = retries;
      line = rank->line;
    }
  }
  return most;
}

void tight(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    std::int64_t line = 0;
    const FactRecord* const flushes = event_of(run, "allocator-flushes");
    const double retries = allocation_retries(run, line);
    std::string title, text;
    if (flushes != nullptr) {
      line = flushes->line;
      text = flushes->text("text");
      title = fmt::format("the allocator gave its cache back and asked for it again ({:g} lines say so)",
                          flushes->number("count").value_or(1));
    } else if (retries > 0) {
      title = fmt::format("{:g} allocations were tried again after the cache was emptied", retries);
      text = fmt::format("alloc retries: {:g}", retries);
    } else {
      const std::optional<Peak> peak = most_held(run, {StepField::kMemoryReserved}, "memory_max_reserved");
      if (!peak || run.gpu == nullptr || !(run.gpu->memory_bytes > 0) || peak->bytes < kFull * run.gpu->memory_bytes ||
          peak->bytes > 1.15 * run.gpu->memory_bytes) {
        continue;
      }
      title = fmt::format("GPU memory is full: {:.1f} GiB of a {} reserved", peak->bytes / kGiB, run.gpu->id);
      text = fmt::format("{:.1f} GiB reserved", peak->bytes / kGiB);
      line = peak->line;
    }
    Finding finding = finding_of(rule, FindingSeverity::kLow, run, std::move(title), line, std::move(text));
    finding.cause =
        "Each time the cache does not hold a large enough piece, the GPU is stopped, memory is given back and asked "
        "for "
        "anew. The next longer batch ends the run.";
    finding.confidence = flushes != nullptr || retries > 0 ? 0.85 : 0.6;
    finding.fix = {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "a smaller micro-batch with more accumulation",
                   "recompute activations in a part of the layers, shard optimiser states"};
    finding.loss_unknown = "how long the stops take is not in the log";
    finding.consequences = {"training.jitter"};
    findings.push_back(std::move(finding));
  }
}

void little(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    if (run.gpu == nullptr || !(run.gpu->memory_bytes > 0) || run.series.row_count < 2) continue;
    const std::optional<Peak> peak = most_held(
        run, {StepField::kMemoryPeak, StepField::kMemoryReserved, StepField::kMemoryAllocated}, "memory_max_allocated");
    if (!peak || peak->bytes > kLittle * run.gpu->memory_bytes) continue;
    Finding finding = finding_of(
        rule, FindingSeverity::kInfo, run,
        fmt::format("{:.1f} of {:.0f} GiB of GPU memory are used", peak->bytes / kGiB, run.gpu->memory_bytes / kGiB),
        peak->line, fmt::format("at most {:.1f} GiB", peak->bytes / kGiB));
    finding.cause =
        "There is room for a larger micro-batch, for less recomputation, or for the job on a smaller GPU. It says "
        "nothing "
        "of how busy the GPU is.";
    finding.confidence = 0.8;
    finding.fix = {"try twice the micro-batch with half the accumulation; switch recomputation off"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"training.memory-growth", "GPU memory grows from step to step", "the run ends out of memory", "", growth},
    {"training.memory-tight", "GPU memory is full", "the allocator stops the GPU to find room",
     "deepspeedai/DeepSpeed stage3.py", tight},
    {"training.memory-little", "GPU memory is hardly used", "a larger batch may use the GPU better", "", little},
};

}  // namespace

std::span<const Rule> training_memory_rules() { return kRules; }

}  // namespace tare
