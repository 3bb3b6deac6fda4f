// tare plan: rank what can run a job.
#include "plan/plan.h"

#include "base/formula_json.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/option_model.h"
#include "cli/option_tables.h"
#include "cli/output.h"
#include "cli/plan_view.h"
#include "plan/plan_json.h"
#include "report/progress.h"

namespace tare {
namespace {

Result<std::vector<Formula>> explain_leading(const Plan& plan, const PlanRequest& request, const Catalog& catalog) {
  const PlanOption* option = leading_option(plan);
  if (option == nullptr) return std::vector<Formula>{};
  const Result<Cluster> cluster = cluster_of(*option, request, catalog);
  if (!cluster) return tl::unexpected(cluster.error());
  StepModel model = model_of(*option, *cluster, request, catalog);
  return formulas_of(*option, model);
}

ExitCode verdict(const Plan& plan, const PlanView& view) {
  const PlanOption* option = leading_option(plan);
  if (option == nullptr || !option->chosen) return ExitCode::kNo;
  const bool over = view.fail_over_usd && !(option->bill.total.usd <= *view.fail_over_usd);
  return over ? ExitCode::kNo : ExitCode::kYes;
}

Result<void> write(Context& context, const Plan& plan, const PlanView& view, const std::vector<Formula>& formulas,
                   Diagnostics warnings) {
  const bool explain = context.arguments.is_on("explain");
  Answer answer;
  answer.warnings = std::move(warnings);
  answer.document = [&] {
    Document document = plan_document(plan, view);
    if (explain) add_formulas(document, formulas);
    return document;
  };
  answer.table = [&] { return explain ? formulas_table(formulas) : options_table(plan, 0); };
  answer.svg = [&] {
    const PlanOption* const leading = leading_option(plan);
    return to_svg(leading == nullptr ? BarChart{} : waterfall_chart(*leading));
  };
  answer.json = [&] {
    Json json = to_json(plan);
    if (explain) json["explain"] = to_json(formulas);
    return json;
  };
  return write_answer(context, answer);
}

}  // namespace

Result<ExitCode> run_plan(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  const Result<PlanRequest> request = read_request(arguments, *catalog);
  if (!request) return tl::unexpected(request.error());

  Result<Plan> plan = [&] {
    const Progress progress("searching", context.console.err_terminal);
    return make_plan(*request, *catalog);
  }();
  if (!plan) return tl::unexpected(plan.error());

  std::vector<Formula> formulas;
  if (arguments.is_on("explain")) {
    Result<std::vector<Formula>> explained = explain_leading(*plan, *request, *catalog);
    if (!explained) return tl::unexpected(explained.error());
    formulas = std::move(*explained);
  }
  PlanView view;
  view.top = arguments.count("top").value_or(view.top);
  view.every_refusal = arguments.is_on("explain");
  view.fail_over_usd = arguments.quantity("fail-over");
  const PlanOption* leading = leading_option(*plan);
  if (leading != nullptr) {
    const Result<void> written = write_chart(arguments, [&] { return to_svg(waterfall_chart(*leading)); });
    if (!written) return tl::unexpected(written.error());
  }
  if (const Result<void> shown = write(context, *plan, view, formulas, warnings_of(*request)); !shown) {
    return tl::unexpected(shown.error());
  }
  return verdict(*plan, view);
}

}  // namespace tare
