#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "report/text_layout.h"

#ifndef TARE_VERSION
#define TARE_VERSION "unknown"  // the build defines it: project() of CMakeLists.txt
#endif

namespace tare {
namespace {

constexpr int kReadableWidth = 100;  // longer lines are hard to read, however wide the terminal is
constexpr int kIndent = 2;
constexpr int kHelpColumn = 28;  // where the explanations of flags begin

int text_width(const Terminal& terminal) {
  return terminal.width > 0 ? std::min(terminal.width, kReadableWidth) : kReadableWidth;
}

std::string heading(std::string_view title, const Terminal& terminal) {
  return '\n' + paint(title, Tone::kStrong, terminal.color) + '\n';
}

std::string usage_line(const VerbInfo& verb) {
  std::string line = fmt::format("tare {}", verb.name);
  if (!verb.operands.empty()) line += fmt::format(" {}", verb.operands);
  return line + " [flags]";
}

std::string spelled(const Flag& flag) {
  std::string text = flag.short_name != 0 ? fmt::format("-{}, ", flag.short_name) : "    ";
  text += fmt::format("--{}", flag.name);
  if (!flag.metavar.empty()) text += fmt::format(" {}", flag.metavar);
  return text;
}

std::string explained(const Flag& flag, Verb verb) {
  std::string text(flag.help);
  if (!flag.words.empty()) text += ": " + join(words_of(flag, verb), ", ");
  std::vector<std::string> notes;
  if (!flag.default_text.empty()) notes.push_back(fmt::format("default {}", flag.default_text));
  if (flag.repeats) notes.emplace_back("may be repeated");
  if (!notes.empty()) text += " (" + join(notes, "; ") + ")";
  return text;
}

std::string flag_lines(const Flag& flag, Verb verb, const Terminal& terminal) {
  const std::string left = std::string(kIndent, ' ') + spelled(flag);
  const std::vector<std::string> lines = wrap(explained(flag, verb), text_width(terminal) - kHelpColumn);
  std::string out;
  const bool fits = display_width(left) + 2 <= kHelpColumn;
  out += fits ? pad_right(left, kHelpColumn) : left + '\n';
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 || !fits) out.append(kHelpColumn, ' ');
    out += lines[i] + '\n';
  }
  return out;
}

std::string example_lines(const VerbInfo& verb, const Terminal& terminal) {
  if (verb.examples.empty()) return {};
  std::string out = heading("Examples", terminal);
  for (const Example& example : verb.examples) {
    out += fmt::format("  {}\n", paint(fmt::format("# {}", example.does), Tone::kFaint, terminal.color));
    out += fmt::format("  {}\n", example.command);
  }
  return out;
}

std::string for_terminal(std::string text, const Terminal& terminal) {
  return terminal.unicode ? std::move(text) : to_ascii(text);
}

}  // namespace

std::string version_text() { return "tare " TARE_VERSION; }

std::string help_text(const Terminal& terminal) {
  std::string out = wrap_paragraph(
      "tare weighs what a GPU cluster turns into trained tokens: which offer trains a model for the least money, how "
      "to "
      "split it, and where every dollar goes.",
      text_width(terminal), 0);
  out += heading("Usage", terminal) + "  tare VERB [operands] [flags]\n";
  out += heading("Verbs", terminal);
  for (const VerbInfo& verb : verbs()) out += fmt::format("  {:<13} {}\n", verb.name, verb.summary);
  out += heading("Start here", terminal) + "  tare plan examples/llama-13b-64xh100.toml\n";
  out +=
      '\n' +
      wrap_paragraph(
          "'tare help VERB' explains a verb and its flags. Flags that shape every answer can also be set as TARE_… in "
          "the environment, in ./tare.toml and in ~/.config/tare/config.toml (the first that says something counts).",
          text_width(terminal), 0);
  return for_terminal(std::move(out), terminal);
}

std::string help_text(const VerbInfo& verb, const Terminal& terminal) {
  std::string out = paint(usage_line(verb), Tone::kStrong, terminal.color) + "\n\n";
  out += wrap_paragraph(verb.description, text_width(terminal), 0);
  const std::vector<const Flag*> own = flags_of(verb.verb);
  std::optional<Category> category;
  for (const Flag* flag : own) {
    if (category != flag->category) out += heading(title_of(flag->category), terminal);
    category = flag->category;
    out += flag_lines(*flag, verb.verb, terminal);
  }
  out += example_lines(verb, terminal);
  return for_terminal(std::move(out), terminal);
}

Result<ExitCode> run_help(Context& context) {
  const std::vector<std::string>& operands = context.arguments.operands;
  const Terminal& terminal = context.console.out_terminal;
  if (operands.empty()) {
    context.console.out += help_text(terminal);
    return ExitCode::kYes;
  }
  const VerbInfo* verb = find_verb(operands.front());
  if (verb == nullptr) {
    std::vector<std::string> names;
    for (const VerbInfo& known : verbs()) names.emplace_back(known.name);
    const std::string near = did_you_mean(operands.front(), names);
    return fail("unknown-verb", fmt::format("unknown verb '{}'", operands.front()),
                near.empty() ? "'tare help' lists the verbs" : fmt::format("did you mean \"{}\"?", near));
  }
  context.console.out += help_text(*verb, terminal);
  return ExitCode::kYes;
}

Result<ExitCode> run_version(Context& context) {
  context.console.out += version_text() + '\n';
  return ExitCode::kYes;
}

}  // namespace tare
