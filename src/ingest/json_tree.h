// JSON as facts: every value with its line, and whatever stands before a fault.
//
// What people paste is cut short, lacks its outer braces or holds several documents one after the other. A strict
// parser loses all of it; this one keeps what it has read and says where and why it stopped. Numbers that fit are
// integers; NaN and Infinity are read as unknown. Nesting beyond kDepth is a fault.
// Thread safety: pure function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ingest/fact.h"

namespace tare {

struct JsonTree {
  static constexpr int kDepth = 200;
  Fact root;              // unknown when there is no value at all
  bool complete = false;  // the document ended as it should
  std::string fault;      // "the input ends inside an object"; empty when complete
  std::int64_t fault_line = 0;
  std::size_t used = 0;  // bytes up to the end of the document: what follows may be another
};

// `first_line`: the number of the line that `text` begins on.
JsonTree read_json_tree(std::string_view text, std::int64_t first_line = 1);

}  // namespace tare
