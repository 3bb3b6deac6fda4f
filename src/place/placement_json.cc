#include "place/placement_json.h"

#include <cmath>

#include "base/json.h"
#include "workload/job_json.h"

namespace tare {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json price_json(const PlanOption& option) {
  const double usd_per_h = option.price_usd_per_gpu_h * option.nodes * option.node_type.gpus;
  return {{"step_time_s", option.step.step_time_s},
          {"tokens_per_s", option.step.tokens_per_s},
          {"mfu_ratio", option.step.mfu_ratio},
          {"wall_s", number_or_null(option.run.wall_s)},
          {"usd_per_h", usd_per_h > 0 ? Json(usd_per_h) : Json(nullptr)},
          {"total", {{"usd", is_known(option.bill) ? number_or_null(option.bill.total.usd) : Json(nullptr)}}}};
}

Json ranks_json(const JobPlacement& placement, const Cluster& cluster) {
  Json ranks = Json::array();
  for (const RankSeat& rank : placement.ranks) {
    const int node = placement.seats.node[at(rank.seat)], gpu = placement.seats.gpu[at(rank.seat)];
    const int nic = nic_of(placement.predicted.node_type, gpu);
    ranks.push_back({{"rank", rank.rank},
                     {"node", cluster.nodes[at(node)].name},
                     {"gpu", gpu},
                     {"nic", nic >= 0 ? Json(nic) : Json(nullptr)},
                     {"tp", rank.tp},
                     {"pp", rank.pp},
                     {"dp", rank.dp},
                     {"cp", rank.cp},
                     {"ep", rank.ep}});
  }
  return ranks;
}

std::string disk_name(const Cluster& cluster, int node, int disk) {
  return cluster.node_types[at(cluster.nodes[at(node)].type)].disks[at(disk)].name;
}

Json shards_json(const JobPlacement& placement, const Cluster& cluster) {
  Json shards = Json::array();
  if (!placement.shards) return shards;
  const PlacedShards& placed = *placement.shards;
  for (std::size_t shard = 0; shard < placed.plan.disk_of.size(); ++shard) {
    const std::size_t disk = at(placed.plan.disk_of[shard]);
    shards.push_back({{"shard", shard},
                      {"node", cluster.nodes[at(placed.disk_node[disk])].name},
                      {"disk", disk_name(cluster, placed.disk_node[disk], placed.disk_number[disk])}});
  }
  return shards;
}

Json writers_json(const JobPlacement& placement, const Cluster& cluster) {
  Json writers = Json::array();
  for (const CheckpointWriter& writer : checkpoint_writers(placement)) {
    const Json disk = writer.disk >= 0 ? Json(disk_name(cluster, writer.node, writer.disk)) : Json(nullptr);
    writers.push_back({{"rank", writer.rank}, {"node", cluster.nodes[at(writer.node)].name}, {"disk", disk}});
  }
  return writers;
}

Json reading_json(const PlacedShards& placed) {
  const ShardPlan& plan = placed.plan;
  if (plan.disk_of.empty()) return {{"fits", false}, {"shard_bytes", plan.shard_bytes}};
  return {{"fits", true},
          {"shard_bytes", plan.shard_bytes},
          {"read_s", plan.read_s},
          {"bound_s", plan.bound_s},
          {"round_robin_s", number_or_null(plan.round_robin_s)},
          {"failed_node_bytes", plan.failed_node_bytes}};
}

Json spread_json(const JobPlacement& placement) {
  Json spread = Json::array();
  for (std::size_t depth = 1; depth < placement.levels.size(); ++depth) {
    spread.push_back({{"level", placement.levels[depth]},
                      {"domains", placement.gang.spread[depth]},
                      {"bound", placement.gang.bound[depth]}});
  }
  return spread;
}

}  // namespace

int nic_of(const NodeType& type, int gpu) {
  const int nics = type.nics.value_or(0);
  return nics > 0 && type.gpus > 0 ? gpu * nics / type.gpus : -1;
}

std::vector<CheckpointWriter> checkpoint_writers(const JobPlacement& placement) {
  std::vector<CheckpointWriter> writers;
  for (std::size_t i = 0; i < placement.nodes.size(); ++i) {
    CheckpointWriter writer{-1, placement.nodes[i], -1};
    for (const RankSeat& rank : placement.ranks) {
      if (writer.rank < 0 && placement.seats.node[at(rank.seat)] == writer.node) writer.rank = rank.rank;
    }
    if (placement.shards) writer.disk = placement.shards->disk_number[at(placement.shards->plan.checkpoint_disk[i])];
    if (writer.rank >= 0) writers.push_back(writer);
  }
  return writers;
}

Json to_json(const JobPlacement& placement, const Cluster& cluster) {
  Json json = {{"fits", true}, {"cluster", cluster.name}, {"gpus", placement.predicted.gpus}};
  json["nodes"] = Json::array();
  for (const int node : placement.nodes) json["nodes"].push_back(cluster.nodes[at(node)].name);
  json["parallelism"] = to_json(placement.predicted.parallelism);
  json["layout"] = to_text(placement.layout);
  json["predicted"] = price_json(placement.predicted);
  json["predicted"]["leaves"] = placement.leaves;
  json["predicted"]["oversubscription"] = placement.oversubscription;
  json["naive"] = price_json(placement.naive);
  json["naive"]["leaves"] = placement.naive_leaves;
  json["naive"]["oversubscription"] = placement.naive_oversubscription;
  json["bound"] = {{"step_time_s", placement.bound_step_time_s}};
  json["spread"] = spread_json(placement);
  json["spread_exact"] = placement.gang.exact;
  json["choices"] = Json::array();
  for (const PlaceChoice& choice : placement.choices) {
    json["choices"].push_back(
        {{"nodes", choice.nodes}, {"layout", choice.layout}, {"step_time_s", choice.step_time_s}});
  }
  json["ranks"] = ranks_json(placement, cluster);
  json["shards"] = shards_json(placement, cluster);
  if (placement.shards) json["reading"] = reading_json(*placement.shards);
  json["checkpoint_writers"] = writers_json(placement, cluster);
  json["decision_s"] = placement.decision_s;
  json["assumed"] = placement.predicted.assumed;
  return json;
}

Json to_json(const CannotFit& why) {
  return {{"fits", false},
          {"units", why.units},
          {"fitting_units", why.fitting},
          {"units_without_constraints", why.anywhere},
          {"gpus_per_unit", why.gpus_per_unit},
          {"reasons",
           {{"busy", {{"nodes", why.nodes_busy}, {"units", why.busy}}},
            {"forbidden", {{"nodes", why.nodes_forbidden}, {"units", why.forbidden}}},
            {"unhealthy", {{"nodes", why.nodes_unhealthy}, {"units", why.unhealthy}}},
            {"too_small", {{"nodes", why.nodes_too_small}}}}},
          {"stranded_gpus", why.stranded_gpus},
          {"nearest", why.nearest}};
}

}  // namespace tare
