#include "ingest/prometheus_api.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "ingest/gpu_labels.h"
#include "ingest/json_tree.h"
#include "ingest/running_stat.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kSeries = 5000;
constexpr std::size_t kDocuments = 2000;

// [1700518935.082, "100"]
Fact sample_value(const Fact& sample) {
  const std::vector<Fact>* const pair = sample.as_list();
  if (pair == nullptr || pair->size() < 2) return Fact::unknown(sample.line);
  const Fact& value = (*pair)[1];
  if (value.number()) return value;
  const Fact parsed = Fact::parsed(value.text(), value.line);
  return parsed.number() ? parsed : Fact::unknown(value.line);  // "NaN", "+Inf"
}

Fact sample_time(const Fact& sample) {
  const std::vector<Fact>* const pair = sample.as_list();
  return pair == nullptr || pair->empty() ? Fact::unknown(sample.line) : pair->front();
}

class Answers {
 public:
  explicit Answers(Reading& reading) : reading_(reading) {}

  void take_document(const Fact& root) {
    if (const std::vector<Fact>* const list = root.as_list()) {
      for (const Fact& one : *list) take_document_record(one);
      return;
    }
    take_document_record(root);
  }

  void finish() {
    FactRecord& facts = reading_.facts;
    facts.set("series_count", count_);
    facts.set("complete_series_count", complete_);
    if (count_ == 0 && facts.text("status") == "success") {
      facts.set("no_data", true);
      reading_.note("the query found no series: there is no data, which does not mean a value of 0");
    }
    if (!list_.empty()) facts.set("series", Fact::of(std::move(list_)));
    if (gpus_.series() > 0) {
      FactRecord of_gpus;
      gpus_.put(of_gpus);
      for (const auto& [name, fact] : of_gpus.members()) facts.set_once(name, fact);
    }
  }

 private:
  void take_document_record(const Fact& fact) {
    const FactRecord* const record = fact.as_record();
    if (record == nullptr) return;
    if (record->has("metric")) return take_series(*record);
    FactRecord& facts = reading_.facts;
    if (!record->text("status").empty()) facts.set_once("status", *record->find("status"));
    if (!record->text("errorType").empty()) facts.set_once("error_type", *record->find("errorType"));
    if (!record->text("error").empty()) facts.set_once("error", *record->find("error"));
    if (const Fact* const warnings = record->find("warnings")) facts.set_once("warnings", *warnings);
    const FactRecord* data = record->find_record("data");
    if (data == nullptr) data = record;
    if (!data->text("resultType").empty()) facts.set_once("result_type", *data->find("resultType"));
    const std::vector<Fact>* const result = data->find_list("result");
    if (result == nullptr) return;
    if (result->size() == 2 && (*result)[0].number() && (*result)[1].as_record() == nullptr) {  // a scalar
      facts.set_once("value", sample_value(*data->find("result")));
      return;
    }
    for (const Fact& series : *result) {
      if (series.as_record() != nullptr) take_series(*series.as_record());
    }
  }

  void take_series(const FactRecord& series) {
    ++count_;
    const Fact* const value = series.find("value");
    const Fact* const values = series.find("values");
    if (value == nullptr && values == nullptr) {
      reading_.cannot_use(series.line, "", "a series without its value");
    } else {
      ++complete_;
    }
    FactRecord record(series.line);
    Labels labels;
    if (const FactRecord* const metric = series.find_record("metric")) {
      for (const auto& [name, fact] : metric->members()) {
        if (labels.size() >= 64 || fact.text().empty()) continue;
        labels.emplace_back(name, fact.text());
      }
      record.set("labels", Fact::of(*metric));
    }
    Fact last = Fact::unknown(series.line);
    if (value != nullptr) {
      last = sample_value(*value);
      record.set("value", last);
      record.set("time", sample_time(*value));
    }
    if (values != nullptr && values->as_list() != nullptr) last = take_range(*values, record);
    if (const std::string_view name = label(labels, "__name__");
        !label(labels, "gpu").empty() || !label(labels, "UUID").empty() || name.starts_with("DCGM_")) {
      gpus_.add(name.empty() ? std::string_view("value") : name, labels, last);
    }
    if (list_.size() < kSeries) list_.push_back(Fact::of(std::move(record)));
  }

  static Fact take_range(const Fact& values, FactRecord& record) {
    RunningStat stat;
    stat.zero = 0;
    const std::vector<Fact>& samples = *values.as_list();
    for (const Fact& sample : samples) stat.add(sample_value(sample).number());
    const FactRecord summary = stat.record();
    for (const auto& [name, fact] : summary.members()) record.set(name, fact);
    if (samples.empty()) return Fact::unknown(values.line);
    record.set("first_time", sample_time(samples.front()));
    record.set("last_time", sample_time(samples.back()));
    return sample_value(samples.back());
  }

  Reading& reading_;
  GpuSeries gpus_;
  std::vector<Fact> list_;
  std::int64_t count_ = 0, complete_ = 0;
};

}  // namespace

int recognise_prometheus_api(const Head& head) {
  const std::string_view text = head.text;
  if (!contains(text, "{")) return confidence::kNone;
  const bool answer =
      contains(text, "\"resultType\"") || (contains(text, "\"status\"") && contains(text, "\"errorType\""));
  if (answer && contains(text, "\"data\"")) return confidence::kSure;
  if (answer) return 75;
  const bool series = contains(text, "\"metric\"") &&
                      (contains(text, "\"value\"") || contains(text, "\"values\"") || contains(text, "__name__"));
  return series && (contains(text, "DCGM_") || contains(text, "__name__")) ? 80 : confidence::kNone;
}

void read_prometheus_api(std::string_view text, Reading& reading) {
  Answers answers(reading);
  std::int64_t line = 1;
  std::size_t documents = 0;
  const auto drop = [&](std::size_t size) {
    line += std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n');
    text.remove_prefix(size);
  };
  while (documents < kDocuments) {
    const std::size_t open = text.find('{');  // quoted answers may have a command or a comma in front
    if (open == std::string_view::npos) break;
    drop(open);
    ++documents;
    const JsonTree tree = read_json_tree(text, line);
    answers.take_document(tree.root);
    if (!tree.complete) {
      reading.cannot_use(tree.fault_line, "", tree.fault);
      break;
    }
    drop(std::max<std::size_t>(1, std::min(tree.used, text.size())));
  }
  answers.finish();
}

}  // namespace tare
