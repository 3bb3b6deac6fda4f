#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "base/quantity.h"
#include "base/text.h"

namespace tare {
namespace {

// A flag as it was typed, before it is known which verb it is for.
struct Typed {
  const Flag* flag = nullptr;
  std::string spelling;  // "--gpus", "-o"
  std::optional<std::string> value;
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  void run() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") {
        operands_.insert(operands_.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words_.end());
        break;
      }
      if (word.starts_with("--")) {
        read_long(word);
      } else if (word.size() > 1 && word[0] == '-') {
        read_short(word);
      } else {
        operands_.push_back(word);
      }
    }
    find_verb_word();
    check_flags();
    check_operands();
  }

  Arguments arguments;
  Diagnostics errors;

 private:
  void read_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const Flag* flag = find_flag(name);
    if (flag == nullptr) {
      errors.push_back(unknown_flag("--" + name));
      return;
    }
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    take(*flag, "--" + name, std::move(value));
  }

  void read_short(const std::string& word) {
    // "-hV" is two switches, "-ojson" a flag with its value.
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Flag* flag = find_flag(word[i]);
      const std::string spelling = {'-', word[i]};
      if (flag == nullptr) {
        errors.push_back(unknown_flag(spelling));
        return;
      }
      if (flag->kind == ValueKind::kSwitch) {
        take(*flag, spelling, std::nullopt);
        continue;
      }
      std::string rest = word.substr(i + 1);
      if (rest.starts_with('=')) rest.erase(0, 1);
      take(*flag, spelling, rest.empty() ? std::nullopt : std::optional(rest));
      return;
    }
  }

  void take(const Flag& flag, std::string spelling, std::optional<std::string> value) {
    if (!value && flag.kind == ValueKind::kSwitch) value = "true";
    if (!value) {
      const bool has_next = at_ + 1 < words_.size();
      const bool next_is_flag = has_next && words_[at_ + 1].starts_with("--");
      if (!has_next || next_is_flag) {
        errors.push_back(make_error("missing-value", fmt::format("{} needs a value: {}", spelling, flag.metavar),
                                    std::string(flag.help)));
        return;
      }
      value = words_[++at_];
    }
    typed_.push_back({&flag, std::move(spelling), std::move(value)});
  }

  void find_verb_word() {
    const bool asks_help = was_typed("help");
    if (was_typed("version")) {
      arguments.verb = Verb::kVersion;
      operands_.clear();
      return;
    }
    if (operands_.empty()) {
      if (!asks_help && errors.empty()) {
        errors.push_back(make_error("missing-verb", "no verb given", "'tare help' lists the verbs"));
      }
      verb_is_known_ = asks_help;
      return;
    }
    const std::string word = operands_.front();
    operands_.erase(operands_.begin());
    const VerbInfo* verb = find_verb(word);
    if (verb == nullptr) {
      errors.push_back(unknown_verb(word));
      verb_is_known_ = false;
      return;
    }
    arguments.verb = verb->verb;
    if (asks_help) {
      if (verb->verb != Verb::kHelp) operands_ = {word};
      arguments.verb = Verb::kHelp;
    }
  }

  bool was_typed(std::string_view name) const {
    return std::any_of(typed_.begin(), typed_.end(), [&](const Typed& typed) { return typed.flag->name == name; });
  }

  void check_flags() {
    for (Typed& typed : typed_) {
      const Flag& flag = *typed.flag;
      const bool asked = arguments.verb == Verb::kHelp || arguments.verb == Verb::kVersion;  // then nothing else counts
      if (verb_is_known_ && !asked && !contains(flag.verbs, arguments.verb)) {
        errors.push_back(misplaced_flag(typed));
        continue;
      }
      if (std::optional<Diagnostic> wrong = check_value(flag, *typed.value)) {
        wrong->text = typed.spelling + ": " + wrong->text;
        errors.push_back(std::move(*wrong));
        continue;
      }
      if (verb_is_known_ && !asked && flag.kind == ValueKind::kForm && !has_form(flag, *typed.value)) {
        errors.push_back(make_error("bad-value",
                                    fmt::format("{}: 'tare {}' has no form '{}'", typed.spelling,
                                                info(arguments.verb).name, output_form(*typed.value).form),
                                    fmt::format("one of {}", join(words_of(flag, arguments.verb), ", "))));
        continue;
      }
      if (!flag.repeats && flag.kind != ValueKind::kSwitch && arguments.has(flag.name)) {
        errors.push_back(make_error("repeated-flag", fmt::format("{} is given more than once", typed.spelling)));
        continue;
      }
      arguments.add(flag, std::move(*typed.value));
    }
  }

  bool has_form(const Flag& flag, const std::string& value) const {
    const std::vector<std::string> forms = words_of(flag, arguments.verb);
    return std::find(forms.begin(), forms.end(), output_form(value).form) != forms.end();
  }

  void check_operands() {
    arguments.operands = operands_;
    if (!verb_is_known_) return;
    const VerbInfo& verb = info(arguments.verb);
    const auto given = static_cast<int>(operands_.size());
    const std::string usage = fmt::format("usage: tare {} {}", verb.name, verb.operands);
    if (given < verb.least_operands) {
      errors.push_back(
          make_error("missing-operand", fmt::format("'tare {}' needs {}", verb.name, verb.operands), usage));
    } else if (verb.most_operands >= 0 && given > verb.most_operands) {
      const std::string& extra = operands_[static_cast<std::size_t>(verb.most_operands)];
      errors.push_back(make_error("extra-operand", fmt::format("unexpected '{}'", extra), usage));
    }
  }

  Diagnostic unknown_flag(const std::string& spelling) const {
    std::vector<std::string> names;
    for (const Flag& flag : flags()) names.push_back("--" + std::string(flag.name));
    const std::string near = did_you_mean(spelling, names);
    return make_error("unknown-flag", fmt::format("unknown flag '{}'", spelling),
                      near.empty() ? "'tare help VERB' lists the flags" : fmt::format("did you mean \"{}\"?", near));
  }

  Diagnostic unknown_verb(const std::string& word) const {
    std::vector<std::string> names;
    for (const VerbInfo& verb : verbs()) names.emplace_back(verb.name);
    const std::string near = did_you_mean(word, names);
    std::string help = "'tare help' lists the verbs";
    if (!near.empty()) help = fmt::format("did you mean \"{}\"?", near);
    if (word.ends_with(".toml")) help = fmt::format("did you mean \"tare plan {}\"?", word);
    return make_error("unknown-verb", fmt::format("unknown verb '{}'", word), help);
  }

  Diagnostic misplaced_flag(const Typed& typed) const {
    std::vector<std::string> owners;
    for (const VerbInfo& verb : verbs()) {
      if (contains(typed.flag->verbs, verb.verb)) owners.emplace_back(verb.name);
    }
    return make_error("misplaced-flag",
                      fmt::format("'tare {}' has no flag {}", info(arguments.verb).name, typed.spelling),
                      fmt::format("it is a flag of {}", join(owners, ", ")));
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  bool verb_is_known_ = true;
  std::vector<Typed> typed_;
  std::vector<std::string> operands_;
};

