#include "report/bars.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tare {
namespace {

constexpr int kEighths = 8;

// `eighths` eighths of a column as blocks; at least one.
std::string blocks(long eighths, bool unicode) {
  static constexpr std::array<const char*, kEighths> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string drawn;
  if (!unicode) {
    drawn.append(static_cast<std::size_t>(std::max(1L, (eighths + kEighths / 2) / kEighths)), '#');
    return drawn;
  }
  eighths = std::max(1L, eighths);
  for (; eighths >= kEighths; eighths -= kEighths) drawn += "█";
  return drawn + kParts[static_cast<std::size_t>(eighths)];
}

}  // namespace

std::string bar(double ratio, int width, bool unicode) {
  if (!(ratio > 0) || width <= 0) return {};
  return blocks(std::lround(std::min(ratio, 1.0) * width * kEighths), unicode);
}

std::string waterfall_bar(double start, double length, int width, bool unicode) {
  if (!(length > 0) || width <= 0) return {};
  const double first = std::clamp(start, 0.0, 1.0) * width;
  const double last = std::clamp(start + length, 0.0, 1.0) * width;
  // Blocks are filled from the left, so a bar begins at a whole column; its length stays true to an eighth.
  const long column = std::min(std::lround(first), static_cast<long>(width) - 1);
  std::string drawn(static_cast<std::size_t>(column), ' ');
  return drawn + blocks(std::lround((last - first) * kEighths), unicode);
}

}  // namespace tare
