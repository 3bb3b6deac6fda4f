#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>

namespace tare {
namespace {

constexpr std::size_t kLongestName = 255;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Offset of the ']' that closes the set at pattern[open] == '['; npos when there is none. A ']' right after '[' or '[!'
// is a member of the set.
std::size_t set_end(std::string_view pattern, std::size_t open) {
  std::size_t first = open + 1;
  if (first < pattern.size() && pattern[first] == '!') ++first;
  return pattern.find(']', first + 1);
}

// `set` is what stands between the brackets.
bool set_holds(std::string_view set, char c) {
  const bool negated = !set.empty() && set[0] == '!';
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      const auto byte = static_cast<unsigned char>(c);
      found = found || (static_cast<unsigned char>(lower(set[i])) <= byte &&
                        byte <= static_cast<unsigned char>(lower(set[i + 2])));
      i += 2;
    } else {
      found = found || lower(set[i]) == c;
    }
  }
  return found != negated;
}

// Whether the single-byte element of `pattern` at `p` ('?', a set, a byte) matches `c`; sets `next` behind it.
bool element_matches(std::string_view pattern, std::size_t p, char c, std::size_t& next) {
  next = p + 1;
  if (pattern[p] == '?') return true;
  if (pattern[p] == '[') {
    const std::size_t end = set_end(pattern, p);
    if (end != std::string_view::npos) {
      next = end + 1;
      return set_holds(pattern.substr(p + 1, end - p - 1), lower(c));
    }
  }
  return lower(pattern[p]) == lower(c);
}

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;  // digits of the first number: the padding of all
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1-3" or "7".
std::optional<NumberRange> parse_number_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return NumberRange{*first, *first, text.size()};
  const auto last = parse_number(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return NumberRange{*first, *last, dash};
}

// The numbers of "1-3,07" as they stand in a name. False on a malformed list or more than `limit` of them.
bool expand_numbers(std::string_view list, std::size_t limit, std::vector<std::string>& numbers) {
  for (const std::string_view part : split(list, ',')) {
    const auto range = parse_number_range(trim(part));
    if (!range || range->last - range->first >= limit - std::min(limit, numbers.size())) return false;
    for (std::uint64_t number = range->first; number <= range->last; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < range->width) digits.insert(0, range->width - digits.size(), '0');
      numbers.push_back(std::move(digits));
    }
  }
  return true;
}

// Replaces every name so far by name + each ending.
bool append_each(std::vector<std::string>& names, const std::vector<std::string>& endings, std::size_t limit) {
  if (endings.empty() || names.size() > limit / endings.size()) return false;
  std::vector<std::string> longer;
  longer.reserve(names.size() * endings.size());
  for (const std::string& name : names) {
    for (const std::string& ending : endings) {
      if (name.size() + ending.size() > kLongestName) return false;
      longer.push_back(name + ending);
    }
  }
  names = std::move(longer);
  return true;
}

// One name with its brackets: "n[1-3]". False when malformed or over `limit` names.
bool expand_name(std::string_view text, std::size_t limit, std::vector<std::string>& names) {
  names.assign(1, "");
  while (!text.empty()) {
    const std::size_t open = text.find_first_of("[]");
    const std::string_view plain = text.substr(0, open);
    if (plain.size() > kLongestName || !append_each(names, {std::string(plain)}, limit)) return false;
    if (open == std::string_view::npos) return true;
    const std::size_t close = text.find_first_of("[]", open + 1);
    if (text[open] != '[' || close == std::string_view::npos || text[close] != ']') return false;
    std::vector<std::string> numbers;
    if (!expand_numbers(text.substr(open + 1, close - open - 1), limit, numbers)) return false;
    if (!append_each(names, numbers, limit)) return false;
    text.remove_prefix(close + 1);
  }
  return true;
}

// Length of the piece up to the next comma that is outside brackets.
std::size_t piece_length(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] == ',' && !inside) return i;
  }
  return text.size();
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF5 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  // Over-long forms, surrogates and what lies above U+10FFFF show in the second byte.
  const auto second = static_cast<unsigned char>(text[1]);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

std::size_t find_not_text(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte != 0 && byte < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = byte == 0 ? 0 : utf8_length(text.substr(i, 4));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string as_text(std::string_view text) {
  std::string result(text);
  const std::string_view view = result;
  for (std::size_t i = 0;; ++i) {
    const std::size_t step = find_not_text(view.substr(i));
    if (step == std::string_view::npos) return result;
    i += step;
    result[i] = '?';
  }
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end < kLongest + 3 && is_continuation(text[end])) ++end;
  return "'" + as_text(text.substr(0, end)) + (end < text.size() ? "…'" : "'");
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  // Only the last '*' is ever widened again: an earlier one need not be, so the work is at most pattern x text.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    std::size_t next = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && element_matches(pattern, p, text[t], next)) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

int edit_distance(std::string_view a, std::string_view b) {
  // Rows of the alignment table: two above, the one above and the current one.
  std::vector<int> above2(b.size() + 1);
  std::vector<int> above(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(above2, above);
    std::swap(above, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], above2[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::size_t limit = std::max<std::size_t>(2, word.size() / 3);
  const std::string* nearest = nullptr;
  std::size_t smallest = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter >= smallest) continue;  // the distance is at least that
    const auto distance = static_cast<std::size_t>(edit_distance(word, candidate));
    if (distance < smallest && 2 * distance <= longer) {
      nearest = &candidate;
      smallest = distance;
    }
  }
  return nearest == nullptr ? std::string() : *nearest;
}

std::vector<std::string> expand_range(std::string_view text, std::size_t limit) {
  std::vector<std::string> all;
  while (true) {
    const std::size_t length = piece_length(text);
    const std::string_view piece = trim(text.substr(0, length));
    std::vector<std::string> names;
    if (piece.empty() || !expand_name(piece, limit, names) || names.size() > limit - all.size()) return {};
    all.insert(all.end(), std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
    if (length == text.size()) return all;
    text.remove_prefix(length + 1);
  }
}

}  // namespace tare
