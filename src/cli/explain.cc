#include "cli/explain.h"

namespace tare {
namespace {

Column column(std::string id) { return {std::move(id), ""}; }

}  // namespace

std::vector<Formula> formulas_of(const PlanOption& option, StepModel& model) {
  std::vector<Formula> formulas = model.explain(option.parallelism);
  if (option.data) formulas.insert(formulas.end(), option.data->formulas.begin(), option.data->formulas.end());
  formulas.insert(formulas.end(), option.run.formulas.begin(), option.run.formulas.end());
  const auto add = [&formulas](const Formula& formula) {
    if (!formula.expression.empty()) formulas.push_back(formula);
  };
  for (const BillLine& line : option.bill.lines) add(line.formula);
  for (const WaterfallBar& bar : option.bill.waterfall) add(bar.formula);
  for (const Formula& formula : option.bill.formulas) add(formula);
  add(option.effective_price);
  return formulas;
}

void add_formulas(Document& document, const std::vector<Formula>& formulas) {
  document.heading("Explained");
  std::string text;
  for (const Formula& formula : formulas) text += render(formula);
  document.verbatim(text);
}

Table formulas_table(const std::vector<Formula>& formulas) {
  Table table;
  for (const char* id :
       {"id", "value", "unit", "expression", "input", "input_value", "input_unit", "source", "assumed", "note"}) {
    table.columns.push_back(column(id));
  }
  for (const Formula& formula : formulas) {
    const std::vector<Cell> head = {formula.id, number_cell("", formula.value), formula.unit, formula.expression};
    const auto add = [&](std::vector<Cell> input) {
      Row row;
      row.cells = head;
      row.cells.insert(row.cells.end(), input.begin(), input.end());
      row.cells.push_back(formula.note);
      table.rows.push_back(std::move(row));
    };
    if (formula.inputs.empty()) add({"", "", "", "", ""});
    for (const FormulaInput& input : formula.inputs) {
      add({input.name, number_cell("", input.value), input.unit, input.source, input.assumed ? "true" : "false"});
    }
  }
  return table;
}

}  // namespace tare