std::vector<std::string> split_all(const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (const std::string& value : values) {
    for (const std::string_view part : split(value, ',')) parts.emplace_back(trim(part));
  }
  return parts;
}

Dimension dimension_of(const Flag& flag) {
  switch (flag.kind) {
    case ValueKind::kMoney:
      return Dimension::kMoney;
    case ValueKind::kBandwidth:
      return Dimension::kBandwidth;
    default:
      return Dimension::kDuration;
  }
}

}  // namespace

bool Arguments::has(std::string_view flag) const { return values_.find(flag) != values_.end(); }

bool Arguments::is_on(std::string_view flag) const { return text(flag) == "true"; }

std::string Arguments::text(std::string_view flag) const {
  assert(find_flag(flag) != nullptr);
  const auto found = values_.find(flag);
  return found == values_.end() ? std::string(find_flag(flag)->default_text) : found->second.back();
}

std::vector<std::string> Arguments::texts(std::string_view flag) const {
  assert(find_flag(flag) != nullptr);
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<int> Arguments::count(std::string_view flag) const {
  const std::string value = text(flag);
  if (value.empty()) return std::nullopt;
  int number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

std::vector<int> Arguments::integers(std::string_view flag) const {
  std::vector<int> numbers;
  for (const std::string& part : split_all(texts(flag))) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::string> Arguments::words(std::string_view flag) const { return split_all(texts(flag)); }

std::optional<double> Arguments::ratio(std::string_view flag) const { return ratio_of(text(flag)); }

std::uint64_t Arguments::seed() const {
  const std::string digits = text("seed");
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::optional<double> Arguments::quantity(std::string_view flag) const {
  const std::string value = text(flag);
  if (value.empty()) return std::nullopt;
  return parse_quantity(value, dimension_of(*find_flag(flag))).value();
}

std::optional<Date> Arguments::date(std::string_view flag) const { return parse_date(text(flag)); }

void Arguments::add(const Flag& flag, std::string value) {
  values_[std::string(flag.name)].push_back(std::move(value));
}

Result<Arguments> parse_arguments(const std::vector<std::string>& words, Arguments* partial) {
  Parser parser(words);
  parser.run();
  if (partial != nullptr) *partial = parser.arguments;
  if (!parser.errors.empty()) return tl::unexpected(parser.errors);
  return parser.arguments;
}

}  // namespace tare
