#include "ingest/telemetry_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "ingest/log_line.h"
#include "ingest/measured.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kNoEntity = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kTextBytes = 256;
constexpr std::array<double, 20> kPower = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                           1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// A plain decimal number at `at`; nullptr when there is none. At most 15 digits are exact in a double, and so is the
// quotient by a power of ten (rounded once); the rest is left to from_chars.
inline const char* read_number(const char* at, const char* end, double& value) {
  const char* const begin = at;
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0;
  const char* const first = at;
  while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
  std::size_t count = static_cast<std::size_t>(at - first), decimals = 0;
  if (at < end && *at == '.') {
    const char* const point = ++at;
    while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
    decimals = static_cast<std::size_t>(at - point);
    count += decimals;
  }
  const bool more = at < end && (*at == 'e' || *at == 'E');
  if (count == 0) return nullptr;
  if (count <= 15 && !more) {
    const double number = static_cast<double>(digits) / kPower[decimals];
    value = negative ? -number : number;
    return at;
  }
  const auto [rest, error] = std::from_chars(begin, end, value);
  return error == std::errc() && std::isfinite(value) ? rest : nullptr;
}

// The first bytes as one number: what is compared for each row.
std::uint64_t short_key(std::string_view key) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < key.size() && i < 8; ++i) {
    bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(key[i])) << (8 * i);
  }
  return bytes;
}

// A column in which 0 says that nothing ran.
bool is_utilisation(std::string_view name) {
  return contains(name, "util") || contains(name, "active") || name == "sm_pct" || name == "value" ||
         contains(name, "gpu_usage");
}

// A time as tables print it: seconds, milli- or microseconds since 1970, or a date with slashes, dashes or nothing.
std::optional<double> seconds_of(std::string_view text) {
  text = trim(text);
  if (const std::optional<double> number = to_number(text)) {
    for (const double unit : {1.0, 1e3, 1e6, 1e9}) {
      const double seconds = *number / unit;
      if (seconds >= 5e8 && seconds < 5e9) return seconds;  // 1985 to 2128
    }
    return std::nullopt;
  }
  std::string date(text);
  if (date.size() > 17 && date.find_first_not_of("0123456789") == 8) date.insert(6, "-").insert(4, "-");
  for (std::size_t i = 0; i < date.size() && i < 10; ++i) {
    if (date[i] == '/') date[i] = '-';
  }
  return log_seconds(date);
}

Fact tidy(double value, std::int64_t line) {
  if (!std::isfinite(value)) return Fact::unknown(line);
  if (std::nearbyint(value) == value && std::abs(value) < 9e15) return Fact::of(static_cast<std::int64_t>(value), line);
  return Fact::of(value, line);
}

std::string_view without_quotes(std::string_view field) {
  field = trim(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
  return field;
}

}  // namespace

TelemetryTable::TelemetryTable(std::vector<Column> columns, char separator, bool last_takes_rest)
    : columns_(std::move(columns)), separator_(separator), last_takes_rest_(last_takes_rest) {
  if (columns_.size() > kColumns) columns_.resize(kColumns);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role == Role::kKey) key_columns_.push_back(i);
    if (columns_[i].role == Role::kTime) time_columns_.push_back(i);
    if (columns_[i].role == Role::kText) text_columns_.push_back(i);
  }
  stride_ = (columns_.size() + 1) / 2 * 2;
  values_.assign(stride_, 0.0);
  fields_.resize(columns_.size());
  decided_.assign(columns_.size(), 0);
  units_.resize(columns_.size());
  specs_.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role == Role::kValue && is_utilisation(columns_[i].name)) counted_.push_back(i);
    if (columns_[i].role == Role::kValue) continue;
    specs_[i].unit_size = FieldScan::kNoValue;
    other_columns_.push_back(i);
  }
}

const char* TelemetryTable::field_end(const char* at, const char* end, bool last) const {
  if (separator_ != ' ') {
    if (at < end && *at == '"') {  // quoted: up to the quote that a separator follows
      for (const char* p = at + 1; p < end; ++p) {
        if (*p == '"' && (p + 1 == end || p[1] == separator_)) return p + 1;
      }
    }
    const void* const found = std::memchr(at, separator_, static_cast<std::size_t>(end - at));
    return found == nullptr ? end : static_cast<const char*>(found);
  }
  if (last && last_takes_rest_) return end;
  while (at < end && *at != ' ' && *at != '\t' && *at != ',') ++at;
  return at;
}

