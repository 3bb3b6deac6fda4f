#include "cli/option_model.h"

#include "plan/uncertain_options.h"

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

Result<std::vector<PlanOption>> estimate_all(const PlanRequest& request, const std::vector<Choice>& choices,
                                             const Catalog& catalog, Uncertainty* uncertainty) {
  std::vector<PlanOption> options;
  Diagnostics errors;
  for (const Choice& choice : choices) {
    Result<PlanOption> option = estimate(request, catalog, choice.cluster, choice.gpus);
    if (option) {
      options.push_back(std::move(*option));
      continue;
    }
    for (Diagnostic error : option.error()) {
      if (error.file.empty()) error.file = choice.name;  // which of the choices it is about
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) return tl::unexpected(errors);
  Result<Uncertainty> drawn = draw_options(options, request, catalog);
  if (!drawn) return tl::unexpected(drawn.error());
  if (uncertainty != nullptr) *uncertainty = std::move(*drawn);
  return options;
}

}  // namespace tare
