#include "ingest/fio_values.h"

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {

std::optional<double> fio_count(std::string_view text) {
  const std::optional<Measure> measure = to_measure(text);
  if (!measure) return std::nullopt;
  if (measure->unit.empty()) return measure->value;
  switch (measure->unit[0]) {
    case 'k':
    case 'K':
      return measure->value * 1e3;
    case 'm':
    case 'M':
      return measure->value * 1e6;
    case 'g':
    case 'G':
      return measure->value * 1e9;
    default:
      return measure->value;
  }
}

std::optional<FioAmount> fio_amount(std::string_view text, bool old_units) {
  const std::optional<Measure> measure = to_measure(text);
  if (!measure) return std::nullopt;
  std::string_view unit = measure->unit;
  if (const std::size_t end = unit.find_first_of(" /)("); end != std::string_view::npos) unit = unit.substr(0, end);
  FioAmount amount{measure->value, to_lower(unit), measure->value};
  if (unit.empty() || !unit.ends_with('B')) {
    if (!unit.empty()) return std::nullopt;
    return amount;
  }
  const double base = contains(unit, "i") || old_units ? 1024 : 1000;
  constexpr std::string_view kPrefixes = "kmgtp";
  const std::size_t power = amount.unit.size() > 1 ? kPrefixes.find(amount.unit[0]) : std::string_view::npos;
  for (std::size_t i = 0; power != std::string_view::npos && i <= power; ++i) amount.bytes *= base;
  return amount;
}

std::vector<std::pair<std::string_view, std::string_view>> fio_pairs(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t at = part.rfind('=');
    if (at == std::string_view::npos) continue;
    pairs.emplace_back(trim(part.substr(0, at)), trim(part.substr(at + 1)));
  }
  return pairs;
}

std::string percentile_name(std::string_view text) {
  std::string name = "p" + std::string(trim(text));
  if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
    while (name.ends_with('0')) name.pop_back();
    if (name.ends_with('.')) name.pop_back();
    if (dot < name.size()) name[dot] = '_';
  }
  return name;
}

std::string_view time_unit(std::string_view text) {
  text = trim(text);
  if (text == "nsec" || text == "ns") return "ns";
  if (text == "usec" || text == "us") return "us";
  if (text == "msec" || text == "ms") return "ms";
  if (text == "sec" || text == "s") return "s";
  return {};
}

}  // namespace tare
