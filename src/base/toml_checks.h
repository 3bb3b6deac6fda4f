// Values of a TOML table with their range: what most keys of the files that people write are.
//
// Each reads one key and reports a value out of its range at its place ("out-of-range", "negative-value"); absent or
// reported reads as nullopt.
#pragma once

#include "base/date.h"
#include "base/toml_document.h"

namespace tare {

// A whole number in [least, most].
std::optional<int> read_int(TomlTable& table, std::string_view key, int least, int most);
// A number that is not negative.
std::optional<double> read_amount(TomlTable& table, std::string_view key);
// A number above zero.
std::optional<double> read_positive(TomlTable& table, std::string_view key);
// A quantity above zero.
std::optional<double> read_positive(TomlTable& table, std::string_view key, Dimension dimension);
// "2026-11-30" ("not-a-date").
std::optional<Date> read_date(TomlTable& table, std::string_view key);

}  // namespace tare
