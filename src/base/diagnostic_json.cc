#include "base/diagnostic_json.h"

#include "base/json.h"

namespace tare {
namespace {

const char* name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

}  // namespace

Json to_json(const Diagnostic& diagnostic) {
  Json json = {{"severity", name(diagnostic.severity)}, {"rule", diagnostic.rule}, {"text", diagnostic.text}};
  if (!diagnostic.help.empty()) json["help"] = diagnostic.help;
  if (!diagnostic.file.empty()) json["file"] = diagnostic.file;
  if (diagnostic.line > 0) json["line"] = diagnostic.line;
  if (diagnostic.column > 0) json["column"] = diagnostic.column;
  if (!diagnostic.excerpt.empty()) json["excerpt"] = diagnostic.excerpt;
  return json;
}

Json to_json(const Diagnostics& diagnostics) {
  Json errors = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) errors.push_back(to_json(diagnostic));
  return {{"format_version", "1.0"}, {"errors", std::move(errors)}};
}

}  // namespace tare
