#include "audit/run_rules.h"

#include <fmt/format.h>

#include <cmath>

#include "audit/loss.h"
#include "audit/rule.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr double kWithinError = 0.85;  // of the predicted rate: the model errs by about as much (docs/validation.md)
constexpr double kMuchSlower = 0.70;
constexpr double kMuchFaster = 1.30;    // then the job file is not of this run
constexpr double kSlowsTheWork = 0.10;  // of the time: medium, as everywhere in the audit
constexpr double kWorthSaying = 0.02;   // of the time
constexpr double kAnotherJob = 0.02;    // relative difference of what should be equal

double checkpoint_s(const FactRecord& facts) {
  double sum = 0;
  for (const FactRecord* const timer : records_of(facts, "timers")) {
    const std::string_view name = timer->text("name");
    if (!contains(name, "save") && !contains(name, "checkpoint")) continue;
    sum += timer->number("count").value_or(0) * timer->number("mean_ms").value_or(0) / 1e3;
  }
  return sum;
}

Finding run_finding(const Rule& rule, FindingSeverity severity, const RunAudit& run, std::int64_t line,
                    std::string text) {
  Finding finding = make_finding(rule, severity, {"job", run.predicted.job, ""}, "");
  finding.evidence.push_back({run.measured.file, line, std::move(text)});
  return finding;
}

std::string in_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

FindingSeverity by_share(double share) {
  return share >= kSlowsTheWork ? FindingSeverity::kMedium : FindingSeverity::kLow;
}

// What the log alone says of why it is slow is the cause, and takes the cost that the prediction puts on it.
void find_cause_in_log(Finding& finding, std::vector<Finding>& findings) {
  for (Finding& other : findings) {
    const bool why = other.rule_id == "training.data-stall" || other.rule_id == "training.throughput-drop" ||
                     other.rule_id == "training.pipeline-bubble";
    if (!why || other.evidence.empty() || other.evidence.front().file != finding.evidence.front().file) continue;
    other.consequences.push_back(finding.rule_id);
    if (!other.loss || other.loss->value < finding.loss->value) {
      other.loss = finding.loss;
      other.loss_unknown.clear();
    }
    return;
  }
}

// Each part of a step that the log times and that takes longer than predicted.
std::string parts_beyond(const RunAudit& run) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& measured, double predicted) {
    if (!measured || *measured < predicted + 0.02 * run.measured.step_time_s) return;
    text += fmt::format(" {} takes {:.3g} s of a step, predicted {:.3g} s.", name, *measured, predicted);
  };
  add("Waiting for data", run.measured.data_s, run.predicted.data_s);
  add("Communication", run.measured.communication_s, run.predicted.communication_s);
  return text.empty() ? " The log does not time the parts of a step." : text;
}

void slower(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::optional<RunAudit>& run = observed.once(run_of);
  if (!run || !run->calibration_ratio || *run->calibration_ratio >= kWithinError) return;
  const double ratio = *run->calibration_ratio;
  const auto severity = ratio < kMuchSlower ? FindingSeverity::kMedium : FindingSeverity::kLow;
  Finding finding =
      run_finding(rule, severity, *run, run->measured.line,
                  fmt::format("{:.0f} steps of {:.3g} s", run->measured.steps, run->measured.step_time_s));
  finding.title = fmt::format("{:.0f} tokens per second and GPU, {:.0f} % of what was predicted",
                              *run->measured.tokens_per_s_per_gpu, ratio * 100);
  finding.cause =
      fmt::format("Predicted for {} with {}.{}", run->predicted.on, run->predicted.parallelism, parts_beyond(*run));
  finding.expected = fmt::format("{:.0f} tokens/s/GPU, MFU {:.0f} %", run->predicted.tokens_per_s_per_gpu,
                                 run->predicted.mfu_ratio * 100);
  finding.measured = fmt::format("{:.0f} tokens/s/GPU, MFU {:.0f} %", *run->measured.tokens_per_s_per_gpu,
                                 run->measured.mfu_ratio.value_or(0) * 100);
  finding.confidence = 0.6;
  // Only of the time in which it trained: stops and restarts are findings of their own.
  const double trained = run->measured.goodput_ratio.value_or(1);
  finding.loss =
      share_lost(known_ratio("lost_ratio", (1 - ratio) * trained, "measured over predicted rate, while it trained"),
                 *run->measured.gpus, "GPUs of the run");
  finding.fix = {
      "audit the nodes' outputs together with this log: a fault that explains it is shown first",
      "record a profile of a few steps on every rank, and audit the traces: rank.late says who is waited for"};
  finding.consequences = {"training.mfu-low"};
  find_cause_in_log(finding, findings);
  findings.push_back(std::move(finding));
}

