// How each number of a run was come by.
#pragma once

#include <vector>

#include "run/timeline.h"

namespace tare {

// In the order in which the numbers follow from each other: an input named like an earlier formula is its value.
std::vector<Formula> run_formulas(const RunInput& input, const LoadedRates& rates, const Timeline& timeline,
                                  const Run& run);

// IT energy of all nodes:
//   nodes · node_power_w · (busy_fraction · (productive + rework) + idle_fraction · the rest of the wall time)
// with busy_fraction = low + (high − low) · kernel-busy share over the range of server_tdp_fraction: power follows what
// share of the time a kernel runs, never MFU. Work done again draws as work does. The rating is taken at the power
// supplies' inlet, so their loss is inside. Needs a run that finishes and a known node power.
Formula it_energy_formula(const RunInput& input, const Catalog& catalog, const Timeline& timeline, const Run& run);

}  // namespace tare
