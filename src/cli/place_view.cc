#include "cli/place_view.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/option_tables.h"
#include "cli/plan_view.h"
#include "place/placement_json.h"

namespace tare {
namespace {

constexpr std::size_t kMostNodes = 32, kMostChoices = 8;  // shown; JSON and CSV hold all

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const std::string& name_of(const Cluster& cluster, int node) { return cluster.nodes[at(node)].name; }

Table worth_table(const JobPlacement& placement) {
  Table table;
  table.columns = {{"placement", "placement"},
                   {"step_time_s", "step", Align::kRight},
                   {"mfu_ratio", "MFU", Align::kRight},
                   {"total_usd", "run", Align::kRight},
                   {"leaves", "leaves", Align::kRight, Importance::kImportant},
                   {"oversubscription", "uplinks asked\nfor, × theirs", Align::kRight, Importance::kUseful}};
  const auto add = [&](const char* name, const PlanOption& option, int leaves, double asked) {
    table.rows.push_back(
        {{name, number_cell(format_duration(option.step.step_time_s), option.step.step_time_s),
          percent(option.step.mfu_ratio), is_known(option.bill) ? dollars(option.bill.total.usd) : "unknown",
          std::to_string(leaves), fmt::format("{:.2f}", asked)}});
  };
  add("this one", placement.predicted, placement.leaves, placement.oversubscription);
  add("naive", placement.naive, placement.naive_leaves, placement.naive_oversubscription);
  table.rows.push_back(
      {{"bound", number_cell(format_duration(placement.bound_step_time_s), placement.bound_step_time_s)}});
  return table;
}

Table choices_table(const JobPlacement& placement) {
  Table table;
  table.columns = {{"nodes", "nodes"}, {"layout", "ranks, fastest axis first"}, {"step_time_s", "step", Align::kRight}};
  for (std::size_t i = 0; i < std::min(kMostChoices, placement.choices.size()); ++i) {
    const PlaceChoice& choice = placement.choices[i];
    table.rows.push_back(
        {{choice.nodes, choice.layout, number_cell(format_duration(choice.step_time_s), choice.step_time_s)}});
  }
  return table;
}

// "0", "0-3", "0, 2"
std::string range_text(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::string text;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end - i > 1 ? fmt::format("{}-{}", values[i], values[end - 1]) : std::to_string(values[i]);
    i = end;
  }
  return text;
}

struct NodeRanks {
  std::vector<int> ranks, pp, dp;
};

std::map<int, NodeRanks> ranks_by_node(const JobPlacement& placement) {
  std::map<int, NodeRanks> found;
  for (const RankSeat& rank : placement.ranks) {
    NodeRanks& node = found[placement.seats.node[at(rank.seat)]];
    node.ranks.push_back(rank.rank);
    node.pp.push_back(rank.pp);
    node.dp.push_back(rank.dp);
  }
  return found;
}

Table nodes_table(const JobPlacement& placement, const Cluster& cluster) {
  std::map<int, std::string> leaf_of;
  for (const Leaf& leaf : cluster.leaves) {
    for (const int node : leaf.nodes) leaf_of[node] = leaf.name;
  }
  Table table;
  table.columns = {{"node", "node"},
                   {"leaf", "leaf"},
                   {"ranks", "ranks", Align::kLeft, Importance::kEssential, 12},
                   {"pp", "pp"},
                   {"dp", "dp", Align::kLeft, Importance::kEssential, 8}};
  const std::map<int, NodeRanks> by_node = ranks_by_node(placement);
  for (std::size_t i = 0; i < std::min(kMostNodes, placement.nodes.size()); ++i) {
    const int node = placement.nodes[i];
    const auto found = by_node.find(node);
    if (found == by_node.end()) continue;
    table.rows.push_back({{name_of(cluster, node), leaf_of[node], range_text(found->second.ranks),
                           range_text(found->second.pp), range_text(found->second.dp)}});
  }
  return table;
}

// "1 leaf", "2 leaves", "3 NVLink domains"
std::string counted(int count, const std::string& level) {
  const std::string plural = level == "leaf" ? "leaves" : level + "s";
  return fmt::format("{} {}", count, count == 1 ? level : plural);
}

std::string spread_text(const JobPlacement& placement) {
  std::vector<std::string> parts;
  for (std::size_t depth = 1; depth < placement.levels.size(); ++depth) {
    parts.push_back(counted(placement.gang.spread[depth], placement.levels[depth]));
  }
  if (parts.empty()) return "One leaf: nothing to spread over.";
  return fmt::format("Least spread: {}{}.", join(parts, ", "),
                     placement.gang.exact ? ", proven" : ", not proven least");
}

void add_shards(Document& document, const PlacedShards& placed) {
  const ShardPlan& plan = placed.plan;
  document.heading("Shards and checkpoints");
  if (plan.disk_of.empty()) {
    document.text("The nodes' disks have no room for all shards: they stay in the shared store.", Tone::kPlain);
    return;
  }
  const std::string round_robin =
      std::isfinite(plan.round_robin_s) ? format_duration(plan.round_robin_s) : "a disk overflows";
  document.text(fmt::format(
      "{} shards of {} on {} disks: a pass takes {} (round robin: {}; bound: {}). Checkpoints go "
      "to the disk of each node that writes slowest. A node that fails takes up to {} with it.",
      plan.disk_of.size(), format_bytes(plan.shard_bytes), placed.disks.size(), format_duration(plan.read_s),
      round_robin, format_duration(plan.bound_s), format_bytes(plan.failed_node_bytes)));
}

std::string hostfile(const JobPlacement& placement, const Cluster& cluster) {
  std::map<int, int> slots;
  for (const int node : placement.seats.node) ++slots[node];
  std::string text;
  for (const int node : placement.nodes) {
    if (slots[node] > 0) text += fmt::format("{} slots={}\n", name_of(cluster, node), slots[node]);
  }
  return text;
}

std::string rankfile(const JobPlacement& placement, const Cluster& cluster) {
  std::string text;
  for (const RankSeat& rank : placement.ranks) {
    text += fmt::format("rank {}={} slot={}\n", rank.rank, name_of(cluster, placement.seats.node[at(rank.seat)]),
                        placement.seats.gpu[at(rank.seat)]);
  }
  return text;
}

std::string environment(const JobPlacement& placement, const Cluster& cluster) {
  const Parallelism& p = placement.predicted.parallelism;
  std::vector<std::string> names;
  for (const int node : placement.nodes) names.push_back(name_of(cluster, node));
  const int first = placement.seats.node[at(placement.ranks.front().seat)];
  return fmt::format(
      "export MASTER_ADDR={}\nexport WORLD_SIZE={}\nexport NNODES={}\nexport NODES={}\n"
      "export TP_SIZE={}\nexport PP_SIZE={}\nexport VPP_SIZE={}\nexport CP_SIZE={}\nexport EP_SIZE={}\n"
      "export DP_SIZE={}\nexport RANK_LAYOUT={}\n",
      name_of(cluster, first), placement.ranks.size(), placement.nodes.size(), join(names, ","), p.tp, p.pp, p.vpp,
      p.cp, p.ep, p.dp, to_text(placement.layout));
}

}  // namespace

