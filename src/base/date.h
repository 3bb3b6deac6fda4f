// Calendar dates as days since 1970-01-01, and the one clock that may be fixed (--as-of).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tare {

struct Date {
  int days = 0;  // since 1970-01-01
  auto operator<=>(const Date&) const = default;
};

// "2026-11-30" -> Date; nullopt for anything else (also 2026-02-30).
std::optional<Date> parse_date(std::string_view text);
std::string format_date(Date date);
Date today();  // UTC

}  // namespace tare
