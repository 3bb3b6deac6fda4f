#include "cli/output.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/errors.h"

namespace tare {

namespace {

std::string rendered(const Answer& answer, const std::string& form, const Terminal& terminal) {
  // Bytes that are no text can stand in names of foreign files; they must not make the answer fail.
  if (form == "json") return answer.json().dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  if (form == "csv") return render_csv(answer.table());
  if (form == "md") return render_markdown(answer.document());
  if (form == "svg") return answer.svg();
  if (form == "focus") return answer.focus();
  if (form == "sarif") return answer.sarif();
  if (form == "toml") return answer.toml();
  return render_terminal(answer.document(), terminal);
}

}  // namespace

Result<void> write_answer(Context& context, const Answer& answer) {
  const OutputForm form = output_form(context.arguments.text("output"));
  if (form.file.empty()) {
    context.console.out += rendered(answer, form.form, context.console.out_terminal);
  } else if (Result<void> written = write_file(form.file, rendered(answer, form.form, Terminal{})); !written) {
    return written;
  }
  if (!answer.warnings.empty()) show_errors(answer.warnings, form.form == "json", context.console);
  return {};
}

Result<void> write_chart(const Arguments& arguments, const std::function<std::string()>& svg) {
  const std::string file = arguments.text("chart");
  if (file.empty()) return {};
  return write_file(file, svg());
}

}  // namespace tare
