#include "cli/option_model.h"

#include "plan/candidate.h"

namespace tare {

Result<Cluster> cluster_of(const PlanOption& option, const PlanRequest& request, const Catalog& catalog) {
  for (const Cluster& cluster : request.clusters) {
    if (cluster.name == option.offer.id || (cluster.offer && cluster.offer->id == option.offer.id)) return cluster;
  }
  return cluster_from_offer(catalog, option.offer, option.nodes, request.assume_fabric);
}

StepModel model_of(const PlanOption& option, const Cluster& cluster, const PlanRequest& request,
                   const Catalog& catalog) {
  return step_model(request.job, catalog, *uniform_nodes(cluster, option.gpus), option.gpus);
}

}  // namespace tare
