#include "ingest/collective_row.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::array<std::string_view, 28> kTypes = {
    "int8", "uint8",  "int32",   "uint32", "int64",   "uint64",  "half",    "float",   "double", "bfloat16",
    "char", "int",    "fp16",    "fp32",   "fp64",    "bf16",    "fp8",     "uint",    "f8e4m3", "f8e5m2",
    "f16",  "float8", "bfloat8", "f32",    "float16", "float32", "float64", "fp8_e4m3"};

bool is_type(std::string_view word) {
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end() || word.starts_with("fp8_") ||
         word.starts_with("f8e");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_not_a_value(std::string_view word) {
  return word == "N/A" || word == "n/a" || word == "nan" || word == "-nan" || word == "inf" || word == "-inf";
}
bool is_value(std::string_view word) { return is_not_a_value(word) || to_number(word).has_value(); }

std::string_view unit_less(std::string_view word) { return word.substr(0, word.find('(')); }

// "-1node01:17:17" -> "-1": the next program began to print behind the root.
std::string_view leading_integer(std::string_view word) {
  std::size_t end = word.starts_with('-') ? 1 : 0;
  while (end < word.size() && word[end] >= '0' && word[end] <= '9') ++end;
  return end < word.size() && is_letter(word[end]) && contains(word, ":") ? word.substr(0, end) : word;
}

bool looks_like_root(const std::vector<std::string_view>& words, std::size_t at) {
  const std::optional<std::int64_t> root = to_integer(leading_integer(words[at]));
  if (!root || *root < -1 || *root >= 10'000) return false;  // times of 10 ms on are printed without decimals
  // A time of 0 … 9999 has decimals; "0" alone might be a time only where four values follow it.
  return *root == -1 || (words.size() - at) % 4 == 1 || words.size() - at < 4;
}

class Values {
 public:
  Values(const std::vector<std::string_view>& words, std::size_t at) : words_(words), at_(at) {}

  bool more() const { return at_ < words_.size() && is_value(words_[at_]); }
  std::size_t at() const { return at_; }
  std::size_t left() const {
    std::size_t end = at_;
    while (end < words_.size() && is_value(words_[end])) ++end;
    return end - at_;
  }
  std::string_view word() { return more() ? words_[at_++] : std::string_view(); }
  std::optional<double> number() { return more() ? to_number(words_[at_++]) : std::nullopt; }

 private:
  const std::vector<std::string_view>& words_;
  std::size_t at_;
};

void read_side(Values& values, const CollectiveColumns& columns, bool errors, CollectiveSide& side, bool& floats) {
  if (!values.more()) return;
  side.any = true;
  side.time_us = values.number();
  if (columns.milliseconds && side.time_us) side.time_us = *side.time_us * 1000;
  side.algbw_gb_per_s = values.number();
  side.whole = values.more();
  side.busbw_gb_per_s = values.number();
  if (errors) {
    side.whole = side.whole && values.more();
    const std::string_view cell = values.word();
    side.errors = to_number(cell);
    floats = floats || contains(cell, "e-") || contains(cell, "e+") || contains(cell, ".");
  }
  if (columns.per_iteration) {
    side.i_min_us = values.number();
    side.i_max_us = values.number();
    side.i_p99_us = values.number();
    side.whole = side.whole && values.more();
    side.i_cv_pct = values.number();
  }
}

}  // namespace

std::optional<CollectiveColumns> collective_columns(std::string_view line) {
  if (!contains(line, "busbw") || !contains(line, "algbw")) return std::nullopt;
  CollectiveColumns columns;
  bool size = false;
  int groups = 0;
  columns.errors = false;
  for (const std::string_view word : words_in(line)) {
    const std::string_view name = unit_less(word);
    if (name == "size" || name == "bytes") size = true;
    if (name == "bytes") columns.milliseconds = true;
    if (name == "redop" || name == "op") columns.redop = true;
    if (name == "root") columns.root = true;
    if (name == "busbw") ++groups;
    if (name == "cputime") columns.cpu_time = true;
    if (name == "i_cv%") columns.per_iteration = true;
    if (name == "#wrong") columns.wrong = true;
    if (name == "#wrong" || name == "error" || name == "res" || name == "delta") columns.errors = true;
    if (name.starts_with("time:")) columns.statistics.emplace_back(name.substr(5));
  }
  if (!size) return std::nullopt;
  columns.known = true;
  columns.in_place = groups > 1;
  return columns;
}

std::size_t find_row(const std::vector<std::string_view>& words) {
  for (std::size_t i = 2; i < words.size() && i < 10; ++i) {
    if (!is_type(words[i])) continue;
    const std::optional<std::int64_t> bytes = to_integer(words[i - 2]);
    const std::optional<std::int64_t> count = to_integer(words[i - 1]);
    if (bytes && count && *bytes >= 0 && *count >= 0) return i - 2;
  }
  return std::string_view::npos;
}

bool are_values(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && std::all_of(words.begin(), words.end(), is_value);
}

void read_values(const std::vector<std::string_view>& words, std::size_t at, const CollectiveColumns& columns,
                 CollectiveCells& row) {
  Values values(words, at);
  if (!columns.statistics.empty()) {
    for (const std::string& name : columns.statistics) {
      const std::optional<double> time = values.number();
      if (!time) continue;
      row.out.any = true;
      if (name == "avg" || columns.statistics.size() == 1) row.out.time_us = time;
      row.statistics.emplace_back(name, *time);
    }
    row.out.algbw_gb_per_s = values.number();
    row.whole = row.out.whole = values.more();
    row.out.busbw_gb_per_s = values.number();
    return;
  }
  // Without a header: six or three values are groups without an error column.
  const std::size_t left = values.left();
  const bool errors = columns.known ? columns.errors : left != 3 && left != 6;
  read_side(values, columns, errors, row.out, row.float_errors);
  read_side(values, columns, errors, row.in, row.float_errors);
  row.whole = row.out.whole && (row.in.whole || (columns.known && !columns.in_place) || (!columns.known && left == 3));
  if (values.at() + 2 == words.size() && contains(words[values.at()], "-")) {
    row.timestamp = std::string(words[values.at()]) + " " + std::string(words[values.at() + 1]);
  }
}

CollectiveCells read_row(const std::vector<std::string_view>& words, std::size_t at, const CollectiveColumns& columns) {
  CollectiveCells row;
  row.bytes = to_integer(words[at]);
  row.count = to_integer(words[at + 1]);
  row.type = std::string(words[at + 2]);
  at += 3;
  if (at < words.size() && is_letter(words[at][0]) && !is_value(words[at])) {
    row.redop = std::string(words[at]);
    ++at;
  }
  if (at < words.size() && (columns.known ? columns.root : looks_like_root(words, at))) {
    row.root = to_integer(leading_integer(words[at]));
    if (leading_integer(words[at]).size() < words[at].size()) return row;  // another program's line follows
    ++at;
  }
  read_values(words, at, columns, row);
  return row;
}

}  // namespace tare
