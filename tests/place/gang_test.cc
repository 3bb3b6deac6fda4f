#include "place/gang.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_cluster.h"

namespace tare {
namespace {

using testing::ElementsAre;

// What a placement touches, the outermost depth first, nodes last where they count: compared lexicographically.
std::vector<int> spread_of(const ClusterState& state, const std::vector<GangShare>& shares, bool with_nodes) {
  std::vector<std::set<int>> seen(static_cast<std::size_t>(state.depths()));
  for (const GangShare& share : shares) {
    int id = state.innermost_of(share.node);
    for (int depth = state.depths() - 1; depth >= 0; --depth, id = state.domain(id).parent) {
      seen[static_cast<std::size_t>(depth)].insert(id);
    }
  }
  std::vector<int> spread;
  for (const auto& ids : seen) spread.push_back(static_cast<int>(ids.size()));
  if (with_nodes) spread.push_back(static_cast<int>(shares.size()));
  return spread;
}

int ancestor(const ClusterState& state, int node, int depth) {
  int id = state.innermost_of(node);
  for (int d = state.depths() - 1; d > depth; --d) id = state.domain(id).parent;
  return id;
}

bool meets(const ClusterState& state, const GangRequest& request, const std::vector<GangShare>& shares) {
  std::map<int, int> within, blocks;
  int units = 0;
  for (const GangShare& share : shares) {
    if (state.use(share.node) != NodeUse::kUsable || share.units < 1) return false;
    if (share.units * request.gpus_per_unit > state.free_gpus(share.node)) return false;
    units += share.units;
    within[ancestor(state, share.node, request.within_depth)] += share.units;
    if (request.block_units > 0) blocks[ancestor(state, share.node, request.block_depth)] += share.units;
  }
  const bool whole = std::all_of(blocks.begin(), blocks.end(),
                                 [&](const auto& block) { return block.second % request.block_units == 0; });
  return units == request.units && within.size() == 1 && whole;
}

// Every way to share the units out over the nodes.
struct BruteForce {
  const ClusterState& state;
  const GangRequest& request;
  bool with_nodes;
  std::vector<GangShare> shares = {};
  std::optional<std::vector<int>> best = {};

  void run(int node, int left) {
    if (left == 0) {
      if (!meets(state, request, shares)) return;
      const std::vector<int> spread = spread_of(state, shares, with_nodes);
      if (!best || spread < *best) best = spread;
      return;
    }
    if (node == state.nodes()) return;
    run(node + 1, left);
    if (state.use(node) != NodeUse::kUsable) return;
    const int most = std::min(left, state.free_gpus(node) / request.gpus_per_unit);
    for (int units = 1; units <= most; ++units) {
      shares.push_back({node, units});
      run(node + 1, left - units);
      shares.pop_back();
    }
  }
};

GangRequest random_request(std::mt19937& random, const ClusterState& state) {
  GangRequest request;
  request.gpus_per_unit =
      pick(random, 0, 1) ? std::max(state.most_gpus(), 1) : pick(random, 1, std::max(state.most_gpus(), 1));
  request.units = pick(random, 1, 9);
  if (pick(random, 0, 3) == 0) request.within_depth = pick(random, 0, state.depths() - 1);
  if (pick(random, 0, 3) == 0) {
    request.block_units = pick(random, 1, 3);
    request.block_depth = pick(random, 0, state.depths() - 1);
    request.units = (request.units + request.block_units - 1) / request.block_units * request.block_units;
  }
  return request;
}

TEST(Gang, IsOfLeastSpreadAsBruteForceFindsIt) {
  std::mt19937 random(20261201);
  GangPlacer placer;
  GangPlacement placement;
  int placed = 0;
  for (int i = 0; i < 60000; ++i) {
    ClusterState state(random_topology(random, pick(random, 1, 9)));
    make_busy(state, random);
    const GangRequest request = random_request(random, state);
    const bool with_nodes = state.most_gpus() / request.gpus_per_unit > 1;
    BruteForce truth{state, request, with_nodes};
    truth.run(0, request.units);
    ASSERT_EQ(placer.place(state, request, placement), truth.best.has_value()) << "case " << i;
    if (!truth.best) continue;
    ++placed;
    ASSERT_TRUE(meets(state, request, placement.shares)) << "case " << i;
    ASSERT_EQ(spread_of(state, placement.shares, with_nodes), *truth.best) << "case " << i;
    ASSERT_TRUE(placement.exact) << "case " << i;
    std::vector<int> said = placement.spread;
    if (with_nodes) said.push_back(placement.nodes);
    ASSERT_EQ(said, *truth.best) << "case " << i;
  }
  EXPECT_GT(placed, 15000);
}

TEST(Gang, CountsAreThoseOfAStateBuiltAnew) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const PlaceTopology topology = random_topology(random, 12);
    ClusterState state(topology);
    for (int change = 0; change < 50; ++change) {
      const int node = pick(random, 0, 11);
      if (pick(random, 0, 1)) {
        state.occupy(node, pick(random, 0, state.free_gpus(node)));
      } else {
        state.release(node, pick(random, 0, state.gpus(node) - state.free_gpus(node)));
      }
      if (pick(random, 0, 3) == 0) state.set_use(node, static_cast<NodeUse>(pick(random, 0, 2)));
    }
    ClusterState anew(topology);
    for (int node = 0; node < 12; ++node) {
      anew.occupy(node, state.gpus(node) - state.free_gpus(node));
      anew.set_use(node, state.use(node));
    }
    for (int id = 0; id < state.domains(); ++id) {
      EXPECT_THAT(state.free_counts(id), testing::ElementsAreArray(anew.free_counts(id)));
    }
  }
}

