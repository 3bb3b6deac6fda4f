#include "catalog/table_reader.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace tare {

TableReader::TableReader(const CsvTable& table, std::string_view file, DiagnosticList& diagnostics,
                         const std::vector<std::string>& required)
    : table_(table), file_name_(file.substr(file.find_last_of('/') + 1)), diagnostics_(diagnostics) {
  for (std::size_t i = 0; i < table.columns().size(); ++i) columns_.emplace(table.columns()[i], i);
  for (const std::string& column : table.missing(required)) {
    complete_ = false;
    Diagnostic diagnostic =
        make_error("missing-column", fmt::format("expected a column {}, found none", in_quotes(column)),
                   "the first line names the columns, in any order");
    diagnostic.file = std::string(file);
    diagnostic.line = 1;
    diagnostics_.add(std::move(diagnostic));
  }
}

std::string_view TableReader::view(std::string_view column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? std::string_view() : trim(table_.field(row_, found->second));
}

std::string TableReader::require_text(std::string_view column) {
  std::string value = text(column);
  if (value.empty())
    error(column, "missing-value",
          fmt::format("expected a value in column {}, found an empty field", in_quotes(column)));
  return value;
}

std::string TableReader::require_id(std::string_view column) {
  std::string id = require_text(column);
  if (!id.empty() && !ids_.insert(to_lower(id)).second) {
    error(column, "duplicate-id", fmt::format("{} stands here a second time", in_quotes(id)));
  }
  return id;
}

std::vector<std::string> TableReader::list(std::string_view column, char separator) const {
  std::vector<std::string> parts;
  for (const std::string_view part : split(view(column), separator)) {
    if (const std::string_view word = trim(part); !word.empty()) parts.emplace_back(word);
  }
  return parts;
}

std::optional<double> TableReader::signed_number(std::string_view column) {
  const std::string_view value = view(column);
  if (value.empty()) return std::nullopt;
  double result = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (code == std::errc() && end == value.data() + value.size() && std::isfinite(result)) return result;
  // Reports it, or knows a spelling that from_chars does not.
  Diagnostics found;
  const auto read = table_.number(row_, column, found);
  for (Diagnostic& diagnostic : found) add(std::move(diagnostic));
  return read;
}

std::optional<double> TableReader::number(std::string_view column) {
  const auto value = signed_number(column);
  if (!value || *value >= 0) return value;
  error(column, "negative-value",
        fmt::format("expected no negative number in column {}, found {}", in_quotes(column), view(column)));
  return std::nullopt;
}

double TableReader::require_positive(std::string_view column) {
  if (view(column).empty()) {
    require_text(column);
    return 0;
  }
  const auto value = number(column);
  if (value && *value == 0)
    error(column, "not-positive", fmt::format("expected more than 0 in column {}", in_quotes(column)));
  return value.value_or(0);
}

std::optional<int> TableReader::count(std::string_view column) {
  const std::string_view value = view(column);
  if (value.empty()) return std::nullopt;
  int small = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), small);
  if (code == std::errc() && end == value.data() + value.size() && small >= 0) return small;
  Diagnostics found;
  const auto read = table_.integer(row_, column, found);  // also "64.0"
  for (Diagnostic& diagnostic : found) add(std::move(diagnostic));
  if (!read) return std::nullopt;
  if (*read >= 0 && *read <= std::numeric_limits<int>::max()) return static_cast<int>(*read);
  error(column, *read < 0 ? "negative-value" : "out-of-range",
        fmt::format("expected a count in column {}, found {}", in_quotes(column), *read));
  return std::nullopt;
}

int TableReader::require_count(std::string_view column) {
  if (view(column).empty()) {
    require_text(column);
    return 0;
  }
  const auto value = count(column);
  if (value && *value == 0)
    error(column, "not-positive", fmt::format("expected at least 1 in column {}", in_quotes(column)));
  return value.value_or(0);
}

std::optional<bool> TableReader::flag(std::string_view column) {
  const std::string_view value = view(column);
  if (value.empty()) return std::nullopt;
  for (const std::string_view yes : {"1", "true", "yes"}) {
    if (equals_ignoring_case(value, yes)) return true;
  }
  for (const std::string_view no : {"0", "false", "no"}) {
    if (equals_ignoring_case(value, no)) return false;
  }
  error(column, "not-a-flag",
        fmt::format("expected 1 or 0 in column {}, found {}", in_quotes(column), in_quotes(value)));
  return std::nullopt;
}

std::optional<Date> TableReader::date(std::string_view column) {
  const std::string_view value = view(column);
  if (value.empty()) return std::nullopt;
  const auto result = parse_date(value);
  if (!result) {
    error(column, "not-a-date",
          fmt::format("expected a date in column {}, found {}", in_quotes(column), in_quotes(value)),
          "write it as 2026-11-30");
  }
  return result;
}

std::string TableReader::word(std::string_view column, const std::vector<std::string>& words,
                              std::string_view fallback) {
  const std::string_view value = view(column);
  if (value.empty()) return std::string(fallback);
  for (const std::string& candidate : words) {
    if (candidate == value) return candidate;
  }
  const std::string near = did_you_mean(value, words);
  error(column, "unknown-value", fmt::format("expected one of {}, found {}", join(words, ", "), in_quotes(value)),
        near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near));
  return std::string(fallback);
}

Source TableReader::source() const {
  const Diagnostic place = at(table_.columns().empty() ? std::string_view() : table_.columns()[0], "", "");
  return {text("source"), text("evidence"), text("doubt"), text("note"), fmt::format("{}:{}", file_name_, place.line)};
}

void TableReader::error(std::string_view column, std::string rule, std::string message, std::string help) {
  add(at(column, std::move(rule), std::move(message), std::move(help)));
}

void TableReader::error(std::string_view column, Diagnostic diagnostic) {
  add(at(column, std::move(diagnostic.rule), std::move(diagnostic.text), std::move(diagnostic.help)));
}

void TableReader::add(Diagnostic diagnostic) {
  ++errors_;
  diagnostics_.add(std::move(diagnostic));
}

Diagnostic TableReader::at(std::string_view column, std::string rule, std::string message, std::string help) const {
  return table_.at(row_, column, std::move(rule), std::move(message), std::move(help));
}

}  // namespace tare
