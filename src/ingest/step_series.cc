#include "ingest/step_series.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tare {
namespace {

constexpr std::array<std::string_view, kStepFields> kNames = {"step_time",
                                                              "step_time_average",
                                                              "elapsed",
                                                              "data_time",
                                                              "update_time",
                                                              "comm_time",
                                                              "tokens_per_s",
                                                              "tokens_per_s_per_gpu",
                                                              "samples_per_s",
                                                              "steps_per_s",
                                                              "tflops_per_gpu",
                                                              "mfu",
                                                              "loss",
                                                              "eval_loss",
                                                              "grad_norm",
                                                              "learning_rate",
                                                              "loss_scale",
                                                              "global_batch",
                                                              "consumed_samples",
                                                              "consumed_tokens",
                                                              "skipped_iterations",
                                                              "nan_iterations",
                                                              "memory_allocated",
                                                              "memory_peak",
                                                              "memory_reserved",
                                                              "epoch"};

// Fields whose quantiles a reader asks for.
constexpr std::uint32_t bit_of(StepField field) { return 1u << index_of(field); }
constexpr std::uint32_t kWithQuantiles =
    bit_of(StepField::kStepTime) | bit_of(StepField::kDataTime) | bit_of(StepField::kUpdateTime) |
    bit_of(StepField::kCommTime) | bit_of(StepField::kTokensPerS) | bit_of(StepField::kTokensPerSPerGpu) |
    bit_of(StepField::kSamplesPerS) | bit_of(StepField::kStepsPerS) | bit_of(StepField::kTflopsPerGpu) |
    bit_of(StepField::kMfu) | bit_of(StepField::kLoss) | bit_of(StepField::kGradNorm);

// Positive values in 128 buckets per power of two: the middle of one is within 0.4 % of all in it.
class Histogram {
 public:
  void add(double value) {
    ++count_;
    if (!(value > 0)) {
      ++not_positive_;
      return;
    }
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::int64_t bucket = static_cast<std::int64_t>(bits >> kShift) - kFirst;
    ++buckets_[static_cast<std::size_t>(std::clamp<std::int64_t>(bucket, 0, kBuckets - 1))];
  }

  double quantile(double share) const {
    std::int64_t rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_))) - 1;
    if (rank < not_positive_) return 0;
    rank -= not_positive_;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      rank -= buckets_[i];
      if (rank < 0) return middle(i);
    }
    return kNotSaid;
  }

 private:
  static constexpr int kShift = 45;  // of 52 bits of fraction, 7 are kept
  static constexpr std::int64_t kFirst = static_cast<std::int64_t>(1023 - 40) << (52 - kShift);
  static constexpr std::int64_t kBuckets = 100 << (52 - kShift);  // 2^-40 to 2^60

  static double middle(std::size_t bucket) {
    const std::uint64_t low = (static_cast<std::uint64_t>(bucket) + kFirst) << kShift;
    const std::uint64_t bits = low + (std::uint64_t{1} << (kShift - 1));
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  std::vector<std::uint32_t> buckets_ = std::vector<std::uint32_t>(kBuckets, 0);
  std::int64_t count_ = 0, not_positive_ = 0;
};

template <typename Do>
void for_each_bit(std::uint32_t mask, Do do_it) {
  for (; mask != 0; mask &= mask - 1) do_it(static_cast<std::size_t>(std::countr_zero(mask)));
}

void count_value(StepSummary& summary, double value) {
  if (summary.count == 0) summary.first = summary.min = summary.max = value;
  ++summary.count;
  summary.last = value;
  summary.sum += value;
  summary.min = std::min(summary.min, value);
  summary.max = std::max(summary.max, value);
}