// Three leaves of 4, 3 and 2 nodes of 8 GPUs.
PlaceTopology three_leaves() { return {std::vector<int>(9, 8), {{"leaf", {0, 0, 0, 0, 1, 1, 1, 2, 2}}}}; }

TEST(Gang, TakesTheFullestLeafThatHoldsItAll) {
  const ClusterState state(three_leaves());
  GangPlacement placement;
  ASSERT_TRUE(GangPlacer().place(state, {.units = 2}, placement));
  EXPECT_THAT(placement.shares, ElementsAre(GangShare{7, 1}, GangShare{8, 1}));
  EXPECT_THAT(placement.spread, ElementsAre(1, 1));
}

TEST(Gang, TakesPreferredNodesWhereTheSpreadIsEqual) {
  ClusterState state(three_leaves());
  state.set_preferred(5, true);
  GangPlacement placement;
  ASSERT_TRUE(GangPlacer().place(state, {.units = 1}, placement));
  EXPECT_THAT(placement.shares, ElementsAre(GangShare{5, 1}));
}

TEST(Gang, SaysWhyItDoesNotFitAndWhatWouldHelp) {
  ClusterState state(three_leaves());
  for (const int node : {0, 1}) state.occupy(node, 8);
  state.occupy(4, 3);
  state.set_use(7, NodeUse::kForbidden);
  state.set_use(8, NodeUse::kUnhealthy);
  GangPlacer placer;
  GangPlacement placement;
  const GangRequest request{.units = 5};
  ASSERT_FALSE(placer.place(state, request, placement));
  const CannotFit why = placer.why_not(state, request);
  EXPECT_EQ(why.fitting, 4);
  EXPECT_EQ(why.nodes_busy, 3);
  EXPECT_EQ(why.nodes_forbidden, 1);
  EXPECT_EQ(why.nodes_unhealthy, 1);
  EXPECT_EQ(why.stranded_gpus, 5);
  EXPECT_THAT(why.nearest,
              ElementsAre("allow forbidden nodes: 1 more would do, they hold 1",
                          "wait for 1 unit of 8 GPUs to be freed (busy: 3)",
                          "repair unhealthy nodes: they hold 1 unit of 8 GPUs", "ask for 4 units of 8 GPUs"));
}

TEST(Gang, WithinOneDomainIsAConstraintThatIsNamedFirst) {
  const ClusterState state(three_leaves());
  GangPlacer placer;
  GangPlacement placement;
  const GangRequest request{.units = 5, .within_depth = 1};
  ASSERT_FALSE(placer.place(state, request, placement));
  EXPECT_EQ(placer.why_not(state, request).nearest.front(),
            "let it span several domains of level leaf: 9 units of 8 GPUs fit in the cluster");
}

// Exact and greedy differ: 3 pods of two leaves (5+5, 6+1, 6+1); 12 nodes need 2 pods, and the fewest leaves are 2+1…
TEST(Gang, OutermostDomainsCountBeforeInnerOnes) {
  PlaceTopology topology;
  topology.levels = {{"pod", {}}, {"leaf", {}}};
  const int sizes[3][2] = {{5, 5}, {6, 1}, {6, 1}};
  for (int pod = 0; pod < 3; ++pod) {
    for (int leaf = 0; leaf < 2; ++leaf) {
      for (int i = 0; i < sizes[pod][leaf]; ++i) {
        topology.gpus.push_back(8);
        topology.levels[0].domain.push_back(pod);
        topology.levels[1].domain.push_back(leaf);
      }
    }
  }
  const ClusterState state(topology);
  GangPlacement placement;
  ASSERT_TRUE(GangPlacer().place(state, {.units = 12}, placement));
  EXPECT_THAT(placement.spread, ElementsAre(1, 2, 2));  // 6 + 6, not the largest pod first
  EXPECT_TRUE(placement.exact);
}

}  // namespace
}  // namespace tare
