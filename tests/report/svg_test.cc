#include "report/svg.h"

#include <limits>

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <vector>

#include "report/svg_text.h"

namespace tare {
namespace {

// Every element that is opened is closed, in order; no stray brackets: what an XML reader asks for of such plain text.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return false;
    if (tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

ScatterChart scatter() {
  ScatterChart chart;
  chart.title = "predicted & measured";
  chart.x_label = "measured";
  chart.y_label = "predicted <tokens/s>";
  chart.log_axes = true;
  chart.diagonal = true;
  chart.diagonal_band_ratio = 0.1;
  chart.series = {{"H100", {{100, 110, "T1"}, {1000, 900, "T2"}}}, {"A100", {{50, 55, "\"T3\""}}}};
  return chart;
}

TEST(Svg, ScatterHasEveryPointItsLegendAndTheDiagonal) {
  const std::string xml = to_svg(scatter());
  EXPECT_TRUE(is_well_formed(xml));
  EXPECT_EQ(count(xml, "<circle"), 3u + 2u);
  EXPECT_EQ(count(xml, "<polyline"), 3u);
  EXPECT_NE(xml.find("predicted &amp; measured"), std::string::npos);
  EXPECT_NE(xml.find("&quot;T3&quot;"), std::string::npos);
}

// The numbers of every match of a two-group expression.
std::vector<std::pair<double, double>> pairs(const std::string& text, const char* expression) {
  std::vector<std::pair<double, double>> found;
  const std::regex pattern(expression);
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  }
  return found;
}

TEST(Svg, PointsOfEqualValuesLieOnTheDiagonal) {
  ScatterChart chart = scatter();
  chart.diagonal_band_ratio = 0;
  chart.series = {{"x", {{10, 10, "a"}, {35, 35, "b"}, {100, 100, "c"}}}};
  const std::string xml = to_svg(chart);
  const auto line = pairs(xml.substr(xml.find("points=")), "([0-9.]+),([0-9.]+)");
  ASSERT_GE(line.size(), 2u);
  const auto [x0, y0] = line.front();
  const auto [x1, y1] = line.back();
  const auto points = pairs(xml, "cx=.([0-9.]+). cy=.([0-9.]+). r=.3.5");
  ASSERT_EQ(points.size(), 3u);
  for (const auto& [x, y] : points) EXPECT_NEAR(y, y0 + (x - x0) / (x1 - x0) * (y1 - y0), 0.02);
}

TEST(Svg, PointsWithoutAPlaceAreCountedNotDrawn) {
  ScatterChart chart = scatter();
  chart.series[1].points = {{0, 5, ""}, {-1, 5, ""}, {std::nan(""), 5, ""}};
  const std::string xml = to_svg(chart);
  EXPECT_EQ(count(xml, "<circle"), 2u + 2u);
  EXPECT_NE(xml.find("3 points not shown"), std::string::npos);
  EXPECT_EQ(xml.find("nan"), std::string::npos);
}

TEST(Svg, EmptyAndSinglePointChartsAreDrawn) {
  ScatterChart chart;
  EXPECT_TRUE(is_well_formed(to_svg(chart)));
  chart.series = {{"one", {{5, 5, ""}}}};
  for (const bool log : {false, true}) {
    chart.log_axes = log;
    const std::string xml = to_svg(chart);
    EXPECT_TRUE(is_well_formed(xml));
    EXPECT_EQ(xml.find("nan"), std::string::npos);
    EXPECT_EQ(xml.find("inf"), std::string::npos);
  }
}

TEST(Svg, WaterfallEndsInItsTotal) {
  BarChart chart;
  chart.waterfall = true;
  chart.bars = {{"startup", 25, "$25"}, {"useful", 75, "$75"}};
  chart.total_text = "$100";
  const std::string xml = to_svg(chart);
  EXPECT_TRUE(is_well_formed(xml));
  EXPECT_EQ(count(xml, "<rect"), 1u + 3u);  // the paper, two bars, the total
  EXPECT_NE(xml.find(">total<"), std::string::npos);
  EXPECT_NE(xml.find("width=\"105\""), std::string::npos);  // a quarter of 420
  EXPECT_NE(xml.find("width=\"315\""), std::string::npos);
}

// Base 50 of 0 … 100 over 420: the low end reaches 210 to the left, the high end 210 to the right.
TEST(Svg, ATornadoHangsOnItsBase) {
  TornadoChart chart{"what moves it", 50, "$50", {{"wacc", 0, 100, "6 %", "14 %"}}};
  const std::string xml = to_svg(chart);
  EXPECT_TRUE(is_well_formed(xml));
  EXPECT_EQ(count(xml, "width=\"210\""), 2u);
  EXPECT_NE(xml.find(">6 %<"), std::string::npos);
  EXPECT_NE(xml.find(">14 %<"), std::string::npos);
}

TEST(Svg, ATornadoDrawsWhatNeverEndsAtTheEdge) {
  TornadoChart chart{"t", 1, "$1", {{"rate", 0.5, std::numeric_limits<double>::infinity(), "a", "b"}}};
  const std::string xml = to_svg(chart);
  EXPECT_TRUE(is_well_formed(xml));
  EXPECT_EQ(xml.find("inf"), std::string::npos);
  EXPECT_TRUE(is_well_formed(to_svg(TornadoChart{"none", 1, "$1", {}})));
}

TEST(Svg, GroupsHaveABarOfEverySeries) {
  GroupedBars chart{"by cause", {"a", "b"}, {{"useful", {50, 100}, {"$50", "$100"}}}};
  const std::string xml = to_svg(chart);
  EXPECT_TRUE(is_well_formed(xml));
  EXPECT_EQ(count(xml, "<rect"), 1u + 2u + 2u);  // the paper, two keys, two bars
  EXPECT_NE(xml.find("width=\"210\""), std::string::npos);
}

TEST(Svg, ChartsStackUnderEachOther) {
  const std::string one = to_svg(GroupedBars{"one", {}, {}});
  const std::string both = stack_svg({one, one});
  EXPECT_TRUE(is_well_formed(both));
  EXPECT_EQ(count(both, "<svg"), 3u);
}

TEST(Svg, SameInputSameBytes) { EXPECT_EQ(to_svg(scatter()), to_svg(scatter())); }

TEST(Svg, TextIsEscapedAndControlBytesReplaced) {
  EXPECT_EQ(svg::escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
  EXPECT_EQ(svg::escape("\033"), "?");
}

TEST(Svg, CoordinatesAreShort) {
  EXPECT_EQ(svg::number(1.0 / 3), "0.33");
  EXPECT_EQ(svg::number(2), "2");
  EXPECT_EQ(svg::number(-0.001), "0");
}

}  // namespace
}  // namespace tare
