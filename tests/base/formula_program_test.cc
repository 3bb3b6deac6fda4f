#include "base/formula_program.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

using Value = FormulaGraph::Value;

// External i is values[i] + lane: every lane is a case of its own.
class Counting : public FormulaExternals {
 public:
  explicit Counting(std::vector<double> values) : values_(std::move(values)) {}
  void fill(int id, const DrawBlock* argument, DrawBlock& values) override {
    ++filled;
    for (int i = 0; i < kBlock; ++i) {
      values.at[i] = values_[static_cast<std::size_t>(id)] + 0.001 * i + (argument == nullptr ? 0 : argument->at[i]);
    }
  }
  int filled = 0;

 private:
  std::vector<double> values_;
};

std::vector<DrawBlock> run(const FormulaGraph& graph, const std::vector<Value>& outputs, FormulaExternals& externals) {
  const FormulaProgram program(graph, outputs);
  FormulaProgram::Workspace workspace = program.workspace();
  std::vector<DrawBlock> columns(outputs.size());
  std::vector<double*> places;
  for (DrawBlock& column : columns) places.push_back(column.at);
  program.run(workspace, externals, places.data());
  return columns;
}

Formula formula(const std::string& expression, const std::vector<std::pair<std::string, double>>& inputs) {
  Formula f;
  f.expression = expression;
  for (const auto& [name, value] : inputs) f.inputs.push_back({name, value, "1", ""});
  return f;
}

// x and y vary, every other input stays.
Value add(FormulaGraph& graph, const Formula& f) {
  const auto bind = [&](const FormulaInput& input) {
    if (input.name == "x") return graph.external(0);
    if (input.name == "y") return graph.external(1);
    return graph.constant(input.value);
  };
  const Result<Value> value = graph.add(f, bind);
  EXPECT_TRUE(value.has_value()) << f.expression << ": " << render(value.error());
  return value.value_or(0);
}

void expect_as_evaluated(const std::string& expression) {
  constexpr double kX = 1.7, kY = 0.4;
  Formula f = formula(expression, {{"x", kX}, {"y", kY}, {"c", 2.5}});
  FormulaGraph graph;
  const Value value = add(graph, f);
  Counting externals({kX, kY});
  const std::vector<DrawBlock> columns = run(graph, {value}, externals);
  for (int lane = 0; lane < kBlock; lane += 17) {
    f.inputs[0].value = kX + 0.001 * lane;
    f.inputs[1].value = kY + 0.001 * lane;
    const Result<double> expected = evaluate(f);
    ASSERT_TRUE(expected.has_value()) << expression;
    ASSERT_NEAR(columns[0].at[lane], *expected, 1e-12 * std::max(1.0, std::fabs(*expected))) << expression;
  }
}

TEST(FormulaProgram, EveryOperationIsThatOfEvaluate) {
  for (const char* expression : {"x + y",
                                 "x - y",
                                 "x * y",
                                 "x / y",
                                 "-x",
                                 "min(x, y, 2)",
                                 "max(x, y)",
                                 "max(x)",
                                 "ceil(10 * x)",
                                 "floor(10 * x)",
                                 "sqrt(x)",
                                 "log2(x)",
                                 "exp(x)",
                                 "pow(x, y)",
                                 "x ^ y",
                                 "x ^ 2",
                                 "10 ^ (-x * y)",
                                 "c ^ x",
                                 "2 * x * 3 * y * c",
                                 "c - x",
                                 "c / x",
                                 "min(c, x)",
                                 "max(x, c)",
                                 "x ^ 1 * 1 + 0 - 0",
                                 "0 * x + y",
                                 "(x + y) * (x + y) / (y + x)"}) {
    expect_as_evaluated(expression);
  }
}

// A random expression over x, y and numbers, never negative below a root and never zero below a fraction.
std::string any_expression(int depth) {
  if (depth == 0) return *rc::gen::element<std::string>("x", "y", "c", "0.5", "3", "1");
  const std::string a = any_expression(depth - 1);
  const std::string b = any_expression(*rc::gen::inRange(0, depth));
  switch (*rc::gen::inRange(0, 11)) {
    case 0:
      return "(" + a + " + " + b + ")";
    case 1:
      return "(" + a + " - " + b + ")";
    case 2:
      return a + " * " + b;
    case 3:
      return a + " / (1 + " + b + " ^ 2)";
    case 4:
      return "min(" + a + ", " + b + ")";
    case 5:
      return "max(" + b + ", " + a + ", 0.1)";
    case 6:
      return "sqrt(" + a + " * (" + a + "))^0.5";
    case 7:
      return "exp(-(" + a + ")^2)";
    case 8:
      return "-" + a;
    case 9:
      return "log2(1 + (" + a + ")^2)";
    default:
      return "2 ^ min(3, " + a + ")";
  }
}

