// Random small clusters and a cluster of the size of the bars, for tests and the benchmark's checks.
#pragma once

#include <random>

#include "place/cluster_state.h"

namespace tare {

inline int pick(std::mt19937& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

// Up to `nodes` nodes below 0 to 3 levels, irregular; some nodes of fewer GPUs.
inline PlaceTopology random_topology(std::mt19937& random, int nodes) {
  PlaceTopology topology;
  const int most_gpus = pick(random, 1, 8), levels = pick(random, 0, 3);
  for (int i = 0; i < nodes; ++i)
    topology.gpus.push_back(pick(random, 0, 9) == 0 ? pick(random, 0, most_gpus) : most_gpus);
  for (int level = 0; level < levels; ++level) {
    PlaceLevel made{"level" + std::to_string(level + 1), {}};
    const int kinds = pick(random, 1, 4);
    for (int i = 0; i < nodes; ++i) made.domain.push_back(pick(random, 0, kinds - 1));
    topology.levels.push_back(std::move(made));
  }
  return topology;
}

inline void make_busy(ClusterState& state, std::mt19937& random) {
  const int style = pick(random, 0, 2);
  for (int node = 0; node < state.nodes(); ++node) {
    const int gpus = state.gpus(node);
    state.occupy(node, style == 0 ? pick(random, 0, gpus) : style == 1 ? (pick(random, 0, 1) ? gpus : 0) : 0);
    const int use = pick(random, 0, 11);
    if (use == 0) state.set_use(node, NodeUse::kForbidden);
    if (use == 1) state.set_use(node, NodeUse::kUnhealthy);
    if (pick(random, 0, 7) == 0) state.set_preferred(node, true);
  }
}

}  // namespace tare
