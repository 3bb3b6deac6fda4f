// What is left of a node's value at the end of its life, as a share of its price: four scenarios, none of them certain.
//
//   progress  10^(−decay · life)       the market follows the hardware's progress: Epoch's 0.14 decades a year, 0.724
//   decline   (1 − decline)^life       24 to 28 % of the value a year
//   table     r36^(life ÷ 3)           an article's table after 36 months: A100 28 %, H100 41 %, L40S 53 %
//   resale    r36^(life ÷ 3)           what dealers ask after 36 months: 25, 30, 35 %; the fastest
// The two by model know Ampere, Hopper and Ada; another generation takes Hopper's, marked as assumed.
// Sources: Epoch training-cost-trends; the parameters' own rows. Thread safety: reads only.
#pragma once

#include <string>
#include <vector>

#include "cost/bill.h"
#include "cost/line_draft.h"

namespace tare {

struct Residual {
  std::string expression;  // uses life_years
  std::vector<RangedInput> inputs;
};

// By offer->ownership.residual; an unknown word is "progress".
Residual residual_of(const BillInput& input, const Catalog& catalog);

const std::vector<std::string>& residual_parameter_ids();

}  // namespace tare
