#include "report/svg_text.h"

#include <fmt/format.h>

#include <array>

#include "report/text_layout.h"

namespace tare::svg {
namespace {

// One style for both themes: the page's own text colour, grid lines half transparent.
constexpr std::string_view kStyle =
    "<style>text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}"
    ".faint{fill:#777}.axis{stroke:#777}.grid{stroke:#777;stroke-opacity:.2}.diagonal{stroke:#777;stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.faint{fill:#999}.paper{fill:#1c1c1c}}</style>";

std::string_view word(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "start";
}

std::string with_tooltip(const std::string& element, std::string_view name, std::string_view tooltip) {
  if (tooltip.empty()) return element + "/>\n";
  return element + fmt::format("><title>{}</title></{}>\n", escape(tooltip), name);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string number(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

std::string open(double width, double height, std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      number(width), number(height), escape(title), kStyle);
}

std::string close() { return "</svg>\n"; }

std::string text(double x, double y, std::string_view content, Anchor anchor, std::string_view css_class) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", css_class, number(x),
                     number(y), word(anchor), escape(content));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", css_class, number(x1),
                     number(y1), number(x2), number(y2));
}

std::string rect(double x, double y, double width, double height, std::string_view fill, std::string_view tooltip) {
  return with_tooltip(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", number(x),
                                  number(y), number(width), number(height), fill),
                      "rect", tooltip);
}

std::string circle(double x, double y, double radius, std::string_view fill, std::string_view tooltip) {
  return with_tooltip(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" fill-opacity=\".7\"", number(x),
                                  number(y), number(radius), fill),
                      "circle", tooltip);
}

std::string_view palette(std::size_t index) {
  static constexpr std::array<std::string_view, 8> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                              "#e69f00", "#56b4e9", "#7f7f7f", "#b8a800"};
  return kColors[index % kColors.size()];
}

}  // namespace tare::svg
