// The Lingjun topology: hosts of a real three-tier Clos below pods and leaves of 2 to 8 hosts, read from the traces
// folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"
#include "place/cluster_state.h"

namespace tare {

inline std::string lingjun_file() {
  const char* const shared = std::getenv("TARE_SHARED");
  if (shared != nullptr) return std::string(shared) + "/traces/lingjun/topo.csv";
  return std::string(TARE_SOURCE_DIR) + "/../shared/traces/lingjun/topo.csv";
}

// nullopt when the file is not there.
inline std::optional<PlaceTopology> read_lingjun() {
  std::ifstream file(lingjun_file());
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  PlaceTopology topology;
  topology.levels = {{"DSW", {}}, {"PSW", {}}, {"ASW", {}}};
  std::map<std::string, int> numbers;
  while (std::getline(file, line)) {
    const auto fields = split(trim(line), ',');
    if (fields.size() != 4) continue;
    topology.gpus.push_back(8);
    for (std::size_t level = 0; level < 3; ++level) {
      const auto number = numbers.emplace(std::string(fields[level + 1]), static_cast<int>(numbers.size()));
      topology.levels[level].domain.push_back(number.first->second);
    }
  }
  return topology;
}

// Hosts taken one by one at random until `share` of them is.
template <typename Random>
ClusterState filled(const PlaceTopology& topology, double share, Random& random) {
  ClusterState state(topology);
  std::vector<int> nodes(topology.gpus.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<int>(i);
  std::shuffle(nodes.begin(), nodes.end(), random);
  for (std::size_t i = 0; i < static_cast<std::size_t>(share * double(nodes.size())); ++i) state.occupy(nodes[i], 8);
  return state;
}

}  // namespace tare
