// The rating of a node: as its source states it, or from its accelerators when none does.
#pragma once

#include <optional>

#include "base/formula.h"
#include "catalog/catalog.h"

namespace tare {

struct NodePower {
  double w = 0;
  FormulaInput input;  // as node_power_w of a formula; marked when assumed
};

// node_power_w, or GPUs · TDP · server_power_per_tdp (DGX A100: 6.5 kW ÷ 8·400 W; DGX H100: 10.2 kW ÷ 8·700 W).
// nullopt when the accelerator's TDP is not known either.
std::optional<NodePower> node_power(const NodeType& node_type, const Catalog& catalog);

}  // namespace tare
