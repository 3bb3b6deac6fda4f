#include "cli/completions.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/flags.h"

namespace tare {
namespace {

// Ids of offers are asked of the program itself, so that they follow the catalog in use.
constexpr std::string_view kOfferIds = "tare catalog offers --output csv 2>/dev/null | cut -d, -f1 | tail -n +2";
constexpr std::string_view kCatalogKinds = "gpus nodes offers models parameters stacks nics import";

std::string verb_names() {
  std::vector<std::string> names;
  for (const VerbInfo& verb : verbs()) names.emplace_back(verb.name);
  return join(names, " ");
}

std::string flag_names(Verb verb) {
  std::vector<std::string> names;
  for (const Flag* flag : flags_of(verb)) names.push_back("--" + std::string(flag->name));
  return join(names, " ");
}

// A text between single quotes for any of the shells.
std::string quoted(std::string_view text, std::string_view quote_inside) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote_inside;
    } else {
      out += c;
    }
  }
  return out + '\'';
}

// The words that may follow a verb itself: kinds, shells, verbs; empty where a file is meant.
std::string operand_words(Verb verb) {
  if (verb == Verb::kCatalog) return std::string(kCatalogKinds);
  if (verb == Verb::kCompletions) return "bash zsh fish";
  if (verb == Verb::kHelp) return verb_names();
  return {};
}

// The words of a flag for one verb.
std::string words_text(const Flag& flag, Verb verb) { return join(words_of(flag, verb), " "); }

std::string bash_values(const Flag& flag) {
  switch (flag.kind) {
    case ValueKind::kSwitch:
      return {};
    case ValueKind::kWord:
    case ValueKind::kWords:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", flag.words);
    case ValueKind::kForm:
      return fmt::format("COMPREPLY=($(compgen -f -W '{}' -- \"$current\"))", flag.words);
    case ValueKind::kChoice:
      return fmt::format("COMPREPLY=($(compgen -f -W \"$({})\" -- \"$current\"))", kOfferIds);
    case ValueKind::kOffer:
      return fmt::format("COMPREPLY=($(compgen -W \"$({})\" -- \"$current\"))", kOfferIds);
    case ValueKind::kFile:
      return "COMPREPLY=($(compgen -f -- \"$current\"))";
    case ValueKind::kDirectory:
      return "COMPREPLY=($(compgen -d -- \"$current\"))";
    default:
      return "COMPREPLY=()";
  }
}

std::string zsh_action(const Flag& flag, Verb verb) {
  switch (flag.kind) {
    case ValueKind::kSwitch:
      return {};
    case ValueKind::kWord:
    case ValueKind::kWords:
      return fmt::format(":{}:({})", flag.metavar, flag.words);
    case ValueKind::kForm:
      return fmt::format(":form or file:_tare_or_files {}", words_text(flag, verb));
    case ValueKind::kChoice:
      return ":cluster or offer:_tare_choices";
    case ValueKind::kOffer:
      return ":offer:_tare_offers";
    case ValueKind::kFile:
      return ":file:_files";
    case ValueKind::kDirectory:
      return ":directory:_files -/";
    default:
      return ":value: ";
  }
}

// In a zsh specification brackets and colons of the help text are syntax.
std::string zsh_help(std::string_view help) {
  std::string out;
  for (const char c : help) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_verb(const VerbInfo& verb) {
  std::string out = fmt::format("    {})\n      _arguments \\\n", verb.name);
  for (const Flag* flag : flags_of(verb.verb)) {
    const std::string spec =
        fmt::format("{}--{}{}[{}]{}", flag->repeats ? "*" : "", flag->name, flag->kind == ValueKind::kSwitch ? "" : "=",
                    zsh_help(flag->help), zsh_action(*flag, verb.verb));
    out += fmt::format("        {} \\\n", quoted(spec, "'\\''"));
  }
  const std::string words = operand_words(verb.verb);
  const std::string operands = words.empty() ? "*:file:_files" : fmt::format("*:word:({})", words);
  return out + fmt::format("        '{}' ;;\n", operands);
}

}  // namespace

