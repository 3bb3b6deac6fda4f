#include "cost/held_hours.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

constexpr double kMonth_s = 730.0 * 3600;

struct BillingPeriod {
  double seconds = 0;
  bool assumed = false;
};

// A seller who does not say is taken to bill by the hour.
BillingPeriod billing_period(const Offer& offer) {
  if (offer.billing_period == "second") return {1, false};
  if (offer.billing_period == "minute") return {60, false};
  if (offer.billing_period == "hour") return {3600, false};
  if (offer.billing_period == "day") return {86400, false};
  if (offer.billing_period == "week") return {7 * 86400, false};
  if (offer.billing_period == "month") return {kMonth_s, false};
  return {3600, true};
}

}  // namespace

bool pays_for_idle(Purchase purchase) { return purchase == Purchase::kReserved || purchase == Purchase::kOwned; }

RangedInput wall_input(const Run& run) {
  RangedInput wall = fixed_input("wall_s", run.wall_s, "s", "run.wall_s");
  wall.cause = "run.wall_s";
  wall.low = run.wall_low_s;
  wall.high = run.wall_high_s;
  wall.open_above = run.wall_low_s.has_value() && !run.wall_high_s.has_value();
  return wall;
}

HeldHours held_hours(const BillInput& input, const Catalog& catalog) {
  HeldHours held;
  held.inputs.push_back(wall_input(input.run));
  if (pays_for_idle(input.offer->purchase)) {
    const CostParameter& utilisation = parameter(catalog, "alloc_ratio");
    held.gpu_hours = input.gpus * (input.run.wall_s / 3600 / utilisation.base);
    held.hours_expression = "wall_s / 3600 / alloc_ratio";
    held.inputs.push_back(parameter_range("alloc_ratio", utilisation));
    return held;
  }
  const BillingPeriod period = billing_period(*input.offer);
  const double minimum_s = input.offer->billing_minimum_s.value_or(0);
  const double billed_s = std::max(minimum_s, std::ceil(input.run.wall_s / period.seconds) * period.seconds);
  held.gpu_hours = input.gpus * (billed_s / 3600);
  held.hours_expression = "max(billing_minimum_s, ceil(wall_s / billing_period_s) * billing_period_s) / 3600";
  held.inputs.push_back(fixed_input("billing_period_s", period.seconds, "s",
                                    period.assumed ? "not stated: by the hour" : "offer " + input.offer->id,
                                    period.assumed));
  held.inputs.push_back(fixed_input("billing_minimum_s", minimum_s, "s", "offer " + input.offer->id));
  return held;
}

Formula billed_gpu_hours_formula(const BillInput& input, const HeldHours& held) {
  Formula formula;
  formula.id = "bill.billed_gpu_hours";
  formula.value = held.gpu_hours;
  formula.unit = "GPU-h";
  formula.expression = "gpus * (" + held.hours_expression + ")";
  for (const RangedInput& ranged : held.inputs) formula.inputs.push_back(formula_input(ranged));
  formula.inputs.push_back({"gpus", static_cast<double>(input.gpus), "GPU", "cluster"});
  return formula;
}

}  // namespace tare
