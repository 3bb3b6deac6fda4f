// How a plan is shown: the ranked options, the chosen one's bill, what was refused.
#pragma once

#include "plan/plan.h"
#include "report/document.h"
#include "report/table.h"

namespace tare {

struct PlanView {
  int top = 10;                         // options shown; 0 = all
  bool every_refusal = false;           // one by one under the groups
  std::optional<double> fail_over_usd;  // the gate, shown when the chosen option is over it
};

// The ranked options; `top` 0 = all. CSV has every number in base units, people the ones they compare by.
Table options_table(const Plan& plan, int top);

// Refusals grouped by reason, the commonest first.
Table refusal_groups_table(const Plan& plan);
Table refusals_table(const Plan& plan);

Document plan_document(const Plan& plan, const PlanView& view);

// The chosen option, else the first, else nullptr.
const PlanOption* leading_option(const Plan& plan);

// "20B tokens through llama-2-13b …": what was asked.
std::string describe(const Job& job);

}  // namespace tare
