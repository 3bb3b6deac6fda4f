// YAML as facts: every value with its line, and whatever can be read of a damaged document.
//
// Pastes of YAML begin in the middle, end in the middle of a key and are indented as a whole. This reader goes by
// indentation alone: a line that does not fit is put aside, the rest is kept. It knows block and flow maps and lists,
// plain, quoted and block scalars, comments and several documents; anchors, tags and merge keys are read over. A plain
// number is a number, a quoted one a text. Linear in the input.
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/fact.h"

namespace tare {

struct YamlTree {
  static constexpr int kDepth = 60;
  std::vector<Fact> documents;  // records or lists, mostly; their line is where they begin
  std::vector<std::pair<std::int64_t, std::string_view>> bad;  // lines that fitted nowhere, the first some
  std::int64_t bad_count = 0;
};

YamlTree read_yaml_tree(std::string_view text, std::int64_t first_line = 1);

// The key of a "key: value" or "- key: value" line; empty when there is none.
std::string_view yaml_key(std::string_view line);

}  // namespace tare
