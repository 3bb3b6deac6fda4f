// A small plan with round numbers, made by hand: what the views are tested on, whatever the model says.
#pragma once

#include "plan/plan.h"

namespace tare::test {

inline Amount amount_of(double usd) {
  Amount amount;
  amount.usd = usd;
  return amount;
}

inline Bill fake_bill(double rent_usd, double storage_usd) {
  Bill bill;
  bill.total = {rent_usd + storage_usd, (rent_usd + storage_usd) / 2, (rent_usd + storage_usd) * 2};
  bill.usd_per_million_tokens = bill.total.usd / 20000;  // of 20 B tokens
  bill.billed_gpu_hours = 1000;
  Formula rent;
  rent.id = "bill.rent";
  rent.value = rent_usd;
  rent.unit = "USD";
  rent.expression = "price_usd_per_gpu_h * billed_gpu_hours";
  rent.inputs = {{"price_usd_per_gpu_h", rent_usd / 1000, "USD/GPU-h", "offer", false},
                 {"billed_gpu_hours", 1000, "GPU-h", "run", true}};
  bill.lines = {{"rent", amount_of(rent_usd), true, rent}, {"storage", amount_of(storage_usd), false, {}}};
  bill.waterfall = {{"startup", 100, amount_of(rent_usd * 0.1), {}},
                    {"kernel", 400, amount_of(rent_usd * 0.4), {}},
                    {"useful", 500, amount_of(rent_usd * 0.5), {}},
                    {"storage", 0, amount_of(storage_usd), {}}};
  return bill;
}

inline PlanOption fake_option(int rank, const std::string& id, double rent_usd, double wall_h) {
  PlanOption option;
  option.rank = rank;
  option.offer.id = id;
  option.offer.provider = id.substr(0, id.find('/'));
  option.offer.purchase = Purchase::kOnDemand;
  option.offer.delivery = {"vm", "none", "whole", "dedicated"};
  option.node_type.gpus = 8;
  option.gpu = "H100-SXM5-80GB";
  option.gpus = 64;
  option.nodes = 8;
  option.parallelism.tp = 2;
  option.parallelism.dp = 32;
  option.step.step_time_s = 5;
  option.step.parts.compute_s = 4;
  option.step.parts.dp_exposed_s = 1;
  option.step.tokens_per_s = 400000;
  option.step.tokens_per_s_per_gpu = 6250;
  option.step.peak_flops = 989e12;
  option.step.mfu_ratio = 0.5;
  option.step.hfu_ratio = 0.5;
  option.step.memory.weights_bytes = 32.0 * (1 << 30);
  option.step.memory.activations_bytes = 32.0 * (1 << 30);
  option.step.memory.total_bytes = 64.0 * (1 << 30);
  option.capacity_bytes = 80.0 * (1 << 30);
  option.run.steps = 10000;
  option.run.productive_s = wall_h * 3600 - 600;
  option.run.startup_s = 600;
  option.run.wall_s = wall_h * 3600;
  option.run.gpu_hours = wall_h * 64;
  option.run.goodput_ratio = 0.95;
  option.run.mtti_s = 1e6;
  option.price_usd_per_gpu_h = rent_usd / 1000;
  option.price_date = "2026-11-01";
  option.bill = fake_bill(rent_usd, 10);
  return option;
}

inline Job fake_job() {
  Job job;
  job.name = "fake";
  job.model.id = "llama-2-13b";
  job.tokens = 20e9;
  job.sequence_length = 4096;
  job.global_batch = 512;
  job.deadline_s = 72 * 3600;
  job.budget_usd = 60000;
  return job;
}

// Three options (the cheapest too late, the second chosen with a stale price, the third with an assumed fabric) and
// three refusals for two reasons.
inline Plan fake_plan() {
  Plan plan;
  plan.job = fake_job();
  plan.configurations = 12345;
  plan.pruned = 2345;
  plan.infeasible = {{"memory", 300}};
  plan.elapsed_s = 0.25;
  plan.stale_prices = 1;
  plan.options = {fake_option(1, "cheap/a/*/spot", 1000, 100), fake_option(2, "good/b/*/on_demand", 2000, 50),
                  fake_option(3, "dear/c/*/on_demand", 3000, 40)};
  plan.options[0].meets_deadline = false;
  plan.options[1].chosen = true;
  plan.options[1].stale = true;
  plan.options[1].assumed = {"stack = generic (none stated)"};
  plan.options[2].fabric_assumed = true;
  plan.refused = {{"x/one/*/on_demand", 64, "memory", "90 GiB", "80 GiB", "fits on 128 GPUs"},
                  {"y/two/*/on_demand", 64, "no_known_fabric", "bandwidth", "unknown", "--assume-fabric 400Gb/s"},
                  {"z/three/*/on_demand", 64, "no_known_fabric", "bandwidth", "unknown", "--assume-fabric 400Gb/s"}};
  return plan;
}

// None meets the deadline.
inline Plan fake_plan_without_choice() {
  Plan plan = fake_plan();
  for (PlanOption& option : plan.options) {
    option.chosen = false;
    option.meets_deadline = false;
  }
  plan.closest = "dear/c/*/on_demand on 64 GPUs: 80 h of 72 h";
  return plan;
}

}  // namespace tare::test
