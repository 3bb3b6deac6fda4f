#include "ingest/line_prefix.h"

namespace tare {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// End of "[1,0]" with what may stand behind it ("<stdout>:", ":"), beginning at `at`; `at` when it is none.
std::size_t end_of_bracket_tag(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '[') return at;
  std::size_t end = at + 1;
  bool digits = false;
  while (end < text.size() && end - at < 24 && (is_digit(text[end]) || text[end] == ',')) {
    digits = digits || is_digit(text[end]);
    ++end;
  }
  if (!digits || end >= text.size() || text[end] != ']') return at;
  ++end;
  for (const std::string_view stream : {"<stdout>", "<stderr>", "<stddiag>"}) {
    if (!text.substr(end).starts_with(stream)) continue;
    end += stream.size();
    if (end < text.size() && text[end] == ':') ++end;
    break;
  }
  return end;
}

// "3: " of srun: at the very beginning, so that the " 0:  10" of a matrix is none.
std::size_t end_of_task_tag(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < 7 && is_digit(text[end])) ++end;
  if (end == 0 || end + 1 >= text.size() || text[end] != ':' || text[end + 1] != ' ') return 0;
  return end + 2;
}

std::size_t end_of_host_tag(std::string_view text) {
  std::size_t end = 0;
  bool marked = false;
  while (end < text.size() && end < 64) {
    const char c = text[end];
    if (!is_digit(c) && !is_letter(c) && c != '-' && c != '.' && c != '_') break;
    marked = marked || is_digit(c) || c == '-';
    ++end;
  }
  if (end < 2 || !marked || !is_letter(text[0]) || end + 1 >= text.size()) return 0;
  return text[end] == ':' && text[end + 1] == ' ' ? end + 2 : 0;
}

}  // namespace

std::string_view without_line_tags(std::string_view line, bool host_names) {
  for (int depth = 0; depth < 6; ++depth) {
    const std::size_t at = skip_blanks(line, 0);
    if (at < line.size() && line[at] == '>') {
      line.remove_prefix(at + 1);
      if (line.starts_with(' ')) line.remove_prefix(1);
      continue;
    }
    if (const std::size_t end = end_of_bracket_tag(line, at); end > at && line[end - 1] != ']') {
      line.remove_prefix(end);
      continue;
    }
    std::size_t end = end_of_task_tag(line);
    if (end == 0 && host_names) end = end_of_host_tag(line);
    if (end == 0) break;
    line.remove_prefix(end);
  }
  return line;
}

std::string without_inner_tags(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = end_of_bracket_tag(line, at);
    out += end > at ? ' ' : line[at];
    at = end > at ? end : at + 1;
  }
  return out;
}

}  // namespace tare
