#include "base/block_math.h"

#include <cmath>

#include "base/vector_math.h"

namespace tare {

// One loop per operation and kind of operands; in a named namespace, since versions of a function are chosen at load
// time by name.
namespace block_loops {

#define TARE_BINARY_LOOPS(name, expression)                                    \
  TARE_VECTORISED void name(double* out, const double* a, const double* b) {   \
    TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {                        \
      const double x = a[i], y = b[i];                                         \
      out[i] = expression;                                                     \
    }                                                                          \
  }                                                                            \
  TARE_VECTORISED void name##_number(double* out, const double* a, double y) { \
    TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {                        \
      const double x = a[i];                                                   \
      out[i] = expression;                                                     \
    }                                                                          \
  }                                                                            \
  TARE_VECTORISED void number_##name(double* out, double x, const double* b) { \
    TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {                        \
      const double y = b[i];                                                   \
      out[i] = expression;                                                     \
    }                                                                          \
  }

#define TARE_UNARY_LOOP(name, expression)                   \
  TARE_VECTORISED void name(double* out, const double* a) { \
    TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {     \
      const double x = a[i];                                \
      out[i] = expression;                                  \
    }                                                       \
  }

TARE_BINARY_LOOPS(add, x + y)
TARE_BINARY_LOOPS(subtract, x - y)
TARE_BINARY_LOOPS(multiply, x* y)
TARE_BINARY_LOOPS(divide, x / y)
TARE_BINARY_LOOPS(least, !(x <= y) ? y : x)
TARE_BINARY_LOOPS(greatest, !(x >= y) ? y : x)
TARE_BINARY_LOOPS(power, std::pow(x, y))
TARE_UNARY_LOOP(negate, -x)
TARE_UNARY_LOOP(round_up, __builtin_ceil(x))
TARE_UNARY_LOOP(round_down, __builtin_floor(x))
TARE_UNARY_LOOP(square_root, __builtin_sqrt(x))
TARE_UNARY_LOOP(log_2, std::log2(x))
TARE_UNARY_LOOP(exponential, vector_exp(x))

#undef TARE_BINARY_LOOPS
#undef TARE_UNARY_LOOP

}  // namespace block_loops

namespace {

namespace loops = block_loops;

struct BinaryLoops {
  void (*blocks)(double*, const double*, const double*);
  void (*number_last)(double*, const double*, double);
  void (*number_first)(double*, double, const double*);
};

BinaryLoops binary_loops(FormulaOp op) {
  switch (op) {
    case FormulaOp::kAdd:
      return {loops::add, loops::add_number, loops::number_add};
    case FormulaOp::kSubtract:
      return {loops::subtract, loops::subtract_number, loops::number_subtract};
    case FormulaOp::kMultiply:
      return {loops::multiply, loops::multiply_number, loops::number_multiply};
    case FormulaOp::kDivide:
      return {loops::divide, loops::divide_number, loops::number_divide};
    case FormulaOp::kMin:
      return {loops::least, loops::least_number, loops::number_least};
    case FormulaOp::kMax:
      return {loops::greatest, loops::greatest_number, loops::number_greatest};
    default:
      return {loops::power, loops::power_number, loops::number_power};
  }
}

}  // namespace

void apply(FormulaOp op, DrawBlock& out, const DrawBlock& a, const DrawBlock& b) {
  binary_loops(op).blocks(out.at, a.at, b.at);
}
void apply(FormulaOp op, DrawBlock& out, const DrawBlock& a, double b) {
  binary_loops(op).number_last(out.at, a.at, b);
}
void apply(FormulaOp op, DrawBlock& out, double a, const DrawBlock& b) {
  binary_loops(op).number_first(out.at, a, b.at);
}

void apply(FormulaOp op, DrawBlock& out, const DrawBlock& a) {
  switch (op) {
    case FormulaOp::kNegate:
      return loops::negate(out.at, a.at);
    case FormulaOp::kCeil:
      return loops::round_up(out.at, a.at);
    case FormulaOp::kFloor:
      return loops::round_down(out.at, a.at);
    case FormulaOp::kSqrt:
      return loops::square_root(out.at, a.at);
    case FormulaOp::kLog2:
      return loops::log_2(out.at, a.at);
    default:
      return loops::exponential(out.at, a.at);
  }
}

}  // namespace tare
