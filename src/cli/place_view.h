// How a placement is shown, and what is printed for launchers.
#pragma once

#include <string>

#include "place/placement.h"
#include "report/document.h"
#include "report/table.h"

namespace tare {

Document place_document(const JobPlacement& placement, const Job& job, const Cluster& cluster);
Document cannot_fit_document(const CannotFit& why, const Job& job, const Cluster& cluster, int gpus);

// rank,node,gpu,nic,tp,pp,dp,cp,ep: one row for each rank.
Table ranks_table(const JobPlacement& placement, const Cluster& cluster);

// What holds the GPUs: reason, nodes, units.
Table reasons_table(const CannotFit& why);

// For --emit: "hostfile", "rankfile" or "env".
std::string emitted(const std::string& what, const JobPlacement& placement, const Cluster& cluster);

// The leaves with their nodes; those of the job in the colour of their first pipeline stage. `placement` may be null.
std::string place_svg(const JobPlacement* placement, const Cluster& cluster, const PlaceRequest& request);

}  // namespace tare
