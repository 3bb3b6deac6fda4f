#include "base/formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace tare {
namespace {

// Recursive descent; the first error stops it. Grammar, loosest first ('^' to the right, and before a sign: -2^2 = -4):
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "/") signed }
//   signed  = ("-" | "+") signed | power
//   power   = atom [ "^" signed ]
//   atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
class Evaluator {
 public:
  explicit Evaluator(const Formula& formula) : formula_(formula), text_(formula.expression) {}

  Result<double> run() {
    double value = sum();
    if (!failed_ && !at_end()) unexpected("an operator");
    if (failed_) return fail(std::move(error_));
    if (!std::isfinite(value)) {
      set_error(0, 1, "formula-not-finite", fmt::format("the result is not finite ({})", value),
                "look for a division by zero among the inputs");
      return fail(std::move(error_));
    }
    return value;
  }

 private:
  static constexpr int kDeepest = 200;

  struct Function {
    std::string_view name;
    std::size_t fewest;
    std::size_t most;
  };
  static constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);
  static constexpr auto kFunctions = std::to_array<Function>({{"min", 1, kAnyNumber},
                                                              {"max", 1, kAnyNumber},
                                                              {"ceil", 1, 1},
                                                              {"floor", 1, 1},
                                                              {"sqrt", 1, 1},
                                                              {"log2", 1, 1},
                                                              {"exp", 1, 1},
                                                              {"pow", 2, 2}});

  // Counts the levels of nesting, so that no input can overflow the stack.
  class Level {
   public:
    explicit Level(Evaluator& evaluator) : evaluator_(evaluator) {
      if (++evaluator.depth_ > kDeepest) {
        evaluator.set_error(evaluator.position_, 1, "formula-syntax", fmt::format("nested more than {} deep", kDeepest),
                            {});
      }
    }
    ~Level() { --evaluator_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Evaluator& evaluator_;
  };

  double sum() {
    double value = product();
    while (!failed_) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        break;
      }
    }
    return value;
  }

  double product() {
    double value = signed_power();
    while (!failed_) {
      if (take('*')) {
        value *= signed_power();
      } else if (take('/')) {
        value /= signed_power();
      } else {
        break;
      }
    }
    return value;
  }

  double signed_power() {
    const Level level(*this);
    if (failed_) return 0;
    if (take('-')) return -signed_power();
    if (take('+')) return signed_power();
    const double base = atom();
    return !failed_ && take('^') ? std::pow(base, signed_power()) : base;
  }

  double atom() {
    if (take('(')) {
      const double value = sum();
      expect(')');
      return value;
    }
    const char c = peek();
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    unexpected("a number, a name or '('");
    return 0;
  }

  double number() {
    double value = 0;
    const char* const begin = text_.data() + position_;
    const auto [end, error] = fast_float::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) {
      unexpected("a number");
      return 0;
    }
    position_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  double name() {
    const std::size_t begin = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '.')) {
      ++position_;
    }
    const std::string_view word = text_.substr(begin, position_ - begin);
    return take('(') ? call(word, begin) : input(word, begin);
  }

  // The value of an input. Two inputs of one name and different values would make the printed formula ambiguous.
  double input(std::string_view word, std::size_t begin) {
    const FormulaInput* found = nullptr;
    for (const FormulaInput& candidate : formula_.inputs) {
      if (candidate.name != word) continue;
      if (found != nullptr && found->value != candidate.value) {
        set_error(begin, word.size(), "formula-unknown-name", fmt::format("two inputs are named '{}'", word), {});
        return 0;
      }
      found = &candidate;
    }
    if (found != nullptr) return found->value;
    std::vector<std::string> names;
    for (const FormulaInput& candidate : formula_.inputs) names.push_back(candidate.name);
    const std::string guess = did_you_mean(word, names);
    set_error(begin, word.size(), "formula-unknown-name", fmt::format("unknown name '{}'", word),
              guess.empty() ? std::string() : fmt::format("did you mean {}?", guess));
    return 0;
  }

  // A function; '(' is taken already. Nothing needs more than the least, the greatest and the last argument.
  double call(std::string_view word, std::size_t begin) {
    const auto* const function =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == word; });
    if (function == kFunctions.end()) {
      set_error(begin, word.size(), "formula-unknown-name", fmt::format("unknown function '{}'", word),
                "known: min, max, ceil, floor, sqrt, log2, exp, pow");
      return 0;
    }
    const double first = sum();
    double last = first;
    double least = first;
    double greatest = first;
    std::size_t count = 1;
    for (; !failed_ && take(','); ++count) {
      last = sum();
      least = std::isnan(last) ? last : std::min(least, last);
      greatest = std::isnan(last) ? last : std::max(greatest, last);
    }
    expect(')');
    if (!failed_ && (count < function->fewest || count > function->most)) {
      set_error(begin, word.size(), "formula-syntax",
                fmt::format("{} takes {} argument(s), found {}", word, function->fewest, count), {});
    }
    if (word == "min") return least;
    if (word == "max") return greatest;
    return apply(word, first, last);
  }

  static double apply(std::string_view word, double x, double y) {
    if (word == "ceil") return std::ceil(x);
    if (word == "floor") return std::floor(x);
    if (word == "sqrt") return std::sqrt(x);
    if (word == "log2") return std::log2(x);
    if (word == "exp") return std::exp(x);
    return std::pow(x, y);
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  // The next byte that is not blank; NUL at the end.
  char peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool at_end() {
    peek();
    return position_ >= text_.size();
  }

  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!failed_ && !take(c)) unexpected(fmt::format("'{}'", c));
  }

  void unexpected(std::string_view wanted) {
    const std::string found =
        at_end() ? std::string("the end")
                 : in_quotes(text_.substr(position_, std::max<std::size_t>(1, utf8_length(text_.substr(position_)))));
    set_error(position_, 1, "formula-syntax", fmt::format("expected {}, found {}", wanted, found), {});
  }

  // Keeps the first.
  void set_error(std::size_t offset, std::size_t width, std::string rule, const std::string& text, std::string help) {
    if (failed_) return;
    failed_ = true;
    const std::string what = formula_.id.empty() ? text : fmt::format("formula {}: {}", formula_.id, text);
    error_ = make_error(std::move(rule), what, std::move(help));
    error_.column = static_cast<int>(offset) + 1;
    error_.width = static_cast<int>(width);
    error_.excerpt = formula_.expression;
  }

  const Formula& formula_;
  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  Diagnostic error_;
};

