// What tare can be asked to do: one row per verb, for dispatch, help, the man page and completions.
#pragma once

#include <span>
#include <string_view>

namespace tare {

enum class Verb : unsigned {
  kPlan,
  kEstimate,
  kCompare,
  kBill,
  kPlace,
  kCatalog,
  kValidate,
  kRead,
  kAudit,
  kCompletions,
  kMan,
  kHelp,
  kVersion
};

// A set of verbs.
using VerbSet = unsigned;
constexpr VerbSet only(Verb verb) { return 1u << static_cast<unsigned>(verb); }
constexpr bool contains(VerbSet set, Verb verb) { return (set & only(verb)) != 0; }

struct Example {
  std::string_view command;
  std::string_view does;
};

struct VerbInfo {
  Verb verb;
  std::string_view name;
  std::string_view operands;  // "JOB.toml"
  int least_operands;
  int most_operands;             // -1 = any number
  std::string_view summary;      // one line
  std::string_view description;  // paragraphs, separated by a blank line
  std::span<const Example> examples;
};

std::span<const VerbInfo> verbs();
const VerbInfo& info(Verb verb);
const VerbInfo* find_verb(std::string_view name);

}  // namespace tare
