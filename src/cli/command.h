// From words to an exit code: what main() calls, and tests call in its place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "report/terminal.h"

namespace tare {

// What a command prints; the caller writes it out.
struct Console {
  std::string out;  // the answer
  std::string err;  // warnings and errors
  Terminal out_terminal;
  Terminal err_terminal;
};

// The world around a command.
struct World {
  Settings settings;
  std::function<Terminal(int file_descriptor, ColorChoice)> terminal;
};

// What a verb works with.
struct Context {
  const Arguments& arguments;
  Console& console;
};

// Runs `words` (without the program's name). Never throws: what is not foreseen is reported as an internal error.
ExitCode run_command(const std::vector<std::string>& words, const World& world, Console& console);

// The verbs, one file each.
Result<ExitCode> run_plan(Context& context);
Result<ExitCode> run_estimate(Context& context);
Result<ExitCode> run_compare(Context& context);
Result<ExitCode> run_bill(Context& context);
Result<ExitCode> run_place(Context& context);
Result<ExitCode> run_catalog(Context& context);
Result<ExitCode> run_validate(Context& context);
Result<ExitCode> run_read(Context& context);
Result<ExitCode> run_audit(Context& context);
Result<ExitCode> run_completions(Context& context);
Result<ExitCode> run_man(Context& context);
Result<ExitCode> run_help(Context& context);
Result<ExitCode> run_version(Context& context);

}  // namespace tare
