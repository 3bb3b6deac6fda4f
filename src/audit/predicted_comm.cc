#include "audit/predicted_comm.h"

#include <algorithm>

namespace tare {
namespace {

constexpr double kSlower = 2;  // links at half their rate: a lane, a plane or a NIC of two is gone

double share_of(const StepModel& model, const Machine& degraded, const Parallelism& parallelism, double step_s) {
  StepModel slower(model.workload(), degraded, {}, model.constants());
  const double slower_s = slower.step_time_s(parallelism);
  return std::clamp((slower_s - step_s) / ((kSlower - 1) * step_s), 0.0, 1.0);
}

}  // namespace

CommShares comm_shares(const StepModel& model, const Parallelism& parallelism) {
  StepModel as_is(model.workload(), model.machine(), {}, model.constants());
  const double step_s = as_is.step_time_s(parallelism);
  if (!(step_s > 0)) return {};
  Machine within = model.machine(), between = model.machine();
  within.in_domain.bytes_per_s /= kSlower;
  within.in_node.bytes_per_s /= kSlower;
  between.between_nodes.bytes_per_s /= kSlower;
  return {share_of(model, within, parallelism, step_s), share_of(model, between, parallelism, step_s)};
}

}  // namespace tare
