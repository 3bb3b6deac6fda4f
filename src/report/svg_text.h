// The few SVG elements that the charts are made of.
#pragma once

#include <string>
#include <string_view>

namespace tare::svg {

// Text with &, <, >, quotes and control characters made harmless.
std::string escape(std::string_view text);

// A coordinate with at most two decimals.
std::string number(double value);

enum class Anchor { kStart, kMiddle, kEnd };

std::string open(double width, double height, std::string_view title);  // <svg …> with style, background and <title>
std::string close();
std::string text(double x, double y, std::string_view content, Anchor anchor, std::string_view css_class = "label");
std::string line(double x1, double y1, double x2, double y2, std::string_view css_class);
std::string rect(double x, double y, double width, double height, std::string_view fill, std::string_view tooltip);
std::string circle(double x, double y, double radius, std::string_view fill, std::string_view tooltip);

// A colour of the qualitative palette (Okabe and Ito 2008: told apart by colour-blind readers too), by index, cycling.
std::string_view palette(std::size_t index);

}  // namespace tare::svg
