// [node_type.NAME] of a cluster file: GPUs, NICs and disks of one kind of node, held against what the parts can do.
#pragma once

#include <string>

#include "base/toml_document.h"
#include "cluster/cluster.h"

namespace tare {

// The node type as far as it is sound; what is wrong is reported in the table's document.
ClusterNodeType read_node_type(TomlTable& table, const std::string& name, const Catalog& catalog);

// The most GPUs one link domain of this part can hold: 8 for an H100, 16 on the V100 and A100 baseboards that were
// joined in pairs, 72 in a rack of GB200, 1 without a link.
int largest_link_domain(const Accelerator& accelerator);

}  // namespace tare
