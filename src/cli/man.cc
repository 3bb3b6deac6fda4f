// The manual page tare(1), as roff, from the tables of verbs and flags.
#include "cli/man.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/help.h"

namespace tare {
namespace {

// Text that roff shows as it is: backslashes, leading dots and quotes, and hyphens that must stay ASCII.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' || c == '.') {
      if (out.empty() || out.back() == '\n') out += "\\&";
      out += c == '\'' ? "\\(aq" : ".";
    } else {
      out += c;
    }
  }
  return out;
}

// Paragraphs separated by blank lines.
std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += line.empty() ? ".PP\n" : roff(line) + '\n';
  return out;
}

std::string flag_entry(const Flag& flag) {
  std::string out = ".TP\n";
  if (flag.short_name != 0) out += fmt::format("\\fB\\-{}\\fR, ", flag.short_name);
  out += fmt::format("\\fB\\-\\-{}\\fR", roff(flag.name));
  if (!flag.metavar.empty()) out += fmt::format(" \\fI{}\\fR", roff(flag.metavar));
  out += '\n' + roff(flag.help);
  if (!flag.words.empty()) out += ": " + roff(join(words_of(flag), ", "));
  if (!flag.default_text.empty()) out += fmt::format(" (default {})", roff(flag.default_text));
  out += ".\n";
  if (!flag.long_help.empty()) out += roff(flag.long_help) + '\n';
  std::vector<std::string> owners;
  for (const VerbInfo& verb : verbs()) {
    if (contains(flag.verbs, verb.verb)) owners.emplace_back(verb.name);
  }
  if (owners.size() < verbs().size()) out += fmt::format("Of: {}.\n", roff(join(owners, ", ")));
  return out;
}

std::string verb_entries() {
  std::string out = ".SH VERBS\n";
  for (const VerbInfo& verb : verbs()) {
    out += fmt::format(".SS {} {}\n", verb.name, roff(verb.operands));
    out += paragraphs(verb.description);
  }
  return out;
}

std::string flag_entries() {
  std::string out = ".SH FLAGS\n";
  std::optional<Category> category;
  for (const Flag& flag : flags()) {
    if (category != flag.category) out += fmt::format(".SS {}\n", title_of(flag.category));
    category = flag.category;
    out += flag_entry(flag);
  }
  return out;
}

std::string settings_entries() {
  std::string out = ".SH ENVIRONMENT\n";
  for (const Flag& flag : flags()) {
    if (flag.configurable)
      out += fmt::format(".TP\n\\fB{}\\fR\nas \\-\\-{}.\n", environment_name(flag), roff(flag.name));
  }
  out += ".TP\n\\fBNO_COLOR\\fR\nnot empty: no colour.\n";
  out += ".TP\n\\fBCOLUMNS\\fR\nhow wide tables may be.\n";
  out += ".SH FILES\n.TP\n\\fItare.toml\\fR, \\fI~/.config/tare/config.toml\\fR\n";
  out +=
      roff(
          "Settings of the project and of the user: the same names as the variables, in lower case and without TARE_ "
          "(max_price_age = \"180d\"). A flag counts before the environment, that before the project's file, that "
          "before the user's.") +
      '\n';
  return out;
}

std::string example_entries() {
  std::string out = ".SH EXAMPLES\n";
  for (const VerbInfo& verb : verbs()) {
    for (const Example& example : verb.examples) {
      out += fmt::format(".TP\n{}\n\\fB{}\\fR\n", roff(example.does), roff(example.command));
    }
  }
  return out;
}

}  // namespace

std::string man_page() {
  std::string out = fmt::format(".TH TARE 1 \"\" \"{}\" \"User Commands\"\n", version_text());
  out += ".SH NAME\ntare \\- what a GPU cluster turns into trained tokens\n";
  out += ".SH SYNOPSIS\n\\fBtare\\fR \\fIVERB\\fR [\\fIoperands\\fR] [\\fIflags\\fR]\n";
  out += ".SH DESCRIPTION\n";
  out +=
      roff(
          "Which offer trains a model for the least money by its deadline, how to split the model over the GPUs, and "
          "where every dollar goes. Answers go to standard output, everything else to standard error.") +
      '\n';
  out += verb_entries() + flag_entries() + settings_entries();
  out +=
      ".SH EXIT STATUS\n.TP\n0\nanswered\n.TP\n1\nthe answer is no: nothing meets deadline and budget, or the total is "
      "over \\-\\-fail\\-over\n.TP\n2\nthe command line or an input is wrong\n.TP\n130\ninterrupted\n";
  return out + example_entries();
}

Result<ExitCode> run_man(Context& context) {
  context.console.out += man_page();
  return ExitCode::kYes;
}

}  // namespace tare
