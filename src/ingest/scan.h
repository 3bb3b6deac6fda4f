// Small scanners that the readers of tool outputs share. Views point into what was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tare {

// Blank-separated words.
std::vector<std::string_view> words_in(std::string_view text);

// The whole of a trimmed text as a number; "1,234" and "inf" are none.
std::optional<double> to_number(std::string_view text);
std::optional<std::int64_t> to_integer(std::string_view text);

// A number with what stands behind it: "390.5 W" -> 390.5, "W"; "16GT/s" -> 16, "GT/s"; "80 %". Thousands separated by
// commas are read ("1,234,567"); the unit is trimmed and may be empty.
struct Measure {
  double value = 0;
  std::string_view unit;
};
std::optional<Measure> to_measure(std::string_view text);

// As string_view::find, faster over long texts.
std::size_t find_in(std::string_view text, std::string_view part);
bool contains(std::string_view text, std::string_view part);
// What stands behind the first `marker` (trimmed); nullopt when it is not there.
std::optional<std::string_view> after(std::string_view text, std::string_view marker);
// What stands between the first `from` and the next `to`; to the end of the text when `to` is not there.
std::optional<std::string_view> between(std::string_view text, std::string_view from, std::string_view to);
// Cuts the first line (without its end) off `text`.
std::string_view next_line(std::string_view& text);

}  // namespace tare
