#include <algorithm>
#include <cmath>

#include "report/svg.h"
#include "report/svg_text.h"
#include "report/text_layout.h"

namespace tare {
namespace {

constexpr double kTop = 44, kBar = 14, kGap = 10, kBottom = 16, kLegendRow = 20;
constexpr double kPlot = 420;
constexpr double kCharacter = 7.2;
constexpr double kTextRoom = 110;

double largest_value(const GroupedBars& chart) {
  double largest = 0;
  for (const GroupedBars::Group& group : chart.groups) {
    for (const double value : group.values) {
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  }
  return largest > 0 ? largest : 1;
}

double label_room(const GroupedBars& chart) {
  int widest = 5;
  for (const GroupedBars::Group& group : chart.groups) widest = std::max(widest, display_width(group.label));
  return 24 + kCharacter * widest;
}

// What the outermost <svg> element of a chart says of its size.
double attribute(const std::string& chart, std::string_view name) {
  const std::size_t at = chart.find(std::string(name) + "=\"");
  return at == std::string::npos ? 0 : std::strtod(chart.c_str() + at + name.size() + 2, nullptr);
}

}  // namespace

std::string to_svg(const GroupedBars& chart) {
  const double left = label_room(chart);
  const double legend = static_cast<double>(chart.series.size()) * kLegendRow;
  const double group_height = static_cast<double>(chart.series.size()) * kBar + kGap;
  const double height = kTop + legend + static_cast<double>(chart.groups.size()) * group_height + kBottom;
  std::string out = svg::open(left + kPlot + kTextRoom, height, chart.title);
  out += svg::text(12, 24, chart.title, svg::Anchor::kStart, "title");
  double y = kTop;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    out += svg::rect(left, y, kBar - 2, kBar - 2, svg::palette(s), chart.series[s]);
    out += svg::text(left + kBar + 6, y + kBar - 3, chart.series[s], svg::Anchor::kStart);
    y += kLegendRow;
  }
  const double full = largest_value(chart);
  for (const GroupedBars::Group& group : chart.groups) {
    out += svg::text(left - 8, y + group_height / 2, group.label, svg::Anchor::kEnd);
    for (std::size_t s = 0; s < group.values.size() && s < chart.series.size(); ++s) {
      const double value = std::isfinite(group.values[s]) ? std::max(0.0, group.values[s]) : 0;
      const double length = kPlot * value / full;
      const std::string text = s < group.texts.size() ? group.texts[s] : std::string();
      out += svg::rect(left, y, std::max(length, 0.5), kBar - 2, svg::palette(s), group.label + ": " + text);
      out += svg::text(left + length + 6, y + kBar - 3, text, svg::Anchor::kStart);
      y += kBar;
    }
    y += kGap;
  }
  return out + svg::close();
}

std::string stack_svg(const std::vector<std::string>& charts) {
  double width = 0, height = 0;
  for (const std::string& chart : charts) {
    width = std::max(width, attribute(chart, "width"));
    height += attribute(chart, "height");
  }
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + svg::number(width) + "\" height=\"" +
                    svg::number(height) + "\" viewBox=\"0 0 " + svg::number(width) + " " + svg::number(height) +
                    "\">\n";
  double y = 0;
  for (const std::string& chart : charts) {
    out += "<g transform=\"translate(0 " + svg::number(y) + ")\">\n" + chart + "</g>\n";
    y += attribute(chart, "height");
  }
  return out + "</svg>\n";
}

}  // namespace tare
