// A training run as the rules look at it: its steps, how long each took, on how many and which GPUs.
//
// A step's seconds are those of its global batch at the size most steps have: where a run grows its batch, longer steps
// are no slower ones. The first steps of a run or of a restart, which compile and warm up, are not in the pace. Where
// only a rate is printed, the pace is its inverse: how it goes over the run is known, how long a step takes is not.
// Thread safety: plain values, pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/loss.h"
#include "audit/rule.h"
#include "ingest/step_series.h"

namespace tare {

struct PacePoint {
  std::size_t row = 0;  // of TrainingRun::series
  double seconds = 0;
};

struct TrainingRun {
  Seen seen;
  const FactRecord* facts = nullptr;
  StepSeries series;            // no rows where the log has none
  std::vector<double> seconds;  // of each row, warm-up and all; NaN where unknown
  std::string basis;            // of the seconds
  bool of_bars = false;         // a progress bar's running means
  std::vector<PacePoint> pace;  // without warm-up
  double pace_median = kNotSaid;
  std::string rate_unit;        // "tokens/s" where the pace is an inverse rate; empty: seconds
  double typical_s = kNotSaid;  // of a step: the median without warm-up
  std::int64_t interval = 1;    // steps from row to row
  std::optional<double> gpus;   // of the whole run; a lower bound where gpus_source says so
  std::string gpus_source;
  bool gpus_are_least = false;
  const Accelerator* gpu = nullptr;

  const StepRow& row(const PacePoint& point) const { return series.rows[point.row]; }
  std::optional<double> number(std::string_view fact) const { return facts->number(fact); }
  // The run's parameters, where the log says them.
  std::optional<double> params() const;
  // Of the field's values without the warm-up, in base units.
  std::optional<double> median_of(StepField field) const;
};

// Every reading of a training log, once per audit.
const std::vector<TrainingRun>& training_runs(const Observed& observed);

// About the run, with what `line` says as its evidence.
Finding finding_of(const Rule& rule, FindingSeverity severity, const TrainingRun& run, std::string title,
                   std::int64_t line, std::string text);
// The part of the run's GPU-hours that goes, while it lasts.
void lose(Finding& finding, const TrainingRun& run, double lost_ratio, const std::string& source);
void lose_all(Finding& finding, const TrainingRun& run, const std::string& why);

// "step 1,200", or "line 12" where a row has no step.
std::string place_of(const StepRow& row);
// "5.2 s", or "31,000 tokens/s" where the pace is a rate's.
std::string pace_in_words(const TrainingRun& run, double pace);
// "41.4 s", "82 ms", "2.3 h", "36.6 days".
std::string in_words(double seconds);
double median(std::vector<double> values);  // NaN of none
bool has_event(const TrainingRun& run, std::string_view kind);
const FactRecord* event_of(const TrainingRun& run, std::string_view kind);

// The parts of the family.
std::span<const Rule> training_pace_rules();    // how step times go over the run
std::span<const Rule> training_wait_rules();    // data, checkpoints, hangs, restarts
std::span<const Rule> training_figure_rules();  // what the log's own figures say, do not say, or say wrongly
std::span<const Rule> training_memory_rules();
std::span<const Rule> training_learning_rules();  // loss, learning rate, skipped steps
std::span<const Rule> training_parallel_rules();  // pipeline, communication, optimiser, scaling
std::span<const Rule> training_event_rules();     // failures and warnings in the text

}  // namespace tare
