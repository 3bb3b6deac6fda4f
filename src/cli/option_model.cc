#include "cli/option_model.h"

#include <algorithm>
#include <utility>

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
  const Job& job = request.job;
  Workload workload = make_workload(job, stack == nullptr ? catalog.stacks.back() : *stack);
  if (job.data.bytes && job.tokens > 0)
    workload.data_bytes_per_step = *job.data.bytes * tokens_per_step(job) / job.tokens;
  Machine machine = make_machine(catalog, cluster);
  machine.gpus = option.gpus;
  machine.gpus_per_node = std::min(machine.gpus_per_node, option.gpus);
  return {std::move(workload), machine};
}

}  // namespace tare
