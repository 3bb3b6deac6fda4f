#include "plan/plan.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "base/quantity.h"
#include "base/text.h"
#include "plan/candidate.h"
#include "plan/requirements.h"
#include "plan/uncertain_options.h"

namespace tare {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One unit sold has `offer.gpus` GPUs; the job takes whole units.
int units_for(int gpus, int per_unit) { return (gpus + per_unit - 1) / per_unit; }

Offer offer_of(const Cluster& cluster) {
  if (cluster.offer) return *cluster.offer;
  Offer offer;
  offer.id = cluster.name.empty() ? "cluster" : cluster.name;
  offer.provider = offer.id;
  offer.region = "*";
  offer.gpu = cluster.node_types.front().type.gpu;
  offer.gpus = cluster.node_types.front().type.gpus;
  offer.delivery = cluster.delivery;
  return offer;
}

std::string gpus_text(int gpus) { return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"); }

struct Candidates {
  std::vector<Candidate> tried;
  std::vector<Refusal> refused;
};

void add_offers(const PlanRequest& request, const Catalog& catalog, int gpus, Candidates& out) {
  const std::vector<std::string> every = {"*"};
  const auto& globs = request.job.search.offers.empty() ? every : request.job.search.offers;
  for (const Offer* offer : match_offers(catalog, globs)) {
    const NodeType type = node_type_of(catalog, *offer);
    if (auto refusal = check_requirements(request, *offer, type, gpus)) {
      out.refused.push_back(std::move(*refusal));
      continue;
    }
    const int nodes = units_for(gpus, offer->gpus);
    Result<Cluster> cluster = cluster_from_offer(catalog, *offer, nodes, request.assume_fabric);
    if (!cluster) {
      const Diagnostic& first = cluster.error().front();
      out.refused.push_back({offer->id, gpus, first.rule, "the bandwidth between " + std::to_string(nodes) + " nodes",
                             "unknown", "--assume-fabric 400Gb/s, or at most " + gpus_text(offer->gpus)});
      continue;
    }
    out.tried.push_back({*offer, type, std::move(*cluster), gpus});
  }
}

// Why a cluster has no `gpus` GPUs of one kind.
Refusal too_small(const Cluster& cluster, const std::string& offer, int gpus) {
  int all = 0, largest = 0;
  for (std::size_t type = 0; type < cluster.node_types.size(); ++type) {
    const int per_node = cluster.node_types[type].type.gpus;
    const int of_type = per_node * static_cast<int>(std::count_if(
                                       cluster.nodes.begin(), cluster.nodes.end(),
                                       [type](const ClusterNode& n) { return n.type == static_cast<int>(type); }));
    all += of_type;
    largest = std::max(largest, of_type);
  }
  const std::string nearest = "search.gpus = [" + std::to_string(largest) + "]";
  if (all < gpus) return {offer, gpus, "cluster_size", gpus_text(gpus), std::to_string(all), nearest};
  return {offer,  gpus, "mixed_nodes", gpus_text(gpus) + " of one node type", "at most " + std::to_string(largest),
          nearest};
}

std::variant<Candidate, Refusal> own_candidate(const Cluster& cluster, int gpus) {
  const Offer offer = offer_of(cluster);
  std::optional<Cluster> nodes = uniform_nodes(cluster, gpus);
  if (!nodes) return too_small(cluster, offer.id, gpus);
  const NodeType type = nodes->node_types.front().type;
  return Candidate{offer, type, std::move(*nodes), gpus};
}

void add_clusters(const PlanRequest& request, int gpus, Candidates& out) {
  for (const Cluster& cluster : request.clusters) {
    std::variant<Candidate, Refusal> own = own_candidate(cluster, gpus);
    if (auto* refusal = std::get_if<Refusal>(&own)) {
      out.refused.push_back(std::move(*refusal));
      continue;
    }
    Candidate& candidate = std::get<Candidate>(own);
    if (auto refusal = check_requirements(request, candidate.offer, candidate.node_type, gpus)) {
      out.refused.push_back(std::move(*refusal));
      continue;
    }
    out.tried.push_back(std::move(candidate));
  }
}

// Each candidate on its own thread's turn; results stand at their candidate's index, so the order never depends on
// timing.
std::vector<CandidateResult> evaluate_all(const PlanRequest& request, const Catalog& catalog,
                                          const std::vector<Candidate>& candidates) {
  std::vector<CandidateResult> results(candidates.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < candidates.size(); i = next++)
      results[i] = evaluate_candidate(request, catalog, candidates[i]);
  };
  const int threads = std::clamp(request.threads, 1, std::max(1, static_cast<int>(candidates.size())));
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return results;
}

void rank(const PlanRequest& request, Plan& plan) {
  const auto before = [&request](const PlanOption& a, const PlanOption& b) {
    const double x = objective_value(a, request.objective), y = objective_value(b, request.objective);
    if (x != y) return x < y;
    if (a.bill.total.usd != b.bill.total.usd) return a.bill.total.usd < b.bill.total.usd;
    return a.offer.id != b.offer.id ? a.offer.id < b.offer.id : a.gpus < b.gpus;
  };
  std::stable_sort(plan.options.begin(), plan.options.end(), before);
  bool chosen = false;
  for (std::size_t i = 0; i < plan.options.size(); ++i) {
    PlanOption& option = plan.options[i];
    option.rank = static_cast<int>(i) + 1;
    option.chosen = !chosen && option.meets_deadline && option.meets_budget;
    chosen |= option.chosen;
    plan.stale_prices += option.stale;
  }
  if (!chosen && !plan.options.empty()) {
    // Closest: the smallest factor by which deadline or budget is missed, the worse of the two.
    const auto miss = [&](const PlanOption& o) {
      const double time = request.job.deadline_s ? o.run.wall_s / *request.job.deadline_s : 0;
      const double money = request.job.budget_usd ? o.bill.total.usd / *request.job.budget_usd : 0;
      return std::max(time, money);
    };
    const auto nearest = std::min_element(plan.options.begin(), plan.options.end(),
                                          [&](const PlanOption& a, const PlanOption& b) { return miss(a) < miss(b); });
    const PlanOption& closest = *nearest;
    plan.closest_rank = closest.rank;
    plan.closest = closest.offer.id + " on " + gpus_text(closest.gpus) + ": " + format_duration(closest.run.wall_s);
    if (request.job.deadline_s) plan.closest += " of " + format_duration(*request.job.deadline_s);
    plan.closest += ", " + format_usd(closest.bill.total.usd);
    if (request.job.budget_usd) plan.closest += " of " + format_usd(*request.job.budget_usd);
  }
}

Result<void> check_request(const PlanRequest& request, const Catalog& catalog) {
  const Job& job = request.job;
  if (!job.stack.empty() && find_stack(catalog, job.stack) == nullptr) {
    std::vector<std::string> ids;
    for (const SoftwareStack& stack : catalog.stacks) ids.push_back(stack.id);
    const std::string near = did_you_mean(job.stack, ids);
    return fail("unknown-stack", "unknown stack '" + job.stack + "'",
                near.empty() ? "tare catalog stacks lists them" : "did you mean \"" + near + "\"?");
  }
  if (!job.search.offers.empty() && match_offers(catalog, job.search.offers).empty() && request.clusters.empty()) {
    std::vector<std::string> globs;
    for (const std::string& glob : job.search.offers) globs.push_back(in_quotes(glob));
    return fail("no-offer", "no offer matches " + join(globs, ", "),
                unknown_offer(catalog, job.search.offers.front()).help);
  }
  return {};
}

}  // namespace

