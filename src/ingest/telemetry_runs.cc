#include "ingest/telemetry_runs.h"

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {

void TelemetryRuns::start(std::int64_t line, std::vector<TelemetryTable::Column> columns, char separator,
                          bool last_takes_rest) {
  end();
  line_ = line;
  table_.emplace(std::move(columns), separator, last_takes_rest);
}

void TelemetryRuns::end() {
  if (!table_) return;
  if (table_->rows() > 0) ++run_count_;
  if (table_->rows() > 0 && runs_.size() < kRuns) {
    FactRecord run(about_.line > 0 ? about_.line : line_);
    for (const auto& [name, fact] : about_.members()) run.set(name, fact);
    table_->put(run, entity_name_);
    if (latest_.empty()) latest_ = table_->latest();
    runs_.push_back(std::move(run));
  } else if (table_->rows() > 0) {
    ++dropped_;
  }
  table_.reset();
  about_ = FactRecord();
}

bool TelemetryRuns::take(std::string_view text, std::int64_t line, std::string_view host, Reading& reading) {
  switch (table_->take(text, line, host)) {
    case TelemetryTable::Row::kTaken:
      return true;
    case TelemetryTable::Row::kTooFew:
      reading.cannot_use(line, text, "fewer fields than the header");
      return true;
    case TelemetryTable::Row::kTooMany:
      reading.cannot_use(line, text, "more fields than the header");
      return true;
    case TelemetryTable::Row::kFull:
      reading.cannot_use(line, text, "too many devices");
      return true;
  }
  return false;
}

void TelemetryRuns::finish(Reading& reading, bool with_latest) {
  end();
  if (dropped_ > 0) reading.note(std::to_string(dropped_) + " further runs are not shown");
  if (runs_.empty()) return;
  for (const auto& [name, fact] : runs_.front().members()) {
    if (with_latest && name == "gpus_listed") continue;  // summarise_gpus gives it
    reading.facts.set(name, fact);
  }
  reading.facts.line = runs_.front().line;
  if (with_latest) reading.facts.set("gpus", Fact::of(std::move(latest_)));
  reading.facts.set("run_count", run_count_);
  if (runs_.size() < 2) return;
  std::vector<Fact> list;
  for (FactRecord& run : runs_) list.push_back(Fact::of(std::move(run)));
  reading.facts.set("runs", Fact::of(std::move(list)));
}

std::string_view option_value(std::string_view command, std::string_view short_name, std::string_view long_name) {
  const std::vector<std::string_view> words = words_in(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if ((word == short_name || word == long_name) && i + 1 < words.size()) return words[i + 1];
    if (!long_name.empty() && word.starts_with(long_name) && word.size() > long_name.size() &&
        word[long_name.size()] == '=') {
      return word.substr(long_name.size() + 1);
    }
    if (!short_name.empty() && word.starts_with(short_name) && word.size() > short_name.size() &&
        !word.starts_with("--")) {
      word.remove_prefix(short_name.size());
      if (word.starts_with('=')) word.remove_prefix(1);
      return word;
    }
  }
  return {};
}

}  // namespace tare
