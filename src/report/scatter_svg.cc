#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quantity.h"
#include "report/svg.h"
#include "report/svg_text.h"

namespace tare {
namespace {

constexpr double kWidth = 760, kHeight = 560;
constexpr double kLeft = 80, kRight = 190, kTop = 44, kBottom = 60;  // margins; the legend stands on the right

// One axis: values to pixels.
struct Scale {
  bool logarithmic = false;
  double low = 0, high = 1;  // of the axis, in values (or their log10)
  double pixel_low = 0, pixel_high = 1;

  bool holds(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  double inner(double value) const { return logarithmic ? std::log10(value) : value; }
  double pixel(double value) const {
    return pixel_low + (inner(value) - low) / (high - low) * (pixel_high - pixel_low);
  }
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A step of 1, 2 or 5 times a power of ten that cuts `span` into about five.
double nice_step(double span) {
  const double rough = span / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

Scale make_scale(const Range& range, bool logarithmic) {
  Scale scale;
  scale.logarithmic = logarithmic;
  if (!(range.low <= range.high)) return scale;  // no point at all
  double low = logarithmic ? std::log10(range.low) : std::min(0.0, range.low);
  double high = logarithmic ? std::log10(range.high) : std::max(0.0, range.high);
  if (high - low < 1e-12) {
    low -= 0.5;
    high += 0.5;
  }
  const double margin = 0.04 * (high - low);
  scale.low = logarithmic || low < 0 ? low - margin : low;
  scale.high = high + margin;
  return scale;
}

std::vector<double> ticks(const Scale& scale) {
  std::vector<double> values;
  if (!scale.logarithmic) {
    const double step = nice_step(scale.high - scale.low);
    for (double k = std::ceil(scale.low / step); k * step <= scale.high; ++k) values.push_back(k * step);
    return values;
  }
  const bool dense = scale.high - scale.low < 2.5;  // decades: with few of them 2 and 5 are marked too
  for (double decade = std::floor(scale.low); decade <= scale.high; ++decade) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !dense) continue;
      const double value = factor * std::pow(10, decade);
      if (std::log10(value) >= scale.low && std::log10(value) <= scale.high) values.push_back(value);
    }
  }
  return values;
}

struct Frame {
  Scale x, y;
  int left_out = 0;
};

Frame make_frame(const ScatterChart& chart) {
  Range x, y;
  Frame frame;
  frame.x.logarithmic = frame.y.logarithmic = chart.log_axes;
  for (const ScatterSeries& series : chart.series) {
    for (const ScatterPoint& point : series.points) {
      if (!frame.x.holds(point.x) || !frame.y.holds(point.y)) {
        ++frame.left_out;
        continue;
      }
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (chart.diagonal) {  // both axes alike, so that the diagonal is one
    x.low = y.low = std::min(x.low, y.low);
    x.high = y.high = std::max(x.high, y.high);
  }
  frame.x = make_scale(x, chart.log_axes);
  frame.y = make_scale(y, chart.log_axes);
  frame.x.pixel_low = kLeft;
  frame.x.pixel_high = kWidth - kRight;
  frame.y.pixel_low = kHeight - kBottom;
  frame.y.pixel_high = kTop;
  return frame;
}

std::string draw_axes(const ScatterChart& chart, const Frame& frame) {
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  std::string out;
  for (const double value : ticks(frame.x)) {
    const double x = frame.x.pixel(value);
    out += svg::line(x, kTop, x, bottom, "grid");
    out += svg::text(x, bottom + 18, format_si(value), svg::Anchor::kMiddle);
  }
  for (const double value : ticks(frame.y)) {
    const double y = frame.y.pixel(value);
    out += svg::line(kLeft, y, right, y, "grid");
    out += svg::text(kLeft - 8, y + 4, format_si(value), svg::Anchor::kEnd);
  }
  out += svg::line(kLeft, bottom, right, bottom, "axis");
  out += svg::line(kLeft, kTop, kLeft, bottom, "axis");
  out += svg::text((kLeft + right) / 2, kHeight - 18, chart.x_label, svg::Anchor::kMiddle);
  out += fmt::format("<g transform=\"rotate(-90 18 {0})\">{1}</g>\n", svg::number((kTop + bottom) / 2),
                     svg::text(18, (kTop + bottom) / 2, chart.y_label, svg::Anchor::kMiddle));
  return out;
}

// The line y = x·factor between the frame's edges, clipped by the clip path of the plot.
std::string draw_diagonal(const Frame& frame, double factor) {
  std::string points;
  for (int i = 0; i <= 40; ++i) {  // on linear axes a straight line; on log axes too: the steps only help clipping
    const double inner = frame.x.low + (frame.x.high - frame.x.low) * i / 40;
    const double x = frame.x.logarithmic ? std::pow(10, inner) : inner;
    if (frame.y.logarithmic && x * factor <= 0) continue;
    points += svg::number(frame.x.pixel(x)) + ',' + svg::number(frame.y.pixel(x * factor)) + ' ';
  }
  if (!points.empty()) points.pop_back();
  const char* css = factor == 1 ? "diagonal" : "grid";
  return fmt::format("<polyline class=\"{}\" fill=\"none\" clip-path=\"url(#plot)\" points=\"{}\"/>\n", css, points);
}

}  // namespace

std::string to_svg(const ScatterChart& chart) {
  const Frame frame = make_frame(chart);
  std::string out = svg::open(kWidth, kHeight, chart.title);
  out += fmt::format("<clipPath id=\"plot\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                     svg::number(kLeft), svg::number(kTop), svg::number(kWidth - kRight - kLeft),
                     svg::number(kHeight - kBottom - kTop));
  out += svg::text(kLeft, 24, chart.title, svg::Anchor::kStart, "title");
  out += draw_axes(chart, frame);
  if (chart.diagonal) {
    out += draw_diagonal(frame, 1);
    if (chart.diagonal_band_ratio > 0) {
      out += draw_diagonal(frame, 1 + chart.diagonal_band_ratio) + draw_diagonal(frame, 1 - chart.diagonal_band_ratio);
    }
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const double legend_y = kTop + 10 + 18 * static_cast<double>(s);
    out += svg::circle(kWidth - kRight + 20, legend_y, 5, svg::palette(s), "");
    out += svg::text(kWidth - kRight + 32, legend_y + 4, chart.series[s].name, svg::Anchor::kStart);
    for (const ScatterPoint& point : chart.series[s].points) {
      if (!frame.x.holds(point.x) || !frame.y.holds(point.y)) continue;
      out += svg::circle(frame.x.pixel(point.x), frame.y.pixel(point.y), 3.5, svg::palette(s), point.label);
    }
  }
  if (frame.left_out > 0) {
    out += svg::text(kWidth - 12, kHeight - 18, fmt::format("{} points not shown", frame.left_out), svg::Anchor::kEnd,
                     "faint");
  }
  return out + svg::close();
}

}  // namespace tare
