// nvidia-smi --query-gpu asked for nothing but names and PCIe links: an inventory, read as such a CSV is anywhere.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_pcie_inventory(const Head& head);

}  // namespace tare
