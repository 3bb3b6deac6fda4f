#include "ingest/step_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingest/json_tree.h"
#include "ingest/scan.h"
#include "ingest/step_keys.h"
#include "ingest/step_series.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

constexpr std::size_t kEvaluations = 1000;
constexpr int kDepth = 5;

struct ParsedRow {
  StepRow row;
  std::uint32_t mask = 0;
  std::int64_t total = -1;
};

// Steps out of records, whatever their nesting.
class DocumentReader {
 public:
  explicit DocumentReader(Reading& reading) : reading_(reading) {
    StepSeries& series = steps_.series();
    for (std::size_t i = 0; i < kStepFields; ++i) series.units[i] = default_unit(static_cast<StepField>(i));
    for (const StepField field : {StepField::kStepTime, StepField::kElapsed, StepField::kDataTime,
                                  StepField::kUpdateTime, StepField::kCommTime, StepField::kAverageStepTime}) {
      series.units[index_of(field)] = {"s", 1};
    }
  }

  void read(const Fact& root) {
    if (const FactRecord* const record = root.as_record()) {
      take_document(*record);
      if (!take_columns(*record)) find_lists(root, 0);
      if (steps_.series().row_count == 0) add(*record);
    } else {
      find_lists(root, 0);
    }
  }

  void finish() {
    FactRecord& facts = reading_.facts;
    StepSeries series = steps_.finish();
    if (contains(framework_, "Hugging")) series.framework = framework_;
    for (const auto& [name, fact] : document_.members()) facts.set(name, fact);
    if (series.total_steps < 0) series.total_steps = document_.integer("max_steps").value_or(-1);
    tare::to_facts(series, facts);
    if (!evaluations_.empty()) {
      facts.set("evaluation_count", evaluation_count_);
      facts.set("evaluations", Fact::of(std::move(evaluations_)));
    }
    if (!summary_.empty()) facts.set("train_summary", Fact::of(std::move(summary_)));
  }

  std::int64_t rows() const { return steps_.series().row_count; }
  bool has_summary() const { return !summary_.empty(); }

 private:
  // What trainer_state.json says beside its history.
  void take_document(const FactRecord& record) {
    const std::vector<Fact>* const history = record.find_list("log_history");
    if (history == nullptr) return;
    framework_ = "Hugging Face Trainer";
    struct Name {
      std::string_view printed, fact;
    };
    static constexpr Name kNames[] = {{"global_step", "global_step"},
                                      {"max_steps", "max_steps"},
                                      {"epoch", "epoch"},
                                      {"num_train_epochs", "epochs"},
                                      {"num_input_tokens_seen", "tokens_seen"},
                                      {"total_flos", "total_flops"},
                                      {"train_batch_size", "micro_batch"},
                                      {"logging_steps", "log_every"},
                                      {"eval_steps", "eval_every"},
                                      {"save_steps", "save_every"},
                                      {"best_metric", "best_metric"},
                                      {"best_global_step", "best_step"},
                                      {"best_model_checkpoint", "best_checkpoint"}};
    for (const Name& name : kNames) {
      if (const Fact* const fact = record.find(name.printed)) document_.set(name.fact, *fact);
    }
    document_.set("log_entries", static_cast<std::int64_t>(history->size()), record.find("log_history")->line);
    bool has_runtime = false;
    for (const Fact& entry : *history) {
      const FactRecord* const one = entry.as_record();
      has_runtime = has_runtime || (one != nullptr && one->has("train_runtime"));
    }
    document_.set("has_train_runtime", has_runtime, record.find("log_history")->line);
  }

  // {"step": [1, 2, …], "loss": [2.3, 2.2, …]}
  bool take_columns(const FactRecord& record) {
    struct Column {
      const StepKey* key;
      const std::vector<Fact>* values;
    };
    std::vector<Column> columns;
    std::size_t rows = 0;
    bool step = false;
    for (const auto& [name, fact] : record.members()) {
      const std::vector<Fact>* const list = fact.as_list();
      const StepKey* const key = list == nullptr ? nullptr : find_step_key(name);
      if (key == nullptr || key->slot >= kStepSlots || list->empty() || !list->front().number()) continue;
      columns.push_back({key, list});
      rows = std::max(rows, list->size());
      step = step || key->slot == kStepSlot;
    }
    if (columns.size() < 2 || !step) return false;
    for (std::size_t i = 0; i < rows; ++i) {
      ParsedRow one;
      for (const Column& column : columns) {
        if (i >= column.values->size()) continue;
        const Fact& fact = (*column.values)[i];
        if (one.row.line == 0) one.row.line = fact.line;
        put(*column.key, fact, one);
      }
      add(one);
    }
    return rows > 0;
  }

  // The lists of records that are steps, wherever they hang.
  void find_lists(const Fact& fact, int depth) {
    if (depth > kDepth) return;
    if (const std::vector<Fact>* const list = fact.as_list()) {
      for (const Fact& entry : *list) {
        const FactRecord* const record = entry.as_record();
        if (record != nullptr && !add(*record)) find_lists(entry, depth + 1);
      }
    } else if (const FactRecord* const record = fact.as_record()) {
      for (const auto& [name, member] : record->members()) find_lists(member, depth + 1);
    }
  }

