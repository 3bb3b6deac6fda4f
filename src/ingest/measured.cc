#include "ingest/measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Fact number_fact(double value, std::string_view text, std::int64_t line) {
  const bool whole = text.find('.') == std::string_view::npos && std::nearbyint(value) == value;
  if (whole && std::abs(value) < 9e15) return Fact::of(static_cast<std::int64_t>(value), line);
  return Fact::of(value, line);
}

}  // namespace

std::string snake_name(std::string_view name) {
  std::string snake;
  snake.reserve(name.size() + 4);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (is_upper(c)) {
      const bool binary = c == 'B' && i > 1 && name[i - 1] == 'i' && is_upper(name[i - 2]);  // MiB
      if (i > 0 && !binary && is_lower(name[i - 1]) && !snake.empty() && snake.back() != '_') snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else if (is_lower(c) || is_digit(c)) {
      snake += c;
    } else if (!snake.empty() && snake.back() != '_') {
      snake += '_';
    }
  }
  while (snake.ends_with('_')) snake.pop_back();
  return snake;
}

std::string_view unit_ending(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 48> kUnits = {{
      {"%", "pct"},
      {"MiB", "mib"},
      {"MB", "mb"},
      {"GiB", "gib"},
      {"GB", "gb"},
      {"KiB", "kib"},
      {"KB", "kb"},
      {"kB", "kb"},
      {"B", "bytes"},
      {"bytes", "bytes"},
      {"W", "w"},
      {"mW", "mw"},
      {"C", "c"},
      {"c", "c"},
      {"MHz", "mhz"},
      {"Mhz", "mhz"},
      {"mhz", "mhz"},
      {"GHz", "ghz"},
      {"mV", "mv"},
      {"V", "v"},
      {"KB/s", "kb_per_s"},
      {"MB/s", "mb_per_s"},
      {"GB/s", "gb_per_s"},
      {"KiB/s", "kib_per_s"},
      {"MiB/s", "mib_per_s"},
      {"GiB/s", "gib_per_s"},
      {"B/s", "bytes_per_s"},
      {"us", "us"},
      {"ms", "ms"},
      {"ns", "ns"},
      {"s", "s"},
      {"sec", "s"},
      {"secs", "s"},
      {"seconds", "s"},
      {"bank(s)", "banks"},
      {"mJ", "mj"},
      {"J", "j"},
      {"RPM", "rpm"},
      {"GT/s", "gt_per_s"},
      {"\u00b0C", "c"},
      {"\u00b0c", "c"},
      {"Mbps", "mbps"},
      {"Gbps", "gbps"},
      {"Mb/s", "mbps"},
      {"A", "a"},
      {"hours", "h"},
      {"fps", "fps"},
      {"MT/s", "mt_per_s"},
  }};
  unit = trim(unit);
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [unit](const auto& one) { return one.first == unit; });
  return found == kUnits.end() ? std::string_view() : found->second;
}

Fact& set_measured(FactRecord& record, std::string_view name, std::string_view text, std::int64_t line) {
  text = trim(text);
  if (const std::optional<Measure> measure = to_measure(text); measure && !measure->unit.empty()) {
    if (const std::string_view ending = unit_ending(measure->unit); !ending.empty()) {
      const std::string_view digits = text.substr(0, text.size() - measure->unit.size());
      return record.set(std::string(name) + "_" + std::string(ending), number_fact(measure->value, digits, line));
    }
  }
  if (text == "None") return record.set(name, text, line);  // "Recovery Action : None" is known to be none
  return record.set_parsed(name, text, line);
}

Fact measured_value(std::string_view text, std::int64_t line) {
  text = trim(text);
  if (text == "None") return Fact::of(text, line);
  if (says_unknown(text)) return Fact::unknown(line);
  const std::optional<Measure> measure = to_measure(text);
  if (!measure) return Fact::of(text, line);
  return number_fact(measure->value, text.substr(0, text.size() - measure->unit.size()), line);
}

}  // namespace tare
