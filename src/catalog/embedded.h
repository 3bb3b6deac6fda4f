// The files of data/catalog, compiled into the binary. The table behind it is written by cmake/embed.cmake.
//
// Thread safety: constant data.
#pragma once

#include <span>
#include <string_view>

namespace tare {

struct EmbeddedFile {
  std::string_view name;  // "offers.csv"
  std::string_view text;  // the whole file; a NUL stands after its last byte
};

// Every embedded file, sorted by name.
std::span<const EmbeddedFile> embedded_files();

}  // namespace tare
