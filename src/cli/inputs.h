// What the verbs that take a job read before they answer: catalog, job, clusters, offers.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "plan/plan.h"

namespace tare {

// The shipped catalog with --catalog over it.
Result<Catalog> read_catalog(const Arguments& arguments);

Date as_of(const Arguments& arguments);

// The job file (the first operand; of audit --job) with what the flags change of it, and the rest of the request; --on
// goes to `clusters` for 'plan' alone, since the other verbs evaluate each choice by itself.
Result<PlanRequest> read_request(const Arguments& arguments, const Catalog& catalog);

// One thing to evaluate: an offer at a size, or a person's own cluster.
struct Choice {
  std::string name;
  Cluster cluster;
  int gpus = 0;
};

// The choices of --offer and --on, in that order. Errors: an offer that is not known or a pattern that several match.
Result<std::vector<Choice>> read_choices(const Arguments& arguments, const PlanRequest& request,
                                         const Catalog& catalog);

// What a value of --on says without a job: the offer that it names, or that a cluster file makes of itself, and the
// node type (of a cluster of several, the first).
struct PricedNodes {
  Offer offer;
  NodeType node_type;
};
Result<PricedNodes> read_priced_nodes(const std::string& on, const Catalog& catalog);

// What the files that were read leave usable but is likely not meant, for standard error.
Diagnostics warnings_of(const PlanRequest& request);
Diagnostics warnings_of(const PlanRequest& request, const std::vector<Choice>& choices);

}  // namespace tare
