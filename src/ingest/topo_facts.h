// The facts of one topology: which devices there are, what joins them, and which CPUs and NICs are near each GPU.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingest/device_matrix.h"
#include "ingest/fact.h"
#include "ingest/format.h"

namespace tare {

struct TopoLegend {
  std::string name;     // "SYS", "NIC0"
  std::string meaning;  // "Connection traversing …", "mlx5_0"
  std::int64_t line = 0;
};

// What one run of a tool printed: one matrix, or several titled ones (ROCm: weights, hops, link types).
struct TopoBlock {
  std::int64_t line = 0;
  std::string source;   // the prefix that its lines carry: "node01"
  std::string command;  // "nvidia-smi topo -m"; empty when it is not there
  std::vector<DeviceMatrix> matrices;
  std::vector<TopoLegend> classes, devices;
  std::vector<TopoLegend> numa;  // "GPU0" -> "1", of ROCm
};

// Adds to `facts`. What cannot be used is said in `reading`.
void add_topo_facts(const TopoBlock& block, FactRecord& facts, Reading& reading);

// Whether it shows paths (topo -m), not abilities (topo -p2p).
bool shows_paths(const TopoBlock& block);

}  // namespace tare