void restarts(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::optional<RunAudit>& run = observed.once(run_of);
  if (!run || run->measured.restarts == 0) return;
  const MeasuredRun& m = run->measured;
  const double lost_s = m.redone_s + m.restart_s;
  const double share = m.span_s > 0 ? lost_s / m.span_s : 0;
  if (share < kWorthSaying) return;
  Finding finding = run_finding(rule, by_share(share), *run, m.first_restart_line, "the step number falls back here");
  finding.title =
      fmt::format("{} restart{}: {:.0f} steps done again and {} until the next step, {:.1f} % of the time", m.restarts,
                  m.restarts == 1 ? "" : "s", m.redone_steps, in_words(m.restart_s), share * 100);
  finding.cause = "Each failure takes the work since the last checkpoint, and the time to notice it and to start.";
  finding.expected = fmt::format("a goodput of {:.1f} %", run->predicted.goodput_ratio * 100);
  if (m.goodput_ratio) finding.measured = fmt::format("{:.1f} %", *m.goodput_ratio * 100);
  finding.confidence = 0.9;
  finding.loss = share_lost(known_ratio("lost_ratio", share, "redone steps and restarts over the span"), *m.gpus,
                            "GPUs of the run");
  finding.fix = {"look for what ended it: the lines before the restart, dmesg of the nodes",
                 "checkpoint more often: tare estimate JOB.toml --on CLUSTER.toml --checkpoint-every auto"};
  finding.consequences = {"training.restart"};
  findings.push_back(std::move(finding));
}

void stops(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::optional<RunAudit>& run = observed.once(run_of);
  if (!run || run->measured.stops == 0) return;
  const MeasuredRun& m = run->measured;
  const double share = m.span_s > 0 ? m.stop_s / m.span_s : 0;
  if (share < kWorthSaying) return;
  Finding finding = run_finding(rule, by_share(share), *run, m.longest_stop_line,
                                fmt::format("{} without a step before this line", in_words(m.longest_stop_s)));
  finding.title = fmt::format("{} stop{} of together {}: {:.1f} % of the time nothing was trained", m.stops,
                              m.stops == 1 ? "" : "s", in_words(m.stop_s), share * 100);
  finding.cause =
      "Between two lines of the log more time passed than their steps take: checkpoints that block, "
      "evaluations, data that run out, or a restart from the very step.";
  finding.measured = fmt::format("{} in {}, the longest {}", m.stops, in_words(m.span_s), in_words(m.longest_stop_s));
  finding.confidence = 0.8;
  finding.loss = share_lost(known_ratio("lost_ratio", share, "stops over the span"), *m.gpus, "GPUs of the run");
  finding.fix = {"write checkpoints asynchronously, and evaluate elsewhere",
                 "see what the log says at the longest stop"};
  finding.consequences = {"training.gap", "training.pauses", "training.checkpoint-stall"};
  findings.push_back(std::move(finding));
}

// A comparison that compares different things.
void another_job(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::optional<RunAudit>& run = observed.once(run_of);
  if (!run) return;
  std::vector<std::string> differences;
  const auto differ = [](double a, double b) { return std::abs(a - b) > kAnotherJob * std::max(a, b); };
  if (differ(*run->measured.gpus, run->predicted.gpus)) {
    differences.push_back(fmt::format("{:.0f} GPUs, predicted for {:.0f}", *run->measured.gpus, run->predicted.gpus));
  }
  if (differ(*run->measured.tokens_per_step, run->predicted.tokens_per_step)) {
    differences.push_back(fmt::format("{:.0f} tokens a step, the job's are {:.0f}", *run->measured.tokens_per_step,
                                      run->predicted.tokens_per_step));
  }
  if (run->calibration_ratio.value_or(1) > kMuchFaster) {
    differences.push_back(fmt::format("{:.0f} % of the predicted rate", *run->calibration_ratio * 100));
  }
  if (differences.empty()) return;
  Finding finding = run_finding(rule, FindingSeverity::kInfo, *run, 0, "the log has " + list_names(differences));
  finding.title = "the log is of another configuration than the job file: " + list_names(differences);
  finding.cause = "What is measured and what is predicted are of different runs, and so is their ratio.";
  finding.confidence = 0.8;
  finding.fix = {"set gpus, global_batch and sequence_length of the job file to those of the run"};
  findings.push_back(std::move(finding));
}

constexpr Rule kRules[] = {
    {"run.slower-than-predicted", "A run below its prediction",
     "The same job on sound hardware trains faster than this; the difference is paid for.", "", slower},
    {"run.restarts", "Restarts and steps done again",
     "The step number falls back: work since the last checkpoint is lost, and time until the next step.",
     "arXiv:2407.21783", restarts},
    {"run.stops", "Time between steps in which nothing is trained",
     "Time stamps are further apart than the steps between them take.", "arXiv:2407.21783", stops},
    {"run.another-job", "A log that is not of the job file", "Ratios of different configurations mislead.", "",
     another_job},
};

}  // namespace

RunLog longest_log(const std::vector<FileFacts>& files) {
  RunLog longest;
  std::int64_t most = 1;
  for (const FileFacts& file : files) {
    for (const FormatReading& one : file.readings) {
      const std::int64_t steps = one.reading.facts.integer("step_count").value_or(0);
      if (one.format->kind != "training-log" || steps <= most) continue;
      most = steps;
      longest = {&file, &one.reading.facts};
    }
  }
  return longest;
}

std::optional<RunAudit> run_of(const Observed& observed) {
  const RunLog log = longest_log(observed.files());
  if (!observed.setting().predicted || log.facts == nullptr) return std::nullopt;
  const std::optional<StepSeries> series = step_series_of(*log.facts);
  if (!series) return std::nullopt;
  MeasuredRun measured = measure_run(*series, checkpoint_s(*log.facts));
  if (!(measured.span_s > 0)) return std::nullopt;
  measured.file = log.file->path;
  return compare_run(std::move(measured), *observed.setting().predicted);
}

std::span<const Rule> run_rules() { return kRules; }

}  // namespace tare
