// Any bytes as a cluster file: a cluster whose indices are all in range, or errors that can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catalog/catalog.h"
#include "cluster/cluster.h"

namespace {

void check_index(int index, std::size_t count) {
  if (index < 0 || static_cast<std::size_t>(index) >= count) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tare::Catalog catalog = tare::load_catalog().value();
  const auto cluster =
      tare::parse_cluster(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml", catalog);
  if (!cluster) {
    if (!tare::has_error(cluster.error()) || tare::render(cluster.error()).empty()) std::abort();
    return 0;
  }
  if (cluster->nodes.empty()) std::abort();
  for (const tare::ClusterNode& node : cluster->nodes) {
    check_index(node.type, cluster->node_types.size());
    if (node.nvlink_domain != -1) check_index(node.nvlink_domain, cluster->nvlink_domains.size());
  }
  for (const tare::Leaf& leaf : cluster->leaves) {
    for (const int node : leaf.nodes) check_index(node, cluster->nodes.size());
  }
  for (const auto& domain : cluster->nvlink_domains) {
    for (const int node : domain) check_index(node, cluster->nodes.size());
  }
  for (const tare::ClusterNodeType& type : cluster->node_types) {
    if (type.type.gpus <= 0) std::abort();
  }
  return 0;
}
