#include "run/node_power.h"

namespace tare {

std::optional<NodePower> node_power(const NodeType& node_type, const Catalog& catalog) {
  if (node_type.node_power_w) {
    return NodePower{*node_type.node_power_w,
                     {"node_power_w", *node_type.node_power_w, "W", "node type " + node_type.id, false}};
  }
  const Accelerator* const accelerator = find_accelerator(catalog, node_type.gpu);
  if (accelerator == nullptr || !accelerator->tdp_w) return std::nullopt;
  const double w = node_type.gpus * *accelerator->tdp_w * parameter(catalog, "server_power_per_tdp").base;
  return NodePower{
      w, {"node_power_w", w, "W", "GPUs x TDP of " + accelerator->id + " x parameter server_power_per_tdp", true}};
}

}  // namespace tare
