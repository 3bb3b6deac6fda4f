// Charts as SVG text: no script, no external font, readable on light and dark pages.
//
// Values are drawn as given; points that have no place on the axes (not finite, or not positive on a log axis) are left
// out and counted under the chart. The same input gives the same bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tare {

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::string label;  // shown when the pointer rests on it
};

struct ScatterSeries {
  std::string name;
  std::vector<ScatterPoint> points;
};

struct ScatterChart {
  std::string title;
  std::string x_label, y_label;
  bool log_axes = false;
  bool diagonal = false;           // y = x
  double diagonal_band_ratio = 0;  // > 0: the lines y = x·(1 ± ratio) too
  std::vector<ScatterSeries> series;
};

struct BarSpan {
  std::string label;
  double value = 0;
  std::string text;         // beside the bar: "$12,345"
  bool stands_out = false;  // in another colour: the one that all this is about
};

// Horizontal bars. As a waterfall each begins where the one before ended, and the total stands last.
struct BarChart {
  std::string title;
  bool waterfall = false;
  std::vector<BarSpan> bars;
  std::string total_text;  // of a waterfall
};

std::string to_svg(const ScatterChart& chart);
std::string to_svg(const BarChart& chart);

}  // namespace tare
