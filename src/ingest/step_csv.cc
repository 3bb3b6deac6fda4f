#include "ingest/step_csv.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/fast_number.h"
#include "ingest/scan.h"
#include "ingest/step_keys.h"
#include "ingest/step_series.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

constexpr std::size_t kColumns = 2000;
constexpr std::size_t kEvaluations = 1000;

std::string_view unquoted(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  return cell;
}

// The end of the cell that begins at `at`: the separator or the end of the line.
const char* cell_end(const char* at, const char* end, char separator) {
  if (at != end && *at == '"') {
    const char* quote = at + 1;
    while (quote != end && *quote != '"') ++quote;
    at = quote;
  }
  const void* const found = std::memchr(at, separator, static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

struct Header {
  char separator = ',';
  std::vector<const StepKey*> columns;  // nullptr: not known
  std::size_t last = 0;                 // the last column that is known
  bool step = false, metric = false, repeated = false;
};

Header header_of(std::string_view line, char separator) {
  Header header;
  header.separator = separator;
  std::uint32_t seen = 0;
  const char* at = line.data();
  const char* const end = at + line.size();
  for (;;) {
    const char* const stop = cell_end(at, end, separator);
    std::string_view name = unquoted({at, static_cast<std::size_t>(stop - at)});
    if (const std::size_t dash = name.rfind(" - "); dash != std::string_view::npos) name = name.substr(dash + 3);
    const bool bound = name.ends_with("__MIN") || name.ends_with("__MAX");
    const StepKey* key = bound || name.size() > 100 ? nullptr : find_step_key(name);
    if (key != nullptr && (key->slot >= kStepSlots || (key->needs_unit && key->slot < kStepFields))) key = nullptr;
    if (key != nullptr && (seen >> key->slot & 1) != 0) {
      header.repeated = true;
      key = nullptr;
    }
    if (key != nullptr) {
      seen |= 1u << key->slot;
      header.last = header.columns.size();
      header.step = header.step || key->slot == kStepSlot;
      header.metric = header.metric || (key->slot < kStepFields && key->slot != slot_of(StepField::kEpoch));
    }
    header.columns.push_back(key);
    if (stop == end || header.columns.size() >= kColumns) break;
    at = stop + 1;
  }
  return header;
}

bool is_header(std::string_view line, Header& header) {
  line = trim(line);
  if (line.empty() || line.front() == '{' || line.front() == '#') return false;
  for (const char separator : {',', '\t', ';', '|'}) {
    if (line.find(separator) == std::string_view::npos) continue;
    header = header_of(line, separator);
    const std::size_t known = static_cast<std::size_t>(
        std::count_if(header.columns.begin(), header.columns.end(), [](const StepKey* key) { return key != nullptr; }));
    if (header.step && header.metric && known >= 2) return true;
  }
  return false;
}

class StepCsvReader : public LineReader {
 public:
  StepCsvReader() {
    StepSeries& series = steps_.series();
    for (std::size_t i = 0; i < kStepFields; ++i) series.units[i] = default_unit(static_cast<StepField>(i));
  }

  bool on_line(const Line& line, Reading& reading) override {
    if (header_.columns.empty() || !is_digit_or_sign(line.text)) {
      Header header;
      if (is_header(line.text, header)) {
        if (header_.columns.empty()) take_header(std::move(header), line, reading);
        return true;
      }
      if (header_.columns.empty()) return false;
    }
    return on_row(line, reading);
  }

  void finish(Reading& reading) override {
    if (header_.columns.empty()) return;
    StepSeries series = steps_.finish();
    tare::to_facts(series, reading.facts);
    if (evaluations_.empty()) return;
    reading.facts.set("evaluation_count", evaluation_count_);
    reading.facts.set("evaluations", Fact::of(std::move(evaluations_)));
  }

 private:
  static bool is_digit_or_sign(std::string_view text) {
    return !text.empty() && (is_digit_char(text.front()) || text.front() == ',' || text.front() == '-');
  }

  void take_header(Header header, const Line& line, Reading& reading) {
    header_ = std::move(header);
    reading.facts.set("header_line", line.number);
    if (header_.repeated) {
      reading.note("several columns of the same meaning (several runs?): the first of each is read");
    }
    for (const StepKey* const key : header_.columns) {
      if (key == nullptr || key->slot >= kStepFields) continue;
      const StepField field = static_cast<StepField>(key->slot);
      StepUnit unit = key->unit;
      if (class_of(field) == UnitClass::kTime && unit.suffix.empty()) {
        unit = {"s", 1};
        reading.note(
            fmt::format("line {}: '{}' states no unit: taken as seconds", line.number, step_field_name(field)));
      }
      if (unit.suffix.empty()) unit = default_unit(field);
      if (class_of(field) == UnitClass::kPercent && unit.suffix.empty()) unit.factor = 1;
      steps_.series().units[key->slot] = unit;
    }
  }

  bool on_row(const Line& line, Reading& reading) {
    if (line.text.empty()) return false;
    const char* at = line.text.data();
    const char* const end = at + line.text.size();
    row_.line = line.number;
    row_.step = -1;
    row_.time = kNotSaid;
    if (dirty_) row_.values.fill(kNotSaid);
    std::uint32_t mask = 0;
    bool complete = false;
    for (std::size_t i = 0; i <= header_.last; ++i) {
      const StepKey* const key = header_.columns[i];
      const char* stop = nullptr;
      if (key != nullptr) stop = take_cell(*key, at, end, mask, line);
      if (stop == nullptr) stop = cell_end(at, end, header_.separator);
      complete = i == header_.last;
      if (stop == end) break;
      at = stop + 1;
    }
    dirty_ = true;
    if ((mask & (1u << index_of(StepField::kEvalLoss))) != 0) take_evaluation();
    if (mask == 0) {
      if (!complete) reading.cannot_use(line.number, line.text, "fewer columns than the header");
      return complete;
    }
    const bool only_evaluation =
        (mask & ~((1u << index_of(StepField::kEvalLoss)) | (1u << index_of(StepField::kEpoch)))) == 0;
    if (!only_evaluation) steps_.add(row_, mask);
    return true;
  }

  // Returns the end of the cell; nullptr when it is to be looked for.
  const char* take_cell(const StepKey& key, const char* at, const char* end, std::uint32_t& mask, const Line& line) {
    const char* from = at;
    while (from != end && (*from == ' ' || *from == '"')) ++from;
    double value = 0;
    const char* const behind = parse_number(from, end, value);
    if (behind == nullptr) {
      const std::string_view cell = unquoted({at, static_cast<std::size_t>(cell_end(at, end, header_.separator) - at)});
      const bool not_finite = equals_ignoring_case(cell, "nan") || equals_ignoring_case(cell, "inf");
      if (not_finite && key.slot < kStepFields) steps_.add_not_finite(static_cast<StepField>(key.slot), line.number);
      return nullptr;
    }
    if (behind != end && *behind != header_.separator && *behind != ' ' && *behind != '"' && *behind != '\r') {
      return nullptr;  // "12abc", a date
    }
    if (key.slot == kStepSlot) {
      if (value >= 0 && value < 9e15) row_.step = static_cast<std::int64_t>(value);
    } else if (key.slot == kTimeSlot) {
      if (value > 1e9 && value < 4e9) row_.time = value;
    } else if (key.slot < kStepFields) {
      row_.values[key.slot] = value * key.scale;
      mask |= 1u << key.slot;
    }
    return behind == end || *behind == header_.separator ? behind : nullptr;
  }

  void take_evaluation() {
    ++evaluation_count_;
    if (evaluations_.size() >= kEvaluations) evaluations_.pop_back();
    FactRecord record(row_.line);
    if (row_.step >= 0) record.set("step", row_.step);
    record.set("eval_loss", row_[StepField::kEvalLoss]);
    evaluations_.push_back(Fact::of(std::move(record)));
  }

  Header header_;
  StepSeriesBuilder steps_;
  StepRow row_;
  bool dirty_ = false;
  std::vector<Fact> evaluations_;
  std::int64_t evaluation_count_ = 0;
};

}  // namespace

int recognise_step_csv(const Head& head) {
  std::string_view left = head.text;
  for (int i = 0; i < 12 && !left.empty(); ++i) {
    const std::string_view line = next_line(left).substr(0, 20'000);
    Header header;
    if (!is_header(line, header)) continue;
    // What follows must be cells, as many and with a number among the known.
    for (int row = 0; row < 3 && !left.empty(); ++row) {
      const std::string_view cells = next_line(left).substr(0, 20'000);
      const auto count = static_cast<std::size_t>(std::count(cells.begin(), cells.end(), header.separator));
      if (count + 1 < header.last + 1 || cells.empty()) continue;
      const std::string_view first = trim(cells);
      if (!first.empty() && std::any_of(first.begin(), first.end(), is_digit_char)) return 80;
    }
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open_step_csv() { return std::make_unique<StepCsvReader>(); }

}  // namespace tare
