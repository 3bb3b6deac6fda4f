#include "ingest/log_line.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/date.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 8> kLevels = {"emerg", "alert",  "crit", "err",
                                                     "warn",  "notice", "info", "debug"};

int month_of(std::string_view word) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word == kMonths[i]) return static_cast<int>(i) + 1;
  }
  return 0;
}

// Bytes of "16:24:18", with decimals; 0 when there is none.
std::size_t clock_length(std::string_view text) {
  constexpr std::string_view kForm = "00:00:00";
  if (text.size() < kForm.size()) return 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == ':' ? text[i] != ':' : !is_digit(text[i])) return 0;
  }
  std::size_t end = kForm.size();
  if (end + 1 < text.size() && (text[end] == '.' || text[end] == ',') && is_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
  }
  return end;
}

// Bytes of "2025-01-21T04:41:44,285060+00:00" or "2025-01-21 04:41:44".
std::size_t iso_length(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() < 19) return 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '-' ? text[i] != '-' : !is_digit(text[i])) return 0;
  }
  if (text[10] != 'T' && text[10] != ' ') return 0;
  const std::size_t clock = clock_length(text.substr(11));
  if (clock == 0) return 0;
  std::size_t end = 11 + clock;
  if (end < text.size() && text[end] == 'Z') return end + 1;
  if (end + 4 < text.size() && (text[end] == '+' || text[end] == '-') && is_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && (is_digit(text[end]) || text[end] == ':')) ++end;
    if (text[end - 1] == ':') --end;
  }
  return end;
}

// Bytes of "Feb 23 16:24:18".
std::size_t syslog_length(std::string_view text) {
  if (text.size() < 15 || month_of(text.substr(0, 3)) == 0 || text[3] != ' ') return 0;
  std::size_t at = 4;
  if (text[at] == ' ') ++at;
  const std::size_t day = at;
  while (at < text.size() && at - day < 2 && is_digit(text[at])) ++at;
  if (at == day || at >= text.size() || text[at] != ' ') return 0;
  if (at + 5 < text.size() && is_digit(text[at + 1]) && is_digit(text[at + 4]) && text[at + 5] == ' ') at += 5;  // year
  const std::size_t clock = clock_length(text.substr(at + 1));
  return clock == 0 ? 0 : at + 1 + clock;
}

std::string_view trim_left(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

// "3,22726,652513349062,-;message" of /dev/kmsg: priority, number, microseconds since boot, flags.
void take_kmsg(LogLine& into) {
  const std::string_view text = into.message;
  const std::size_t semicolon = text.find(';');
  if (text.empty() || !is_digit(text[0]) || semicolon == std::string_view::npos || semicolon > 60) return;
  const std::vector<std::string_view> fields = split(text.substr(0, semicolon), ',');
  if (fields.size() < 4) return;
  const std::optional<std::int64_t> priority = to_integer(fields[0]);
  const std::optional<double> microseconds = to_number(fields[2]);
  if (!priority || *priority < 0 || !to_integer(fields[1]) || !microseconds) return;
  into.level = kLevels[static_cast<std::size_t>(*priority % 8)];
  into.boot_s = *microseconds / 1e6;
  into.message = text.substr(semicolon + 1);
  into.stamped = into.kernel = true;
}

// "<6>", "<30>": the level is the priority modulo 8.
void take_priority(LogLine& into) {
  std::string_view text = into.message;
  if (text.size() < 3 || text[0] != '<' || !is_digit(text[1])) return;
  const std::size_t close = text.find('>');
  if (close > 4) return;
  const std::optional<std::int64_t> priority = to_integer(text.substr(1, close - 1));
  if (!priority || *priority < 0) return;
  into.level = kLevels[static_cast<std::size_t>(*priority % 8)];
  into.message = text.substr(close + 1);
  into.stamped = into.kernel = true;
}

// "kern  :warn  : " of dmesg --decode.
void take_facility(LogLine& into) {
  const std::string_view text = into.message;
  const std::size_t first = text.find(':');
  if (first > 9) return;
  const std::string_view facility = trim(text.substr(0, first));
  if (facility != "kern" && facility != "user" && facility != "daemon" && facility != "syslog" && facility != "auth")
    return;
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos || second - first > 9) return;
  const std::string_view level = trim(text.substr(first + 1, second - first - 1));
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) return;
  into.level = level;
  into.message = trim_left(text.substr(second + 1));
  into.stamped = into.kernel = true;
}