double objective_value(const PlanOption& option, const std::string& objective) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (objective == "time") return option.run.wall_s;
  if (objective == "energy") return option.bill.energy_kwh.value_or(kUnknown);
  if (objective == "carbon") return option.bill.co2e_kg.value_or(kUnknown);
  return option.bill.total.usd;
}

Result<Plan> make_plan(const PlanRequest& request, const Catalog& catalog) {
  const auto start = std::chrono::steady_clock::now();
  if (auto checked = check_request(request, catalog); !checked) return tl::unexpected(checked.error());
  Plan plan;
  plan.job = request.job;
  plan.objective = request.objective;
  Candidates candidates;
  std::vector<int> sizes = request.job.search.gpus;
  if (sizes.empty()) sizes.push_back(64);
  for (const int gpus : sizes) {
    // Own clusters alone are ranked when only they are asked for.
    if (request.clusters.empty() || !request.job.search.offers.empty()) add_offers(request, catalog, gpus, candidates);
    add_clusters(request, gpus, candidates);
  }
  plan.refused = std::move(candidates.refused);
  for (CandidateResult& result : evaluate_all(request, catalog, candidates.tried)) {
    plan.configurations += result.searched.evaluated + result.searched.pruned;
    plan.pruned += result.searched.pruned;
    if (result.searched.out_of_memory > 0) plan.infeasible["memory"] += result.searched.out_of_memory;
    if (result.indivisible > 0) plan.infeasible["divisibility"] += result.indivisible;
    if (auto* option = std::get_if<PlanOption>(&result.outcome)) {
      plan.options.push_back(std::move(*option));
    } else {
      plan.refused.push_back(std::move(std::get<Refusal>(result.outcome)));
    }
  }
  if (const Result<Uncertainty> drawn = draw_options(plan.options, request, catalog); !drawn) {
    return tl::unexpected(drawn.error());
  }
  rank(request, plan);
  plan.elapsed_s = seconds_since(start);
  return plan;
}

Result<PlanOption> estimate(const PlanRequest& request, const Catalog& catalog, const Cluster& cluster, int gpus) {
  if (auto checked = check_request(request, catalog); !checked) return tl::unexpected(checked.error());
  const auto refused = [gpus](const Refusal& refusal) {
    return fail(refusal.reason,
                "cannot run on " + gpus_text(gpus) + " of " + refusal.offer + ": needs " + refusal.needed + ", has " +
                    refusal.had,
                refusal.nearest);
  };
  std::variant<Candidate, Refusal> own = own_candidate(cluster, gpus);
  if (const auto* refusal = std::get_if<Refusal>(&own)) return refused(*refusal);
  CandidateResult result = evaluate_candidate(request, catalog, std::get<Candidate>(own));
  if (auto* option = std::get_if<PlanOption>(&result.outcome)) return std::move(*option);
  return refused(std::get<Refusal>(result.outcome));
}

}  // namespace tare
