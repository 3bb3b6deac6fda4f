#include "ingest/fact.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "base/json.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {

bool says_unknown(std::string_view text) {
  text = trim(text);
  static constexpr std::array<std::string_view, 15> kUnknown = {"",
                                                                "-",
                                                                "n/a",
                                                                "[n/a]",
                                                                "na",
                                                                "none",
                                                                "null",
                                                                "unknown",
                                                                "[unknown error]",
                                                                "(null)",
                                                                "not supported",
                                                                "[not supported]",
                                                                "unknown error",
                                                                "not available",
                                                                "requested functionality has been deprecated"};
  return std::any_of(kUnknown.begin(), kUnknown.end(),
                     [text](std::string_view word) { return equals_ignoring_case(text, word); });
}

Fact Fact::of(FactRecord record) {
  const std::int64_t line = record.line;
  return {Value(std::move(record)), line};
}

Fact Fact::of(std::vector<Fact> list, std::int64_t line) { return {Value(std::move(list)), line}; }

Fact Fact::parsed(std::string_view text, std::int64_t line) {
  text = trim(text);
  if (const std::optional<std::int64_t> integer = to_integer(text)) return of(*integer, line);
  if (const std::optional<double> number = to_number(text)) return of(*number, line);
  if (says_unknown(text)) return unknown(line);
  return of(text, line);
}

std::optional<double> Fact::number() const {
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::nullopt;
}

std::string_view Fact::text() const {
  const std::string* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

const Fact* FactRecord::find(std::string_view name) const {
  for (const auto& [key, value] : members_) {
    if (key == name) return &value;
  }
  return nullptr;
}

Fact* FactRecord::find(std::string_view name) { return const_cast<Fact*>(std::as_const(*this).find(name)); }

Fact& FactRecord::add(std::string name, Fact value) {
  return members_.emplace_back(std::move(name), std::move(value)).second;
}

Fact& FactRecord::set(std::string_view name, Fact value) {
  if (value.line == 0) value.line = line;
  if (Fact* const there = find(name)) return *there = std::move(value);
  return add(std::string(name), std::move(value));
}

Fact& FactRecord::set(std::string_view name, std::string_view text, std::int64_t at) {
  return set(name, Fact::of(text, at));
}
Fact& FactRecord::set(std::string_view name, const char* text, std::int64_t at) {
  return set(name, Fact::of(std::string_view(text), at));
}
Fact& FactRecord::set(std::string_view name, double number, std::int64_t at) { return set(name, Fact::of(number, at)); }
Fact& FactRecord::set(std::string_view name, std::int64_t number, std::int64_t at) {
  return set(name, Fact::of(number, at));
}
Fact& FactRecord::set(std::string_view name, int number, std::int64_t at) {
  return set(name, Fact::of(static_cast<std::int64_t>(number), at));
}
Fact& FactRecord::set(std::string_view name, bool truth, std::int64_t at) { return set(name, Fact::of(truth, at)); }
Fact& FactRecord::set_unknown(std::string_view name, std::int64_t at) { return set(name, Fact::unknown(at)); }
Fact& FactRecord::set_parsed(std::string_view name, std::string_view text, std::int64_t at) {
  return set(name, Fact::parsed(text, at));
}

bool FactRecord::set_once(std::string_view name, Fact value) {
  if (has(name)) return false;
  set(name, std::move(value));
  return true;
}

std::vector<Fact>& FactRecord::list(std::string_view name, std::int64_t at) {
  Fact* there = find(name);
  if (there == nullptr || there->as_list() == nullptr) there = &set(name, Fact::of(std::vector<Fact>(), at));
  return std::get<std::vector<Fact>>(there->value);
}

FactRecord& FactRecord::record(std::string_view name, std::int64_t at) {
  Fact* there = find(name);
  if (there == nullptr || there->as_record() == nullptr) there = &set(name, Fact::of(FactRecord(at == 0 ? line : at)));
  return std::get<FactRecord>(there->value);
}

FactRecord& FactRecord::append(std::string_view name, std::int64_t at) {
  return std::get<FactRecord>(list(name).emplace_back(Fact::of(FactRecord(at))).value);
}

std::optional<double> FactRecord::number(std::string_view name) const {
  const Fact* const fact = find(name);
  return fact == nullptr ? std::nullopt : fact->number();
}

std::optional<std::int64_t> FactRecord::integer(std::string_view name) const {
  const Fact* const fact = find(name);
  if (fact == nullptr) return std::nullopt;
  const std::int64_t* const integer = std::get_if<std::int64_t>(&fact->value);
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

std::string_view FactRecord::text(std::string_view name) const {
  const Fact* const fact = find(name);
  return fact == nullptr ? std::string_view() : fact->text();
}

const std::vector<Fact>* FactRecord::find_list(std::string_view name) const {
  const Fact* const fact = find(name);
  return fact == nullptr ? nullptr : fact->as_list();
}

const FactRecord* FactRecord::find_record(std::string_view name) const {
  const Fact* const fact = find(name);
  return fact == nullptr ? nullptr : fact->as_record();
}

namespace {

std::size_t count_leaves(const Fact& fact) {
  if (const FactRecord* const record = fact.as_record()) return count_facts(*record);
  const std::vector<Fact>* const list = fact.as_list();
  if (list == nullptr) return 1;
  std::size_t sum = 0;
  for (const Fact& item : *list) sum += count_leaves(item);
  return sum;
}

Json json_of(const Fact& fact, bool in_list) {
  struct Visitor {
    bool in_list;
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool truth) const { return truth; }
    Json operator()(std::int64_t number) const { return number; }
    Json operator()(double number) const { return number; }
    Json operator()(const std::string& text) const { return as_text(text); }
    Json operator()(const std::vector<Fact>& list) const {
      Json json = Json::array();
      for (const Fact& item : list) json.push_back(json_of(item, true));
      return json;
    }
    Json operator()(const FactRecord& record) const {
      Json json = to_json(record);
      if (in_list && record.line > 0) {
        Json with_line = Json::object({{"line", record.line}});
        with_line.update(json);
        return with_line;
      }
      return json;
    }
  };
  return std::visit(Visitor{in_list}, fact.value);
}

void compact_fact(Fact& fact) {
  if (auto* const list = std::get_if<std::vector<Fact>>(&fact.value)) {
    list->shrink_to_fit();
    for (Fact& item : *list) compact_fact(item);
  } else if (auto* const record = std::get_if<FactRecord>(&fact.value)) {
    record->compact();
  } else if (auto* const text = std::get_if<std::string>(&fact.value)) {
    text->shrink_to_fit();
  }
}

}  // namespace

void FactRecord::compact() {
  members_.shrink_to_fit();
  for (auto& member : members_) compact_fact(member.second);
}

void FactRecord::thin_rows(std::size_t limit) {
  for (auto& [name, fact] : members_) {
    if (auto* const list = std::get_if<std::vector<Fact>>(&fact.value)) {
      const std::size_t step = (list->size() + limit - 1) / limit;
      if (name == "rows" && step > 1) {
        std::size_t to = 0;
        for (std::size_t from = 0; from < list->size(); from += step) {
          if (to++ != from) (*list)[to - 1] = std::move((*list)[from]);
        }
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(to), list->end());
      }
      for (Fact& item : *list) {
        if (auto* const record = std::get_if<FactRecord>(&item.value)) record->thin_rows(limit);
      }
    } else if (auto* const record = std::get_if<FactRecord>(&fact.value)) {
      record->thin_rows(limit);
    }
  }
}

