// tare compare: choices side by side.
#include <algorithm>

#include "base/formula_json.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/compare_view.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/option_model.h"
#include "cli/output.h"
#include "cost/uncertainty_json.h"
#include "plan/deliveries.h"
#include "plan/uncertain_options.h"

namespace tare {
namespace {

struct Comparison {
  std::vector<PlanOption> options;
  std::vector<std::vector<Formula>> formulas;  // of each option, with --explain
  Uncertainty uncertainty;
  std::vector<DeliveryRow> deliveries;  // of the first, with --deliveries
  std::vector<Tornado> tornados;        // of each option but the first, against the first; with draws
};

bool can_draw(const Comparison& comparison) {
  return std::all_of(comparison.options.begin(), comparison.options.end(),
                     [](const PlanOption& option) { return is_known(option.bill); });
}

Result<Comparison> evaluate(const std::vector<Choice>& choices, const PlanRequest& request, const Catalog& catalog,
                            bool explain) {
  Comparison comparison;
  Result<std::vector<PlanOption>> options = estimate_all(request, choices, catalog, &comparison.uncertainty);
  if (!options) return tl::unexpected(options.error());
  comparison.options = std::move(*options);
  if (request.draws > 0 && can_draw(comparison)) {
    const BillToDraw first = to_draw(comparison.options.front(), request.job);
    for (std::size_t i = 1; i < comparison.options.size(); ++i) {
      Result<Tornado> moved = tornado(first, to_draw(comparison.options[i], request.job), catalog);
      if (!moved) return tl::unexpected(moved.error());
      comparison.tornados.push_back(std::move(*moved));
    }
  }
  for (std::size_t i = 0; explain && i < choices.size(); ++i) {
    StepModel model = model_of(comparison.options[i], choices[i].cluster, request, catalog);
    comparison.formulas.push_back(formulas_of(comparison.options[i], model));
  }
  return comparison;
}

// One list for programs: the id of a formula stands after the option that it belongs to.
std::vector<Formula> all_formulas(const Comparison& comparison) {
  std::vector<Formula> all;
  for (std::size_t o = 0; o < comparison.formulas.size(); ++o) {
    for (Formula formula : comparison.formulas[o]) {
      formula.id = comparison.options[o].offer.id + ": " + formula.id;
      all.push_back(std::move(formula));
    }
  }
  return all;
}

}  // namespace

Result<ExitCode> run_compare(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  const Result<PlanRequest> request = read_request(arguments, *catalog);
  if (!request) return tl::unexpected(request.error());
  const Result<std::vector<Choice>> choices = read_choices(arguments, *request, *catalog);
  if (!choices) return tl::unexpected(choices.error());
  const bool explain = arguments.is_on("explain");
  Result<Comparison> comparison = evaluate(*choices, *request, *catalog, explain);
  if (!comparison) return tl::unexpected(comparison.error());
  if (arguments.is_on("deliveries")) {
    const Choice& first = choices->front();
    comparison->deliveries = deliveries_of(comparison->options.front(), *request, *catalog, first.cluster, first.gpus);
  }

  Answer answer;
  answer.warnings = warnings_of(*request, *choices);
  answer.document = [&] {
    Document document = compare_document(comparison->options, request->job);
    if (!comparison->deliveries.empty()) add_deliveries(document, comparison->deliveries);
    add_break_even(document, comparison->options);
    if (!comparison->tornados.empty()) {
      add_chances(document, comparison->options, comparison->uncertainty);
      add_tornados(document, comparison->options, comparison->tornados);
    }
    if (explain) add_formulas(document, all_formulas(*comparison));
    return document;
  };
  answer.table = [&] { return explain ? formulas_table(all_formulas(*comparison)) : compare_csv(comparison->options); };
  answer.json = [&] {
    Json json = compare_json(comparison->options, request->job);
    if (!comparison->deliveries.empty()) json["deliveries"] = deliveries_json(comparison->deliveries);
    if (!comparison->tornados.empty()) {
      json["uncertainty"] = to_json(comparison->uncertainty);
      for (const Tornado& moved : comparison->tornados) json["tornado"].push_back(to_json(moved));
    }
    if (explain) json["explain"] = to_json(all_formulas(*comparison));
    return json;
  };
  answer.svg = [&] { return compare_svg(comparison->options, comparison->tornados); };
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());
  return ExitCode::kYes;
}

}  // namespace tare
