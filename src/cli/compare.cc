// tare compare: choices side by side.
#include "base/formula_json.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/compare_view.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/option_model.h"
#include "cli/output.h"

namespace tare {
namespace {

struct Comparison {
  std::vector<PlanOption> options;
  std::vector<std::vector<Formula>> formulas;  // of each option, with --explain
};

Result<Comparison> evaluate(const std::vector<Choice>& choices, const PlanRequest& request, const Catalog& catalog,
                            bool explain) {
  Comparison comparison;
  Diagnostics errors;
  for (const Choice& choice : choices) {
    Result<PlanOption> option = estimate(request, catalog, choice.cluster, choice.gpus);
    if (!option) {
      for (Diagnostic error : option.error()) {
        if (error.file.empty()) error.file = choice.name;  // which of the choices it is about
        errors.push_back(std::move(error));
      }
      continue;
    }
    if (explain) {
      StepModel model = model_of(*option, choice.cluster, request, catalog);
      comparison.formulas.push_back(formulas_of(*option, model));
    }
    comparison.options.push_back(std::move(*option));
  }
  if (!errors.empty()) return tl::unexpected(errors);
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
  const Result<Comparison> comparison = evaluate(*choices, *request, *catalog, explain);
  if (!comparison) return tl::unexpected(comparison.error());

  Answer answer;
  answer.warnings = warnings_of(*request, *choices);
  answer.document = [&] {
    Document document = compare_document(comparison->options, request->job);
    if (explain) add_formulas(document, all_formulas(*comparison));
    return document;
  };
  answer.table = [&] { return explain ? formulas_table(all_formulas(*comparison)) : compare_csv(comparison->options); };
  answer.json = [&] {
    Json json = compare_json(comparison->options, request->job);
    if (explain) json["explain"] = to_json(all_formulas(*comparison));
    return json;
  };
  write_answer(context, answer);
  return ExitCode::kYes;
}

}  // namespace tare
