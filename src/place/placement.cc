#include "place/placement.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "place/group_spread.h"
#include "plan/candidate.h"

namespace tare {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What is asked of one node type: whole nodes, or a part of one.
GangRequest gang_request(int gpus, int per_node) {
  GangRequest request;
  request.gpus_per_unit = std::min(gpus, std::max(per_node, 1));
  request.units = (gpus + request.gpus_per_unit - 1) / request.gpus_per_unit;
  return request;
}

ClusterState state_of(const PlaceRequest& request, const Cluster& cluster, int type) {
  ClusterState state(place_topology(cluster, type));
  for (const BusyNode& busy : request.busy) state.occupy(busy.node, std::min(busy.gpus, state.free_gpus(busy.node)));
  for (const int node : request.forbidden) state.set_use(node, NodeUse::kForbidden);
  for (const int node : request.unhealthy) state.set_use(node, NodeUse::kUnhealthy);
  for (const int node : request.preferred) state.set_preferred(node, true);
  return state;
}

std::vector<int> nodes_of(const std::vector<GangShare>& shares) {
  std::vector<int> nodes;
  nodes.reserve(shares.size());
  for (const GangShare& share : shares) nodes.push_back(share.node);
  return nodes;
}

std::vector<int> first_free(const ClusterState& state, const GangRequest& request) {
  std::vector<int> nodes;
  for (int node = 0; node < state.nodes() && static_cast<int>(nodes.size()) < request.units; ++node) {
    if (state.use(node) == NodeUse::kUsable && state.free_gpus(node) >= request.gpus_per_unit) nodes.push_back(node);
  }
  return nodes;
}

int leaves_of(const SeatOrder& seats) {
  return static_cast<int>(std::set<int>(seats.leaf.begin(), seats.leaf.end()).size());
}

// A set of nodes in an order, before it is scored.
struct Candidates {
  std::vector<std::pair<std::string, std::vector<int>>> named;

  void add(std::string name, std::vector<int> nodes) {
    const bool known =
        std::any_of(named.begin(), named.end(), [&](const auto& other) { return other.second == nodes; });
    if (!known) named.emplace_back(std::move(name), std::move(nodes));
  }
};

// Groups of neighbouring ranks that fill whole nodes, under any layout.
std::vector<int> group_sizes(const Parallelism& p, const GangRequest& request) {
  std::set<int> sizes;
  for (const RankLayout& layout : layouts_of(p)) {
    int span = 1;
    for (const Axis axis : layout.order) {
      span *= axis == Axis::kTp ? p.tp : axis == Axis::kCp ? p.cp : axis == Axis::kDp ? p.dp : p.pp;
      const int nodes = span / request.gpus_per_unit;
      if (span % request.gpus_per_unit == 0 && nodes > 1 && nodes < request.units) sizes.insert(nodes);
    }
  }
  if (p.ep > request.gpus_per_unit && p.ep % request.gpus_per_unit == 0) sizes.insert(p.ep / request.gpus_per_unit);
  std::erase_if(sizes, [&](int nodes) { return nodes >= request.units || request.units % nodes != 0; });
  return {sizes.begin(), sizes.end()};
}

Candidates candidates_of(const ClusterState& state, const GangRequest& request, const GangPlacement& gang,
                         const Parallelism& p) {
  Candidates candidates;
  candidates.add("least spread", nodes_of(gang.shares));
  if (state.depths() < 2) return candidates;
  for (const int size : group_sizes(p, request)) {
    GroupPlacement groups;
    if (!place_groups(state, request.units / size, size, request.gpus_per_unit, groups)) continue;
    std::vector<int> nodes;
    for (const auto& shares : groups.shares) {
      for (const GangShare& share : shares) nodes.push_back(share.node);
    }
    candidates.add(fmt::format("groups of {} nodes", size), std::move(nodes));
  }
  candidates.add("first free", first_free(state, request));
  return candidates;
}

// What scores an order: the machine without leaves, the job's workload, one parallelism.
class Scorer {
 public:
  Scorer(const Job& job, const Catalog& catalog, const Cluster& nodes, int gpus, const Parallelism& p)
      : model_(step_model(job, catalog, nodes, gpus)), p_(p) {}

  StepModel model(const SeatOrder& seats, const RankLayout& layout) const {
    return {model_.workload(), in_order(model_.machine(), seats, p_, layout), layout};
  }
  double step_time_s(const SeatOrder& seats, const RankLayout& layout) const {
    return model(seats, layout).step_time_s(p_);
  }
  double bound_s() const {
    double best = std::numeric_limits<double>::infinity();
    for (const RankLayout& layout : layouts_of(p_)) {
      StepModel free(model_.workload(), without_leaves(model_.machine()), layout);
      best = std::min(best, free.step_time_s(p_));
    }
    return best;
  }