// A value that is no bare number: with a unit, N/A, or a text.
void TelemetryTable::odd_value(std::string_view field, std::size_t column) {
  field = without_quotes(field);
  values_[column] = kNone;
  if (field == "-" || field == "N/A" || says_unknown(field) || equals_ignoring_case(field, "nan")) return;
  const std::optional<Measure> measure = to_measure(field);
  if (measure && (measure->unit.empty() || measure->unit == "x" || !unit_ending(measure->unit).empty())) {
    values_[column] = measure->value;
    decided_[column] = 1;
    if (field.size() > measure->unit.size() && field[field.size() - measure->unit.size() - 1] == ' ') {
      set_unit(column, field.substr(field.size() - measure->unit.size() - 1));
    }
  } else if (!decided_[column]) {
    become_text(column);
    fields_[column] = field;
  } else {
    ++not_numbers_;
  }
}

void TelemetryTable::set_unit(std::size_t column, std::string_view unit) {
  units_[column] = unit;
  FieldScan::Column& spec = specs_[column];
  spec.unit_size = 0;
  if (unit.size() > FieldScan::kUnit) return;
  spec.unit_size = static_cast<std::uint8_t>(unit.size());
  std::copy(unit.begin(), unit.end(), spec.unit.begin());
}

const char* TelemetryTable::odd_field(const char* at, const char* end, std::size_t column, bool last) {
  const char* const stop = field_end(at, end, last);
  const std::string_view field(at, static_cast<std::size_t>(stop - at));
  if (columns_[column].role == Role::kValue) {
    odd_value(field, column);
  } else {
    fields_[column] = without_quotes(field);
  }
  return stop;
}

inline const char* TelemetryTable::read_field(const char* at, const char* end, std::size_t column, bool last) {
  if (columns_[column].role == Role::kValue) {
    const char* const behind = read_number(at, end, values_[column]);
    if (behind != nullptr) {
      if (behind == end || *behind == separator_) {
        decided_[column] = 1;
        return behind;
      }
      const std::string& unit = units_[column];
      const std::size_t left = static_cast<std::size_t>(end - behind);
      if (!unit.empty() && left >= unit.size() && std::memcmp(behind, unit.data(), unit.size()) == 0 &&
          (left == unit.size() || behind[unit.size()] == separator_) && separator_ != ' ') {
        return behind + unit.size();
      }
    }
  }
  return odd_field(at, end, column, last);
}

// Reads the line at once; false when it needs the patient way.
bool TelemetryTable::take_fields(std::string_view text) {
  if (last_takes_rest_ || !scan_.read(text, separator_, specs_.data(), specs_.size(), values_.data())) return false;
  for (const std::size_t column : other_columns_) fields_[column] = scan_.field(text, column);
  all_known_ = true;
  if (scan_.odd_count() == 0 && all_decided_) return true;
  for (std::size_t i = 0; i < scan_.odd_count(); ++i) {
    const std::size_t column = scan_.odd(i);
    odd_value(scan_.field(text, column), column);
    all_known_ = all_known_ && values_[column] == values_[column];
  }
  if (!all_decided_) note_decided();
  return true;
}

// Columns that have shown a number stay columns of numbers.
void TelemetryTable::note_decided() {
  all_decided_ = true;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role != Role::kValue) continue;
    if (values_[i] == values_[i]) decided_[i] = 1;
    all_decided_ = all_decided_ && decided_[i] != 0;
  }
}

TelemetryTable::Row TelemetryTable::take(std::string_view text, std::int64_t line, std::string_view prefix_key) {
  if (!take_fields(text)) {
    const Row read = take_patiently(text);
    if (read != Row::kTaken) return read;
  }
  const std::size_t entity = find_entity(prefix_key);
  if (entity == kNoEntity) return Row::kFull;
  entities_[entity].last_line = line;
  if (entities_[entity].first_line == 0) entities_[entity].first_line = line;
  add(entities_[entity], entity);
  if (row_count_ >= next_kept_) keep(entities_[entity], entity, line);
  ++row_count_;
  return Row::kTaken;
}

