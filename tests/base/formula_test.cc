#include "base/formula.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

Formula formula(std::string expression, std::vector<FormulaInput> inputs = {}) {
  Formula result;
  result.id = "test.f";
  result.expression = std::move(expression);
  result.inputs = std::move(inputs);
  return result;
}

double value(std::string expression) {
  const auto result = evaluate(formula(expression, {{"x", 3, "1", "", false}, {"y_2", 0.5, "1", "", false}}));
  EXPECT_TRUE(result) << render(result.error());
  return result.value_or(std::nan(""));
}

std::string error(std::string expression, std::vector<FormulaInput> inputs = {}) {
  const auto result = evaluate(formula(std::move(expression), std::move(inputs)));
  return result ? std::string("none") : render(result.error());
}

std::string rule(std::string expression) {
  const auto result = evaluate(formula(std::move(expression), {{"x", 3, "1", "", false}}));
  return result ? std::string("none") : result.error().at(0).rule;
}

TEST(Formula, KnowsPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("24 / 4 / 2"), 3);
  EXPECT_EQ(value("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(value("-2 ^ 2"), -4);
  EXPECT_EQ(value("2 ^ -1"), 0.5);
  EXPECT_EQ(value("2 * -3"), -6);
  EXPECT_EQ(value("--2"), 2);
  EXPECT_EQ(value("1.5e3*x"), 4500);
  EXPECT_EQ(value(" x\n*y_2 "), 1.5);
}

TEST(Formula, KnowsItsFunctions) {
  EXPECT_EQ(value("min(3, x - 1, 5)"), 2);
  EXPECT_EQ(value("max(3, x + 1)"), 4);
  EXPECT_EQ(value("max(7)"), 7);
  EXPECT_EQ(value("ceil(1.2) + floor(1.8)"), 3);
  EXPECT_EQ(value("sqrt(x * x)"), 3);
  EXPECT_EQ(value("log2(8)"), 3);
  EXPECT_EQ(value("exp(0)"), 1);
  EXPECT_EQ(value("pow(2, x)"), 8);
}

TEST(Formula, PointsAtTheError) {
  EXPECT_EQ(error("tokens * prise", {{"price", 1, "USD", "", false}, {"tokens", 1, "1", "", false}}),
            "error: formula test.f: unknown name 'prise' [formula-unknown-name]\n"
            "  tokens * prise\n"
            "           ^~~~~\n"
            "  help: did you mean price?\n");
  EXPECT_EQ(error("1 + * 2"),
            "error: formula test.f: expected a number, a name or '(', found '*' [formula-syntax]\n"
            "  1 + * 2\n"
            "      ^\n");
  EXPECT_EQ(error("(1 + 2"),
            "error: formula test.f: expected ')', found the end [formula-syntax]\n"
            "  (1 + 2\n"
            "        ^\n");
  EXPECT_EQ(error("log(2)"),
            "error: formula test.f: unknown function 'log' [formula-unknown-name]\n"
            "  log(2)\n"
            "  ^~~\n"
            "  help: known: min, max, ceil, floor, sqrt, log2, exp, pow\n");
}

TEST(Formula, RefusesBrokenSyntax) {
  for (const char* text : {"", " ", "1 2", "x x", "1 +", ")", "min()", "min(1,)", "pow(2)", "pow(1,2,3)", "sqrt(1,2)",
                           "x(2", ".", "1..2", "x = 3", "ü", "\xFF", "2 ** 3", "1,2"}) {
    EXPECT_NE(rule(text), "none") << text;
  }
  EXPECT_EQ(rule(std::string("1\0+ 2", 6)), "formula-syntax");
}

TEST(Formula, RefusesWhatIsNotFinite) {
  EXPECT_EQ(rule("1 / 0"), "formula-not-finite");
  EXPECT_EQ(rule("sqrt(-1)"), "formula-not-finite");
  EXPECT_EQ(rule("exp(1000)"), "formula-not-finite");
  EXPECT_EQ(rule("1e999"), "formula-not-finite");
  EXPECT_EQ(rule("min(1, 0/0)"), "formula-not-finite");
  EXPECT_EQ(rule("max(0/0, 1)"), "formula-not-finite");
}

TEST(Formula, RefusesTwoValuesOfOneName) {
  EXPECT_EQ(error("x", {{"x", 1, "", "", false}, {"x", 1, "", "", false}}), "none");
  EXPECT_NE(error("x", {{"x", 1, "", "", false}, {"x", 2, "", "", false}}), "none");
}

TEST(Formula, DeepNestingIsAnErrorNotACrash) {
  EXPECT_EQ(value(std::string(150, '(') + "1" + std::string(150, ')')), 1);
  EXPECT_EQ(rule(std::string(1'000'000, '(')), "formula-syntax");
  EXPECT_EQ(rule(std::string(1'000'000, '-') + "1"), "formula-syntax");
  std::string powers = "1";
  for (int i = 0; i < 100'000; ++i) powers += "^1";
  EXPECT_EQ(rule(powers), "formula-syntax");
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 100'001);
}

TEST(Formula, RendersForPeople) {
  Formula f = formula("price_usd_per_gpu_h * billed_gpu_hours",
                      {{"price_usd_per_gpu_h", 3.2912345678, "USD/GPU-h", "offer runpod/h100, 2026-05-24", false},
                       {"billed_gpu_hours", 5602, "GPU-h", "", true},
                       {"share", 0.5, "1", "", false},
                       {"loss", 0.1, "1", "parameter loss", true}});
  f.id = "bill.rent";
  f.value = 18437.496;
  f.unit = "USD";
  f.note = "billed by the hour";
  EXPECT_EQ(render(f),
            "bill.rent = price_usd_per_gpu_h * billed_gpu_hours = 18,437.50 USD\n"
            "  price_usd_per_gpu_h = 3.29123 USD/GPU-h   (offer runpod/h100, 2026-05-24)\n"
            "  billed_gpu_hours = 5,602 GPU-h            (assumed)\n"
            "  share = 0.5\n"
            "  loss = 0.1                                (assumed: parameter loss)\n"
            "  note: billed by the hour\n");
}

TEST(Formula, RendersAnyNumber) {
  Formula f = formula("x");
  f.unit = "USD";
  f.value = -0.5;
  EXPECT_EQ(render(f), "test.f = x = -0.50 USD\n");
  f.value = 1.5e-7;
  EXPECT_EQ(render(f), "test.f = x = 1.5e-07 USD\n");
  f.unit = "s";
  f.value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(render(f), "test.f = x = inf s\n");
}

RC_GTEST_PROP(FormulaProperty, ArithmeticAgrees, (int a, int b, int c)) {
  const auto at = [](double x) { return FormulaInput{"", x, "1", "", false}; };
  Formula f = formula("a * b - c + (a + b) * -c", {at(a), at(b), at(c)});
  f.inputs[0].name = "a";
  f.inputs[1].name = "b";
  f.inputs[2].name = "c";
  const double x = a;
  const double y = b;
  const double z = c;
  RC_ASSERT(evaluate(f).value() == x * y - z + (x + y) * -z);
}

RC_GTEST_PROP(FormulaProperty, AnyTextIsAValueOrOneError, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('1', 'x', '+', '-', '*', '/', '^', '(', ')', ',', ' ', 'e', '.'));
  const auto result = evaluate(formula(text, {{"x", 2, "1", "", false}}));
  const bool is_either = result ? std::isfinite(*result) : result.error().size() == 1;
  RC_ASSERT(is_either);
}

}  // namespace
}  // namespace tare