 private:
  StepModel model_;
  Parallelism p_;
};

struct Chosen {
  std::vector<int> nodes;
  SeatOrder seats;
  RankLayout layout;
  double step_time_s = std::numeric_limits<double>::infinity();
};

Chosen choose(const Candidates& candidates, const Scorer& scorer, const Cluster& cluster, int gpus,
              const Parallelism& p, std::vector<PlaceChoice>& choices) {
  Chosen best;
  for (const auto& [name, nodes] : candidates.named) {
    const SeatOrder seats = seats_of(cluster, nodes, gpus);
    for (const RankLayout& layout : layouts_of(p)) {
      const double step_time_s = scorer.step_time_s(seats, layout);
      choices.push_back({name, to_text(layout), step_time_s});
      if (step_time_s < best.step_time_s) best = {nodes, seats, layout, step_time_s};
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const PlaceChoice& a, const PlaceChoice& b) { return a.step_time_s < b.step_time_s; });
  return best;
}

// The option again at the step time of an order: run and bill follow.
PlanOption priced(const PlaceRequest& request, const Catalog& catalog, const PlanOption& option, const Cluster& nodes,
                  StepModel model) {
  const Candidate candidate{option.offer, option.node_type, nodes, request.gpus};
  Choices how;
  how.checkpoint = option.checkpoint;
  return price_option(request.plan, catalog, candidate, model, option.parallelism, how, option.assumed);
}

std::optional<PlacedShards> shards_of(const Job& job, const Cluster& cluster, const std::vector<int>& nodes) {
  if (!job.data.bytes || !job.data.shards || *job.data.bytes <= 0 || *job.data.shards < 1) return std::nullopt;
  PlacedShards placed;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<Disk>& disks = cluster.node_types[at(cluster.nodes[at(nodes[i])].type)].disks;
    for (std::size_t d = 0; d < disks.size(); ++d) {
      if (disks[d].read_bytes_per_s <= 0) continue;
      placed.disks.push_back(
          {static_cast<int>(i), disks[d].read_bytes_per_s, disks[d].write_bytes_per_s, disks[d].bytes});
      placed.disk_node.push_back(nodes[i]);
      placed.disk_number.push_back(static_cast<int>(d));
    }
  }
  if (placed.disks.empty()) return std::nullopt;
  placed.plan = place_shards(*job.data.shards, *job.data.bytes / *job.data.shards, placed.disks);
  return placed;
}

void fill(JobPlacement& placement, const PlaceRequest& request, const Catalog& catalog, const Cluster& cluster,
          const ClusterState& state, const PlanOption& option) {
  const auto start = Clock::now();
  const Parallelism& p = option.parallelism;
  const GangRequest gang = gang_request(request.gpus, option.node_type.gpus);
  const Cluster spread = only_nodes(cluster, nodes_of(placement.gang.shares));
  const Scorer scorer(request.plan.job, catalog, spread, request.gpus, p);
  Chosen chosen =
      choose(candidates_of(state, gang, placement.gang, p), scorer, cluster, request.gpus, p, placement.choices);
  placement.decision_s += seconds_since(start);

  const std::vector<int> naive = first_free(state, gang);
  const SeatOrder naive_seats = seats_of(cluster, naive, request.gpus);
  const StepModel model = scorer.model(chosen.seats, chosen.layout), naive_model = scorer.model(naive_seats, {});
  placement.oversubscription = most_asked(model.machine());
  placement.naive_oversubscription = most_asked(naive_model.machine());
  placement.predicted = priced(request, catalog, option, only_nodes(cluster, chosen.nodes), model);
  placement.naive = priced(request, catalog, option, only_nodes(cluster, naive), naive_model);
  placement.bound_step_time_s = scorer.bound_s();
  placement.leaves = leaves_of(chosen.seats);
  placement.naive_leaves = leaves_of(naive_seats);
  placement.ranks = rank_seats(p, chosen.layout);
  placement.shards = shards_of(request.plan.job, cluster, chosen.nodes);
  placement.layout = chosen.layout;
  placement.nodes = std::move(chosen.nodes);
  placement.seats = std::move(chosen.seats);
}

}  // namespace

Cluster only_nodes(const Cluster& cluster, const std::vector<int>& nodes) {
  Cluster taken = cluster;
  taken.nodes.clear();
  std::vector<int> place(cluster.nodes.size(), -1);
  for (const int node : nodes) {
    place[at(node)] = static_cast<int>(taken.nodes.size());
    taken.nodes.push_back(cluster.nodes[at(node)]);
    taken.nodes.back().type = 0;
  }
  taken.node_types = {cluster.node_types[at(cluster.nodes[at(nodes.front())].type)]};
  const auto keep = [&place](std::vector<int>& kept) {
    for (int& node : kept) node = place[at(node)];
    std::erase(kept, -1);
  };
  for (Leaf& leaf : taken.leaves) keep(leaf.nodes);
  std::erase_if(taken.leaves, [](const Leaf& leaf) { return leaf.nodes.empty(); });
  for (std::vector<int>& domain : taken.nvlink_domains) keep(domain);  // they keep their number
  return taken;
}

Result<PlaceOutcome> place_job(const PlaceRequest& request, const Catalog& catalog, const Cluster& cluster) {
  std::optional<CannotFit> closest;
  for (int type = 0; type < static_cast<int>(cluster.node_types.size()); ++type) {
    const auto start = Clock::now();
    const GangRequest gang = gang_request(request.gpus, cluster.node_types[at(type)].type.gpus);
    const ClusterState state = state_of(request, cluster, type);
    GangPlacer placer;
    JobPlacement placement;
    if (!placer.place(state, gang, placement.gang)) {
      CannotFit why = placer.why_not(state, gang);
      if (!closest || why.fitting > closest->fitting) closest = std::move(why);
      continue;
    }
    placement.decision_s = seconds_since(start);
    for (int depth = 0; depth < state.depths(); ++depth) placement.levels.push_back(state.level_name(depth));
    const Cluster spread = only_nodes(cluster, nodes_of(placement.gang.shares));
    const Result<PlanOption> option = estimate(request.plan, catalog, spread, request.gpus);
    if (!option) return tl::unexpected(option.error());
    fill(placement, request, catalog, cluster, state, *option);
    return PlaceOutcome(std::move(placement));
  }
  return PlaceOutcome(closest.value_or(CannotFit{}));
}

}  // namespace tare
