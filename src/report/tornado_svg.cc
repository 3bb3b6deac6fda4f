#include <algorithm>
#include <cmath>

#include "report/svg.h"
#include "report/svg_text.h"
#include "report/text_layout.h"

namespace tare {
namespace {

constexpr double kTop = 64, kRow = 24, kBar = 16, kBottom = 16;
constexpr double kPlot = 420;
constexpr double kCharacter = 7.2;  // about what one takes in the labels' font
constexpr double kTextRoom = 120;   // on each side of the bars

struct Extent {
  double low = 0, high = 0;
};

Extent extent_of(const TornadoChart& chart) {
  Extent extent{chart.base, chart.base};
  for (const TornadoSpan& bar : chart.bars) {
    for (const double end : {bar.at_low, bar.at_high}) {
      if (!std::isfinite(end)) continue;
      extent.low = std::min(extent.low, end);
      extent.high = std::max(extent.high, end);
    }
  }
  if (extent.low == extent.high) extent.high = extent.low + 1;
  return extent;
}

double label_room(const TornadoChart& chart) {
  int widest = 5;
  for (const TornadoSpan& bar : chart.bars) widest = std::max(widest, display_width(bar.label));
  return 24 + kCharacter * widest;
}

}  // namespace

std::string to_svg(const TornadoChart& chart) {
  const Extent extent = extent_of(chart);
  const double left = label_room(chart) + kTextRoom;
  const double height = kTop + static_cast<double>(chart.bars.size()) * kRow + kBottom;
  // An end that is not finite stands at the edge.
  const auto x_of = [&](double value) {
    if (!std::isfinite(value)) return value > 0 ? left + kPlot : left;
    return left + kPlot * (value - extent.low) / (extent.high - extent.low);
  };
  std::string out = svg::open(left + kPlot + kTextRoom, height, chart.title);
  out += svg::text(12, 24, chart.title, svg::Anchor::kStart, "title");
  const double base_x = x_of(chart.base);
  out += svg::text(base_x, kTop - 12, chart.base_text, svg::Anchor::kMiddle);
  double y = kTop;
  for (const TornadoSpan& bar : chart.bars) {
    const bool low_is_right = x_of(bar.at_low) >= base_x, high_is_right = x_of(bar.at_high) >= base_x;
    // With both ends on one side the text of the nearer one stands beyond the line, where no bar hides it.
    const bool one_side = low_is_right == high_is_right;
    const bool low_is_longer = std::fabs(x_of(bar.at_low) - base_x) >= std::fabs(x_of(bar.at_high) - base_x);
    const auto half = [&](double value, const std::string& text, std::string_view fill, bool longer) {
      const double x = x_of(value);
      out +=
          svg::rect(std::min(x, base_x), y, std::max(std::fabs(x - base_x), 0.5), kBar, fill, bar.label + " " + text);
      const bool beyond = one_side && !longer;
      const bool right = (x >= base_x) != beyond;
      const double from = beyond ? base_x : x;
      out += svg::text(from + (right ? 6 : -6), y + kBar - 3, text, right ? svg::Anchor::kStart : svg::Anchor::kEnd);
    };
    out += svg::text(left - kTextRoom - 8, y + kBar - 3, bar.label, svg::Anchor::kEnd);
    // The longer half first, so that the shorter stays visible where both are on one side.
    const auto low = [&] { half(bar.at_low, bar.low_text, svg::palette(0), low_is_longer); };
    const auto high = [&] { half(bar.at_high, bar.high_text, svg::palette(1), !low_is_longer); };
    if (low_is_longer) {
      low();
      high();
    } else {
      high();
      low();
    }
    y += kRow;
  }
  out += svg::line(base_x, kTop - 6, base_x, y, "axis");
  return out + svg::close();
}

}  // namespace tare