TelemetryTable::Row TelemetryTable::take_patiently(std::string_view text) {
  all_known_ = false;
  const char* at = text.data();
  const char* const end = at + text.size();
  const std::size_t count = columns_.size();
  const bool by_blanks = separator_ == ' ';
  for (std::size_t i = 0; i < count; ++i) {
    if (by_blanks) {
      while (at < end && (*at == ' ' || *at == '\t' || *at == ',')) ++at;
      if (at == end) return Row::kTooFew;
    } else {
      while (at < end && *at == ' ') ++at;
    }
    at = read_field(at, end, i, i + 1 == count);
    if (by_blanks) continue;
    if (i + 1 < count) {
      if (at == end) return Row::kTooFew;
      ++at;  // the separator
    }
  }
  while (at < end && (*at == ' ' || *at == '\t' || (at + 1 == end && *at == separator_))) ++at;
  if (at != end) return Row::kTooMany;
  return Row::kTaken;
}

std::size_t TelemetryTable::find_entity(std::string_view prefix_key) {
  if (key_columns_.size() == 1 && prefix_key.empty()) return look_up(fields_[key_columns_.front()], {});
  key_.clear();
  key_ += prefix_key;
  for (const std::size_t column : key_columns_) {
    key_ += '\x1f';
    key_ += fields_[column].substr(0, kTextBytes);
  }
  return look_up(key_, prefix_key);
}

std::size_t TelemetryTable::look_up(std::string_view key, std::string_view prefix_key) {
  if (!entities_.empty()) {
    const std::size_t guess = entities_[previous_].next;
    const Entity& next = entities_[guess];
    if (key.size() <= 8 ? next.short_key == short_key(key) && next.key.size() == key.size() : next.key == key) {
      return previous_ = guess;
    }
  }
  if (key.size() > 4 * kTextBytes) key = key.substr(0, 4 * kTextBytes);
  const auto found = by_key_.find(std::string(key));
  std::size_t at = 0;
  if (found != by_key_.end()) {
    at = found->second;
  } else {
    if (entities_.size() >= kEntities) return kNoEntity;
    at = entities_.size();
    by_key_.emplace(std::string(key), at);
    Entity& entity = entities_.emplace_back();
    entity.key = key;
    entity.short_key = short_key(key);
    entity.next = at;
    if (!prefix_key.empty()) entity.fields.emplace_back(prefix_key);
    for (const std::size_t column : key_columns_) entity.fields.emplace_back(fields_[column].substr(0, kTextBytes));
    const std::size_t cells = (at + 1) * stride_;
    least_.resize(cells, std::numeric_limits<double>::infinity());
    most_.resize(cells, -std::numeric_limits<double>::infinity());
    sum_.resize(cells, 0);
    last_.resize(cells, kNone);
    unknown_.resize(cells, 0);
    zero_.resize((at + 1) * counted_.size(), 0);
  }
  entities_[previous_].next = at;
  return previous_ = at;
}

// Two columns at once.
using Pair = double __attribute__((vector_size(16)));

// A row all of whose values are known: the sums of what is not there are of no use to anyone.
void TelemetryTable::add_known(std::size_t at) {
  const std::size_t count = stride_;
  const double* const value = values_.data();
  double* const least = least_.data() + at * count;
  double* const most = most_.data() + at * count;
  double* const sum = sum_.data() + at * count;
  for (std::size_t i = 0; i < count; i += 2) {
    Pair v, low, high, total;
    std::memcpy(&v, value + i, sizeof v);
    std::memcpy(&low, least + i, sizeof v);
    std::memcpy(&high, most + i, sizeof v);
    std::memcpy(&total, sum + i, sizeof v);
    low = v < low ? v : low;
    high = v > high ? v : high;
    total += v;
    std::memcpy(least + i, &low, sizeof v);
    std::memcpy(most + i, &high, sizeof v);
    std::memcpy(sum + i, &total, sizeof v);
  }
  std::memcpy(last_.data() + at * count, value, count * sizeof(double));
}

void TelemetryTable::add_some(std::size_t at) {
  const std::size_t from = at * stride_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const double v = values_[i];
    if (!(v == v)) {
      ++unknown_[from + i];
      continue;
    }
    least_[from + i] = std::min(least_[from + i], v);
    most_[from + i] = std::max(most_[from + i], v);
    sum_[from + i] += v;
    last_[from + i] = v;
  }
}

