#include "ingest/mlperf_log.h"

#include <algorithm>
#include <cmath>

#include "ingest/json_tree.h"
#include "ingest/scan.h"
#include "ingest/step_keys.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

constexpr std::string_view kMarker = ":::MLLOG";
constexpr std::size_t kEvaluations = 1000;
constexpr std::size_t kSettings = 300;

class MlperfLogReader : public LineReader {
 public:
  MlperfLogReader() {
    StepSeries& series = steps_.series();
    for (std::size_t i = 0; i < kStepFields; ++i) series.units[i] = default_unit(static_cast<StepField>(i));
    series.units[index_of(StepField::kStepTime)] = {"s", 1};
    series.framework = "MLPerf";
  }

  bool on_line(const Line& line, Reading& reading) override {
    const std::size_t at = line.text.find(kMarker);
    if (at == std::string_view::npos) return false;
    const JsonTree tree = read_json_tree(line.text.substr(at + kMarker.size()), line.number);
    const FactRecord* const event = tree.root.as_record();
    if (event == nullptr || event->text("key").empty()) {
      reading.cannot_use(line.number, line.text, "no event behind :::MLLOG");
      return true;
    }
    ++events_;
    on_event(*event, line.number);
    return true;
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    if (events_ == 0) return;
    StepSeries series = steps_.finish();
    if (const std::optional<double> batch = settings_.number("global_batch_size")) {
      series.run["global_batch"] = {*batch, settings_.find("global_batch_size")->line, {}};
    }
    for (const auto& [name, fact] : settings_.members()) {
      if (name.starts_with("submission_")) facts.set(name.substr(11), fact);
    }
    tare::to_facts(series, facts);
    for (const char* const name : {"global_batch_size", "gradient_accumulation_steps", "max_sequence_length",
                                   "train_samples", "eval_samples", "seed", "target_accuracy"}) {
      if (const Fact* const fact = settings_.find(name)) facts.set(name, *fact);
    }
    facts.set("events", events_);
    set_span(facts, "init", init_start_, init_stop_);
    set_span(facts, "run", run_start_, run_stop_);
    if (!status_.text().empty()) facts.set("status_of_run", status_);
    if (evaluation_seconds_ > 0) facts.set("evaluation_seconds", evaluation_seconds_);
    if (!evaluations_.empty()) facts.set("evaluations", Fact::of(std::move(evaluations_)));
    if (!stats_.empty()) facts.set("statistics", Fact::of(std::move(stats_)));
    facts.set("settings", Fact::of(std::move(settings_)));
  }

 private:
  struct Moment {
    double ms = kNotSaid;
    std::int64_t line = 0;
  };

  static void set_span(FactRecord& facts, const std::string& name, const Moment& from, const Moment& to) {
    if (!std::isnan(from.ms)) facts.set(name + "_start_ms", static_cast<std::int64_t>(from.ms), from.line);
    if (!std::isnan(to.ms)) facts.set(name + "_stop_ms", static_cast<std::int64_t>(to.ms), to.line);
    if (to.ms >= from.ms) facts.set(name + "_seconds", (to.ms - from.ms) / 1000, to.line);
  }

  void on_event(const FactRecord& event, std::int64_t line) {
    const std::string_view key = event.text("key");
    const double time = std::clamp(event.number("time_ms").value_or(kNotSaid), -9e15, 9e15);
    const FactRecord* const metadata = event.find_record("metadata");
    const Fact* const value = event.find("value");
    if (key == "init_start" && std::isnan(init_start_.ms)) init_start_ = {time, line};
    if (key == "init_stop") init_stop_ = {time, line};
    if (key == "run_start" && std::isnan(run_start_.ms)) run_start_ = {time, line};
    if (key == "run_stop") {
      run_stop_ = {time, line};
      if (metadata != nullptr) status_ = Fact::of(metadata->text("status"), line);
    }
    if (key == "eval_start") evaluation_start_ = time;
    if (key == "eval_stop" && time >= evaluation_start_) {
      evaluation_seconds_ += (time - evaluation_start_) / 1000;
      evaluation_start_ = kNotSaid;
    }
    if (key == "eval_accuracy" || key == "eval_loss") on_evaluation(key, value, metadata, time, line);
    if (key == "tracked_stats" || key == "throughput") return on_statistics(key, value, metadata, time, line);
    const bool setting = event.text("event_type") == "POINT_IN_TIME" && std::isnan(run_start_.ms);
    if (setting && value != nullptr && settings_.members().size() < kSettings && !value->is_unknown()) {
      settings_.set_once(key, Fact{value->value, line});
    }
  }

  void on_evaluation(std::string_view key, const Fact* value, const FactRecord* metadata, double time,
                     std::int64_t line) {
    if (value == nullptr || evaluations_.size() >= kEvaluations) return;
    FactRecord record(line);
    record.set(key, Fact{value->value, line});
    if (!std::isnan(run_start_.ms) && time >= run_start_.ms)
      record.set("since_run_start_s", (time - run_start_.ms) / 1000);
    if (metadata != nullptr) {
      for (const char* const name : {"step", "samples_count", "epoch_num"}) {
        if (const Fact* const fact = metadata->find(name)) record.set(name, Fact{fact->value, line});
      }
    }
    evaluations_.push_back(Fact::of(std::move(record)));
  }

  void on_statistics(std::string_view key, const Fact* value, const FactRecord* metadata, double time,
                     std::int64_t line) {
    if (value == nullptr) return;
    StepRow row;
    std::uint32_t mask = 0;
    row.line = line;
    row.time = time > 0 && time < 4e12 ? time / 1000 : kNotSaid;
    if (metadata != nullptr) {
      if (const auto step = metadata->integer("step")) row.step = *step;
      take(row, mask, "lr", metadata->find("lr"));
      // Without a step it counts the samples of a block.
      if (row.step >= 0) take(row, mask, "consumed_samples", metadata->find("samples_count"));
    }
    const std::uint32_t beside = mask;
    if (const FactRecord* const stats = value->as_record()) {
      for (const auto& [name, fact] : stats->members()) {
        if (name == "throughput") {
          take(row, mask, "samples_per_s", &fact);
        } else if (!take(row, mask, name, &fact) && stats_.members().size() < kSettings) {
          stats_.set(name, Fact{fact.value, line});
        }
      }
    } else if (key == "throughput") {
      take(row, mask, "samples_per_s", value);
    }
    if (mask != beside) steps_.add(row, mask);
  }

  static bool take(StepRow& row, std::uint32_t& mask, std::string_view name, const Fact* fact) {
    const StepKey* const key = find_step_key(name);
    if (fact == nullptr || key == nullptr || key->slot >= kStepFields) return false;
    const std::optional<double> number = fact->number();
    if (!number || !std::isfinite(*number)) return false;
    row.values[key->slot] = *number;
    mask |= 1u << key->slot;
    return true;
  }

  StepSeriesBuilder steps_;
  FactRecord settings_, stats_;
  std::vector<Fact> evaluations_;
  Moment init_start_, init_stop_, run_start_, run_stop_;
  Fact status_;
  double evaluation_start_ = kNotSaid, evaluation_seconds_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace

int recognise_mlperf_log(const Head& head) {
  const std::size_t at = head.text.find(kMarker);
  if (at == std::string_view::npos) return confidence::kNone;
  return contains(head.text.substr(at, 400), "\"key\"") ? 96 : confidence::kPossible;
}

std::unique_ptr<LineReader> open_mlperf_log() { return std::make_unique<MlperfLogReader>(); }

}  // namespace tare
