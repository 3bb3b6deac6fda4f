// Errors and warnings for people and for programs.
#pragma once

#include "base/diagnostic.h"
#include "cli/command.h"

namespace tare {

// Appends to standard error: as a compiler prints them, with colour where the terminal shows it, or as one JSON
// document.
void show_errors(const Diagnostics& diagnostics, bool as_json, Console& console);

// render(diagnostic) with its parts painted.
std::string paint_diagnostic(const Diagnostic& diagnostic, const Terminal& terminal);

}  // namespace tare