std::size_t count_facts(const FactRecord& record) {
  std::size_t sum = 0;
  for (const auto& [name, fact] : record.members()) sum += count_leaves(fact);
  return sum;
}

namespace {

// Members of an ordered object are found one by one: in a record of many (the labels of a document that is not ours)
// they are put in without a search, and a name that comes twice has its last value.
class ObjectWriter {
 public:
  void put(const std::string& name, Json value) {
    if (object_.size() < kFew) {
      object_[name] = std::move(value);
      return;
    }
    if (at_.empty()) {
      for (std::size_t i = 0; i < object_.size(); ++i)
        at_.emplace((object_.begin() + static_cast<std::ptrdiff_t>(i))->first, i);
    }
    const auto [found, fresh] = at_.emplace(name, object_.size());
    if (fresh) {
      object_.push_back({name, std::move(value)});
    } else {
      (object_.begin() + static_cast<std::ptrdiff_t>(found->second))->second = std::move(value);
    }
  }
  bool empty() const { return object_.empty(); }
  Json take() { return Json(std::move(object_)); }

 private:
  static constexpr std::size_t kFew = 64;
  Json::object_t object_;
  std::unordered_map<std::string, std::size_t> at_;
};

}  // namespace

Json to_json(const FactRecord& record) {
  ObjectWriter json, lines;
  for (const auto& [name, fact] : record.members()) {
    const std::string text = as_text(name);
    json.put(text, json_of(fact, false));
    if (fact.line > 0 && fact.line != record.line) lines.put(text, fact.line);
  }
  if (!lines.empty()) json.put("lines", lines.take());
  return json.take();
}

}  // namespace tare
