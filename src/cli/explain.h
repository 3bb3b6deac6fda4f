// --explain: formula, inputs and sources of the numbers of one choice.
#pragma once

#include <vector>

#include "base/formula.h"
#include "plan/plan.h"
#include "report/document.h"
#include "report/table.h"

namespace tare {

// Of the step and its memory, the run, and each line of the bill.
std::vector<Formula> formulas_of(const PlanOption& option, StepModel& model);

void add_formulas(Document& document, const std::vector<Formula>& formulas);

// One row per input, for CSV.
Table formulas_table(const std::vector<Formula>& formulas);

}  // namespace tare
