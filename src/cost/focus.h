// A bill as rows under the names of FOCUS, the FinOps Open Cost and Usage Specification (focus.finops.org,
// version 1.0).
//
// One row for each line of the ledger. The charge period is the run from its start; the billing period is the calendar
// months that it touches, taken as one, since a prediction has no invoices. BilledCost = EffectiveCost = ContractedCost
// = ListCost: what a line costs, no discount known. What FOCUS has no column for stands in columns named x_Tare….
// Times are UTC. Pure functions.
#pragma once

#include <vector>

#include "cost/bill.h"
#include "report/table.h"

namespace tare {

struct FocusBill {
  const Bill* bill = nullptr;    // never null
  const Offer* offer = nullptr;  // never null
  double wall_s = 0;
  Date start;  // the run begins at 00:00:00 of it
};

// Bills whose total is not known give no rows.
Table focus_table(const std::vector<FocusBill>& bills);

}  // namespace tare