  void flatten(const FactRecord& record, const std::string& path, int depth, ParsedRow& one) {
    for (const auto& [name, fact] : record.members()) {
      const std::string whole = path.empty() ? name : fmt::format("{}/{}", path, name);
      if (const FactRecord* const inner = fact.as_record()) {
        if (depth < kDepth) flatten(*inner, whole, depth + 1, one);
        continue;
      }
      if (const StepKey* const key = find_step_key(whole)) put(*key, fact, one);
    }
  }

  void put(const StepKey& key, const Fact& fact, ParsedRow& one) {
    const std::optional<double> number = fact.number() ? fact.number() : to_number(fact.text());
    if (!number || !std::isfinite(*number)) return;
    if (key.slot == kStepSlot) {
      if (one.row.step < 0 && *number >= 0 && *number < 9e15) one.row.step = static_cast<std::int64_t>(*number);
      return;
    }
    if (key.slot == kTimeSlot && *number > 1e9 && *number < 4e9) one.row.time = *number;
    if (key.slot >= kStepFields || (one.mask >> key.slot & 1) != 0) return;
    const StepField field = static_cast<StepField>(key.slot);
    if (key.needs_unit) return;
    StepUnit unit = key.unit;
    if (class_of(field) == UnitClass::kTime && unit.suffix.empty()) unit = {"s", 1};
    StepSeries& series = steps_.series();
    if (!series.has(field)) {
      if (!unit.suffix.empty()) series.units[key.slot] = unit;
      if (class_of(field) == UnitClass::kPercent && unit.suffix.empty()) series.units[key.slot] = {{}, 1};
    }
    one.row.values[key.slot] = *number * key.scale;
    one.mask |= 1u << key.slot;
  }

  bool add(const FactRecord& record) {
    ParsedRow one;
    one.row.line = record.line;
    flatten(record, {}, 0, one);
    if (record.has("train_runtime") && summary_.empty()) take_summary(record);
    return add(one);
  }

  bool add(const ParsedRow& one) {
    constexpr auto bit = [](StepField field) { return 1u << index_of(field); };
    const std::uint32_t telling = one.mask & ~(bit(StepField::kEpoch) | bit(StepField::kEvalLoss) |
                                               bit(StepField::kGlobalBatch) | bit(StepField::kConsumedTokens));
    if ((one.mask & bit(StepField::kEvalLoss)) != 0) {
      ++evaluation_count_;
      if (evaluations_.size() >= kEvaluations) evaluations_.pop_back();
      FactRecord record(one.row.line);
      if (one.row.step >= 0) record.set("step", one.row.step);
      record.set("eval_loss", one.row[StepField::kEvalLoss]);
      if (!std::isnan(one.row[StepField::kEpoch])) record.set("epoch", one.row[StepField::kEpoch]);
      evaluations_.push_back(Fact::of(std::move(record)));
    }
    if (telling == 0 || (one.row.step < 0 && (one.mask & bit(StepField::kLoss)) == 0)) return false;
    steps_.add(one.row, one.mask);
    return true;
  }

  void take_summary(const FactRecord& record) {
    summary_.line = record.line;
    struct Name {
      std::string_view printed, fact;
    };
    static constexpr Name kNames[] = {{"train_runtime", "train_runtime_s"},
                                      {"train_samples_per_second", "train_samples_per_s"},
                                      {"train_steps_per_second", "train_steps_per_s"},
                                      {"train_tokens_per_second", "train_tokens_per_s"},
                                      {"train_loss", "train_loss"},
                                      {"total_flos", "total_flops"},
                                      {"train_samples", "train_samples"},
                                      {"epoch", "epoch"},
                                      {"step", "step"}};
    for (const Name& name : kNames) {
      if (const Fact* const fact = record.find(name.printed)) summary_.set(name.fact, *fact);
    }
  }

  Reading& reading_;
  StepSeriesBuilder steps_;
  FactRecord document_, summary_;
  std::vector<Fact> evaluations_;
  std::int64_t evaluation_count_ = 0;
  std::string framework_;
};

bool begins_document(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

int recognise_trainer_state(const Head& head) {
  if (!begins_document(head.text)) return confidence::kNone;
  return contains(head.text, "\"log_history\"") ? 95 : confidence::kNone;
}

int recognise_step_document(const Head& head) {
  if (!begins_document(head.text) || contains(head.text, "\"log_history\"")) return confidence::kNone;
  if (!contains(head.text, "loss") && !contains(head.text, "step")) return confidence::kNone;
  const JsonTree tree = read_json_tree(head.text);
  // Another object behind the first: JSON Lines, which are read as such.
  if (tree.complete && begins_document(head.text.substr(std::min(tree.used, head.text.size()))))
    return confidence::kNone;
  Reading ignored;
  DocumentReader reader(ignored);
  reader.read(tree.root);
  if (reader.has_summary()) return confidence::kSure;
  return reader.rows() > 2 ? 80 : reader.rows() > 0 ? 40 : confidence::kNone;
}

void read_step_document(std::string_view text, Reading& reading) {
  const JsonTree tree = read_json_tree(text);
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", tree.fault);
  DocumentReader reader(reading);
  reader.read(tree.root);
  reader.finish();
}

}  // namespace tare
