#include "cli/output.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/errors.h"

namespace tare {

void write_answer(Context& context, const Answer& answer) {
  const std::string format = context.arguments.text("output");
  std::string& out = context.console.out;
  if (format == "json") {
    // Bytes that are no text can stand in names of foreign files; they must not make the answer fail.
    out += answer.json().dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  } else if (format == "csv") {
    out += render_csv(answer.table());
  } else if (format == "md") {
    out += render_markdown(answer.document());
  } else {
    out += render_terminal(answer.document(), context.console.out_terminal);
  }
  if (!answer.warnings.empty()) show_errors(answer.warnings, format == "json", context.console);
}

Result<void> write_chart(const Arguments& arguments, const std::function<std::string()>& svg) {
  const std::string file = arguments.text("chart");
  if (file.empty()) return {};
  return write_file(file, svg());
}

}  // namespace tare
