// A placement as JSON (schema/place.schema.json).
#pragma once

#include "base/json_fwd.h"
#include "place/placement.h"

namespace tare {

// {fits, nodes[], ranks[], shards[], checkpoint_writers[], predicted, naive, bound, choices[], decision_s, …}
Json to_json(const JobPlacement& placement, const Cluster& cluster);
Json to_json(const CannotFit& why);

// One rank of each node that writes its part of a checkpoint: the first that lies there.
struct CheckpointWriter {
  int rank = 0;
  int node = 0;   // of the cluster
  int disk = -1;  // of its node; -1 = not known
};
std::vector<CheckpointWriter> checkpoint_writers(const JobPlacement& placement);

// The NIC of a node that a GPU's traffic takes, -1 when the node type names none: NICs are dealt out in the order of
// GPUs, one rail each where there are as many.
int nic_of(const NodeType& type, int gpu);

}  // namespace tare
