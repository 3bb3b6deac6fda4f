// One offer (or own cluster) at one size, evaluated at its fastest parallelism that fits.
#pragma once

#include <optional>
#include <variant>

#include "perf/power_cap.h"
#include "plan/plan.h"
#include "plan/search.h"

namespace tare {

struct Candidate {
  Offer offer;
  NodeType node_type;
  Cluster cluster;  // exactly the nodes it takes
  int gpus = 0;     // used by the job
};

struct CandidateResult {
  std::variant<PlanOption, Refusal> outcome;
  SearchResult searched;
  long long indivisible = 0;
};

// Searches (or takes the job's pinned parallelism) and prices it. Thread-safe: reads only.
CandidateResult evaluate_candidate(const PlanRequest& request, const Catalog& catalog, const Candidate& candidate);

// The step model that a job on the first `gpus` GPUs of a cluster is evaluated with.
StepModel step_model(const Job& job, const Catalog& catalog, const Cluster& cluster, int gpus);

// The nodes of a person's own cluster that a job of `gpus` GPUs takes: the first ones of the first node type that has
// enough of them. nullopt when no single type does; a pool of several types would run at its slowest rank.
std::optional<Cluster> uniform_nodes(const Cluster& cluster, int gpus);

// What is chosen beside the parallelism.
struct Choices {
  CheckpointPolicy checkpoint;
  PowerCap cap;
  double load_ratio = 1;  // of its rated power that a GPU draws under this load without a cap
};

// What run and bill are made from. `option` holds what the bill points at.
RunInput run_input(const PlanRequest& request, const Catalog& catalog, const Candidate& candidate,
                   const Workload& workload, const Machine& machine, const Step& step, const Choices& how);
BillInput bill_input(const PlanOption& option, const Candidate& candidate, const Job& job);

// The cheap part for a parallelism found before on an equal machine; `model` is that of the cap's clock.
PlanOption price_option(const PlanRequest& request, const Catalog& catalog, const Candidate& candidate,
                        StepModel& model, const Parallelism& parallelism, const Choices& how,
                        std::vector<std::string> assumed);

}  // namespace tare
