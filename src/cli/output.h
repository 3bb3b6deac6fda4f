// One answer in the form that --output asks for.
#pragma once

#include <functional>

#include "base/json_fwd.h"
#include "cli/command.h"
#include "report/document.h"

namespace tare {

// Each form is made only when it is the one asked for.
struct Answer {
  std::function<Document()> document;  // table and md
  std::function<Table()> table;        // csv
  std::function<Json()> json;
  std::function<std::string()> svg, focus, sarif, toml;  // those that the verb has (words_of(flag, verb))
  Diagnostics warnings;                                  // of the files behind it: to standard error
};

// To standard output, or whole into the file that --output names. Errors: a file that cannot be written.
Result<void> write_answer(Context& context, const Answer& answer);

// --chart FILE.svg, if it was given.
Result<void> write_chart(const Arguments& arguments, const std::function<std::string()>& svg);

}  // namespace tare
