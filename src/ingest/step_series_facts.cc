// Steps as facts, and facts as steps.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ingest/step_series.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

bool is_count(StepField field) {
  return field == StepField::kGlobalBatch || field == StepField::kConsumedSamples ||
         field == StepField::kConsumedTokens || field == StepField::kSkipped || field == StepField::kNanIterations;
}

Fact number_fact(double value, bool whole, std::int64_t line) {
  if (std::isnan(value)) return Fact::unknown(line);
  if (whole && std::abs(value) < 9e15 && std::floor(value) == value) {
    return Fact::of(static_cast<std::int64_t>(value), line);
  }
  return Fact::of(value, line);
}

std::string fact_name(const StepSeries& series, StepField field) {
  const std::string_view suffix = series.unit(field).suffix;
  std::string name(step_field_name(field));
  if (!suffix.empty()) name.append("_").append(suffix);
  return name;
}

Fact row_fact(const std::array<std::string, kStepFields>& names, const StepRow& row) {
  FactRecord record(row.line);
  if (row.step >= 0) record.add("step", Fact::of(row.step, row.line));
  if (std::isfinite(row.time)) record.add("time", Fact::of(std::string_view(format_log_time(row.time)), row.line));
  for (std::size_t i = 0; i < kStepFields; ++i) {
    const StepField field = static_cast<StepField>(i);
    if (!std::isnan(row.values[i])) record.add(names[i], number_fact(row.values[i], is_count(field), row.line));
  }
  return Fact::of(std::move(record));
}

void add_known(FactRecord& record, std::string_view name, double value, bool whole) {
  if (!std::isnan(value)) record.add(std::string(name), number_fact(value, whole, 0));
}

FactRecord summary_record(const StepSummary& summary, bool whole) {
  FactRecord record;
  record.set("count", summary.count);
  const bool measured = !std::isnan(summary.median);  // what has no quantiles has no meaningful mean
  if (measured) add_known(record, "mean", summary.mean(), false);
  if (measured && summary.count > 1) add_known(record, "mean_without_first", summary.mean_without_first(), false);
  add_known(record, "median", summary.median, false);
  add_known(record, "p95", summary.p95, false);
  add_known(record, "p99", summary.p99, false);
  add_known(record, "min", summary.min, whole);
  add_known(record, "max", summary.max, whole);
  add_known(record, "first", summary.first, whole);
  add_known(record, "last", summary.last, whole);
  if (summary.not_finite > 0) record.set("not_finite", summary.not_finite, summary.not_finite_line);
  return record;
}

// Steps between rows: the one in the middle of all distances.
std::int64_t log_interval(const StepSeries& series) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < series.rows.size(); ++i) {
    const std::int64_t distance = series.rows[i].step - series.rows[i - 1].step;
    if (series.rows[i - 1].step >= 0 && distance > 0 && distance % series.stride == 0) distances.push_back(distance);
  }
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>((distances.size() - 1) / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle / series.stride;
}

double milliseconds(double seconds) { return std::round(seconds * 1e9) / 1e6; }

void add_lists(const StepSeries& series, FactRecord& facts) {
  if (series.has(StepField::kStepTime)) {
    const bool printed = series.unit(StepField::kStepTime).suffix == "ms";
    std::vector<Fact> list;
    for (const StepRow& row : series.rows) {
      const double value = row[StepField::kStepTime];
      if (std::isnan(value)) continue;
      list.push_back(Fact::of(printed ? value : milliseconds(series.base(row, StepField::kStepTime)), row.line));
    }
    facts.set("step_ms", Fact::of(std::move(list)));
  }
  if (series.has(StepField::kLoss)) {
    std::vector<Fact> list;
    for (const StepRow& row : series.rows) {
      if (!std::isnan(row[StepField::kLoss])) list.push_back(Fact::of(row[StepField::kLoss], row.line));
    }
    facts.set("losses", Fact::of(std::move(list)));
  }
}

// Where no step time is printed: what it must have been.
void add_derived_step_time(const StepSeries& series, FactRecord& facts) {
  if (series.has(StepField::kStepTime) || series.rows.size() < 2) return;
  StepTimes times = step_times_of(series);
  std::erase_if(times.seconds, [](double value) { return std::isnan(value); });
  if (times.seconds.empty()) return;
  double sum = 0;
  for (const double value : times.seconds) sum += value;
  const auto middle = times.seconds.begin() + static_cast<std::ptrdiff_t>(times.seconds.size() / 2);
  std::nth_element(times.seconds.begin(), middle, times.seconds.end());
  FactRecord& derived = facts.record("derived_step_time");
  derived.set("median_s", *middle);
  derived.set("mean_s", sum / static_cast<double>(times.seconds.size()));
  derived.set("basis", times.basis);
}

void add_run(const StepSeries& series, FactRecord& facts) {
  for (const auto& [name, fact] : series.run) {
    facts.set(name, number_fact(fact.value, true, fact.line));
    if (!fact.basis.empty()) facts.set(name + "_basis", fact.basis);
  }
}

}  // namespace

