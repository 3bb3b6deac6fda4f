// A JSON document of any size, element by element: only one is built at a time.
//
// The outermost object's members are given one by one, and those that are lists element by element. What has lost its
// outer braces ("name": value, … at the start) is read as an object.
// Thread safety: pure function.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ingest/json_tree.h"

namespace tare {

struct JsonWalk {
  bool complete = false;  // the document ended as it should
  std::string fault;      // why not
  std::int64_t fault_line = 0;
  std::size_t used = 0;
};

// `name`: of the member, empty for an element of an outermost list. `in_list`: the value is an element of it. `whole`:
// false for the last value of a document that is cut inside it.
using JsonVisit = std::function<void(std::string_view name, bool in_list, const Fact& value, bool whole)>;

JsonWalk walk_json(std::string_view text, std::int64_t first_line, const JsonVisit& visit);

}  // namespace tare
