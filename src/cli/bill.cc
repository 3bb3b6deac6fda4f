// tare bill: what the whole run costs on each choice.
#include <algorithm>

#include "base/formula_json.h"
#include "base/json.h"
#include "cli/bill_view.h"
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/option_model.h"
#include "cli/option_tables.h"
#include "cli/output.h"
#include "cost/focus.h"

namespace tare {
namespace {

Table focus_rows(const std::vector<PlanOption>& options, const PlanRequest& request) {
  std::vector<FocusBill> bills;
  bills.reserve(options.size());
  for (const PlanOption& option : options) {
    bills.push_back({&option.bill, &option.offer, option.run.wall_s, request.as_of});
  }
  return focus_table(bills);
}

bool misses(const PlanOption& option, const std::optional<double>& gate_usd) {
  const bool over = gate_usd && !(option.bill.total.usd <= *gate_usd);
  return over || !option.meets_deadline || !option.meets_budget;
}

}  // namespace

Result<ExitCode> run_bill(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  const Result<PlanRequest> request = read_request(arguments, *catalog);
  if (!request) return tl::unexpected(request.error());
  const Result<std::vector<Choice>> choices = read_choices(arguments, *request, *catalog);
  if (!choices) return tl::unexpected(choices.error());
  Uncertainty uncertainty;
  Result<std::vector<PlanOption>> options = estimate_all(*request, *choices, *catalog, &uncertainty);
  if (!options) return tl::unexpected(options.error());

  std::vector<Formula> formulas;
  if (arguments.is_on("explain")) formulas = bill_formulas(*options);
  const Result<void> charted = write_chart(arguments, [&] { return to_svg(waterfall_chart(options->front())); });
  if (!charted) return tl::unexpected(charted.error());

  Answer answer;
  answer.warnings = warnings_of(*request, *choices);
  for (const PlanOption& option : *options) {
    for (const std::string& why : option.bill.unknown) {
      Diagnostic unknown = make_error("unknown-cost", option.offer.id + ": " + why);
      unknown.severity = Severity::kWarning;
      answer.warnings.push_back(std::move(unknown));
    }
  }
  answer.document = [&] {
    Document document = bill_document(*options, request->job);
    if (!formulas.empty()) add_formulas(document, formulas);
    return document;
  };
  answer.table = [&] { return formulas.empty() ? bill_csv(*options) : formulas_table(formulas); };
  answer.json = [&] {
    Json json = bill_answer_json(*options, request->job);
    if (!formulas.empty()) json["explain"] = to_json(formulas);
    return json;
  };
  answer.svg = [&] { return to_svg(waterfall_chart(options->front())); };
  answer.focus = [&] { return render_csv(focus_rows(*options, *request)); };
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());

  const std::optional<double> gate_usd = arguments.quantity("fail-over");
  const bool no =
      std::any_of(options->begin(), options->end(), [&](const PlanOption& option) { return misses(option, gate_usd); });
  return no ? ExitCode::kNo : ExitCode::kYes;
}

}  // namespace tare
