#include "cost/bill_program.h"

namespace tare {

void DrawSource::fill(int id, const DrawBlock* argument, DrawBlock& values) {
  const DrawnNumber& number = program_.numbers[static_cast<std::size_t>(id)];
  const std::uint64_t stream = program_.causes[number.cause].stream;
  if (number.kind == DrawnNumber::Kind::kTriangle || number.kind == DrawnNumber::Kind::kLogTriangle) {
    const bool logarithmic = number.kind == DrawnNumber::Kind::kLogTriangle;
    fill_triangle(values, seed_, stream, block_, {number.low, number.base, number.high}, logarithmic);
    return;
  }
  fill_uniform(values, seed_, stream, block_);
  if (number.kind == DrawnNumber::Kind::kNormal) {
    to_normal(values);
  } else {
    to_poisson(values, *argument);
  }
}

}  // namespace tare
