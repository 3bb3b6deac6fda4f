// Diagnostics as JSON (schema/errors.schema.json).
#pragma once

#include "base/diagnostic.h"
#include "base/json_fwd.h"

namespace tare {

// {severity, rule, text, help, file, line, column, excerpt}; what is not known is left out.
Json to_json(const Diagnostic& diagnostic);

// {"format_version", "errors": […]}: the whole document that stands for a failed answer.
Json to_json(const Diagnostics& diagnostics);

}  // namespace tare
