#include <algorithm>
#include <cmath>

#include "report/svg.h"
#include "report/svg_text.h"
#include "report/text_layout.h"

namespace tare {
namespace {

constexpr double kTop = 44, kRow = 24, kBar = 16, kBottom = 16;
constexpr double kPlot = 420;       // the longest bar
constexpr double kCharacter = 7.2;  // about what one takes in the labels' font
constexpr double kTextRoom = 110;   // right of the bars

double label_room(const BarChart& chart) {
  int widest = 5;
  for (const BarSpan& bar : chart.bars) widest = std::max(widest, display_width(bar.label));
  return 24 + kCharacter * widest;
}

// What the longest bar stands for: the sum of a waterfall, else the largest value.
double full_value(const BarChart& chart) {
  double sum = 0, largest = 0;
  for (const BarSpan& bar : chart.bars) {
    if (!std::isfinite(bar.value)) continue;
    sum += bar.value;
    largest = std::max(largest, bar.value);
  }
  const double full = chart.waterfall ? sum : largest;
  return full > 0 ? full : 1;
}

}  // namespace

std::string to_svg(const BarChart& chart) {
  const double left = label_room(chart);
  const double width = left + kPlot + kTextRoom;
  const double rows = static_cast<double>(chart.bars.size()) + (chart.waterfall ? 1 : 0);
  const double full = full_value(chart);
  std::string out = svg::open(width, kTop + rows * kRow + kBottom, chart.title);
  out += svg::text(12, 24, chart.title, svg::Anchor::kStart, "title");

  double before = 0;
  double y = kTop;
  const auto draw = [&](const BarSpan& bar, double start, std::string_view fill) {
    const double value = std::isfinite(bar.value) ? std::max(0.0, bar.value) : 0;
    const double x = left + kPlot * start / full;
    const double length = kPlot * value / full;
    out += svg::text(left - 8, y + kBar - 3, bar.label, svg::Anchor::kEnd);
    out += svg::rect(x, y, std::max(length, 0.5), kBar, fill, bar.label + ": " + bar.text);
    out += svg::text(x + length + 6, y + kBar - 3, bar.text, svg::Anchor::kStart);
    y += kRow;
    return value;
  };
  for (const BarSpan& bar : chart.bars) {
    const double value = draw(bar, chart.waterfall ? before : 0, svg::palette(bar.stands_out ? 2 : 0));
    before += value;
  }
  if (chart.waterfall) draw({"total", before, chart.total_text}, 0, svg::palette(6));
  return out + svg::close();
}

}  // namespace tare
