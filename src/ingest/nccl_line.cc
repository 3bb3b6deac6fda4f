#include "ingest/nccl_line.h"

#include <charconv>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct Marker {
  std::string_view text;
  NcclLevel level;
};

// Cuts the last blank-separated word off.
std::string_view take_last_word(std::string_view& text) {
  text = trim(text);
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view word = blank == std::string_view::npos ? text : text.substr(blank + 1);
  text = blank == std::string_view::npos ? std::string_view() : text.substr(0, blank);
  return word;
}

// "host:pid:tid" -> host and pid; false when it is none. A tag may be glued before: "[1,0]<stdout>:host:1:2".
bool take_process(std::string_view word, NcclLine& line) {
  const std::size_t second = word.rfind(':');
  if (second == std::string_view::npos || second == 0) return false;
  const std::size_t first = word.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return false;
  const std::optional<std::int64_t> pid = to_integer(word.substr(first + 1, second - first - 1));
  if (!pid || !to_integer(word.substr(second + 1)) || *pid < 0) return false;
  line.pid = *pid;
  line.host = word.substr(0, first);
  if (const std::size_t tag = line.host.rfind(">:"); tag != std::string_view::npos) line.host.remove_prefix(tag + 2);
  // "0:node1:12:12" of a glued rank.
  if (const std::size_t colon = line.host.find(':');
      colon != std::string_view::npos && to_integer(line.host.substr(0, colon)) && colon + 1 < line.host.size()) {
    line.host.remove_prefix(colon + 1);
  }
  return true;
}

// "39: ", "[rank39]: ", "[1,39]<stdout>:", "[39] " at the very beginning.
int rank_of_prefix(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[')) {
    const std::string_view inside = text.substr(1, text.find(']') == std::string_view::npos ? 0 : text.find(']') - 1);
    if (inside.starts_with("rank")) return leading_number(inside.substr(4));
    const std::size_t comma = inside.find(',');
    return comma != std::string_view::npos && contains(text, "<std") ? leading_number(inside.substr(comma + 1)) : -1;
  }
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || text[digits] != ':') return -1;
  if (digits + 1 < text.size() && text[digits + 1] >= '0' && text[digits + 1] <= '9') return -1;  // a time
  return leading_number(text);
}

}  // namespace

int leading_number(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return -1;
  int value = -1;
  const auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), value);
  return error == std::errc() && value >= 0 && value < 1'000'000'000 ? value : -1;
}

std::optional<NcclLine> parse_nccl_line(std::string_view text) {
  static constexpr Marker kMarkers[] = {{"NCCL INFO", NcclLevel::kInfo},
                                        {"NCCL WARN", NcclLevel::kWarn},
                                        {"NCCL TRACE", NcclLevel::kTrace},
                                        {"NCCL CALL", NcclLevel::kOther},
                                        {"NCCL ABORT", NcclLevel::kWarn}};
  // The common case first: one search finds nothing in most foreign lines.
  const std::size_t name = text.find("NCCL ");
  if (name == std::string_view::npos) return std::nullopt;
  for (const Marker& marker : kMarkers) {
    const std::size_t at = text.find(marker.text, name);
    if (at == std::string_view::npos) continue;
    NcclLine line;
    line.level = marker.level;
    line.raw = text.substr(at + marker.text.size());
    line.message = trim(line.raw);
    std::string_view before = text.substr(0, at);
    line.rank = rank_of_prefix(before);
    std::string_view word = take_last_word(before);
    if (!word.empty() && word.front() != '[' && contains(word, ".") && !contains(word.substr(0, word.find('.')), ":")) {
      line.place = word;
      word = take_last_word(before);
    }
    if (word.starts_with('[') && word.ends_with(']')) {
      line.device = to_integer(word.substr(1, word.size() - 2)) ? leading_number(word.substr(1)) : -1;
      word = take_last_word(before);
    }
    take_process(word, line);
    return line;
  }
  return std::nullopt;
}

std::optional<std::string_view> nccl_version_in(std::string_view text) {
  std::optional<std::string_view> version = after(text, "NCCL version ");
  if (!version) version = after(text, "RCCL version :");
  if (!version) version = after(text, "RCCL version ");
  if (!version || version->empty()) return std::nullopt;
  const std::string_view word = version->substr(0, version->find_first_of(" \t,"));
  return word[0] >= '0' && word[0] <= '9' && word.size() < 80 ? std::optional(word) : std::nullopt;
}

}  // namespace tare
