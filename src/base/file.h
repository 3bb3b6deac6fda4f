// Whole files, in and out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace tare {

// Reads all of `path` ("-" = standard input). A missing file, a directory, or more than `limit_bytes` is a diagnostic
// (rules "cannot-read", "file-too-large") that says what to do.
Result<std::string> read_file(const std::string& path, std::size_t limit_bytes = 64u << 20);

// Written whole or not at all: a temporary beside it, fsync, rename.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace tare
