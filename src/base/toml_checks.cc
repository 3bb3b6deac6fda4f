#include "base/toml_checks.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tare {
namespace {

std::optional<double> above_zero(TomlTable& table, std::string_view key, std::optional<double> value) {
  if (!value || *value > 0) return value;
  const bool is_negative = *value < 0;
  table.error(key, is_negative ? "negative-value" : "out-of-range",
              fmt::format("expected '{}' above 0, found {}", key, is_negative ? "a negative value" : "0"));
  return std::nullopt;
}

}  // namespace

std::optional<int> read_int(TomlTable& table, std::string_view key, int least, int most) {
  const auto value = table.integer(key);
  if (!value) return std::nullopt;
  if (*value >= least && *value <= most) return static_cast<int>(*value);
  table.error(key, *value < 0 && least >= 0 ? "negative-value" : "out-of-range",
              fmt::format("expected '{}' from {} to {}, found {}", key, least, most, *value));
  return std::nullopt;
}

std::optional<double> read_amount(TomlTable& table, std::string_view key) {
  const auto value = table.number(key);
  if (!value || *value >= 0) return value;
  table.error(key, "negative-value", fmt::format("expected '{}' not below 0, found {:g}", key, *value));
  return std::nullopt;
}

std::optional<double> read_positive(TomlTable& table, std::string_view key) {
  return above_zero(table, key, table.number(key));
}

std::optional<double> read_positive(TomlTable& table, std::string_view key, Dimension dimension) {
  const std::optional<double> value = above_zero(table, key, table.quantity(key, dimension));
  // Nothing that moves bytes is slower than a byte a second: a smaller rate is a slip, and times from it overflow.
  if (value && dimension == Dimension::kBandwidth && *value < 1) {
    table.error(key, "out-of-range", fmt::format("expected '{}' of at least 1 B/s, found {:g} B/s", key, *value));
    return std::nullopt;
  }
  return value;
}

std::optional<Date> read_date(TomlTable& table, std::string_view key) {
  const auto text = table.string(key);
  if (!text) return std::nullopt;
  const auto date = parse_date(*text);
  if (!date) {
    table.error(key, "not-a-date", fmt::format("expected a date, found {}", in_quotes(*text)),
                "write it as \"2026-11-30\"");
  }
  return date;
}

}  // namespace tare
