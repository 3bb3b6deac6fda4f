// What a reader found in a file: named values, each with the line it stands on.
//
// A record is an ordered set of names with values; a value is unknown (the file says "N/A", which is not zero), a truth
// value, a number, a text, a list or a record. Names are snake_case and end in the unit as the file prints it
// (mem_used_mib, busbw_gb_per_s), so that no digit is lost; what other modules use is converted when it becomes their
// type.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_fwd.h"

namespace tare {

struct Fact;

class FactRecord {
 public:
  explicit FactRecord(std::int64_t on_line = 0);

  // Adds a member without looking for one of that name: for documents whose names are not ours.
  Fact& add(std::string name, Fact value);
  // Adds or replaces. `at` 0: the record's own line.
  Fact& set(std::string_view name, Fact value);
  Fact& set(std::string_view name, std::string_view text, std::int64_t at = 0);
  Fact& set(std::string_view name, const char* text, std::int64_t at = 0);
  Fact& set(std::string_view name, double number, std::int64_t at = 0);
  Fact& set(std::string_view name, std::int64_t number, std::int64_t at = 0);
  Fact& set(std::string_view name, int number, std::int64_t at = 0);
  Fact& set(std::string_view name, bool truth, std::int64_t at = 0);
  Fact& set_unknown(std::string_view name, std::int64_t at = 0);
  // A number when the text is one ("12", "-3.5", "1e-3"), unknown for N/A and its kin, else the text.
  Fact& set_parsed(std::string_view name, std::string_view text, std::int64_t at = 0);
  // The same unless it is there already: for what a file repeats.
  bool set_once(std::string_view name, Fact value);

  // The list or record of that name, made empty when it is not there.
  std::vector<Fact>& list(std::string_view name, std::int64_t at = 0);
  FactRecord& record(std::string_view name, std::int64_t at = 0);
  // A new record at the end of the list of that name. The reference holds until the next append.
  FactRecord& append(std::string_view name, std::int64_t at);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Fact* find(std::string_view name) const;  // nullptr when not there
  Fact* find(std::string_view name);
  std::optional<double> number(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::string_view text(std::string_view name) const;               // empty when not there or no text
  const std::vector<Fact>* find_list(std::string_view name) const;  // nullptr when not there
  const FactRecord* find_record(std::string_view name) const;       // nullptr when not there
  bool empty() const;
  // Gives back what growing left over, throughout the tree: for facts that will be kept and no longer added to.
  void compact();
  // Leaves at most `limit` records in every list called "rows", spread evenly, the first among them: for many files in
  // memory at once. What readers sum up of all rows stays.
  void thin_rows(std::size_t limit);
  const std::vector<std::pair<std::string, Fact>>& members() const { return members_; }

  std::int64_t line = 0;  // 1-based; 0 = of the file as a whole

 private:
  std::vector<std::pair<std::string, Fact>> members_;
};

struct Fact {
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<Fact>, FactRecord>;
  Value value;
  std::int64_t line = 0;  // 1-based; 0 = not of one line

  static Fact unknown(std::int64_t line = 0) { return {std::monostate{}, line}; }
  static Fact of(std::string_view text, std::int64_t line = 0) { return {std::string(text), line}; }
  static Fact of(double number, std::int64_t line = 0) { return {number, line}; }
  static Fact of(std::int64_t number, std::int64_t line = 0) { return {number, line}; }
  static Fact of(bool truth, std::int64_t line = 0) { return {truth, line}; }
  static Fact of(FactRecord record);
  static Fact of(std::vector<Fact> list, std::int64_t line = 0);
  static Fact parsed(std::string_view text, std::int64_t line = 0);

  bool is_unknown() const { return std::holds_alternative<std::monostate>(value); }
  std::optional<double> number() const;
  std::string_view text() const;
  const FactRecord* as_record() const { return std::get_if<FactRecord>(&value); }
  const std::vector<Fact>* as_list() const { return std::get_if<std::vector<Fact>>(&value); }
};

// Here, for the vector's members want to know what a Fact is.
inline FactRecord::FactRecord(std::int64_t on_line) : line(on_line) {}
inline bool FactRecord::empty() const { return members_.empty(); }

// "N/A", "[N/A]", "[Not Supported]", "Unknown Error", "-", "" …: the tool had nothing to say.
bool says_unknown(std::string_view text);

// Leaves of the tree.
std::size_t count_facts(const FactRecord& record);

// Values in the order they were found. A record in a list carries its "line"; lines of scalars that differ from their
// record's stand in its "lines": {"driver": 3}. Unknown is null.
Json to_json(const FactRecord& record);

}  // namespace tare
