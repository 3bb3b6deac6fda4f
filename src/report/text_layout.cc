#include "report/text_layout.h"

#include <array>
#include <utility>

namespace tare {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};

// The code point that starts at `at`; a malformed byte stands for itself, so that nothing is lost or skipped.
CodePoint decode(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t bytes = 1;
  char32_t value = lead;
  if (lead >= 0xF0 && lead < 0xF8) {
    bytes = 4;
    value = lead & 0x07u;
  } else if (lead >= 0xE0) {
    bytes = 3;
    value = lead & 0x0Fu;
  } else if (lead >= 0xC0) {
    bytes = 2;
    value = lead & 0x1Fu;
  }
  if (lead >= 0xF8 || at + bytes > text.size()) return {lead, 1};
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0u) != 0x80u) return {lead, 1};
    value = (value << 6) | (next & 0x3Fu);
  }
  return {value, bytes};
}

int width_of(char32_t c) {
  if ((c >= 0x0300 && c <= 0x036F) || c == 0x200B || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F)) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
                    (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x1F300 && c <= 0x1FAFF);
  return wide ? 2 : 1;
}

// The byte at which the first `width` columns of `text` end; at least one code point, so that wrapping goes on.
std::size_t bytes_within(std::string_view text, int width) {
  std::size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const CodePoint point = decode(text, at);
    used += width_of(point.value);
    if (used > width && at > 0) break;
    at += point.bytes;
  }
  return at;
}

// Where to break a line that may hold text[0, limit): after the last space, else after the last slash (the parts of an
// id), else after the last joint, else at the limit. A space right at the limit may be broken at too, since it is
// dropped.
std::size_t break_point(std::string_view text, std::size_t limit) {
  if (text[limit] == ' ') return limit;
  const std::size_t space = text.substr(0, limit).rfind(' ');
  if (space != std::string_view::npos && space > 0) return space;
  const std::size_t slash = text.substr(0, limit).rfind('/');
  if (slash != std::string_view::npos && slash > limit / 3) return slash + 1;  // a short first line helps nobody
  const std::size_t joint = text.substr(0, limit).find_last_of("-,_");
  if (joint != std::string_view::npos && joint > 0) return joint + 1;
  return limit;
}

void wrap_line(std::string_view line, int width, std::vector<std::string>& lines) {
  while (width > 0 && display_width(line) > width) {
    const std::size_t limit = bytes_within(line, width);
    const std::size_t at = limit < line.size() ? break_point(line, limit) : line.size();
    lines.emplace_back(line.substr(0, at));
    line.remove_prefix(at);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (line.empty()) return;
  }
  lines.emplace_back(line);
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    width += width_of(point.value);
    at += point.bytes;
  }
  return width;
}

std::string pad_right(std::string_view text, int width) {
  std::string padded(text);
  const int missing = width - display_width(text);
  if (missing > 0) padded.append(static_cast<std::size_t>(missing), ' ');
  return padded;
}

std::string pad_left(std::string_view text, int width) {
  const int missing = width - display_width(text);
  std::string padded(static_cast<std::size_t>(missing > 0 ? missing : 0), ' ');
  padded += text;
  return padded;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find('\n', start);
    wrap_line(text.substr(start, end == std::string_view::npos ? end : end - start), width, lines);
    if (end == std::string_view::npos) break;
    start = end + 1;
  }
  return lines;
}

std::string wrap_paragraph(std::string_view text, int width, int indent) {
  std::string out;
  for (const std::string& line : wrap(text, width > indent ? width - indent : 0)) {
    if (!line.empty()) out.append(static_cast<std::size_t>(indent), ' ').append(line);
    out += '\n';
  }
  return out;
}

std::string to_ascii(std::string_view text) {
  static constexpr std::array<std::pair<char32_t, const char*>, 24> kSpellings = {{
      {U'✔', ""},   {U'→', "->"}, {U'×', "x"},    {U'·', "*"},  {U'…', "..."}, {U'–', "-"},  {U'—', "-"}, {U'−', "-"},
      {U'≥', ">="}, {U'≤', "<="}, {U'√', "sqrt"}, {U'µ', "u"},  {U'÷', "/"},   {U'±', "+-"}, {U'≈', "~"}, {U'─', "-"},
      {U'│', "|"},  {U'█', "#"},  {U'’', "'"},    {U'“', "\""}, {U'”', "\""},  {U'²', "^2"}, {U'é', "e"}, {U'δ', "d"},
  }};
  std::string ascii;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    at += point.bytes;
    if (point.value < 0x80) {
      ascii += static_cast<char>(point.value);
      continue;
    }
    const char* spelling = "?";
    for (const auto& [symbol, plain] : kSpellings) {
      if (symbol == point.value) spelling = plain;
    }
    ascii += spelling;
  }
  return ascii;
}

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0) ||
                         (point.bytes == 1 && point.value >= 0x80) || (point.value >= 0x202A && point.value <= 0x202E);
    if (text[at] == '\n') {
      safe += '\n';
    } else if (text[at] == '\t') {
      safe += ' ';
    } else if (control) {
      safe += '?';
    } else {
      safe += text.substr(at, point.bytes);
    }
    at += point.bytes;
  }
  return safe;
}

}  // namespace tare
