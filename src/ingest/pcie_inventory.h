// nvidia-smi --query-gpu asked for PCIe links and what does not change with the load: an inventory, read as such a CSV
// is anywhere.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_pcie_inventory(const Head& head);

}  // namespace tare