double quantile_of(std::vector<double>& values, double share) {
  if (values.empty()) return kNotSaid;
  const double rank = std::ceil(share * static_cast<double>(values.size()));  // the nearest rank
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Of an even number of values, the mean of the two in the middle.
double median_of(std::vector<double>& values) {
  if (values.empty()) return kNotSaid;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

std::string_view step_field_name(StepField field) { return kNames[index_of(field)]; }

std::optional<double> StepSeries::run_number(std::string_view name) const {
  const auto found = run.find(name);
  if (found == run.end() || std::isnan(found->second.value)) return std::nullopt;
  return found->second.value;
}

struct StepSeriesBuilder::Histograms {
  std::array<std::unique_ptr<Histogram>, kStepFields> of;
  void add(std::size_t field, double value) {
    if (of[field] == nullptr) of[field] = std::make_unique<Histogram>();
    of[field]->add(value);
  }
};

StepSeriesBuilder::StepSeriesBuilder(std::size_t row_limit) : row_limit_(row_limit) {
  series_.units[index_of(StepField::kTflopsPerGpu)].factor = 1e12;
}
StepSeriesBuilder::~StepSeriesBuilder() = default;
StepSeriesBuilder::StepSeriesBuilder(StepSeriesBuilder&&) noexcept = default;
StepSeriesBuilder& StepSeriesBuilder::operator=(StepSeriesBuilder&&) noexcept = default;

bool StepSeriesBuilder::add(const StepRow& row, std::uint32_t mask) {
  if (row.step >= 0) {
    if (series_.first_step < 0) series_.first_step = row.step;
    series_.last_step = row.step;
  }
  series_.last_line = row.line;
  ++series_.row_count;
  last_kept_ = until_next_ == 0;
  if (last_kept_ && series_.rows.size() >= row_limit_) thin();
  seen_ |= mask;
  for_each_bit(mask, [&](std::size_t field) { count_value(series_.summaries[field], row.values[field]); });
  if (histograms_ != nullptr) {
    for_each_bit(mask & kWithQuantiles, [&](std::size_t field) { histograms_->add(field, row.values[field]); });
  }
  if (!last_kept_) {
    --until_next_;
    return false;
  }
  series_.rows.push_back(row);
  until_next_ = series_.stride - 1;
  return true;
}

void StepSeriesBuilder::thin() {
  std::vector<StepRow>& rows = series_.rows;
  if (histograms_ == nullptr) {
    histograms_ = std::make_unique<Histograms>();
    for_each_bit(seen_ & kWithQuantiles, [&](std::size_t field) {
      for (const StepRow& row : rows) {
        if (!std::isnan(row.values[field])) histograms_->add(field, row.values[field]);
      }
    });
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) rows[kept++] = rows[i];
  rows.resize(kept);
  series_.stride *= 2;
}

void StepSeriesBuilder::add_not_finite(StepField field, std::int64_t line) {
  StepSummary& summary = series_.summaries[index_of(field)];
  if (summary.not_finite++ == 0) summary.not_finite_line = line;
}

void StepSeriesBuilder::amend(StepField field, double value) {
  const std::size_t index = index_of(field);
  seen_ |= 1u << index;
  count_value(series_.summaries[index], value);
  if (histograms_ != nullptr && (kWithQuantiles >> index & 1) != 0) histograms_->add(index, value);
  if (last_kept_) series_.rows.back().values[index] = value;
}

StepRow* StepSeriesBuilder::last_row() { return last_kept_ ? &series_.rows.back() : nullptr; }

StepSeries StepSeriesBuilder::finish() {
  for_each_bit(seen_ & kWithQuantiles, [&](std::size_t field) {
    StepSummary& summary = series_.summaries[field];
    if (histograms_ != nullptr && histograms_->of[field] != nullptr) {
      const Histogram& histogram = *histograms_->of[field];
      summary.median = std::clamp(histogram.quantile(0.5), summary.min, summary.max);
      summary.p95 = std::clamp(histogram.quantile(0.95), summary.min, summary.max);
      summary.p99 = std::clamp(histogram.quantile(0.99), summary.min, summary.max);
      return;
    }
    std::vector<double> values;
    for (const StepRow& row : series_.rows) {
      if (!std::isnan(row.values[field])) values.push_back(row.values[field]);
    }
    summary.median = median_of(values);
    summary.p95 = quantile_of(values, 0.95);
    summary.p99 = quantile_of(values, 0.99);
  });
  return std::move(series_);
}

namespace {

// Seconds between rows per step, from a clock that each row has.
template <typename Clock>
std::vector<double> by_differences(const StepSeries& series, Clock clock) {
  std::vector<double> seconds(series.rows.size(), kNotSaid);
  for (std::size_t i = 1; i < series.rows.size(); ++i) {
    const StepRow& row = series.rows[i];
    const StepRow& before = series.rows[i - 1];
    const double passed = clock(row) - clock(before);
    const double steps = static_cast<double>(row.step) - static_cast<double>(before.step);
    if (before.step >= 0 && steps > 0 && passed > 0) seconds[i] = passed / steps;
  }
  return seconds;
}

template <typename Value>
std::vector<double> by_rows(const StepSeries& series, Value value) {
  std::vector<double> seconds;
  seconds.reserve(series.rows.size());
  for (const StepRow& row : series.rows) {
    const double one = value(row);
    seconds.push_back(std::isfinite(one) ? one : kNotSaid);
  }
  return seconds;
}

}  // namespace

StepTimes step_times_of(const StepSeries& series) {
  const auto base = [&](StepField field) {
    return [&series, field](const StepRow& row) { return series.base(row, field); };
  };
  if (series.has(StepField::kStepTime)) return {by_rows(series, base(StepField::kStepTime)), "printed"};
  if (series.has(StepField::kStepsPerS)) {
    return {by_rows(series, [&](const StepRow& row) { return 1 / series.base(row, StepField::kStepsPerS); }),
            "steps per second"};
  }
  if (series.has(StepField::kUpdateTime)) {
    return {by_rows(series,
                    [&](const StepRow& row) {
                      const double data = series.base(row, StepField::kDataTime);
                      return series.base(row, StepField::kUpdateTime) + (std::isnan(data) ? 0 : data);
                    }),
            "update time and data time"};
  }
  const std::optional<double> stated_batch = series.run_number("global_batch");
  if (series.has(StepField::kSamplesPerS) && (series.has(StepField::kGlobalBatch) || stated_batch)) {
    return {by_rows(series,
                    [&](const StepRow& row) {
                      const double batch = row[StepField::kGlobalBatch];
                      return (std::isnan(batch) ? stated_batch.value_or(kNotSaid) : batch) /
                             series.base(row, StepField::kSamplesPerS);
                    }),
            "global batch over samples per second"};
  }
  if (series.has(StepField::kElapsed)) {
    return {by_differences(series, base(StepField::kElapsed)), "differences of the elapsed time"};
  }
  return {by_differences(series, [](const StepRow& row) { return row.time; }), "differences of the time stamps"};
}

}  // namespace tare
