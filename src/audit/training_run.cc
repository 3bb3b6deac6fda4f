#include "audit/training_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

namespace tare {
namespace {

// A step over this many medians at the beginning compiles or warms up.
constexpr double kWarmUp = 1.5;
// Rows of a run's beginning that may be warm-up.
constexpr std::size_t kMostWarmUp = 5;

std::int64_t interval_of(const StepSeries& series) {
  std::vector<double> distances;
  for (std::size_t i = 1; i < series.rows.size(); ++i) {
    const std::int64_t distance = series.rows[i].step - series.rows[i - 1].step;
    if (series.rows[i - 1].step >= 0 && distance > 0) distances.push_back(static_cast<double>(distance));
  }
  return distances.empty() ? 1 : static_cast<std::int64_t>(median(std::move(distances)));
}

void scale_to_one_batch(TrainingRun& run) {
  if (!run.series.has(StepField::kGlobalBatch)) return;
  std::vector<double> batches;
  for (const StepRow& row : run.series.rows) {
    if (row[StepField::kGlobalBatch] > 0) batches.push_back(row[StepField::kGlobalBatch]);
  }
  const double usual = median(std::move(batches));
  for (std::size_t i = 0; i < run.seconds.size(); ++i) {
    const double batch = run.series.rows[i][StepField::kGlobalBatch];
    if (batch > 0 && usual > 0) run.seconds[i] *= usual / batch;
  }
}

bool begins_the_run(const TrainingRun& run, const StepRow& row) {
  return row.step <= std::max<std::int64_t>(1, run.interval);
}

double median_of_positive(const std::vector<double>& values) {
  std::vector<double> positive;
  std::copy_if(values.begin(), values.end(), std::back_inserter(positive), [](double value) { return value > 0; });
  return median(std::move(positive));
}

// The rows behind warm-up, at the beginning and behind each restart.
std::vector<PacePoint> without_warm_up(const TrainingRun& run, const std::vector<double>& values) {
  const double usual = median_of_positive(values);
  const auto known = std::count_if(values.begin(), values.end(), [](double value) { return value > 0; });
  std::vector<PacePoint> points;
  bool warming = true;
  std::size_t warm = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const StepRow& row = run.series.rows[i];
    if (i > 0 && row.step >= 0 && row.step < run.series.rows[i - 1].step) {
      warming = true;
      warm = 0;
    }
    if (!(values[i] > 0)) continue;
    const bool slow = values[i] > kWarmUp * usual;
    const bool first = points.empty() && warm == 0 && begins_the_run(run, row);
    warming = warming && warm < kMostWarmUp && (slow || first);
    if (warming && known > 1) {
      ++warm;
      continue;
    }
    points.push_back({i, values[i]});
  }
  return points;
}

double median_of(const std::vector<PacePoint>& points, double otherwise) {
  if (points.empty()) return otherwise;
  std::vector<double> values;
  values.reserve(points.size());
  for (const PacePoint& point : points) values.push_back(point.seconds);
  return median(std::move(values));
}

// Stamps have whole seconds and hold what lies between steps; a printed rate says more of the pace.
void take_pace(TrainingRun& run) {
  run.pace = without_warm_up(run, run.seconds);
  run.typical_s = run.pace_median = median_of(run.pace, median_of_positive(run.seconds));
  const bool stamps = run.basis == "differences of the time stamps";
  if (!stamps && !std::isnan(run.typical_s)) return;
  struct Rate {
    StepField field;
    const char* unit;
  };
  for (const Rate& rate :
       {Rate{StepField::kTokensPerSPerGpu, "tokens/s per GPU"}, Rate{StepField::kTokensPerS, "tokens/s"},
        Rate{StepField::kSamplesPerS, "samples/s"}, Rate{StepField::kTflopsPerGpu, "FLOP/s per GPU"}}) {
    std::vector<double> inverse(run.series.rows.size(), kNotSaid);
    std::size_t known = 0;
    for (std::size_t i = 0; i < inverse.size(); ++i) {
      const double value = run.series.base(run.series.rows[i], rate.field);
      if (!(value > 0)) continue;
      inverse[i] = 1 / value;
      ++known;
    }
    if (known == 0 || known < run.pace.size()) continue;
    run.pace = without_warm_up(run, inverse);
    run.pace_median = median_of(run.pace, median_of_positive(inverse));
    run.rate_unit = rate.unit;
    return;
  }
}

void take_gpus(TrainingRun& run, const Observed& observed) {
  const auto say = [&](std::optional<double> gpus, const std::string& source) {
    if (run.gpus || !gpus || *gpus < 1) return;
    run.gpus = gpus;
    run.gpus_source = source;
  };
  say(run.number("gpus"), "the log");
  const double tp = run.number("tensor_parallel").value_or(1), cp = run.number("context_parallel").value_or(1);
  const std::optional<double> pp = run.number("pipeline_parallel"), dp = run.number("data_parallel");
  if (dp && pp) say(*dp * *pp * tp * cp, "the product of the parallel sizes");
  const std::optional<double> nodes = run.number("nodes");
  std::optional<double> per_node = run.number("gpus_per_node");
  if (!per_node) per_node = observed.setting().gpus_per_node;
  if (nodes && per_node) say(*nodes * *per_node, "nodes times GPUs of one");
  if (run.gpus) return;
  double least = run.number("gpus_at_least").value_or(0);
  if (const FactRecord* const summary = run.facts->find_record("train_summary")) {
    least = std::max(least, summary->number("printed_times").value_or(0));
  }
  least = std::max(least, static_cast<double>(records_of(*run.facts, "ranks").size()));
  if (least < 2) return;  // rank 0 alone says nothing of the others
  run.gpus = least;
  run.gpus_are_least = true;
  run.gpus_source = "at least, by the ranks that the log shows";
}

std::vector<TrainingRun> read_runs(const Observed& observed) {
  std::vector<TrainingRun> runs;
  for (const Seen& seen : observed.of_kind("training-log")) {
    TrainingRun run;
    run.seen = seen;
    run.facts = seen.facts;
    if (std::optional<StepSeries> series = step_series_of(*seen.facts)) run.series = std::move(*series);
    StepTimes times = step_times_of(run.series);
    run.seconds = std::move(times.seconds);
    run.basis = std::move(times.basis);
    run.of_bars = run.number("progress_bars").value_or(0) > 0 && !run.series.has(StepField::kLoss);
    run.interval = interval_of(run.series);
    scale_to_one_batch(run);
    take_pace(run);
    take_gpus(run, observed);
    run.gpu = observed.accelerator_beside(seen);
    // One file, two formats: the one that saw more of it.
    if (!runs.empty() && runs.back().seen.file == seen.file) {
      if (run.series.row_count > runs.back().series.row_count) runs.back() = std::move(run);
      continue;
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

std::optional<double> TrainingRun::params() const {
  if (const std::optional<double> whole = number("params"); whole && *whole > 1e5) return whole;
  if (const std::optional<double> billions = number("params_billion")) return *billions * 1e9;
  if (const std::optional<double> millions = number("params_million")) return *millions * 1e6;
  return std::nullopt;
}

std::optional<double> TrainingRun::median_of(StepField field) const {
  std::vector<double> values;
  const std::size_t from = series.rows.size() > 2 ? 1 : 0;
  for (std::size_t i = from; i < series.rows.size(); ++i) {
    const double value = series.base(series.rows[i], field);
    if (std::isfinite(value)) values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

const std::vector<TrainingRun>& training_runs(const Observed& observed) { return observed.once(read_runs); }

Finding finding_of(const Rule& rule, FindingSeverity severity, const TrainingRun& run, std::string title,
                   std::int64_t line, std::string text) {
  Subject subject{"job", std::filesystem::path(run.seen.file->path).filename().string(), run.seen.node};
  Finding finding = make_finding(rule, severity, std::move(subject), std::move(title));
  finding.evidence.push_back(evidence_of(run.seen, line, std::move(text)));
  return finding;
}

void lose(Finding& finding, const TrainingRun& run, double lost_ratio, const std::string& source) {
  if (!run.gpus) {
    finding.loss_unknown = "the log does not say how many GPUs the run has";
    return;
  }
  finding.loss = share_lost(known_ratio("lost_ratio", lost_ratio, source), *run.gpus, run.gpus_source);
}

void lose_all(Finding& finding, const TrainingRun& run, const std::string& why) {
  if (!run.gpus) {
    finding.loss_unknown = "the log does not say how many GPUs the run has";
    return;
  }
  finding.loss = whole_gpus_lost(*run.gpus, run.gpus_source + ", " + why);
}

std::string place_of(const StepRow& row) {
  if (row.step < 0) return fmt::format("line {}", row.line);
  return fmt::format("step {}", row.step);
}

std::string pace_in_words(const TrainingRun& run, double pace) {
  if (run.rate_unit.empty()) return in_words(pace);
  const double rate = 1 / pace;
  return rate < 1e5 && rate > 100 ? fmt::format("{:.0f} {}", rate, run.rate_unit)
                                  : fmt::format("{:.4g} {}", rate, run.rate_unit);
}

std::string in_words(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 10 * kMinute) return fmt::format("{:.3g} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  if (seconds < 4 * kDay) return fmt::format("{:.1f} h", seconds / kHour);
  return fmt::format("{:.1f} days", seconds / kDay);
}

double median(std::vector<double> values) {
  if (values.empty()) return kNotSaid;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

const FactRecord* event_of(const TrainingRun& run, std::string_view kind) {
  for (const FactRecord* const event : records_of(*run.facts, "events")) {
    if (event->text("kind") == kind) return event;
  }
  return nullptr;
}

bool has_event(const TrainingRun& run, std::string_view kind) { return event_of(run, kind) != nullptr; }

}  // namespace tare
