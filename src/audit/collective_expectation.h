// The bus bandwidth that a benchmark should reach on its GPUs and network, by the step model's collective times.
//
// Within a node: the catalog's NVLink or xGMI rate of the GPU (a mesh gives a smaller group its share of the links
// only), else PCIe. Between nodes: the NICs that a listing or NCCL log of the same node shows; else those of --on; else
// what nodes of that GPU have in the catalog, which bounds what can be said. nullopt where neither is known. Thread
// safety: pure functions.
#pragma once

#include <optional>
#include <string>

#include "audit/collective_run_seen.h"

namespace tare {

struct BusExpectation {
  double busbw_gb_per_s = 0;      // at the run's largest sizes
  double line_rate_gb_per_s = 0;  // of the slowest link, per rank
  std::string source;             // "NVLink4 of H100-SXM5-80GB, 450 GB/s a GPU"
  double confidence = 1;
  bool sure = true;  // false: how GPUs or nodes are joined is a guess
  bool between_nodes = false;
};

std::optional<BusExpectation> expected_busbw(const Observed& observed, const BenchRun& run, double bytes);

// The network of a node in bytes/s and direction, by the files of the same node; the source as text.
struct NodeNetwork {
  double bytes_per_s = 0;
  std::string source;
};
std::optional<NodeNetwork> network_beside(const Observed& observed, const Seen& seen);

}  // namespace tare