void TelemetryTable::add(Entity& entity, std::size_t at) {
  all_known_ ? add_known(at) : add_some(at);
  std::int64_t* const zero = zero_.data() + at * counted_.size();
  for (std::size_t i = 0; i < counted_.size(); ++i) zero[i] += values_[counted_[i]] <= 0 ? 1 : 0;  // NaN is not
  ++entity.rows;
  if (!text_columns_.empty()) {
    entity.texts.resize(text_columns_.size());
    for (std::size_t i = 0; i < text_columns_.size(); ++i) count_text(entity.texts[i], fields_[text_columns_[i]]);
  }
  if (time_columns_.empty()) return;
  last_time_.assign(fields_[time_columns_.front()].substr(0, kTextBytes));
  for (std::size_t i = 1; i < time_columns_.size(); ++i) {
    last_time_ += ' ';
    last_time_ += fields_[time_columns_[i]].substr(0, kTextBytes);
  }
  if (first_time_.empty()) first_time_ = last_time_;
}

RunningStat TelemetryTable::stat_of(std::size_t entity, std::size_t column) const {
  const std::size_t cell = entity * stride_ + column;
  const auto counted = std::find(counted_.begin(), counted_.end(), column);
  const std::size_t place = static_cast<std::size_t>(counted - counted_.begin());
  const std::int64_t zero =
      counted == counted_.end() ? RunningStat::kNotCounted : zero_[entity * counted_.size() + place];
  return {entities_[entity].rows - unknown_[cell],
          unknown_[cell],
          least_[cell],
          most_[cell],
          sum_[cell],
          last_[cell],
          zero};
}

void TelemetryTable::count_text(TextCount& count, std::string_view text) {
  text = text.substr(0, kTextBytes);
  if (count.last < count.counts.size() && count.counts[count.last].first == text) {
    ++count.counts[count.last].second;
    return;
  }
  if (says_unknown(text)) {
    ++count.unknown;
    return;
  }
  const auto found =
      std::find_if(count.counts.begin(), count.counts.end(), [text](const auto& one) { return one.first == text; });
  if (found != count.counts.end()) {
    count.last = static_cast<std::size_t>(found - count.counts.begin());
    ++found->second;
  } else if (count.counts.size() < kTexts) {
    count.last = count.counts.size();
    count.counts.emplace_back(std::string(text), 1);
  } else {
    ++count.others;
  }
}

void TelemetryTable::keep(const Entity& entity, std::size_t at, std::int64_t line) {
  if (kept_.size() >= kRows) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < kept_.size(); i += 2) {
      if (i != left) kept_[left] = std::move(kept_[i]);
      ++left;
    }
    kept_.resize(left);
    every_ *= 2;
    if (row_count_ % every_ != 0) {
      next_kept_ = row_count_ + every_ - row_count_ % every_;
      return;
    }
  }
  next_kept_ = row_count_ + every_;
  KeptRow& row = kept_.emplace_back();
  row.line = line;
  row.round = entity.rows;
  row.entity = at;
  if (!time_columns_.empty()) row.time = last_time_;
  row.values = values_;
  for (const std::size_t column : text_columns_) row.texts.emplace_back(fields_[column].substr(0, kTextBytes));
}

// The first field of a column that says something is no number: it is a column of texts.
void TelemetryTable::become_text(std::size_t column) {
  specs_[column].unit_size = FieldScan::kNoValue;
  other_columns_.push_back(column);
  values_[column] = 0;
  columns_[column].role = Role::kText;
  text_columns_.push_back(column);
  decided_[column] = 1;
  for (Entity& entity : entities_) entity.texts.resize(text_columns_.size());
  for (KeptRow& row : kept_) row.texts.resize(text_columns_.size());
}

void TelemetryTable::put_key(FactRecord& record, const Entity& entity) const {
  std::size_t field = 0;
  if (entity.fields.size() > key_columns_.size()) record.set("host", entity.fields[field++]);
  for (const std::size_t column : key_columns_) {
    if (field >= entity.fields.size()) break;
    record.set_parsed(columns_[column].name, entity.fields[field++]);
  }
}

void TelemetryTable::put_texts(FactRecord& record, const Entity& entity) const {
  for (std::size_t i = 0; i < text_columns_.size() && i < entity.texts.size(); ++i) {
    const TextCount& count = entity.texts[i];
    const std::string& name = columns_[text_columns_[i]].name;
    if (count.counts.size() == 1 && count.others == 0 && count.unknown == 0) {
      record.set(name, count.counts.front().first);
      continue;
    }
    FactRecord counts;
    for (const auto& [text, times] : count.counts) counts.set(text, times);
    if (count.others > 0) counts.set("other", count.others);
    if (count.unknown > 0) counts.set("unknown_count", count.unknown);
    if (!counts.empty()) record.set(name, Fact::of(std::move(counts)));
  }
}

