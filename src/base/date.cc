#include "base/date.h"

#include <chrono>

#include <fmt/format.h>

namespace tare {
namespace {

// The number in text[begin, begin + count); -1 when one of the bytes is not a digit.
int digits(std::string_view text, std::size_t begin, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(begin, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

std::optional<Date> parse_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  if (year < 0 || month < 0 || day < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return Date{static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count())};
}

std::string format_date(Date date) {
  const std::chrono::year_month_day civil{std::chrono::sys_days(std::chrono::days(date.days))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(civil.year()), static_cast<unsigned>(civil.month()),
                     static_cast<unsigned>(civil.day()));
}

Date today() {
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return Date{static_cast<int>(days.time_since_epoch().count())};
}

}  // namespace tare
