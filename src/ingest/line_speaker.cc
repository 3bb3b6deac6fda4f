#include "ingest/line_speaker.h"

#include <cstddef>

namespace tare {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "2024-05-01T10:00:00.123456Z " or "2024-05-01 10:00:00,123 ": bytes up to what follows, 0 when it is none.
std::size_t timestamp_length(std::string_view text) {
  static constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kForm.size()) return 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool fits = kForm[i] == 'd'   ? is_digit(text[i])
                      : kForm[i] == 'T' ? text[i] == 'T' || text[i] == ' '
                                        : text[i] == kForm[i];
    if (!fits) return 0;
  }
  std::size_t at = kForm.size();
  while (at < text.size() && (is_digit(text[at]) || text[at] == '.' || text[at] == ',' || text[at] == 'Z' ||
                              text[at] == '+' || text[at] == ':' || text[at] == '-')) {
    ++at;
  }
  return at < text.size() && text[at] == ' ' ? at : 0;
}

// "[1,0]<stdout>:" and its kin: bytes with the colon.
std::size_t mpirun_length(std::string_view text, std::string_view& speaker) {
  if (!text.starts_with('[')) return 0;
  const std::size_t close = text.find(']');
  if (close > 24) return 0;
  for (const std::string_view stream : {"]<stdout>:", "]<stderr>:", "]<stdout>: ", "]<stderr>: "}) {
    if (!text.substr(close).starts_with(stream)) continue;
    speaker = text.substr(1, close - 1);
    const std::size_t end = close + stream.size();
    return end < text.size() && text[end] == ' ' && !text.substr(end).starts_with("  ") ? end + 1 : end;
  }
  return 0;
}

// "node01: " at the very start, or "  3: " of srun.
std::size_t speaker_length(std::string_view text, std::string_view& speaker) {
  std::size_t begin = 0;
  while (begin < text.size() && text[begin] == ' ' && begin < 6) ++begin;
  std::size_t at = begin;
  bool has_digit = false, has_letter = false, is_name = false;
  for (; at < text.size() && at - begin < 64; ++at) {
    const char c = text[at];
    if (is_digit(c)) {
      has_digit = true;
    } else if (is_letter(c)) {
      has_letter = true;
    } else if (c == '-' || c == '.' || c == '_') {
      is_name = true;
    } else {
      break;
    }
  }
  if (at == begin || at >= text.size() || text[at] != ':') return 0;
  if (begin > 0 && has_letter) return 0;  // indented words are the tool's own
  if (!has_digit && !is_name) return 0;
  if (!has_letter && is_name) return 0;  // "0.5:" is no host
  if (at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '\t' && text[at + 1] != '|' &&
      text[at + 1] != '+') {
    return 0;
  }
  speaker = text.substr(begin, at - begin);
  ++at;
  return at < text.size() && text[at] == ' ' ? at + 1 : at;
}

}  // namespace

PrefixedLine split_line_prefix(std::string_view line) {
  PrefixedLine split{line, {}, {}};
  if (split.text.starts_with("> ")) split.text.remove_prefix(2);
  if (const std::size_t length = timestamp_length(split.text); length > 0) {
    split.time = split.text.substr(0, length);
    split.text.remove_prefix(length + 1);
  }
  std::size_t length = mpirun_length(split.text, split.speaker);
  if (length == 0) length = speaker_length(split.text, split.speaker);
  split.text.remove_prefix(length);
  return split;
}

}  // namespace tare
