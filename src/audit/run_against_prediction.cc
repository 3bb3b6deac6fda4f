#include "audit/run_against_prediction.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr double kShortestStop_s = 2;  // time stamps of whole seconds: below, a gap may be rounding
constexpr double kHour_s = 3600;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

// The median of a column in base units; nullopt where it is not printed.
std::optional<double> median_of(const StepSeries& series, StepField field) {
  if (!series.has(field)) return std::nullopt;
  return known(series.summary(field).median * series.unit(field).factor);
}

void read_rates(const StepSeries& series, MeasuredRun& run) {
  run.gpus = series.run_number("gpus");
  std::optional<double> batch = series.run_number("global_batch");
  if (series.has(StepField::kGlobalBatch)) batch = known(series.summary(StepField::kGlobalBatch).last);
  const std::optional<double> sequence = series.run_number("sequence_length");
  if (batch && sequence) run.tokens_per_step = *batch * *sequence;
  run.mfu_ratio = median_of(series, StepField::kMfu);
  run.data_s = median_of(series, StepField::kDataTime);
  run.communication_s = median_of(series, StepField::kCommTime);
  run.tokens_per_s_per_gpu = median_of(series, StepField::kTokensPerSPerGpu);
  const std::optional<double> of_job = median_of(series, StepField::kTokensPerS);
  if (!run.tokens_per_s_per_gpu && of_job && run.gpus && series.tokens_scope == "job") {
    run.tokens_per_s_per_gpu = *of_job / *run.gpus;
  }
}

// Walks the lines, and lays each interval out.
class Walk {
 public:
  Walk(const StepSeries& series, MeasuredRun& run)
      : series_(series), run_(run), seconds_(step_times_of(series).seconds) {}

  bool walk() {
    std::vector<double> known_s;
    for (const double s : seconds_) {
      if (std::isfinite(s) && s > 0) known_s.push_back(s);
    }
    if (known_s.empty()) return false;
    run_.step_time_s = median(std::move(known_s));
    for (std::size_t i = 0; i < series_.rows.size(); ++i) take(i);
    if (run_.has_times && run_.span_s > 0)
      run_.stepping_s = std::min(run_.stepping_s, run_.span_s - run_.stop_s - run_.restart_s);
    if (!run_.has_times) run_.span_s = run_.stepping_s;
    return run_.span_s > 0;
  }

 private:
  double seconds_of(std::size_t i) const {
    const double s = seconds_[i];
    return std::isfinite(s) && s > 0 ? s : run_.step_time_s;
  }

  std::int64_t usual_steps() const { return std::max<std::int64_t>(1, interval_); }

  void take(std::size_t i) {
    const StepRow& row = series_.rows[i];
    const std::int64_t usual = usual_steps();
    if (last_ == nullptr) {
      const double s = seconds_of(i);
      const double steps =
          row.step > 0 && row.step < usual ? static_cast<double>(row.step) : static_cast<double>(usual);
      run_.steps += steps;
      run_.stepping_s += s + (steps - 1) * std::min(s, run_.step_time_s);
      run_.startup_s = std::max(0.0, s - run_.step_time_s);
      run_.span_s = run_.stepping_s;
    } else {
      add_interval(i, row);
    }
    run_.has_times = last_ == nullptr ? !std::isnan(row.time) : run_.has_times && !std::isnan(row.time);
    highest_ = std::max(highest_, row.step);
    last_ = &row;
  }

