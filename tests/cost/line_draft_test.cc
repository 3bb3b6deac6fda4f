#include "cost/line_draft.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

RangedInput ranged(const char* name, double low, double base, double high, const char* cause) {
  RangedInput input = fixed_input(name, base, "1", "");
  input.cause = cause;
  input.low = low;
  input.high = high;
  return input;
}

// a · b with a = 10 (7 … 14), b = 2 (1 … 2): a moves it by −6 and +8, b by −10 and 0.
//   low 20 − √(6² + 10²) = 8.338, high 20 + 8 = 28
TEST(LineDraft, CausesAreIndependent) {
  const Result<EvaluatedLine> line =
      evaluate_line({"x", "a * b", {ranged("a", 7, 10, 14, "a"), ranged("b", 1, 2, 2, "b")}, "", false});
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->formula.value, 20);
  const Range range = range_of(20, line->swings, line->open_above);
  EXPECT_NEAR(range.low, 8.338, 1e-3);
  EXPECT_NEAR(range.high.value(), 28, 1e-12);
}

// Two inputs of one cause move together: (1 … 3) + (10 … 30) around 22 is 11 … 33.
TEST(LineDraft, InputsOfOneCauseMoveTogether) {
  const Result<EvaluatedLine> line =
      evaluate_line({"x", "a + b", {ranged("a", 1, 2, 3, "wacc"), ranged("b", 10, 20, 30, "wacc")}, "", false});
  ASSERT_TRUE(line.has_value());
  const Range range = range_of(22, line->swings, line->open_above);
  EXPECT_NEAR(range.low, 11, 1e-12);
  EXPECT_NEAR(range.high.value(), 33, 1e-12);
}

// A cause that lowers the value at its high end: 10 / (1 … 4) around 10 / 2.
TEST(LineDraft, ACauseMayFall) {
  const Result<EvaluatedLine> line = evaluate_line({"x", "10 / a", {ranged("a", 1, 2, 4, "a")}, "", false});
  ASSERT_TRUE(line.has_value());
  const Range range = range_of(5, line->swings, line->open_above);
  EXPECT_NEAR(range.low, 2.5, 1e-12);
  EXPECT_NEAR(range.high.value(), 10, 1e-12);
}

TEST(LineDraft, AnEndThatIsNoNumberLeavesTheRangeOpen) {
  const Result<EvaluatedLine> line = evaluate_line({"x", "10 / a", {ranged("a", 0, 2, 4, "a")}, "", false});
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(line->open_above);
  EXPECT_FALSE(range_of(5, line->swings, line->open_above).high.has_value());
}

TEST(LineDraft, ABaseThatIsNoNumberIsAnError) {
  EXPECT_FALSE(evaluate_line({"x", "10 / a", {ranged("a", 0, 0, 4, "a")}, "", false}).has_value());
}

}  // namespace
}  // namespace tare
