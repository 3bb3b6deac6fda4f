// Help for people, from the tables of verbs and flags.
#pragma once

#include <string>
#include <string_view>

#include "cli/verbs.h"
#include "report/terminal.h"

namespace tare {

std::string version_text();  // "tare 0.1.0"

// All verbs, one line each.
std::string help_text(const Terminal& terminal);

// One verb: usage, description, its flags by category, examples.
std::string help_text(const VerbInfo& verb, const Terminal& terminal);

}  // namespace tare