  void add_interval(std::size_t i, const StepRow& row) {
    const double s = seconds_of(i);
    const bool numbered = row.step >= 0 && last_->step >= 0;
    const std::int64_t advance = numbered ? row.step - last_->step : series_.stride;
    const bool fell_back = advance <= 0;
    const auto steps = static_cast<double>(fell_back ? usual_steps() : advance);
    const double passed = std::max(0.0, row.time - last_->time);  // 0 where a time is not known
    run_.span_s += std::isnan(passed) ? 0 : passed;
    run_.steps += steps;
    const double stepping = steps * s;
    if (fell_back) {
      ++run_.restarts;
      if (run_.first_restart_line == 0) run_.first_restart_line = row.line;
      run_.restart_s += std::max(0.0, passed - stepping);
      run_.stepping_s += run_.has_times ? std::min(passed, stepping) : stepping;
      redone_until_ = highest_;
    } else {
      run_.stepping_s += stepping;
      add_stop(row, passed - stepping, stepping);
    }
    if (numbered && row.step <= redone_until_) {
      run_.redone_steps += steps;
      run_.redone_s += stepping;
    }
  }

  void add_stop(const StepRow& row, double excess, double stepping) {
    if (!(excess > std::max(kShortestStop_s, stepping))) return;
    ++run_.stops;
    run_.stop_s += excess;
    if (excess <= run_.longest_stop_s) return;
    run_.longest_stop_s = excess;
    run_.longest_stop_line = row.line;
  }

  const StepSeries& series_;
  MeasuredRun& run_;
  std::vector<double> seconds_;
  const StepRow* last_ = nullptr;
  std::int64_t highest_ = -1, redone_until_ = -1;
  // Steps between two lines, where all lines are as far apart.
  std::int64_t interval_ = series_.rows.size() > 1 ? series_.rows[1].step - series_.rows[0].step : 1;
};

