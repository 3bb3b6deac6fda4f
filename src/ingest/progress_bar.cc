#include "ingest/progress_bar.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/fast_number.h"
#include "ingest/step_series.h"

namespace tare {
namespace {

// Bounds, so that a long line of brackets takes linear time.
constexpr std::size_t kLongestBar = 600;
constexpr std::size_t kLongestDescription = 80;
constexpr std::size_t kLongestInside = 2000;

// "7", "00:07", "9:07:58", "1 day, 2:03:04" are seconds; moves `at` behind it.
bool read_clock(std::string_view text, std::size_t& at, double& seconds, bool with_days = true) {
  if (at < text.size() && text[at] == '?') {
    ++at;
    seconds = kNotSaid;
    return true;
  }
  double sum = 0;
  int parts = 0;
  for (;; ++parts) {
    const std::size_t begin = at;
    double part = 0;
    while (at < text.size() && is_digit_char(text[at]) && at - begin < 9) part = part * 10 + (text[at++] - '0');
    if (at == begin) return false;
    sum = sum * 60 + part;
    if (with_days && parts == 0 && text.substr(at, 4) == " day") {
      const std::size_t comma = text.substr(at, 8).find(", ");
      if (comma == std::string_view::npos) return false;
      at += comma + 2;
      double rest = 0;
      if (!read_clock(text, at, rest, false)) return false;
      seconds = part * 86400 + rest;
      return true;
    }
    if (at >= text.size() || text[at] != ':') break;
    ++at;
  }
  seconds = sum;
  return parts >= 1 && parts <= 3;
}

// "12/345", "12it" or "12" before the bracket.
void read_count(std::string_view text, std::size_t bracket, ProgressBar& bar) {
  std::size_t at = bracket;
  const auto skip_back = [&] {
    while (at > 0 && text[at - 1] == ' ') --at;
  };
  const auto digits_back = [&](std::int64_t& value) {
    std::size_t begin = at;
    while (begin > 0 && is_digit_char(text[begin - 1]) && at - begin < 15) --begin;
    if (begin == at) return false;
    value = 0;
    for (std::size_t i = begin; i < at; ++i) value = value * 10 + (text[i] - '0');
    at = begin;
    return true;
  };
  skip_back();
  if (at >= 2 && text.substr(at - 2, 2) == "it") at -= 2;
  std::int64_t last = 0;
  if (at > 0 && text[at - 1] == '?') {
    --at;
  } else if (digits_back(last)) {
    bar.at = last;
  } else {
    return;
  }
  skip_back();
  if (at > 0 && text[at - 1] == '/') {
    --at;
    skip_back();
    bar.total = bar.at;
    bar.at = -1;
    if (digits_back(last)) bar.at = last;
  }
  bar.begin = at;
  // "Epoch 0:   1%|███  | "
  const std::size_t least = at > kLongestBar ? at - kLongestBar : 0;
  const std::size_t percent = text.substr(least, at - least).rfind('%');
  if (percent == std::string_view::npos) return;
  std::size_t begin = least + percent;
  while (begin > 0 && (is_digit_char(text[begin - 1]) || text[begin - 1] == ' ' || text[begin - 1] == '.')) --begin;
  bar.begin = begin;
  if (begin == 0 || text[begin - 1] != ':') return;
  std::size_t from = begin - 1;
  while (from > 0 && begin - from < kLongestDescription && text[from - 1] != ']' && text[from - 1] != '|') --from;
  bar.description = trim(text.substr(from, begin - 1 - from));
  bar.begin = from;
}

bool read_rate(std::string_view inside, ProgressBar& bar) {
  std::size_t at = 0;
  while (at < inside.size() && (inside[at] == ' ' || inside[at] == ',')) ++at;
  std::size_t end = std::min(inside.find(',', at), inside.size());
  std::string_view rate = trim(inside.substr(at, end - at));
  if (rate.starts_with('?')) {
    bar.rate = kNotSaid;
    bar.unit = rate.substr(1);
  } else {
    const char* const last = rate.data() + rate.size();
    const char* const behind = parse_number(rate.data(), last, bar.rate);
    if (behind == nullptr) return false;
    bar.unit = trim(std::string_view(behind, static_cast<std::size_t>(last - behind)));
  }
  if (bar.unit.find('/') == std::string_view::npos || bar.unit.size() > 20) return false;
  bar.postfix = end < inside.size() ? trim(inside.substr(end + 1)) : std::string_view();
  return true;
}

}  // namespace

std::optional<ProgressBar> find_progress_bar(std::string_view line, std::size_t from) {
  for (std::size_t open = line.find('[', from); open != std::string_view::npos; open = line.find('[', open + 1)) {
    std::size_t at = open + 1;
    ProgressBar bar;
    if (at >= line.size() || !is_digit_char(line[at]) || !read_clock(line, at, bar.elapsed_s)) continue;
    if (at >= line.size() || line[at] != '<') continue;
    ++at;
    if (!read_clock(line, at, bar.remaining_s)) continue;
    std::size_t close = line.substr(at, kLongestInside).find(']');
    close = close == std::string_view::npos ? std::min(at + kLongestInside, line.size()) : at + close;
    if (!read_rate(line.substr(at, close - at), bar)) continue;
    bar.end = std::min(close + 1, line.size());
    read_count(line.substr(0, open), open, bar);
    if (bar.begin < from) bar.begin = from;
    return bar;
  }
  return std::nullopt;
}

}  // namespace tare
