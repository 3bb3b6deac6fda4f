// The lines of a ledger. Two sets that exclude each other, and the lines that a job bears either way.
#pragma once

#include <string>
#include <vector>

#include "cost/held_hours.h"

namespace tare {

struct Lines {
  std::vector<LineDraft> drafts;
  std::vector<std::string> unknown;  // a line left out since an input is not known: what and why
  bool priced = true;                // false: the price itself is not known, there is no bill
};

// rent, storage, egress, operations. Preconditions: the run finishes, the offer is not owned.
Lines rented_lines(const BillInput& input, const HeldHours& held, const Catalog& catalog);

// capital, power, space, spares, storage, operations. Preconditions: the run finishes, the offer is owned.
Lines owned_lines(const BillInput& input, const HeldHours& held, const Catalog& catalog);

}  // namespace tare
