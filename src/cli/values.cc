// What each kind of flag value accepts, and what is said when it does not.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/date.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/flags.h"

namespace tare {
namespace {

using Complaint = std::optional<Diagnostic>;

// Larger clusters than this are typing errors, in job files too; the model's integers stay far from overflow.
constexpr int kLargestCount = 1'000'000;
constexpr int kHighestZeroStage = 3;

Complaint complain(std::string_view text, std::string_view expected, std::string help = {}) {
  return make_error("bad-value", fmt::format("'{}' is not {}", text, expected), std::move(help));
}

bool is_integer_in(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
}

Complaint check_integers(std::string_view text, int least, int most) {
  for (const std::string_view part : split(text, ',')) {
    if (is_integer_in(trim(part), least, most)) continue;
    return complain(part, fmt::format("a whole number from {} to {}", least, most),
                    "separate several with commas, without spaces");
  }
  return std::nullopt;
}

Complaint check_word(const Flag& flag, std::string_view text) {
  const std::vector<std::string> words = words_of(flag);
  if (std::find(words.begin(), words.end(), text) != words.end()) return std::nullopt;
  const std::string near = did_you_mean(text, words);
  return complain(text, "one of " + join(words, ", "), near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

Complaint check_form(const Flag& flag, std::string_view text) {
  const OutputForm form = output_form(text);
  if (!form.form.empty()) return std::nullopt;
  if (form.file.empty()) return check_word(flag, text);
  return complain(text, "a file of a known form", "end it in .json, .csv, .md, .svg, .toml or .txt");
}

bool is_seed(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Complaint check_ratio(std::string_view text) {
  if (ratio_of(text)) return std::nullopt;
  return complain(text, "a share", "write it as 0.9 or 90%");
}

Complaint check_words(const Flag& flag, std::string_view text) {
  for (const std::string_view part : split(text, ',')) {
    if (Complaint complaint = check_word(flag, trim(part))) return complaint;
  }
  return std::nullopt;
}

Complaint check_quantity(std::string_view text, Dimension dimension) {
  const Result<double> value = parse_quantity(text, dimension);
  if (!value) return value.error().front();
  if (*value < 0) return complain(text, "positive");
  if (dimension == Dimension::kBandwidth && *value < 1) return complain(text, "a rate of at least 1 B/s");
  return std::nullopt;
}

Complaint check_date(std::string_view text) {
  if (parse_date(text)) return std::nullopt;
  return complain(text, "a date", "write it as 2026-11-30");
}

}  // namespace

std::optional<double> ratio_of(std::string_view text) {
  const bool per_cent = text.ends_with('%');
  if (per_cent) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (per_cent) value /= 100;
  return value >= 0 && value <= 1 ? std::optional(value) : std::nullopt;
}

std::optional<Diagnostic> check_value(const Flag& flag, std::string_view text) {
  switch (flag.kind) {
    case ValueKind::kSwitch:
      if (text == "true" || text == "false") return std::nullopt;
      return complain(text, "true or false");
    case ValueKind::kWord:
      return check_word(flag, text);
    case ValueKind::kWords:
      return check_words(flag, text);
    case ValueKind::kCount:
      if (is_integer_in(text, 0, kLargestCount)) return std::nullopt;
      return complain(text, fmt::format("a whole number from 0 to {}", kLargestCount));
    case ValueKind::kSizes:
      return check_integers(text, 1, kLargestCount);
    case ValueKind::kStages:
      return check_integers(text, 0, kHighestZeroStage);
    case ValueKind::kDate:
      return check_date(text);
    case ValueKind::kDuration:
      return check_quantity(text, Dimension::kDuration);
    case ValueKind::kMoney:
      return check_quantity(text, Dimension::kMoney);
    case ValueKind::kBandwidth:
      return check_quantity(text, Dimension::kBandwidth);
    case ValueKind::kForm:
      return check_form(flag, text);
    case ValueKind::kSeed:
      if (is_seed(text)) return std::nullopt;
      return complain(text, "a whole number from 0");
    case ValueKind::kRatio:
      return check_ratio(text);
    case ValueKind::kText:
    case ValueKind::kChoice:
    case ValueKind::kFile:
    case ValueKind::kDirectory:
    case ValueKind::kOffer:
      break;
  }
  if (text.empty()) return make_error("bad-value", "an empty value");
  return std::nullopt;
}

}  // namespace tare
