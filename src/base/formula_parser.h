// The grammar of a formula's expression, read once into whatever an algebra makes of it: numbers (base/formula.cc) or a
// program (base/formula_program.cc).
//
// An Algebra has a default-constructible Value and
//   Value constant(double); Value input(const FormulaInput&); Value apply(FormulaOp, Value); Value apply(FormulaOp,
//   Value, Value);
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include "base/formula.h"
#include "base/formula_op.h"
#include "base/text.h"

namespace tare {

// Recursive descent; the first error stops it. Grammar, loosest first ('^' to the right, and before a sign: -2^2 = -4):
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "/") signed }
//   signed  = ("-" | "+") signed | power
//   power   = atom [ "^" signed ]
//   atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
template <typename Algebra>
class FormulaParser {
 public:
  using Value = typename Algebra::Value;

  FormulaParser(const Formula& formula, Algebra& algebra)
      : formula_(formula), text_(formula.expression), algebra_(algebra) {}

  Result<Value> run() {
    Value value = sum();
    if (!failed_ && !at_end()) unexpected("an operator");
    if (failed_) return fail(std::move(error_));
    return value;
  }

  // An error of the whole formula, as those of its syntax are.
  Diagnostic error(std::string rule, const std::string& text, std::string help) {
    set_error(0, 1, std::move(rule), text, std::move(help));
    return std::move(error_);
  }

 private:
  static constexpr int kDeepest = 200;

  struct Function {
    std::string_view name;
    FormulaOp op;
    std::size_t fewest;
    std::size_t most;
  };
  static constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);
  static constexpr auto kFunctions = std::to_array<Function>({{"min", FormulaOp::kMin, 1, kAnyNumber},
                                                              {"max", FormulaOp::kMax, 1, kAnyNumber},
                                                              {"ceil", FormulaOp::kCeil, 1, 1},
                                                              {"floor", FormulaOp::kFloor, 1, 1},
                                                              {"sqrt", FormulaOp::kSqrt, 1, 1},
                                                              {"log2", FormulaOp::kLog2, 1, 1},
                                                              {"exp", FormulaOp::kExp, 1, 1},
                                                              {"pow", FormulaOp::kPow, 2, 2}});

  // Counts the levels of nesting, so that no input can overflow the stack.
  class Level {
   public:
    explicit Level(FormulaParser& parser) : parser_(parser) {
      if (++parser.depth_ > kDeepest) {
        parser.set_error(parser.position_, 1, "formula-syntax", fmt::format("nested more than {} deep", kDeepest), {});
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    FormulaParser& parser_;
  };

  Value sum() {
    Value value = product();
    while (!failed_) {
      if (take('+')) {
        value = algebra_.apply(FormulaOp::kAdd, value, product());
      } else if (take('-')) {
        value = algebra_.apply(FormulaOp::kSubtract, value, product());
      } else {
        break;
      }
    }
    return value;
  }

  Value product() {
    Value value = signed_power();
    while (!failed_) {
      if (take('*')) {
        value = algebra_.apply(FormulaOp::kMultiply, value, signed_power());
      } else if (take('/')) {
        value = algebra_.apply(FormulaOp::kDivide, value, signed_power());
      } else {
        break;
      }
    }
    return value;
  }

  Value signed_power() {
    const Level level(*this);
    if (failed_) return Value{};
    if (take('-')) return algebra_.apply(FormulaOp::kNegate, signed_power());
    if (take('+')) return signed_power();
    const Value base = atom();
    return !failed_ && take('^') ? algebra_.apply(FormulaOp::kPow, base, signed_power()) : base;
  }

  Value atom() {
    if (take('(')) {
      const Value value = sum();
      expect(')');
      return value;
    }
    const char c = peek();
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    unexpected("a number, a name or '('");
    return Value{};
  }

  Value number() {
    double value = 0;
    const char* const begin = text_.data() + position_;
    const auto [end, error] = fast_float::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) {
      unexpected("a number");
      return Value{};
    }
    position_ += static_cast<std::size_t>(end - begin);
    return algebra_.constant(value);
  }

  Value name() {
    const std::size_t begin = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '.')) {
      ++position_;
    }
    const std::string_view word = text_.substr(begin, position_ - begin);
    return take('(') ? call(word, begin) : input(word, begin);
  }

  // The value of an input. Two inputs of one name and different values would make the printed formula ambiguous.
  Value input(std::string_view word, std::size_t begin) {
    const FormulaInput* found = nullptr;
    for (const FormulaInput& candidate : formula_.inputs) {
      if (candidate.name != word) continue;
      if (found != nullptr && found->value != candidate.value) {
        set_error(begin, word.size(), "formula-unknown-name", fmt::format("two inputs are named '{}'", word), {});
        return Value{};
      }
      found = &candidate;
    }
    if (found != nullptr) return algebra_.input(*found);
    std::vector<std::string> names;
    for (const FormulaInput& candidate : formula_.inputs) names.push_back(candidate.name);
    const std::string guess = did_you_mean(word, names);
    set_error(begin, word.size(), "formula-unknown-name", fmt::format("unknown name '{}'", word),
              guess.empty() ? std::string() : fmt::format("did you mean {}?", guess));
    return Value{};
  }

  // A function; '(' is taken already. min and max take any number of arguments, two by two; the others need the first
  // and the last.
  Value call(std::string_view word, std::size_t begin) {
    const auto* const function =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == word; });
    if (function == kFunctions.end()) {
      set_error(begin, word.size(), "formula-unknown-name", fmt::format("unknown function '{}'", word),
                "known: min, max, ceil, floor, sqrt, log2, exp, pow");
      return Value{};
    }
    const bool folds = function->most == kAnyNumber;
    const Value first = sum();
    Value last = first;
    Value folded = first;
    std::size_t count = 1;
    for (; !failed_ && take(','); ++count) {
      last = sum();
      if (folds && !failed_) folded = algebra_.apply(function->op, folded, last);
    }
    expect(')');
    if (!failed_ && (count < function->fewest || count > function->most)) {
      set_error(begin, word.size(), "formula-syntax",
                fmt::format("{} takes {} argument(s), found {}", word, function->fewest, count), {});
    }
    if (failed_) return Value{};
    if (folds) return folded;
    return function->most == 1 ? algebra_.apply(function->op, first) : algebra_.apply(function->op, first, last);
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
  Algebra& algebra_;
  std::size_t position_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  Diagnostic error_;
};

}  // namespace tare
