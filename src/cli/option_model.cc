#include "cli/option_model.h"

namespace tare {
namespace {

constexpr std::string_view kDefaultStack = "generic";

}  // namespace

Result<Cluster> cluster_of(const PlanOption& option, const PlanRequest& request, const Catalog& catalog) {
  for (const Cluster& cluster : request.clusters) {
    if (cluster.name == option.offer.id || (cluster.offer && cluster.offer->id == option.offer.id)) return cluster;
  }
  return cluster_from_offer(catalog, option.offer, option.nodes, request.assume_fabric);
}

StepModel model_of(const PlanOption& option, const Cluster& cluster, const PlanRequest& request,
                   const Catalog& catalog) {
  const std::string_view stack_id = request.job.stack.empty() ? kDefaultStack : std::string_view(request.job.stack);
  const SoftwareStack* stack = find_stack(catalog, stack_id);
  Machine machine = make_machine(catalog, cluster);
  machine.gpus = option.gpus;
  return {make_workload(request.job, stack == nullptr ? SoftwareStack{} : *stack), machine};
}

}  // namespace tare
