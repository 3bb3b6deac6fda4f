// tare estimate: one choice in full.
#include "base/formula_json.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/estimate_view.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/option_model.h"
#include "cli/option_tables.h"
#include "cli/output.h"
#include "cli/roofline_view.h"
#include "plan/plan_json.h"
#include "workload/job_json.h"

namespace tare {
namespace {

struct Estimate {
  PlanOption option;
  std::vector<Formula> formulas;   // with --explain
  std::vector<RooflineRow> roofs;  // with --roofline
};

Result<void> write(Context& context, const Job& job, const Estimate& result, Diagnostics warnings) {
  const bool explain = context.arguments.is_on("explain");
  const bool roofs = context.arguments.is_on("roofline");
  Answer answer;
  answer.warnings = std::move(warnings);
  answer.document = [&] {
    Document document = estimate_document(result.option, job);
    if (roofs) {
      document.heading("Roofline: one micro-batch, one layer, forward");
      document.table(roofline_table(result.roofs));
    }
    if (explain) add_formulas(document, result.formulas);
    return document;
  };
  answer.table = [&] {
    if (roofs) return roofline_table(result.roofs);
    return explain ? formulas_table(result.formulas) : estimate_table(result.option);
  };
  answer.svg = [&] { return to_svg(waterfall_chart(result.option)); };
  answer.json = [&] {
    Json json = {{"format_version", "1.0"}, {"job", to_json(job)}, {"option", to_json(result.option)}};
    if (roofs) json["roofline"] = to_json(result.roofs);
    if (explain) json["explain"] = to_json(result.formulas);
    return json;
  };
  return write_answer(context, answer);
}

ExitCode verdict(const Arguments& arguments, const PlanOption& option) {
  const std::optional<double> gate_usd = arguments.quantity("fail-over");
  const bool over = gate_usd && !(option.bill.total.usd <= *gate_usd);
  return over || !option.meets_deadline || !option.meets_budget ? ExitCode::kNo : ExitCode::kYes;
}

}  // namespace

Result<ExitCode> run_estimate(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  const Result<PlanRequest> request = read_request(arguments, *catalog);
  if (!request) return tl::unexpected(request.error());
  const Result<std::vector<Choice>> choices = read_choices(arguments, *request, *catalog);
  if (!choices) return tl::unexpected(choices.error());

  const Choice& choice = choices->front();
  Result<std::vector<PlanOption>> options = estimate_all(*request, *choices, *catalog, nullptr);
  if (!options) return tl::unexpected(options.error());
  Estimate result;
  result.option = std::move(options->front());
  StepModel model = model_of(result.option, choice.cluster, *request, *catalog);
  if (arguments.is_on("explain")) result.formulas = formulas_of(result.option, model);
  if (arguments.is_on("roofline")) result.roofs = roofline(model, result.option.parallelism);

  const Result<void> written = write_chart(arguments, [&] { return to_svg(waterfall_chart(result.option)); });
  if (!written) return tl::unexpected(written.error());
  if (const Result<void> shown = write(context, request->job, result, warnings_of(*request, *choices)); !shown) {
    return tl::unexpected(shown.error());
  }
  return verdict(arguments, result.option);
}

}  // namespace tare
