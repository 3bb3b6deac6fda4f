// The model architecture that a published row names or spells out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "ingest/throughput_rows.h"

namespace tare {

// The row's own dimensions; the catalog's entry of the same name lends what rows have no column for (MLA, shared
// experts, windows) where both describe one model. nullopt when they do not make a model that can be computed.
// `assumed` gains a line for each dimension that neither states.
std::optional<ModelArchitecture> architecture_of(const ThroughputRow& row, const Catalog& catalog,
                                                 std::vector<std::string>& assumed);

}  // namespace tare
