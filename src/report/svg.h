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

// What moves a figure: for each input a bar from the figure with the input at its low end to that at its high end.
struct TornadoSpan {
  std::string label;
  double at_low = 0, at_high = 0;   // of the figure
  std::string low_text, high_text;  // the input at its ends
};

struct TornadoChart {
  std::string title;
  double base = 0;  // the figure with all inputs at their base: the line that bars hang on
  std::string base_text;
  std::vector<TornadoSpan> bars;  // drawn in this order
};

// Bars in groups: for each label one of every series.
struct GroupedBars {
  std::string title;
  std::vector<std::string> series;
  struct Group {
    std::string label;
    std::vector<double> values;  // one for each series; negative ones are drawn as 0
    std::vector<std::string> texts;
  };
  std::vector<Group> groups;
};

std::string to_svg(const TornadoChart& chart);
std::string to_svg(const GroupedBars& chart);
// Charts under each other in one file.
std::string stack_svg(const std::vector<std::string>& charts);

std::string to_svg(const ScatterChart& chart);
std::string to_svg(const BarChart& chart);

}  // namespace tare
