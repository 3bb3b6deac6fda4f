// Arithmetic on blocks of numbers: what a formula program is run with.
//
// `out` may be an operand. Thread safety: pure functions.
#pragma once

#include "base/formula_op.h"

namespace tare {

inline constexpr int kBlock = 256;
struct alignas(64) DrawBlock {
  double at[kBlock];
};

// Of two operands, either may be one number for all. Those of numbers as apply() gives them; kExp and kPow within
// 1e-15, an exponential beyond e^±700 at that end.
void apply(FormulaOp op, DrawBlock& out, const DrawBlock& a, const DrawBlock& b);
void apply(FormulaOp op, DrawBlock& out, const DrawBlock& a, double b);
void apply(FormulaOp op, DrawBlock& out, double a, const DrawBlock& b);
void apply(FormulaOp op, DrawBlock& out, const DrawBlock& a);

}  // namespace tare
