#include "report/color.h"

#include <cstdlib>

namespace tare {
namespace {

std::string_view sequence(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return {};
    case Tone::kStrong:
      return "\033[1m";
    case Tone::kFaint:
      return "\033[2m";
    case Tone::kGood:
      return "\033[32m";
    case Tone::kBad:
      return "\033[1;31m";
    case Tone::kWarning:
      return "\033[33m";
    case Tone::kAccent:
      return "\033[36m";
  }
  return {};
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

bool use_color(ColorChoice choice, bool is_terminal, const Environment& environment) {
  if (choice == ColorChoice::kAlways) return true;
  if (choice == ColorChoice::kNever || !is_terminal) return false;
  if (!environment("NO_COLOR").value_or("").empty()) return false;
  const std::string term = environment("TERM").value_or("");
  return !term.empty() && term != "dumb";
}

std::string paint(std::string_view text, Tone tone, bool color) {
  const std::string_view start = sequence(tone);
  if (!color || start.empty() || text.empty()) return std::string(text);
  std::string painted(start);
  painted += text;
  painted += "\033[0m";
  return painted;
}

}  // namespace tare