// Dollars to the cent that sum to the whole: what rounding leaves goes to the largest.
void price(RunAudit& run, double usd_per_gpu_h) {
  const auto cents = [](double usd) { return std::llround(usd * 100); };
  const long long whole = cents(run.held_gpu_h * usd_per_gpu_h);
  long long left = whole;
  std::size_t largest = 0;
  std::vector<long long> parts;
  for (std::size_t i = 0; i < run.waterfall.size(); ++i) {
    parts.push_back(cents(run.waterfall[i].gpu_h * usd_per_gpu_h));
    left -= parts.back();
    if (run.waterfall[i].gpu_h > run.waterfall[largest].gpu_h) largest = i;
  }
  if (!parts.empty()) parts[largest] += left;
  for (std::size_t i = 0; i < parts.size(); ++i) run.waterfall[i].usd = static_cast<double>(parts[i]) / 100;
  run.held_usd = static_cast<double>(whole) / 100;
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

MeasuredRun measure_run(const StepSeries& series, double checkpoint_s) {
  MeasuredRun run;
  run.line = series.last_line;
  read_rates(series, run);
  if (!Walk(series, run).walk()) return run;
  run.redone_s = std::min(run.redone_s, run.stepping_s - run.startup_s);
  run.checkpoint_s = std::min(checkpoint_s, run.stop_s);
  if (run.has_times) run.goodput_ratio = (run.stepping_s - run.redone_s - run.startup_s) / run.span_s;
  if (!run.tokens_per_s_per_gpu && run.tokens_per_step && run.gpus) {
    run.tokens_per_s_per_gpu = *run.tokens_per_step / run.step_time_s / *run.gpus;
  }
  return run;
}

RunAudit compare_run(MeasuredRun measured, const PredictedRun& predicted) {
  RunAudit run;
  run.predicted = predicted;
  // What the log does not say is the job's.
  if (!measured.gpus) measured.gpus = predicted.gpus;
  if (!measured.tokens_per_step) measured.tokens_per_step = predicted.tokens_per_step;
  if (!measured.tokens_per_s_per_gpu && measured.step_time_s > 0) {
    measured.tokens_per_s_per_gpu = *measured.tokens_per_step / measured.step_time_s / *measured.gpus;
  }
  if (measured.tokens_per_s_per_gpu && predicted.tokens_per_s_per_gpu > 0) {
    run.calibration_ratio = *measured.tokens_per_s_per_gpu / predicted.tokens_per_s_per_gpu;
    if (!measured.mfu_ratio) measured.mfu_ratio = predicted.mfu_ratio * *run.calibration_ratio;
  }
  const double per_second = *measured.gpus / kHour_s;
  run.held_gpu_h = measured.span_s * per_second;
  const double counted_s = std::max(0.0, measured.stepping_s - measured.redone_s - measured.startup_s);
  double left_s = counted_s;
  const auto add = [&](const char* id, const char* label, double seconds) {
    run.waterfall.push_back({id, label, seconds * per_second, {}});
    return seconds;
  };
  const auto within_steps = [&](const char* id, const char* label, double seconds) {
    left_s -= add(id, label, std::clamp(seconds, 0.0, left_s));
  };
  const double of_steps = measured.step_time_s > 0 ? counted_s / measured.step_time_s : 0;
  const double useful_s = measured.mfu_ratio.value_or(0) * counted_s;
  within_steps("useful", "useful: the model's FLOPs at peak", useful_s);
  within_steps("recompute", "recomputation, at peak", useful_s * std::max(0.0, predicted.flops_ratio - 1));
  within_steps("data", "waiting for data", measured.data_s.value_or(0) * of_steps);
  within_steps("communication", "communication that the log times", measured.communication_s.value_or(0) * of_steps);
  add("below_peak", "kernels below peak, and what the log does not time", left_s);
  add("redone", "steps done again after a restart", measured.redone_s);
  add("restart", "from a failure to the next step", measured.restart_s);
  add("checkpoint", "writing checkpoints", measured.checkpoint_s);
  add("stop", "stops: nothing was trained", measured.stop_s - measured.checkpoint_s);
  add("startup", "the first step beyond a usual one", measured.startup_s);
  const double laid_out_s = measured.stepping_s + measured.restart_s + measured.stop_s;
  add("between", "between steps", std::max(0.0, measured.span_s - laid_out_s));
  run.measured = std::move(measured);
  if (predicted.usd_per_gpu_h) price(run, *predicted.usd_per_gpu_h);
  return run;
}

Json to_json(const RunAudit& run) {
  const MeasuredRun& m = run.measured;
  const PredictedRun& p = run.predicted;
  Json waterfall = Json::array();
  for (const RunBar& bar : run.waterfall) {
    waterfall.push_back({{"id", bar.id}, {"gpu_h", bar.gpu_h}, {"usd", or_null(bar.usd)}});
  }
  return {{"measured",
           {{"file", as_text(m.file)},
            {"gpus", or_null(m.gpus)},
            {"steps", m.steps},
            {"step_time_s", m.step_time_s},
            {"tokens_per_s_per_gpu", or_null(m.tokens_per_s_per_gpu)},
            {"mfu_ratio", or_null(m.mfu_ratio)},
            {"data_s", or_null(m.data_s)},
            {"communication_s", or_null(m.communication_s)},
            {"span_s", m.span_s},
            {"goodput_ratio", or_null(m.goodput_ratio)},
            {"restarts", m.restarts},
            {"redone_steps", m.redone_steps},
            {"stops", m.stops},
            {"held_gpu_h", run.held_gpu_h},
            {"held_usd", or_null(run.held_usd)}}},
          {"predicted",
           {{"job", p.job},
            {"on", p.on},
            {"parallelism", p.parallelism},
            {"gpus", p.gpus},
            {"step_time_s", p.step_time_s},
            {"tokens_per_s_per_gpu", p.tokens_per_s_per_gpu},
            {"mfu_ratio", p.mfu_ratio},
            {"data_s", p.data_s},
            {"communication_s", p.communication_s},
            {"recompute_s", p.recompute_s},
            {"bubble_s", p.bubble_s},
            {"goodput_ratio", p.goodput_ratio}}},
          {"waterfall", std::move(waterfall)},
          {"calibration_ratio", or_null(run.calibration_ratio)}};
}

}  // namespace tare
