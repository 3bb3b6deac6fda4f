#include "plan/plan_json.h"

#include <cmath>

#include "base/json.h"
#include "cost/bill_json.h"
#include "cost/uncertainty_json.h"
#include "perf/step_json.h"
#include "perf/storage_json.h"
#include "run/run_json.h"
#include "workload/checkpoint_text.h"
#include "workload/job_json.h"

namespace tare {
namespace {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json delivery_json(const Delivery& delivery) {
  return {{"host", delivery.host},
          {"packaging", delivery.packaging},
          {"gpu_share", delivery.gpu_share},
          {"tenancy", delivery.tenancy}};
}

Json searched_json(const Plan& plan) {
  Json infeasible = Json::object();
  for (const auto& [reason, count] : plan.infeasible) infeasible[reason] = count;
  return {{"configurations", plan.configurations},
          {"pruned", plan.pruned},
          {"infeasible", std::move(infeasible)},
          {"stale_prices", plan.stale_prices},
          {"elapsed_s", plan.elapsed_s}};
}

}  // namespace

Json to_json(const PlanOption& option) {
  const Step& step = option.step;
  Json json = {{"rank", option.rank},
               {"chosen", option.chosen},
               {"offer", option.offer.id},
               {"provider", option.offer.provider},
               {"delivery", delivery_json(option.offer.delivery)},
               {"purchase", name_of(option.offer.purchase)}};
  // An unknown price is null: zero would be an answer.
  json["price_usd_per_gpu_h"] =
      option.price_usd_per_gpu_h > 0 ? finite_or_null(option.price_usd_per_gpu_h) : Json(nullptr);
  json["price_date"] = option.price_date;
  json["price_stale"] = option.stale;
  json["fabric_assumed"] = option.fabric_assumed;
  json["gpu"] = option.gpu;
  json["gpus"] = option.gpus;
  json["nodes"] = option.nodes;
  json["parallelism"] = to_json(option.parallelism);
  json["step"] = to_json(step);
  if (option.data) json["data"] = to_json(*option.data);
  json["memory"] = to_json(step.memory, option.capacity_bytes);
  json["mfu_ratio"] = step.mfu_ratio;
  json["hfu_ratio"] = step.hfu_ratio;
  json["peak_dtype"] = name_of(step.peak_precision);
  json["tokens_per_s"] = step.tokens_per_s;
  json["tokens_per_s_per_gpu"] = step.tokens_per_s_per_gpu;
  json["wall_s"] = finite_or_null(option.run.wall_s);
  json["gpu_hours"] = finite_or_null(option.run.gpu_hours);
  json["meets_deadline"] = option.meets_deadline;
  json["meets_budget"] = option.meets_budget;
  json["checkpoint_every"] = to_text(option.checkpoint);
  json["power_cap_ratio"] = option.power_cap_ratio;
  if (!option.effective_price.expression.empty()) {
    json["effective_usd_per_pflops_h"] = finite_or_null(option.effective_price.value);
  }
  if (option.uncertainty) json["uncertainty"] = to_json(*option.uncertainty);
  json["run"] = to_json(option.run);
  json["bill"] = to_json(option.bill);
  json["assumed"] = option.assumed;
  return json;
}

Json to_json(const Refusal& refusal) {
  return {{"offer", refusal.offer},   {"gpus", refusal.gpus}, {"reason", refusal.reason},
          {"needed", refusal.needed}, {"had", refusal.had},   {"nearest", refusal.nearest}};
}

Json to_json(const Plan& plan) {
  Json options = Json::array();
  for (const PlanOption& option : plan.options) options.push_back(to_json(option));
  Json refused = Json::array();
  for (const Refusal& refusal : plan.refused) refused.push_back(to_json(refusal));
  Json json = {{"format_version", "1.0"},
               {"job", to_json(plan.job)},
               {"searched", searched_json(plan)},
               {"options", std::move(options)},
               {"refused", std::move(refused)}};
  if (!plan.closest.empty()) json["closest"] = plan.closest;
  return json;
}

}  // namespace tare
