// Text measured and cut in terminal columns, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare {

// Columns that UTF-8 `text` takes: combining marks none, wide East Asian characters two, malformed bytes one each.
int display_width(std::string_view text);

// `text` with spaces on the right (or left) up to `width` columns; unchanged when it is wider.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

// Lines of at most `width` columns, broken after spaces (dropped), else after '/', else after '-', ',' or
// '_', else anywhere.
// Newlines in `text` break too. width <= 0: only these do. Never empty.
std::vector<std::string> wrap(std::string_view text, int width);

// The wrapped lines of `text`, each after `indent` spaces and ended with a newline; the indent counts in the width.
std::string wrap_paragraph(std::string_view text, int width, int indent);

// What an ASCII terminal shows for the few symbols the program prints ("✔" nothing, "→" "->", "×" "x"); '?' for others.
std::string to_ascii(std::string_view text);

// Control bytes (a foreign file may hold escape sequences) as '?'; a tab as a space; newlines stay.
std::string printable(std::string_view text);

}  // namespace tare