// Money to the cent, whole numbers in full, the rest to six digits; with the unit unless it is "1".
std::string with_unit(double value, std::string_view unit) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  std::string text;
  if (unit == "USD" && std::fabs(value) >= 0.01) {
    text = format_usd(value, 2);
    text.erase(text.find('$'), 1);
  } else if (value == std::floor(value) && std::fabs(value) <= kLargestExact) {
    text = format_count(value);
  } else {
    text = fmt::format("{:.6g}", value);
  }
  return unit.empty() || unit == "1" ? text : fmt::format("{} {}", text, unit);
}

std::string origin(const FormulaInput& input) {
  if (!input.assumed) return input.source.empty() ? std::string() : fmt::format("({})", input.source);
  return input.source.empty() ? std::string("(assumed)") : fmt::format("(assumed: {})", input.source);
}

}  // namespace

Result<double> evaluate(const Formula& formula) { return Evaluator(formula).run(); }

std::string render(const Formula& formula) {
  std::string result =
      fmt::format("{} = {} = {}\n", formula.id, formula.expression, with_unit(formula.value, formula.unit));
  std::vector<std::string> values;
  std::size_t widest = 0;
  for (const FormulaInput& input : formula.inputs) {
    values.push_back(fmt::format("{} = {}", input.name, with_unit(input.value, input.unit)));
    widest = std::max(widest, values.back().size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string from = origin(formula.inputs[i]);
    result += from.empty() ? fmt::format("  {}\n", values[i]) : fmt::format("  {:<{}}   {}\n", values[i], widest, from);
  }
  if (!formula.note.empty()) result += fmt::format("  note: {}\n", formula.note);
  return result;
}

}  // namespace tare
