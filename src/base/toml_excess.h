// What a TOML text holds too much of for a recursive parser, found before it is parsed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tare {

struct TomlExcess {
  std::size_t offset = 0;  // of the first byte that is too much
  std::string text;        // "nested more than 64 deep"
};

// Brackets and dotted keys that nest so deep that a recursive parser or destructor would overflow the stack, or so many
// table headers and dotted keys that toml++, which searches lists of them, would take quadratic time. Knows strings and
// comments; whether the rest is TOML is left to the parser.
std::optional<TomlExcess> find_toml_excess(std::string_view text);

}  // namespace tare
