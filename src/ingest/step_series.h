// The steps of a training run, whatever program logged them: one type for Megatron's text, Hugging Face's dicts, JSON
// Lines, CSV and the rest.
//
// A value is kept as it was printed, with the unit of its column: to_facts() writes it back under a name that ends in
// that unit (step_time_ms), and base() gives it in base units (seconds, bytes, ratio, FLOP/s). What a line does not say
// is NaN, never 0. Memory is bounded: `rows` is thinned evenly (every `stride`-th row) beyond kRows, while `summaries`
// are over every row; quantiles are exact until rows are thinned and within 0.4 % after that.
// Thread safety: plain values.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fact.h"

namespace tare {

// What a step's line can say. The order is that of the facts.
enum class StepField : std::uint8_t {
  kStepTime,
  kAverageStepTime,  // running, as the program prints it
  kElapsed,          // since the start of the run
  kDataTime,         // waiting for input
  kUpdateTime,       // the step without that
  kCommTime,         // in collectives, as this rank sees it: its waits are part of it
  kTokensPerS,       // of the whole job, or unstated: see StepSeries::scope
  kTokensPerSPerGpu,
  kSamplesPerS,
  kStepsPerS,
  kTflopsPerGpu,
  kMfu,
  kLoss,
  kEvalLoss,
  kGradNorm,
  kLearningRate,
  kLossScale,
  kGlobalBatch,
  kConsumedSamples,
  kConsumedTokens,
  kSkipped,
  kNanIterations,
  kMemoryAllocated,
  kMemoryPeak,  // most allocated
  kMemoryReserved,
  kEpoch,
};
constexpr std::size_t kStepFields = static_cast<std::size_t>(StepField::kEpoch) + 1;
constexpr std::size_t index_of(StepField field) { return static_cast<std::size_t>(field); }

// The unit a column is printed in. `factor` turns it into the base unit; NaN where the file does not say the unit.
struct StepUnit {
  std::string_view suffix;  // "ms", "gib", "percent"; empty: none or unstated
  double factor = 1;
};

// The name of a field's fact, without unit: "step_time".
std::string_view step_field_name(StepField field);

constexpr double kNotSaid = std::numeric_limits<double>::quiet_NaN();

struct StepRow {
  StepRow() { values.fill(kNotSaid); }
  double& operator[](StepField field) { return values[index_of(field)]; }
  double operator[](StepField field) const { return values[index_of(field)]; }

  std::int64_t step = -1;  // -1: the line has none
  std::int64_t line = 0;
  double time = kNotSaid;  // seconds since 1970-01-01 in the log's own time zone
  std::array<double, kStepFields> values;
};

// Over all values of a field, thinned or not.
struct StepSummary {
  std::int64_t count = 0;
  double first = kNotSaid, last = kNotSaid, min = kNotSaid, max = kNotSaid, sum = 0;
  double median = kNotSaid, p95 = kNotSaid, p99 = kNotSaid;
  std::int64_t not_finite = 0;       // "nan" and "inf" in place of a number
  std::int64_t not_finite_line = 0;  // the first of them
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : kNotSaid; }
  // Without the first value, which holds compilation and warm-up; the mean itself when it is the only one.
  double mean_without_first() const { return count > 1 ? (sum - first) / static_cast<double>(count - 1) : mean(); }
};

// What the log says of the run as a whole.
struct RunFact {
  double value = kNotSaid;
  std::int64_t line = 0;
  std::string basis;  // how it was found out, where it is not stated as such
};

struct StepSeries {
  static constexpr std::size_t kRows = 10'000;

  std::string framework;  // "Megatron-LM"; empty: not one that is known
  int rank = -1;          // whose steps these are, where lines say it
  std::array<StepUnit, kStepFields> units{};
  std::vector<StepRow> rows;
  std::int64_t row_count = 0;  // with those that were thinned out
  std::int64_t stride = 1;
  std::int64_t first_step = -1, last_step = -1, total_steps = -1;
  std::int64_t last_line = 0;
  std::string tokens_scope;  // "job", or empty where kTokensPerS may be of one GPU or of all
  std::array<StepSummary, kStepFields> summaries{};
  // By name: gpus, nodes, tensor_parallel, …, global_batch, micro_batch, sequence_length, params.
  std::map<std::string, RunFact, std::less<>> run;

  const StepSummary& summary(StepField field) const { return summaries[index_of(field)]; }
  const StepUnit& unit(StepField field) const { return units[index_of(field)]; }
  bool has(StepField field) const { return summary(field).count > 0; }
  // In base units: seconds, tokens/s, FLOP/s, ratio, bytes.
  double base(const StepRow& row, StepField field) const { return row[field] * unit(field).factor; }
  std::optional<double> run_number(std::string_view name) const;
};

// Seconds of each row's step, one per row of `rows`, NaN where unknown. Printed step times where there are any; else
// what gives them, which `basis` says: steps per second, batch over samples per second, elapsed time or time stamps.
struct StepTimes {
  std::vector<double> seconds;
  std::string basis;
};
StepTimes step_times_of(const StepSeries& series);

// Adds one step after the other.
class StepSeriesBuilder {
 public:
  explicit StepSeriesBuilder(std::size_t row_limit = StepSeries::kRows);
  ~StepSeriesBuilder();
  StepSeriesBuilder(StepSeriesBuilder&&) noexcept;
  StepSeriesBuilder& operator=(StepSeriesBuilder&&) noexcept;

  // `mask`: bit index_of(field) for each field that `row` says. Whether the row was kept.
  bool add(const StepRow& row, std::uint32_t mask);
  void add_not_finite(StepField field, std::int64_t line);
  // A later line tells more of the row added last.
  void amend(StepField field, double value);
  StepRow* last_row();  // nullptr when it was not kept
  StepSeries& series() { return series_; }
  const StepSeries& series() const { return series_; }
  StepSeries finish();  // with the quantiles

 private:
  struct Histograms;
  void thin();

  StepSeries series_;
  std::size_t row_limit_;
  std::int64_t until_next_ = 0;  // rows to pass over before the next is kept
  bool last_kept_ = false;
  std::uint32_t seen_ = 0;
  std::unique_ptr<Histograms> histograms_;  // once rows are thinned
};

// framework, run facts, steps[] with the units as printed, summary, step_ms[] and losses[].
void to_facts(const StepSeries& series, FactRecord& facts);
// The inverse, from a reading of kind "training-log"; nullopt when it has no steps.
std::optional<StepSeries> step_series_of(const FactRecord& facts);

}  // namespace tare