RC_GTEST_PROP(FormulaProgram, IsAsEvaluated, ()) {
  const std::string expression = any_expression(*rc::gen::inRange(1, 6));
  Formula f = formula(expression, {{"x", 1.7}, {"y", 0.4}, {"c", 2.5}});
  if (!evaluate(f)) return;  // √ of what is below zero
  FormulaGraph graph;
  const Value value = add(graph, f);
  Counting externals({1.7, 0.4});
  const std::vector<DrawBlock> columns = run(graph, {value}, externals);
  for (const int lane : {0, 100, 255}) {
    f.inputs[0].value = 1.7 + 0.001 * lane;
    f.inputs[1].value = 0.4 + 0.001 * lane;
    const Result<double> expected = evaluate(f);
    if (!expected) continue;
    // Differences of near numbers lose digits in both ways; the numbers themselves are below a thousand or so.
    RC_ASSERT(std::fabs(columns[0].at[lane] - *expected) <= 1e-9 * std::max(1.0, std::fabs(*expected)));
  }
}

TEST(FormulaProgram, ConstantsAreFolded) {
  FormulaGraph graph;
  const Value value = add(graph, formula("c * 2 + ceil(c)", {{"c", 2.5}}));
  EXPECT_TRUE(graph.is_constant(value));
  EXPECT_EQ(graph.node(value).value, 8);
  Counting externals({});
  EXPECT_EQ(run(graph, {value}, externals)[0].at[255], 8);
}

TEST(FormulaProgram, EqualSubexpressionsAreOne) {
  FormulaGraph graph;
  const Value first = add(graph, formula("sqrt(x + y) / c", {{"x", 0}, {"y", 0}, {"c", 3}}));
  const Value second = add(graph, formula("sqrt(y + x) / (1 + 2)", {{"x", 0}, {"y", 0}}));
  EXPECT_EQ(first, second);
  // Two externals, a sum, a root, a quotient, and two stores.
  EXPECT_EQ(FormulaProgram(graph, {first, second}).instructions(), 7u);
}

TEST(FormulaProgram, WhatDiffersByANumberIsOneNodeTimesIt) {
  FormulaGraph graph;
  const Value value = add(graph, formula("2 * x * y * 3", {{"x", 0}, {"y", 0}}));
  const Value plain = add(graph, formula("x * y", {{"x", 0}, {"y", 0}}));
  EXPECT_EQ(graph.node(value).a, plain);
  EXPECT_EQ(graph.node(graph.node(value).b).value, 6);
}

TEST(FormulaProgram, AnExternalIsFilledOncePerBlockAndMayDependOnAValue) {
  FormulaGraph graph;
  const Value x = graph.external(0);
  const Value twice = graph.apply(FormulaOp::kMultiply, x, graph.constant(2));
  const Value moved = graph.external(1, twice);
  const Value fixed = graph.external(1, graph.constant(7));
  const Value sum = graph.apply(FormulaOp::kAdd, graph.apply(FormulaOp::kAdd, moved, x), twice);
  Counting externals({10, 0.5});
  const std::vector<DrawBlock> columns = run(graph, {sum, x, fixed}, externals);
  EXPECT_EQ(externals.filled, 3);
  EXPECT_DOUBLE_EQ(columns[0].at[0], 0.5 + 20 + 10 + 20);
  EXPECT_EQ(columns[1].at[0], 10);
  EXPECT_EQ(columns[2].at[0], 7.5);
}

TEST(FormulaProgram, ErrorsAreThoseOfEvaluate) {
  FormulaGraph graph;
  Formula f = formula("1 + unheard_of", {{"x", 1}});
  f.id = "test";
  const Result<Value> value = graph.add(f, [](const FormulaInput&) { return 0; });
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(render(value.error()), render(evaluate(f).error()));
}

TEST(FormulaProgram, AnExponentialBeyondAnyNumberIsVeryLargeOrVerySmall) {
  FormulaGraph graph;
  const Value value = add(graph, formula("exp(x * 1000000)", {{"x", 0}}));
  Counting up({1, 0}), down({-1, 0});
  EXPECT_GT(run(graph, {value}, up)[0].at[0], 1e300);
  EXPECT_LT(run(graph, {value}, down)[0].at[0], 1e-300);
}

}  // namespace
}  // namespace tare