// "[74785.660366] ", "[  +0.000003] ", "[Sun Feb 23 16:24:18 2025] ", "[Feb23 16:24] ", "[Feb 25 2025 13:59:45] ".
bool take_bracket(LogLine& into) {
  const std::string_view text = into.message;
  if (!text.starts_with('[')) return false;
  const std::size_t close = text.find(']');
  if (close > 40) return false;
  const std::string_view inside = trim(text.substr(1, close - 1));
  const std::size_t dot = inside.find('.');
  const bool seconds = dot != std::string_view::npos && inside.size() - dot == 7 && to_number(inside).has_value();
  if (seconds) {
    if (!inside.starts_with('+')) into.boot_s = to_number(inside);
    into.kernel = true;
  } else if (syslog_length(inside) > 0 || iso_length(inside) > 0) {
    into.time = inside;
  } else if (inside.size() > 20 && std::find(kDays.begin(), kDays.end(), inside.substr(0, 3)) != kDays.end() &&
             month_of(inside.substr(4, 3)) > 0) {
    into.time = inside;
    into.kernel = true;
  } else if (inside.size() >= 10 && inside.size() <= 12 && month_of(inside.substr(0, 3)) > 0 && contains(inside, ":")) {
    into.time = inside;
    into.kernel = true;
  } else {
    return false;
  }
  into.message = text.substr(close + 1);
  if (into.message.starts_with(' ')) into.message.remove_prefix(1);
  return into.stamped = true;
}

// "host kernel: " or "host nv-fabricmanager[123]: " behind a time.
// `strict`: nothing but "kernel" or a program with its process id will do as the source.
void take_host_and_source(LogLine& into, bool strict = false) {
  const std::string_view text = trim_left(into.message);
  const std::size_t blank = text.find(' ');
  if (blank > 64) return;
  const std::string_view first = text.substr(0, blank);
  if (first.ends_with(':') || first.find_first_of("[]{}") != std::string_view::npos) return;  // no host's name
  const std::string_view rest = trim_left(text.substr(blank));
  const std::size_t colon = rest.find(": ");
  const std::size_t end = colon == std::string_view::npos && rest.ends_with(':') ? rest.size() - 1 : colon;
  if (end > 64 || rest.substr(0, end).find(' ') != std::string_view::npos) return;
  if (strict && rest.substr(0, end) != "kernel" && (end == 0 || rest[end - 1] != ']')) return;
  into.host = first;
  into.source = rest.substr(0, std::min(end, rest.find('[')));
  into.message = end + 2 <= rest.size() ? rest.substr(end + 2) : std::string_view();
  into.kernel = into.kernel || into.source == "kernel";
}

void take_time(LogLine& into) {
  const std::string_view text = trim_left(into.message);
  std::size_t length = iso_length(text);
  if (length == 0) length = syslog_length(text);
  if (length == 0) return;
  into.time = text.substr(0, length);
  into.message = text.substr(length);
  into.stamped = true;
  take_host_and_source(into);
  into.message = trim_left(into.message);
}

}  // namespace

LogLine read_log_line(std::string_view line) {
  LogLine into;
  into.message = line;
  take_kmsg(into);
  take_priority(into);
  take_facility(into);
  if (!take_bracket(into)) take_time(into);
  if (into.message.starts_with("kernel: ")) {
    into.source = "kernel";
    into.kernel = into.stamped = true;
    into.message.remove_prefix(8);
  }
  if (into.boot_s && into.host.empty()) take_host_and_source(into, true);  // journalctl -o short-monotonic
  if (!into.boot_s) take_bracket(into);                                    // "… kernel: [  12.345678] "
  if (into.message.starts_with("[INFO] ") || into.message.starts_with("[ERROR] ") ||
      into.message.starts_with("[WARNING] ") || into.message.starts_with("[CRITICAL] ")) {
    const std::size_t close = into.message.find(']');
    into.level = into.message.substr(1, close - 1);
    into.message = trim_left(into.message.substr(close + 1));
    if (into.source.empty()) into.source = "nv-fabricmanager";
  }
  return into;
}

std::optional<double> log_seconds(std::string_view time) {
  std::optional<Date> date;
  std::string_view clock;
  if (iso_length(time) > 0) {
    date = parse_date(time.substr(0, 10));
    clock = time.substr(11);
  } else {
    const std::vector<std::string_view> words = words_in(time);
    std::string year = "1970", month, day;
    for (const std::string_view word : words) {
      if (const int number = month_of(word); number > 0) {
        month = (number < 10 ? "0" : "") + std::to_string(number);
      } else if (clock_length(word) > 0) {
        clock = word;
      } else if (to_integer(word) && word.size() == 4) {
        year = std::string(word);
      } else if (to_integer(word) && word.size() <= 2) {
        day = std::string(word.size() == 1 ? "0" : "") + std::string(word);
      }
    }
    date = parse_date(year + "-" + month + "-" + day);
  }
  if (!date || clock_length(clock) == 0) return std::nullopt;
  std::string seconds(clock.substr(6, clock_length(clock) - 6));
  std::replace(seconds.begin(), seconds.end(), ',', '.');
  const std::optional<double> hours = to_number(clock.substr(0, 2));
  const std::optional<double> minutes = to_number(clock.substr(3, 2));
  if (!hours || !minutes || !to_number(seconds)) return std::nullopt;
  return date->days * 86'400.0 + *hours * 3600 + *minutes * 60 + *to_number(seconds);
}

}  // namespace tare