void to_facts(const StepSeries& series, FactRecord& facts) {
  if (!series.framework.empty()) facts.set("framework", series.framework);
  if (series.rank >= 0) facts.set("rank", series.rank);
  add_run(series, facts);
  if (series.row_count == 0) return;
  facts.set("step_count", series.row_count);
  if (series.first_step >= 0) facts.set("first_step", series.first_step);
  if (series.last_step >= 0) facts.set("last_step", series.last_step);
  if (series.total_steps >= 0) facts.set("total_steps", series.total_steps);
  if (const std::int64_t interval = log_interval(series); interval > 0) facts.set("log_interval", interval);
  facts.set("last_step_line", series.last_line);
  if (series.stride > 1) facts.set("steps_thinned_to_every", series.stride);
  if (!series.tokens_scope.empty()) facts.set("tokens_per_s_scope", series.tokens_scope);
  FactRecord& summary = facts.record("summary");
  std::array<std::string, kStepFields> names;
  for (std::size_t i = 0; i < kStepFields; ++i) {
    const StepField field = static_cast<StepField>(i);
    names[i] = fact_name(series, field);
    const StepSummary& one = series.summaries[i];
    if (one.count > 0 || one.not_finite > 0) summary.set(names[i], Fact::of(summary_record(one, is_count(field))));
  }
  add_derived_step_time(series, facts);
  std::vector<Fact> rows;
  rows.reserve(series.rows.size());
  for (const StepRow& row : series.rows) rows.push_back(row_fact(names, row));
  facts.set("steps", Fact::of(std::move(rows)));
  add_lists(series, facts);
}

namespace {

// "step_time_ms" -> kStepTime with ms.
bool field_of_name(std::string_view name, StepField& field, StepUnit& unit) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < kStepFields; ++i) {
    const std::string_view base = step_field_name(static_cast<StepField>(i));
    if (base.size() < longest || !name.starts_with(base)) continue;
    if (name.size() == base.size()) {
      unit = default_unit(static_cast<StepField>(i));
    } else if (name[base.size()] != '_' || !find_unit(name.substr(base.size() + 1), unit)) {
      continue;
    }
    longest = base.size();
    field = static_cast<StepField>(i);
  }
  return longest > 0;
}

double number_or_not_said(const FactRecord& record, std::string_view name) {
  return record.number(name).value_or(kNotSaid);
}

void read_row(const FactRecord& record, StepSeries& series) {
  StepRow row;
  row.line = record.line;
  for (const auto& [name, fact] : record.members()) {
    const std::optional<double> value = fact.number();
    if (name == "step") {
      row.step = record.integer("step").value_or(-1);
    } else if (name == "time") {
      row.time = parse_log_time(fact.text());
    } else if (StepField field{}; value) {
      StepUnit unit;
      if (!field_of_name(name, field, unit)) continue;
      row[field] = *value;
      series.units[index_of(field)] = unit;
    }
  }
  series.rows.push_back(row);
}

void read_summary(const FactRecord& record, StepSeries& series) {
  for (const auto& [name, fact] : record.members()) {
    StepField field{};
    StepUnit unit;
    const FactRecord* const one = fact.as_record();
    if (one == nullptr || !field_of_name(name, field, unit)) continue;
    series.units[index_of(field)] = unit;
    StepSummary& summary = series.summaries[index_of(field)];
    summary.count = one->integer("count").value_or(0);
    summary.first = number_or_not_said(*one, "first");
    summary.last = number_or_not_said(*one, "last");
    summary.min = number_or_not_said(*one, "min");
    summary.max = number_or_not_said(*one, "max");
    summary.median = number_or_not_said(*one, "median");
    summary.p95 = number_or_not_said(*one, "p95");
    summary.p99 = number_or_not_said(*one, "p99");
    summary.sum = one->number("mean").value_or(0) * static_cast<double>(summary.count);
    summary.not_finite = one->integer("not_finite").value_or(0);
    if (const Fact* const bad = one->find("not_finite")) summary.not_finite_line = bad->line;
  }
}

}  // namespace

std::optional<StepSeries> step_series_of(const FactRecord& facts) {
  const std::vector<Fact>* const rows = facts.find_list("steps");
  if (rows == nullptr) return std::nullopt;
  StepSeries series;
  for (std::size_t i = 0; i < kStepFields; ++i) series.units[i] = default_unit(static_cast<StepField>(i));
  series.framework = facts.text("framework");
  series.rank = static_cast<int>(std::clamp<std::int64_t>(facts.integer("rank").value_or(-1), -1, 1 << 30));
  series.row_count = facts.integer("step_count").value_or(static_cast<std::int64_t>(rows->size()));
  series.stride = facts.integer("steps_thinned_to_every").value_or(1);
  series.first_step = facts.integer("first_step").value_or(-1);
  series.last_step = facts.integer("last_step").value_or(-1);
  series.total_steps = facts.integer("total_steps").value_or(-1);
  series.last_line = facts.integer("last_step_line").value_or(0);
  series.tokens_scope = facts.text("tokens_per_s_scope");
  for (const Fact& row : *rows) {
    if (const FactRecord* const record = row.as_record()) read_row(*record, series);
  }
  if (const FactRecord* const summary = facts.find_record("summary")) read_summary(*summary, series);
  for (const std::string_view name : run_fact_names()) {
    if (const Fact* const fact = facts.find(name)) {
      if (const std::optional<double> value = fact->number()) {
        series.run[std::string(name)] = {*value, fact->line, std::string(facts.text(std::string(name) + "_basis"))};
      }
    }
  }
  return series;
}

}  // namespace tare
