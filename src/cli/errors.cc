#include "cli/errors.h"

#include "base/diagnostic_json.h"
#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

struct Mark {
  std::string_view word;
  Tone tone;
};

Mark mark_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return {"error: ", Tone::kBad};
    case Severity::kWarning:
      return {"warning: ", Tone::kWarning};
    case Severity::kNote:
      return {"note: ", Tone::kAccent};
  }
  return {"error: ", Tone::kBad};
}

// "file:line:col: error: text": the place strong, the severity in its colour.
std::string paint_first_line(std::string_view line, Severity severity, bool color) {
  const Mark mark = mark_of(severity);
  const std::size_t at = line.find(mark.word);
  if (at == std::string_view::npos) return std::string(line);
  std::string painted = paint(line.substr(0, at), Tone::kStrong, color);
  painted += paint(mark.word, mark.tone, color);
  return painted.append(line.substr(at + mark.word.size()));
}

}  // namespace

std::string paint_diagnostic(const Diagnostic& diagnostic, const Terminal& terminal) {
  std::string plain = render(diagnostic);
  if (!terminal.color) return plain;
  std::string painted;
  std::size_t number = 0;
  for (const std::string_view line : split(trim(plain), '\n')) {
    if (number == 0) {
      painted += paint_first_line(line, diagnostic.severity, true);
    } else if (!trim(line).empty() && trim(line).find_first_not_of("^~") == std::string_view::npos) {
      painted += paint(line, Tone::kGood, true);
    } else {
      painted += line.starts_with("  help: ") ? paint(line, Tone::kAccent, true) : std::string(line);
    }
    painted += '\n';
    ++number;
  }
  return painted;
}

void show_errors(const Diagnostics& diagnostics, bool as_json, Console& console) {
  if (as_json) {
    console.err += to_json(diagnostics).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    return;
  }
  std::string shown;
  for (const Diagnostic& diagnostic : diagnostics) shown += paint_diagnostic(diagnostic, console.err_terminal);
  console.err += shown;
}

}  // namespace tare
