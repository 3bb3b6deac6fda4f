#include "cli/command.h"

#include <algorithm>
#include <exception>
#include <new>

#include "cli/errors.h"
#include "cli/labels.h"

namespace tare {
namespace {

ColorChoice color_choice(const Arguments& arguments) {
  const std::string word = arguments.text("color");
  if (word == "always") return ColorChoice::kAlways;
  return word == "never" ? ColorChoice::kNever : ColorChoice::kAuto;
}

void look_at_terminals(const Arguments& arguments, const World& world, Console& console) {
  const ColorChoice choice = color_choice(arguments);
  console.out_terminal = world.terminal(1, choice);
  console.err_terminal = world.terminal(2, choice);
}

// The verbs that must answer even when a config file is broken.
bool needs_no_settings(Verb verb) {
  return verb == Verb::kHelp || verb == Verb::kVersion || verb == Verb::kMan || verb == Verb::kCompletions;
}

Result<ExitCode> dispatch(Context& context) {
  switch (context.arguments.verb) {
    case Verb::kPlan:
      return run_plan(context);
    case Verb::kEstimate:
      return run_estimate(context);
    case Verb::kCompare:
      return run_compare(context);
    case Verb::kBill:
      return run_bill(context);
    case Verb::kPlace:
      return run_place(context);
    case Verb::kCatalog:
      return run_catalog(context);
    case Verb::kValidate:
      return run_validate(context);
    case Verb::kAudit:
      return run_audit(context);
    case Verb::kRead:
      return run_read(context);
    case Verb::kCompletions:
      return run_completions(context);
    case Verb::kMan:
      return run_man(context);
    case Verb::kHelp:
      return run_help(context);
    case Verb::kVersion:
      return run_version(context);
  }
  return fail("internal-error", "a verb that nothing runs");
}

// "It does not fit" is an answer, and a wrong input is not.
bool is_refusal(const Diagnostics& diagnostics) {
  return std::all_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& diagnostic) { return !meaning_of_refusal(diagnostic.rule).empty(); });
}

Result<ExitCode> parse_and_run(const std::vector<std::string>& words, const World& world, Arguments& arguments,
                               Console& console) {
  const Result<Arguments> parsed = parse_arguments(words, &arguments);
  look_at_terminals(arguments, world, console);
  if (!parsed) return tl::unexpected(parsed.error());
  const Result<void> added = add_settings(arguments, world.settings);
  look_at_terminals(arguments, world, console);  // a lower layer may have chosen the colour
  if (!added && !needs_no_settings(arguments.verb)) return tl::unexpected(added.error());
  Context context{arguments, console};
  return dispatch(context);
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& words, const World& world, Console& console) {
  Arguments arguments;
  Result<ExitCode> result = ExitCode::kYes;
  try {
    result = parse_and_run(words, world, arguments, console);
  } catch (const std::bad_alloc&) {
    result = fail("out-of-memory", "not enough memory for this input");
  } catch (const std::exception& error) {
    result =
        fail("internal-error", error.what(), "this is a bug of tare; please report it with the command and its input");
  }
  if (result) return *result;
  console.out.clear();  // half an answer is none
  show_errors(result.error(), output_form(arguments.text("output")).form == "json", console);
  return is_refusal(result.error()) ? ExitCode::kNo : ExitCode::kWrongUse;
}

}  // namespace tare
