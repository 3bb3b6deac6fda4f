// How one choice is shown in full.
#pragma once

#include "plan/plan.h"
#include "report/document.h"
#include "report/table.h"

namespace tare {

Document estimate_document(const PlanOption& option, const Job& job);

// section,id,value,unit: every number of the choice, one a row.
Table estimate_table(const PlanOption& option);

}  // namespace tare
