#include "ingest/scan.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "base/text.h"

namespace tare {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes of a number with commas between groups of three digits; 0 when there are no such groups.
std::size_t grouped_length(std::string_view text) {
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  std::size_t digits = 0;
  while (at + digits < text.size() && is_digit(text[at + digits])) ++digits;
  if (digits < 1 || digits > 3) return 0;
  at += digits;
  const std::size_t first = at;
  while (at + 3 < text.size() && text[at] == ',' && is_digit(text[at + 1]) && is_digit(text[at + 2]) &&
         is_digit(text[at + 3]) && (at + 4 >= text.size() || !is_digit(text[at + 4]))) {
    at += 4;
  }
  if (at == first) return 0;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  return at;
}

}  // namespace

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_blank(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

std::optional<double> to_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<Measure> to_measure(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const std::size_t length = grouped_length(text); length > 0) {
    std::string digits;
    for (const char c : text.substr(0, length)) {
      if (c != ',') digits += c;
    }
    if (const std::optional<double> value = to_number(digits)) return Measure{*value, trim(text.substr(length))};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return Measure{value, trim(text.substr(static_cast<std::size_t>(end - text.data())))};
}

// memmem looks at several bytes at once, where string_view's own search compares at each place of the first one: the
// heads of large files are searched for many marks.
std::size_t find_in(std::string_view text, std::string_view part) {
  if (part.size() > text.size()) return std::string_view::npos;
  if (part.empty()) return 0;
  const void* const found = ::memmem(text.data(), text.size(), part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

bool contains(std::string_view text, std::string_view part) { return find_in(text, part) != std::string_view::npos; }

std::optional<std::string_view> after(std::string_view text, std::string_view marker) {
  const std::size_t at = find_in(text, marker);
  if (at == std::string_view::npos) return std::nullopt;
  return trim(text.substr(at + marker.size()));
}

std::optional<std::string_view> between(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = find_in(text, from);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + from.size());
  return trim(behind.substr(0, behind.find(to)));
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace tare
