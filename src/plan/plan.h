// Which offers can run the job, each at its best parallelism, ranked; what was refused and why.
//
// Exact over the stated space: bounds prune, nothing is sampled. Deterministic: the same inputs give the same bytes,
// whatever the number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost/uncertainty.h"
#include "perf/storage.h"

namespace tare {

// What a search tries. An empty list means the default set for the workload (plan/space.h says which).
struct SpaceLimits {
  std::vector<int> tp, pp, vpp, cp, ep, micro_batch, zero_stage;
  std::vector<Recompute> recompute;
  std::vector<Offload> offload;
  std::vector<PipelineSchedule> schedule;  // of pipelines with vpp = 1
  bool partial_recompute = false;          // full recompute of 1 … n layers of a stage (the large space)
};

struct PlanRequest {
  Job job;
  Date as_of;
  std::optional<int> max_price_age_days;  // leave older and undated prices out
  int stale_after_days = 180;
  std::optional<AssumedFabric> assume_fabric;
  bool include_suspect = false;
  std::vector<Cluster> clusters;  // the person's own, ranked beside the offers
  SpaceLimits space;
  int threads = 2;
  std::string objective = "cost";  // cost, time, energy, carbon
  int draws = 10000;               // of the uncertain inputs, for each option; 0 = none
  std::uint64_t seed = 1;
  // Meets deadline and budget: in at least this share of the draws. nullopt: at the base values.
  std::optional<double> confidence;
  // Choices beyond parallelism; the best by the objective is kept. Empty: the job's own, and no cap.
  std::vector<CheckpointPolicy> checkpoints;
  std::vector<double> power_caps;  // of the GPU's rated power, in (0, 1]
};

struct PlanOption {
  int rank = 0;
  bool chosen = false;
  Offer offer;
  NodeType node_type;
  std::string gpu;
  int gpus = 0;
  int nodes = 0;
  bool stale = false;
  bool fabric_assumed = false;
  Parallelism parallelism;
  Step step;
  double capacity_bytes = 0;        // of one GPU
  std::optional<DataLoading> data;  // how a step's data come, when the job says what they are
  Run run;
  double price_usd_per_gpu_h = 0;  // as billed; for owned hardware the whole hourly cost
  std::string price_date;
  bool meets_deadline = true;
  bool meets_budget = true;
  Bill bill;
  std::string stack;                     // of software, an id of stacks.csv
  std::string generation;                // of the GPU
  CheckpointPolicy checkpoint;           // as chosen
  double power_cap_ratio = 1;            // of the GPU's rated power
  Formula effective_price;               // USD per PFLOP/s and hour of model FLOPs; no expression: not known
  std::optional<DrawnBill> uncertainty;  // when draws were asked for and the bill is known
  std::vector<std::string> assumed;
};

struct Refusal {
  std::string offer;
  int gpus = 0;
  std::string reason;  // memory, divisibility, no_known_fabric, stale_price, tenancy, …
  std::string needed, had;
  std::string nearest;  // the nearest change that would make it fit
};

// What the objective asks to be least; infinite where it is not known.
double objective_value(const PlanOption& option, const std::string& objective);

struct Plan {
  Job job;
  std::string objective = "cost";
  long long configurations = 0;  // evaluated or proven no better by a bound
  long long pruned = 0;
  std::map<std::string, long long> infeasible;  // configurations refused, by reason
  double elapsed_s = 0;
  int stale_prices = 0;
  std::vector<PlanOption> options;  // ranked
  std::vector<Refusal> refused;
  // When nothing meets deadline and budget: what is closest and by how much, and its rank (0 = something meets them).
  std::string closest;
  int closest_rank = 0;
};

Result<Plan> make_plan(const PlanRequest& request, const Catalog& catalog);

// One choice in full: the best (or the job's pinned) parallelism of one cluster or offer.
Result<PlanOption> estimate(const PlanRequest& request, const Catalog& catalog, const Cluster& cluster, int gpus);

}  // namespace tare