void TelemetryTable::put_columns(FactRecord& facts) const {
  std::vector<Fact> printed;
  for (const Column& column : columns_) printed.push_back(Fact::of(column.printed));
  facts.set("columns", Fact::of(std::move(printed)));
}

void TelemetryTable::put_rows(FactRecord& facts) const {
  std::vector<Fact> rows;
  for (const KeptRow& kept : kept_) {
    FactRecord row(kept.line);
    put_key(row, entities_[kept.entity]);
    row.set("round", kept.round);
    if (!kept.time.empty()) row.set("time", kept.time);
    std::size_t text = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].role == Role::kValue) row.set(columns_[i].name, tidy(kept.values[i], kept.line));
    }
    for (const std::size_t column : text_columns_) {
      if (text < kept.texts.size()) row.set_parsed(columns_[column].name, kept.texts[text]);
      ++text;
    }
    rows.push_back(Fact::of(std::move(row)));
  }
  facts.set("rows", Fact::of(std::move(rows)));
  if (every_ > 1) facts.set("rows_every", every_);
}

void TelemetryTable::put_overall(FactRecord& facts) const {
  FactRecord all;
  const std::size_t count = columns_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (columns_[i].role != Role::kValue) continue;
    RunningStat stat;
    for (std::size_t e = 0; e < entities_.size(); ++e) stat.merge(stat_of(e, i));
    all.set(columns_[i].name, Fact::of(stat.record()));
  }
  facts.set("overall", Fact::of(std::move(all)));
}

void TelemetryTable::put(FactRecord& facts, std::string_view entity_name) const {
  put_columns(facts);
  facts.set("row_count", row_count_);
  std::int64_t rounds = 0;
  for (const Entity& entity : entities_) rounds = std::max(rounds, entity.rows);
  facts.set("rounds", rounds);
  if (!first_time_.empty()) {
    facts.set("first_time", first_time_);
    facts.set("last_time", last_time_);
    const std::optional<double> first = seconds_of(first_time_), last = seconds_of(last_time_);
    if (first && last && *last > *first) facts.set("span_s", *last - *first);
  }
  facts.set(std::string(entity_name) + "_count", static_cast<std::int64_t>(entities_.size()));
  std::vector<Fact> names, series;
  const std::size_t count = columns_.size();
  for (std::size_t e = 0; e < entities_.size(); ++e) {
    const Entity& entity = entities_[e];
    FactRecord record(entity.first_line);
    put_key(record, entity);
    if (entity.fields.size() == 1) names.push_back(Fact::parsed(entity.fields.front()));
    record.set("row_count", entity.rows);
    put_texts(record, entity);
    for (std::size_t i = 0; i < count; ++i) {
      if (columns_[i].role != Role::kValue) continue;
      record.set(columns_[i].name, Fact::of(stat_of(e, i).record()));
    }
    series.push_back(Fact::of(std::move(record)));
  }
  if (!names.empty())
    facts.set(std::string(entity_name) + (entity_name.ends_with("s") ? "es_listed" : "s_listed"),
              Fact::of(std::move(names)));
  put_overall(facts);
  facts.set("series", Fact::of(std::move(series)));
  put_rows(facts);
}

std::vector<Fact> TelemetryTable::latest() const {
  std::vector<Fact> list;
  const std::size_t count = columns_.size();
  for (std::size_t e = 0; e < entities_.size(); ++e) {
    const Entity& entity = entities_[e];
    FactRecord record(entity.last_line);
    put_key(record, entity);
    for (std::size_t i = 0; i < count; ++i) {
      if (columns_[i].role == Role::kValue) {
        record.set(columns_[i].name, tidy(last_[e * stride_ + i], entity.last_line));
        continue;
      }
      const auto text = std::find(text_columns_.begin(), text_columns_.end(), i);
      if (text == text_columns_.end()) continue;
      const std::size_t at = static_cast<std::size_t>(text - text_columns_.begin());
      if (at >= entity.texts.size() || entity.texts[at].counts.empty()) {
        record.set_unknown(columns_[i].name);
      } else {
        record.set(columns_[i].name, entity.texts[at].counts[entity.texts[at].last].first);
      }
    }
    list.push_back(Fact::of(std::move(record)));
  }
  return list;
}

}  // namespace tare
