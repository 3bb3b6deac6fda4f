// An option's node under the usual deliveries: bare metal, container, VM, container in a VM.
#pragma once

#include <vector>

#include "cost/delivery_compare.h"
#include "plan/plan.h"

namespace tare {

// Same hardware, job, split and price in every row, billed by the second so that whole hours do not hide a difference;
// see cost/delivery_compare.h. `option` is one that estimate() made on the cluster with `gpus` GPUs. Empty when the
// cluster has no nodes for it.
std::vector<DeliveryRow> deliveries_of(const PlanOption& option, const PlanRequest& request, const Catalog& catalog,
                                       const Cluster& cluster, int gpus);

}  // namespace tare