std::string bash_completions() {
  std::string out = "# bash completion of tare; written by 'tare completions bash'\n_tare() {\n";
  out += "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb= word\n";
  out += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n";
  out += fmt::format("    case \" {} \" in *\" $word \"*) verb=$word; break ;; esac\n  done\n", verb_names());
  out += "  case \"$previous\" in\n";
  for (const Flag& flag : flags()) {
    const std::string reply = bash_values(flag);
    if (reply.empty()) continue;
    const std::string pattern =
        flag.short_name != 0 ? fmt::format("--{}|-{}", flag.name, flag.short_name) : fmt::format("--{}", flag.name);
    out += fmt::format("    {}) {}; return ;;\n", pattern, reply);
  }
  out += "  esac\n  case \"$verb\" in\n";
  out += fmt::format("    '') COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n", verb_names());
  for (const VerbInfo& verb : verbs()) {
    const std::string words = operand_words(verb.verb);
    const std::string otherwise = words.empty() ? std::string("COMPREPLY=($(compgen -f -- \"$current\"))")
                                                : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", words);
    out += fmt::format(
        "    {}) if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$current\")); else {}; fi ;;\n",
        verb.name, flag_names(verb.verb), otherwise);
  }
  return out + "  esac\n}\ncomplete -o filenames -F _tare tare\n";
}

std::string zsh_completions() {
  std::string out = "#compdef tare\n# zsh completion of tare; written by 'tare completions zsh'\n";
  out += fmt::format("_tare_offers() {{\n  compadd -- ${{(f)\"$({})\"}}\n}}\n", kOfferIds);
  out += "_tare_choices() { _tare_offers; _files }\n_tare_or_files() { compadd -- $@; _files }\n";
  out += "_tare() {\n  local -a verbs=(\n";
  for (const VerbInfo& verb : verbs()) {
    out += fmt::format("    {}\n", quoted(fmt::format("{}:{}", verb.name, verb.summary), "'\\''"));
  }
  out += "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n";
  out += "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const VerbInfo& verb : verbs()) out += zsh_verb(verb);
  return out + "  esac\n}\ncompdef _tare tare\n";
}

std::string fish_completions() {
  std::string out = "# fish completion of tare; written by 'tare completions fish'\ncomplete -c tare -f\n";
  for (const VerbInfo& verb : verbs()) {
    out +=
        fmt::format("complete -c tare -n __fish_use_subcommand -a {} -d {}\n", verb.name, quoted(verb.summary, "\\'"));
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", verb.name);
    const std::string words = operand_words(verb.verb);
    if (!words.empty()) {
      out += fmt::format("complete -c tare -n {} -a '{}'\n", seen, words);
    } else if (!verb.operands.empty()) {
      out += fmt::format("complete -c tare -n {} -F\n", seen);
    }
    for (const Flag* flag : flags_of(verb.verb)) {
      out += fmt::format("complete -c tare -n {} -l {}", seen, flag->name);
      if (flag->short_name != 0) out += fmt::format(" -s {}", flag->short_name);
      if (flag->kind != ValueKind::kSwitch) out += " -r";
      if (!flag->words.empty()) out += fmt::format(" -a '{}'", words_text(*flag, verb.verb));
      const bool names_offer = flag->kind == ValueKind::kOffer || flag->kind == ValueKind::kChoice;
      const bool names_file = flag->kind == ValueKind::kFile || flag->kind == ValueKind::kDirectory ||
                              flag->kind == ValueKind::kChoice || flag->kind == ValueKind::kForm;
      if (names_offer) out += fmt::format(" -a '({})'", kOfferIds);
      if (names_file) out += " -F";
      out += fmt::format(" -d {}\n", quoted(flag->help, "\\'"));
    }
  }
  return out;
}

Result<ExitCode> run_completions(Context& context) {
  const std::string& shell = context.arguments.operands.front();
  if (shell == "bash") {
    context.console.out += bash_completions();
  } else if (shell == "zsh") {
    context.console.out += zsh_completions();
  } else if (shell == "fish") {
    context.console.out += fish_completions();
  } else {
    return fail("bad-operand", fmt::format("'{}' is not a shell that completions are written for", shell),
                "bash, zsh or fish");
  }
  return ExitCode::kYes;
}

}  // namespace tare
