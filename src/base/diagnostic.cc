#include "base/diagnostic.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kExcerptColumns = 118;  // 120 with the indentation
constexpr std::size_t kBeforeCaret = 40;      // columns kept left of the caret in a cut line
constexpr std::size_t kLongestExcerpt = 4096;
constexpr std::string_view kCut = "…";

// Code points that a terminal may obey: C1 controls and what turns the direction of the text.
bool is_obeyed(std::string_view code_point) {
  if (code_point.size() == 2) return code_point[0] == '\xC2' && static_cast<unsigned char>(code_point[1]) < 0xA0;
  if (code_point.size() != 3 || code_point[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(code_point[1]);
  const auto third = static_cast<unsigned char>(code_point[2]);
  if (second == 0x80) return third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE);
  return second == 0x81 && third >= 0xA6 && third <= 0xA9;
}

// What one column of the terminal shows, and the source byte it came from.
struct Column {
  std::string_view shown;
  std::size_t offset;
};

// The columns of a line: one per code point, one '?' per byte that is not text, one space per tab.
std::vector<Column> columns_of(std::string_view line) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(line.substr(i, 4)));
    std::string_view shown = line.substr(i, length);
    const auto first = static_cast<unsigned char>(line[i]);
    if (first == '\t') {
      shown = " ";
    } else if (first < 0x20 || first == 0x7F || (length == 1 && first >= 0x80) || is_obeyed(shown)) {
      shown = "?";
    }
    columns.push_back({shown, i});
    i += length;
  }
  return columns;
}

std::string printable(std::string_view text) {
  std::string result;
  for (const Column& column : columns_of(text)) result += column.shown;
  return result;
}

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

// Index of the column that shows source byte `offset`; one past the end for bytes behind the line.
std::size_t column_at(const std::vector<Column>& columns, std::size_t offset, std::size_t line_size) {
  if (offset >= line_size) return columns.size();
  const auto behind = std::upper_bound(columns.begin(), columns.end(), offset,
                                       [](std::size_t o, const Column& column) { return o < column.offset; });
  return static_cast<std::size_t>(behind - columns.begin()) - 1;
}

// The source line and, when the column is known, the caret line under it.
std::string render_excerpt(const Diagnostic& diagnostic) {
  const std::string_view line = diagnostic.excerpt;
  const std::vector<Column> columns = columns_of(line);
  const bool has_caret = diagnostic.column > 0;
  const std::size_t offset = has_caret ? static_cast<std::size_t>(diagnostic.column) - 1 : 0;
  const auto width = static_cast<std::size_t>(std::max(1, diagnostic.width));
  const std::size_t caret = column_at(columns, offset, line.size());
  const std::size_t caret_end = std::max(caret + 1, column_at(columns, offset + width, line.size()));

  std::size_t begin = 0;
  std::size_t end = columns.size();
  if (columns.size() > kExcerptColumns) {
    begin = caret > kBeforeCaret ? std::min(caret - kBeforeCaret, columns.size() - kExcerptColumns) : 0;
    end = begin + kExcerptColumns;
  }
  std::string result = "  ";
  for (std::size_t i = begin; i < end; ++i) {
    const bool cut = (i == begin && begin > 0) || (i + 1 == end && end < columns.size());
    result += cut ? kCut : columns[i].shown;
  }
  result.erase(result.find_last_not_of(' ') + 1);
  result += '\n';
  if (!has_caret) return result;
  const std::size_t underlined = std::max(caret + 1, std::min(caret_end, end)) - caret;
  result.append(2 + caret - begin, ' ');
  result += '^';
  result.append(underlined - 1, '~');
  result += '\n';
  return result;
}

// The line that `text` begins with; always valid UTF-8.
std::string excerpt_from(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return as_text(line);
}

}  // namespace

Diagnostic make_error(std::string rule, std::string text, std::string help) {
  Diagnostic diagnostic;
  diagnostic.rule = std::move(rule);
  diagnostic.text = std::move(text);
  diagnostic.help = std::move(help);
  return diagnostic;
}

tl::unexpected<Diagnostics> fail(Diagnostic diagnostic) {
  Diagnostics diagnostics;
  diagnostics.push_back(std::move(diagnostic));
  return tl::unexpected<Diagnostics>(std::move(diagnostics));
}

tl::unexpected<Diagnostics> fail(std::string rule, std::string text, std::string help) {
  return fail(make_error(std::move(rule), std::move(text), std::move(help)));
}

void point_at(Diagnostic& diagnostic, std::string_view text, std::size_t offset, std::size_t width, int line) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 = 0
  if (line == 0) line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  diagnostic.line = line;
  diagnostic.column = static_cast<int>(offset - begin) + 1;
  diagnostic.width = static_cast<int>(std::clamp<std::size_t>(width, 1, kLongestExcerpt));
  diagnostic.excerpt.clear();
  if (offset - begin < kLongestExcerpt) diagnostic.excerpt = excerpt_from(text.substr(begin, kLongestExcerpt));
}

void DiagnosticList::add(Diagnostic diagnostic) {
  if (is_full()) {
    ++left_out_;
    worst_left_out_ = std::min(worst_left_out_, diagnostic.severity);  // kError is the least
  } else {
    found_.push_back(std::move(diagnostic));
  }
}

Diagnostics DiagnosticList::sorted() const {
  Diagnostics result = found_;
  std::stable_sort(result.begin(), result.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  if (left_out_ > 0) {
    Diagnostic rest = make_error("too-many-errors", std::to_string(left_out_) + " more are not shown");
    rest.severity = worst_left_out_;
    rest.file = result.front().file;
    result.push_back(std::move(rest));
  }
  return result;
}

bool has_error(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; });
}

std::string render(const Diagnostic& diagnostic) {
  std::string result;
  if (!diagnostic.file.empty()) {
    result += printable(diagnostic.file) + ':';
    if (diagnostic.line > 0) result += std::to_string(diagnostic.line) + ':';
    if (diagnostic.line > 0 && diagnostic.column > 0) result += std::to_string(diagnostic.column) + ':';
    result += ' ';
  }
  result += name(diagnostic.severity);
  result += ": " + printable(diagnostic.text);
  if (!diagnostic.rule.empty()) result += " [" + printable(diagnostic.rule) + ']';
  result += '\n';
  if (!diagnostic.excerpt.empty()) result += render_excerpt(diagnostic);
  if (!diagnostic.help.empty()) result += "  help: " + printable(diagnostic.help) + '\n';
  return result;
}

std::string render(const Diagnostics& diagnostics) {
  std::string result;
  for (const Diagnostic& diagnostic : diagnostics) result += render(diagnostic);
  return result;
}

}  // namespace tare
