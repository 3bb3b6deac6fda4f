// tare validate: the model held against measured rows.
#include "validation/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv.h"
#include "base/file.h"
#include "base/formula_json.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/validate_view.h"
#include "report/progress.h"
#include "validation/validate_json.h"

namespace tare {
namespace {

// The rows of those ids as a CSV of their own. Precondition: the text has been read without errors.
Result<std::string> only_rows(const std::string& text, const std::string& file, const std::vector<std::string>& ids) {
  const Result<CsvTable> csv = CsvTable::parse(text, file);
  if (!csv) return tl::unexpected(csv.error());
  Table table;
  for (const std::string& column : csv->columns()) table.columns.push_back({column, ""});
  std::vector<std::string> known;
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    known.emplace_back(csv->field(row, "id"));
    if (std::find(ids.begin(), ids.end(), known.back()) == ids.end()) continue;
    Row copy;
    for (std::size_t c = 0; c < csv->columns().size(); ++c) copy.cells.emplace_back(std::string(csv->field(row, c)));
    table.rows.push_back(std::move(copy));
  }
  for (const std::string& id : ids) {
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    const std::string near = did_you_mean(id, known);
    return fail("unknown-row", fmt::format("{} has no row '{}'", file, id),
                near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }
  return render_csv(table);
}

struct Validation {
  ValidationReport report;
  std::vector<RowExplanation> rows;  // of --row, those that could be predicted
};

Result<Validation> run(const Arguments& arguments, const Catalog& catalog) {
  const std::string& file = arguments.operands.front();
  const Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  Validation validation;
  Result<ValidationReport> report = validate(*text, file, catalog);
  if (!report) return tl::unexpected(report.error());
  const std::vector<std::string> ids = arguments.texts("row");
  if (!ids.empty()) {
    const Result<std::string> selected = only_rows(*text, file, ids);
    if (!selected) return tl::unexpected(selected.error());
    report = validate(*selected, file, catalog);
    if (!report) return tl::unexpected(report.error());
    for (const RowPrediction& row : report->predictions) {
      Result<RowExplanation> explained = explain_row(*selected, file, row.id, catalog);
      if (!explained) return tl::unexpected(explained.error());
      validation.rows.push_back(std::move(*explained));
    }
  }
  validation.report = std::move(*report);
  return validation;
}

std::vector<Formula> all_formulas(const Validation& validation) {
  std::vector<Formula> all;
  for (const RowExplanation& row : validation.rows) {
    for (Formula formula : row.formulas) {
      formula.id = row.row.id + ": " + formula.id;
      all.push_back(std::move(formula));
    }
  }
  return all;
}

Document document_of(const Validation& validation, bool explain) {
  const bool single = !validation.rows.empty();
  Document document = validation_document(validation.report, single || explain);
  for (const RowExplanation& row : validation.rows) add_row(document, row, explain);
  return document;
}

}  // namespace

Result<ExitCode> run_validate(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  const Result<Validation> validation = [&] {
    const Progress progress("predicting", context.console.err_terminal);
    return run(arguments, *catalog);
  }();
  if (!validation) return tl::unexpected(validation.error());
  const Result<void> written = write_chart(arguments, [&] { return to_svg(accuracy_chart(validation->report)); });
  if (!written) return tl::unexpected(written.error());

  const bool explain = arguments.is_on("explain");
  Answer answer;
  answer.document = [&] { return document_of(*validation, explain); };
  answer.table = [&] { return predictions_table(validation->report.predictions); };
  answer.svg = [&] { return to_svg(accuracy_chart(validation->report)); };
  answer.json = [&] {
    Json json = to_json(validation->report);
    for (const RowExplanation& row : validation->rows) json["explained_rows"].push_back(to_json(row));
    if (explain) json["explain"] = to_json(all_formulas(*validation));
    return json;
  };
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());
  return ExitCode::kYes;
}

}  // namespace tare
