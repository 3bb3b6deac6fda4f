// What a cluster costs: price or owned in the [cluster] table of a cluster file.
#pragma once

#include "base/toml_document.h"
#include "cluster/cluster.h"

namespace tare {

// Reads `price` (a table or an offer id) or `owned` into cluster.offer and, when owned, the capital price and power
// into every node type. Neither = the price is unknown. Needs the node types and the delivery.
void read_price(TomlTable& table, const Catalog& catalog, Cluster& cluster);

}  // namespace tare