Document place_document(const JobPlacement& placement, const Job& job, const Cluster& cluster) {
  Document document;
  document.text(describe(job), Tone::kStrong);
  document.heading(
      fmt::format("{} GPUs on {} nodes of {}", placement.predicted.gpus, placement.nodes.size(), cluster.name));
  document.text(fmt::format("{}, ranks {}. {}", to_text(placement.predicted.parallelism), to_text(placement.layout),
                            spread_text(placement)));
  add_doubts(document, placement.predicted);
  document.table(worth_table(placement));
  document.heading("Choices");
  document.table(choices_table(placement));
  document.heading("Nodes");
  document.table(nodes_table(placement, cluster));
  if (placement.nodes.size() > kMostNodes) {
    document.text(fmt::format("Shown {} of {}.", kMostNodes, placement.nodes.size()), Tone::kFaint);
  }
  if (placement.shards) add_shards(document, *placement.shards);
  if (!placement.predicted.assumed.empty()) {
    document.heading("Assumed");
    document.text(join(placement.predicted.assumed, "\n"), Tone::kFaint);
  }
  return document;
}

Table reasons_table(const CannotFit& why) {
  Table table;
  table.columns = {{"reason", "reason"}, {"nodes", "nodes", Align::kRight}, {"units", "units", Align::kRight}};
  const auto add = [&](const char* reason, int nodes, int units) {
    if (nodes > 0) table.rows.push_back({{reason, std::to_string(nodes), std::to_string(units)}});
  };
  add("busy", why.nodes_busy, why.busy);
  add("forbidden", why.nodes_forbidden, why.forbidden);
  add("unhealthy", why.nodes_unhealthy, why.unhealthy);
  add("too small or of another type", why.nodes_too_small, 0);
  return table;
}

Document cannot_fit_document(const CannotFit& why, const Job& job, const Cluster& cluster, int gpus) {
  Document document;
  document.text(describe(job), Tone::kStrong);
  document.heading(fmt::format("{} GPUs do not fit on {}", gpus, cluster.name));
  document.text(fmt::format("Needed: {} units of {} GPUs, each on one node. Free: {}.", why.units, why.gpus_per_unit,
                            why.fitting));
  if (const Table reasons = reasons_table(why); !reasons.rows.empty()) document.table(reasons);
  if (why.stranded_gpus > 0) {
    document.text(fmt::format("{} free GPUs lie in pieces smaller than a unit.", why.stranded_gpus));
  }
  if (!why.nearest.empty()) {
    document.heading("Nearest changes");
    document.text(join(why.nearest, "\n"));
  }
  return document;
}

Table ranks_table(const JobPlacement& placement, const Cluster& cluster) {
  Table table;
  for (const char* const id : {"rank", "node", "gpu", "nic", "tp", "pp", "dp", "cp", "ep"}) {
    table.columns.push_back({id, id});
  }
  for (const RankSeat& rank : placement.ranks) {
    const int node = placement.seats.node[at(rank.seat)], gpu = placement.seats.gpu[at(rank.seat)];
    const int nic = nic_of(placement.predicted.node_type, gpu);
    Row row;
    row.cells = {std::to_string(rank.rank), name_of(cluster, node), std::to_string(gpu),
                 nic < 0 ? "" : std::to_string(nic)};
    for (const int value : {rank.tp, rank.pp, rank.dp, rank.cp, rank.ep}) row.cells.push_back(std::to_string(value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string emitted(const std::string& what, const JobPlacement& placement, const Cluster& cluster) {
  if (what == "hostfile") return hostfile(placement, cluster);
  if (what == "rankfile") return rankfile(placement, cluster);
  return environment(placement, cluster);
}

}  // namespace tare
