#include "cost/bill_program.h"

namespace tare {

void DrawSource::fill(int id, const Block* argument, Block& values) {
  const DrawnNumber& number = program_.numbers[static_cast<std::size_t>(id)];
  fill_uniform(values, seed_, program_.causes[number.cause].stream, block_);
  switch (number.kind) {
    case DrawnNumber::Kind::kTriangle:
      return to_triangle(values, number.triangle);
    case DrawnNumber::Kind::kLogTriangle:
      to_triangle(values, number.triangle);
      return to_exponential(values);
    case DrawnNumber::Kind::kNormal:
      return to_normal(values);
    case DrawnNumber::Kind::kPoisson:
      return to_poisson(values, *argument);
  }
}

}  // namespace tare
