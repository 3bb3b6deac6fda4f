#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include "base/text.h"

namespace tare {
namespace {

struct Unit {
  std::string_view name;
  double scale;  // base units in one of it
};

constexpr double kKibi = 1024.0;
constexpr double kMebi = kKibi * 1024;
constexpr double kGibi = kMebi * 1024;
constexpr double kTebi = kGibi * 1024;
constexpr double kPebi = kTebi * 1024;
constexpr double kJoulesPerKwh = 3.6e6;

constexpr auto kDurations =
    std::to_array<Unit>({{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}});
constexpr auto kBytes = std::to_array<Unit>({{"B", 1},
                                             {"kB", 1e3},
                                             {"MB", 1e6},
                                             {"GB", 1e9},
                                             {"TB", 1e12},
                                             {"PB", 1e15},
                                             {"KiB", kKibi},
                                             {"MiB", kMebi},
                                             {"GiB", kGibi},
                                             {"TiB", kTebi},
                                             {"PiB", kPebi}});
constexpr auto kBandwidths = std::to_array<Unit>({{"B/s", 1},
                                                  {"kB/s", 1e3},
                                                  {"MB/s", 1e6},
                                                  {"GB/s", 1e9},
                                                  {"TB/s", 1e12},
                                                  {"KiB/s", kKibi},
                                                  {"MiB/s", kMebi},
                                                  {"GiB/s", kGibi},
                                                  {"TiB/s", kTebi},
                                                  {"b/s", 1.0 / 8},
                                                  {"kb/s", 1e3 / 8},
                                                  {"Mb/s", 1e6 / 8},
                                                  {"Gb/s", 1e9 / 8},
                                                  {"Tb/s", 1e12 / 8}});
constexpr auto kMoney = std::to_array<Unit>({{"USD", 1}});
constexpr auto kPowers = std::to_array<Unit>({{"W", 1}, {"kW", 1e3}, {"MW", 1e6}});
constexpr auto kEnergyPrices = std::to_array<Unit>({{"USD/kWh", 1 / kJoulesPerKwh}, {"USD/MWh", 1e-3 / kJoulesPerKwh}});
constexpr auto kRatios = std::to_array<Unit>({{"%", 0.01}});

std::span<const Unit> units(Dimension dimension) {
  switch (dimension) {
    case Dimension::kDuration:
      return kDurations;
    case Dimension::kBytes:
      return kBytes;
    case Dimension::kBandwidth:
      return kBandwidths;
    case Dimension::kMoney:
      return kMoney;
    case Dimension::kPower:
      return kPowers;
    case Dimension::kEnergyPrice:
      return kEnergyPrices;
    case Dimension::kRatio:
      return kRatios;
  }
  return {};
}

std::optional<double> scale_of(std::string_view unit, Dimension dimension) {
  if (dimension == Dimension::kDuration && (unit == "µs" || unit == "μs")) unit = "us";  // micro sign, Greek mu
  for (const Unit& known : units(dimension)) {
    if (known.name == unit) return known.scale;
  }
  return std::nullopt;
}

std::string accepted_help(Dimension dimension) { return fmt::format("accepted: {}", accepted_units(dimension)); }

Diagnostic unknown_unit(std::string_view unit, Dimension dimension) {
  const std::string text = fmt::format("unknown unit {}", in_quotes(unit));
  if (dimension == Dimension::kMoney || dimension == Dimension::kEnergyPrice) {
    return make_error("unknown-unit", text,
                      fmt::format("accepted: {}; no exchange rate is built in, convert other currencies first",
                                  accepted_units(dimension)));
  }
  // "gb/s" may be GB/s or Gb/s, a factor of eight apart: name every spelling that differs in case only.
  std::vector<std::string> names;
  std::vector<std::string> same_letters;
  for (const Unit& known : units(dimension)) {
    names.emplace_back(known.name);
    if (equals_ignoring_case(known.name, unit)) same_letters.emplace_back(known.name);
  }
  std::string guess = join(same_letters, " or ");
  if (guess.empty()) guess = did_you_mean(unit, names);
  if (guess.empty()) return make_error("unknown-unit", text, accepted_help(dimension));
  return make_error("unknown-unit", text,
                    fmt::format("did you mean {}? accepted: {}", guess, accepted_units(dimension)));
}

Diagnostic not_a_number(std::string_view text, Dimension dimension) {
  const std::string_view unit = units(dimension)[0].name;
  return make_error("not-a-number", fmt::format("expected a number and its unit, found {}", in_quotes(text)),
                    fmt::format("write the number first, without separators, such as \"30{}{}\"; {}",
                                dimension == Dimension::kMoney ? " " : "", unit, accepted_help(dimension)));
}

std::string with_commas(std::string digits) {
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = whole; i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

// `digits` significant digits in plain notation, without trailing zeros, with thousands separators.
std::string significant(double value, int digits) {
  if (value == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (exponent < -6 || exponent > 15) return fmt::format("{:.{}g}", value, digits);
  const int decimals = std::max(0, digits - 1 - exponent);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return with_commas(std::move(text));
}

std::string not_finite(double value) {
  if (std::isnan(value)) return "unknown";
  return value < 0 ? "-infinite" : "infinite";
}

struct Step {
  double from;  // the unit is used for values of this size and more
  double scale;
  std::string_view suffix;
};

// In the largest unit whose `from` the value reaches once rounded to the shown digits (0.9999 s is "1 s", not
// "1000 ms"). `steps` go down; the last takes what is left.
std::string scaled(double value, std::span<const Step> steps, int digits) {
  if (!std::isfinite(value)) return not_finite(value);
  const double size = std::fabs(value);
  for (const Step& step : steps) {
    const double unit = std::pow(10.0, 1 - digits + std::floor(std::log10(size)));
    const double rounded = size > 0 ? std::max(size, std::round(size / unit) * unit * (1 + 1e-12)) : 0;
    if (rounded >= step.from || &step == &steps.back()) {
      return fmt::format("{}{}", significant(value / step.scale, digits), step.suffix);
    }
  }
  return {};
}

constexpr int kDigits = 3;

}  // namespace

std::string_view accepted_units(Dimension dimension) {
  switch (dimension) {
    case Dimension::kDuration:
      return "s, ms, us, min, h, d, w";
    case Dimension::kBytes:
      return "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB";
    case Dimension::kBandwidth:
      return "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, b/s, kb/s, Mb/s, Gb/s, Tb/s";
    case Dimension::kMoney:
      return "USD";
    case Dimension::kPower:
      return "W, kW, MW";
    case Dimension::kEnergyPrice:
      return "USD/kWh, USD/MWh";
    case Dimension::kRatio:
      return "%, or a bare number";
  }
  return {};
}

Result<double> parse_quantity(std::string_view text, Dimension dimension) {
  const std::string_view all = trim(text);
  double number = 0;
  const auto [end, error] = fast_float::from_chars(all.data(), all.data() + all.size(), number);
  const std::string_view unit = trim(all.substr(static_cast<std::size_t>(end - all.data())));
  // "60,000 USD", "1_000 s" and "inf" begin like numbers and are none.
  const bool separated = !unit.empty() && (unit[0] == ',' || unit[0] == '_' || unit[0] == '.' || unit[0] == '\'');
  if (error == std::errc::invalid_argument || separated || !std::isfinite(number))
    return fail(not_a_number(all, dimension));

  std::optional<double> scale;
  if (!unit.empty()) {
    scale = scale_of(unit, dimension);
  } else if (dimension == Dimension::kRatio) {
    scale = 1;
  } else {
    return fail("missing-unit", fmt::format("expected a unit after the number, found only {}", in_quotes(all)),
                accepted_help(dimension));
  }
  if (!scale) return fail(unknown_unit(unit, dimension));
  const double value = number * *scale;
  if (!std::isfinite(value)) {
    return fail("not-a-number", fmt::format("{} is too large for a number", in_quotes(all)),
                "write a smaller quantity");
  }
  return value;
}

std::string format_duration(double seconds) {
  static constexpr auto kSteps = std::to_array<Step>({{4 * 86400.0, 86400, " d"},
                                                      {7200, 3600, " h"},
                                                      {120, 60, " min"},
                                                      {1, 1, " s"},
                                                      {1e-3, 1e-3, " ms"},
                                                      {1e-6, 1e-6, " us"}});
  if (seconds == 0) return "0 s";
  return scaled(seconds, kSteps, kDigits);
}

std::string format_bytes(double bytes) {
  static constexpr auto kSteps = std::to_array<Step>({{1e15, 1e15, " PB"},
                                                      {1e12, 1e12, " TB"},
                                                      {1e9, 1e9, " GB"},
                                                      {1e6, 1e6, " MB"},
                                                      {1e3, 1e3, " kB"},
                                                      {0, 1, " B"}});
  return scaled(bytes, kSteps, kDigits);
}

std::string format_gib(double bytes) {
  static constexpr auto kSteps =
      std::to_array<Step>({{kGibi, kGibi, " GiB"}, {kMebi, kMebi, " MiB"}, {kKibi, kKibi, " KiB"}, {0, 1, " B"}});
  return scaled(bytes, kSteps, kDigits);
}

std::string format_bits_per_s(double bytes_per_s) {
  static constexpr auto kSteps = std::to_array<Step>(
      {{1e12, 1e12, " Tb/s"}, {1e9, 1e9, " Gb/s"}, {1e6, 1e6, " Mb/s"}, {1e3, 1e3, " kb/s"}, {0, 1, " b/s"}});
  return scaled(bytes_per_s * 8, kSteps, kDigits);
}

std::string format_usd(double usd, int decimals) {
  if (!std::isfinite(usd)) return not_finite(usd);
  const std::string digits = fmt::format("{:.{}f}", std::fabs(usd), std::clamp(decimals, 0, 15));
  const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
  return fmt::format("{}${}", usd < 0 && !is_zero ? "-" : "", with_commas(digits));
}

std::string format_count(double count) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53: larger ones are not known to the unit
  if (!std::isfinite(count)) return not_finite(count);
  if (std::fabs(count) > kLargestExact) return fmt::format("{:.3g}", count);
  return with_commas(fmt::format("{:.0f}", std::round(count) + 0.0));
}

std::string format_si(double value, int digits) {
  static constexpr auto kSteps = std::to_array<Step>({{1e18, 1e18, "E"},
                                                      {1e15, 1e15, "P"},
                                                      {1e12, 1e12, "T"},
                                                      {1e9, 1e9, "G"},
                                                      {1e6, 1e6, "M"},
                                                      {1e3, 1e3, "k"},
                                                      {0, 1, ""}});
  return scaled(value, kSteps, std::clamp(digits, 1, 15));
}

}  // namespace tare
