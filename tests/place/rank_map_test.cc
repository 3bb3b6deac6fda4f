#include "place/rank_map.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare {
namespace {

// Eight nodes of eight GPUs below two leaves of four with uplinks of 200 GB/s.
Cluster two_leaves() {
  Cluster cluster;
  cluster.node_types.resize(1);
  cluster.node_types[0].type.gpus = 8;
  cluster.nodes.resize(8);
  cluster.leaves = {{"a", {0, 1, 2, 3}, 200e9}, {"b", {4, 5, 6, 7}, 200e9}};
  return cluster;
}

Machine machine() {
  Machine machine;
  machine.gpus_per_node = machine.domain_gpus = 8;
  machine.gpus = 64;
  machine.between_nodes.bytes_per_s = 50e9;
  return machine;
}

Parallelism split(int tp, int cp, int dp, int pp) {
  Parallelism p;
  p.tp = tp;
  p.cp = cp;
  p.dp = dp;
  p.pp = pp;
  return p;
}

// tp 8 inside the nodes, dp 8 over them: eight rings of one rank per node. In leaf order each leaves a leaf once,
// 8 · 50 / 200 = 2; with leaves taking turns four times, 8.
TEST(RankMap, LeafOrderCrossesEachUplinkOnce) {
  const Cluster cluster = two_leaves();
  const Parallelism p = split(8, 1, 8, 1);
  const SeatOrder by_leaf = seats_of(cluster, {0, 1, 2, 3, 4, 5, 6, 7}, 64);
  const SeatOrder in_turns = seats_of(cluster, {0, 4, 1, 5, 2, 6, 3, 7}, 64);
  EXPECT_DOUBLE_EQ(in_order(machine(), by_leaf, p, {}).dp_oversubscription, 2);
  EXPECT_DOUBLE_EQ(in_order(machine(), in_turns, p, {}).dp_oversubscription, 8);
}

// dp 64, all eight ranks of a node in one ring: one edge leaves each leaf, over the eight NICs of a node.
TEST(RankMap, ARingDrivesTheNicsOfAllItsRanksOnANode) {
  const SeatOrder seats = seats_of(two_leaves(), {0, 1, 2, 3, 4, 5, 6, 7}, 64);
  EXPECT_DOUBLE_EQ(in_order(machine(), seats, split(1, 1, 64, 1), {}).dp_oversubscription, 2);
}

// pp 2 outermost: stages of four nodes are leaves, so dp never crosses; of 32 boundary ranks all send at once.
TEST(RankMap, StagesThatAreLeavesKeepDataParallelTrafficInside) {
  const Cluster cluster = two_leaves();
  const SeatOrder seats = seats_of(cluster, {0, 1, 2, 3, 4, 5, 6, 7}, 64);
  const Machine made = in_order(machine(), seats, split(8, 1, 4, 2), {});
  EXPECT_EQ(made.gpus_per_leaf, 32);
  EXPECT_DOUBLE_EQ(made.dp_oversubscription, 1);
  EXPECT_DOUBLE_EQ(made.pp_oversubscription, 32 * 50.0 / 200);
  const RankLayout pp_first = {{Axis::kTp, Axis::kPp, Axis::kDp, Axis::kCp}};
  EXPECT_EQ(in_order(machine(), seats, split(8, 1, 4, 2), pp_first).gpus_per_leaf, 16);
}

TEST(RankMap, OneLeafIsNoLeaf) {
  const SeatOrder seats = seats_of(two_leaves(), {0, 1, 2, 3}, 32);
  const Machine made = in_order(machine(), seats, split(8, 1, 4, 1), {});
  EXPECT_EQ(made.gpus_per_leaf, 0);
  EXPECT_EQ(made.oversubscription, 1);
}

// Experts over all 64 ranks, 32 of them in each leaf: 32 · 32 / 63 flows of 50 GB/s over 200.
TEST(RankMap, AllToAllCountsWhatLeavesTheLeaf) {
  const SeatOrder seats = seats_of(two_leaves(), {0, 1, 2, 3, 4, 5, 6, 7}, 64);
  Parallelism p = split(1, 1, 64, 1);
  p.ep = 64;
  EXPECT_DOUBLE_EQ(in_order(machine(), seats, p, {}).oversubscription, 32.0 * 32 / 63 * 50 / 200);
}

TEST(RankMap, RanksAreMegatronsWhateverTheLayout) {
  const Parallelism p = split(2, 2, 3, 4);
  for (const RankLayout& layout : layouts_of(p)) {
    const std::vector<RankSeat> ranks = rank_seats(p, layout);
    std::set<int> seats;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(ranks[i].rank, static_cast<int>(i));
      EXPECT_EQ(ranks[i].rank, ranks[i].tp + 2 * (ranks[i].cp + 2 * (ranks[i].dp + 3 * ranks[i].pp)));
      seats.insert(ranks[i].seat);
    }
    EXPECT_EQ(seats.size(), 48u);
  }
}

TEST(RankMap, LayoutsThatAreEqualAreNamedOnce) {
  EXPECT_EQ(layouts_of(split(8, 1, 8, 1)).size(), 1u);
  EXPECT_EQ(layouts_of(split(8, 1, 4, 2)).size(), 2u);
  EXPECT_EQ(layouts_of(split(2, 2, 2, 2)).size(), 6u);
  EXPECT_EQ(to_text(layouts_of(split(2, 2, 2, 2)).front()), "tp-cp-dp-pp");
}

}  // namespace
}  // namespace tare
