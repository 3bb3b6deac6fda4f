// What an expression is made of, and what each does to numbers.
#pragma once

#include <cmath>
#include <cstdint>

namespace tare {

enum class FormulaOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMin,
  kMax,
  kPow,  // the last of two operands
  kNegate,
  kCeil,
  kFloor,
  kSqrt,
  kLog2,
  kExp
};

inline bool is_unary(FormulaOp op) { return op > FormulaOp::kPow; }

// What is not a number makes min and max not one either.
inline double apply(FormulaOp op, double x, double y) {
  switch (op) {
    case FormulaOp::kAdd:
      return x + y;
    case FormulaOp::kSubtract:
      return x - y;
    case FormulaOp::kMultiply:
      return x * y;
    case FormulaOp::kDivide:
      return x / y;
    case FormulaOp::kMin:
      return std::isnan(y) || y < x ? y : x;
    case FormulaOp::kMax:
      return std::isnan(y) || y > x ? y : x;
    case FormulaOp::kPow:
      return std::pow(x, y);
    case FormulaOp::kNegate:
      return -x;
    case FormulaOp::kCeil:
      return std::ceil(x);
    case FormulaOp::kFloor:
      return std::floor(x);
    case FormulaOp::kSqrt:
      return std::sqrt(x);
    case FormulaOp::kLog2:
      return std::log2(x);
    case FormulaOp::kExp:
      return std::exp(x);
  }
  return 0;
}

}  // namespace tare
