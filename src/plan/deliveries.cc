#include "plan/deliveries.h"

#include <algorithm>

#include "plan/candidate.h"

namespace tare {

std::vector<DeliveryRow> deliveries_of(const PlanOption& option, const PlanRequest& request, const Catalog& catalog,
                                       const Cluster& cluster, int gpus) {
  std::optional<Cluster> nodes = uniform_nodes(cluster, gpus);
  if (!nodes) return {};
  const Candidate candidate{option.offer, option.node_type, std::move(*nodes), gpus};
  const StepModel model = step_model(request.job, catalog, candidate.cluster, gpus);
  DeliveryCompareInput input;
  input.workload = &model.workload();
  input.machine = bare_machine(catalog, candidate.cluster);
  input.machine.gpus = gpus;
  input.machine.gpus_per_node = std::min(input.machine.gpus_per_node, gpus);
  input.machine.storage_bytes_per_s = model.machine().storage_bytes_per_s;
  input.parallelism = option.parallelism;
  const Choices how{option.checkpoint, {}, 1};
  input.run = run_input(request, catalog, candidate, model.workload(), model.machine(), option.step, how);
  if (option.data) input.run.data_local_ratio = option.data->local_ratio;
  input.bill = bill_input(option, candidate, request.job);
  // By the second: whole billing periods would hide a difference, or blow it up to an hour.
  Offer by_the_second = option.offer;
  by_the_second.billing_period = "second";
  by_the_second.billing_minimum_s.reset();
  input.bill.offer = &by_the_second;
  return compare_deliveries(input, usual_deliveries(), catalog);
}

}  // namespace tare
