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

// rent, storage, egress, operations, compliance. Preconditions: the run finishes, the offer is not owned.
Lines rented_lines(const BillInput& input, const HeldHours& held, const Catalog& catalog);

// capital, power, space or colocation, spares, parts, support, storage, operations, compliance. Preconditions: the run
// finishes, the offer is owned.
Lines owned_lines(const BillInput& input, const HeldHours& held, const Catalog& catalog);

// What a job bears either way: its logs and, when it asks for certifications, its share of the audits.
LineDraft compliance_line(const BillInput& input, const HeldHours& held, const Catalog& catalog);

}  // namespace tare
