#include "place/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare {
namespace {

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

// Sixteen H100 nodes whose names go round four leaves of four, uplinks for a sixteenth of what their nodes send.
Cluster round_robin_cluster() {
  const std::string text = R"(
[cluster]
name = "hall"
price = { usd_per_gpu_h = 2.0, date = "2026-11-01" }
[node_type.hgx]
gpus = { model = "H100-SXM5-80GB", count = 8 }
nics = { model = "CX-7 NDR", count = 8, rate = "400Gb/s", rails = true }
[[node]]
names = "n[1-16]"
type = "hgx"
[fabric]
leaves = [
  { name = "a", nodes = ["n1", "n5", "n9", "n13"], uplink = "800Gb/s" },
  { name = "b", nodes = ["n2", "n6", "n10", "n14"], uplink = "800Gb/s" },
  { name = "c", nodes = ["n3", "n7", "n11", "n15"], uplink = "800Gb/s" },
  { name = "d", nodes = ["n4", "n8", "n12", "n16"], uplink = "800Gb/s" },
]
)";
  return parse_cluster(text, "hall.toml", catalog()).value();
}

PlaceRequest request(int gpus) {
  const std::string text = R"(
[job]
name = "13B"
model = "llama-2-13b"
method = "full"
tokens = 1e9
sequence_length = 4096
global_batch = 256
precision = "bf16"
stack = "megatron-bridge"
)";
  PlaceRequest request;
  request.plan.job = parse_job(text, "job.toml", catalog()).value();
  request.plan.as_of = parse_date("2026-11-30").value();
  request.plan.threads = 1;
  request.gpus = gpus;
  return request;
}

JobPlacement placed(const PlaceRequest& request, const Cluster& cluster) {
  const Result<PlaceOutcome> outcome = place_job(request, catalog(), cluster);
  return std::get<JobPlacement>(outcome.value());
}

TEST(Placement, IsNoSlowerThanTheNaiveOneAndNoFasterThanTheBound) {
  const Cluster cluster = round_robin_cluster();
  for (const int gpus : {8, 16, 32, 64, 128}) {
    const JobPlacement placement = placed(request(gpus), cluster);
    EXPECT_LE(placement.predicted.step.step_time_s, placement.naive.step.step_time_s) << gpus;
    EXPECT_GE(placement.predicted.step.step_time_s, placement.bound_step_time_s * (1 - 1e-12)) << gpus;
    EXPECT_DOUBLE_EQ(placement.predicted.step.step_time_s, placement.choices.front().step_time_s) << gpus;
    EXPECT_EQ(placement.ranks.size(), static_cast<std::size_t>(gpus));
    EXPECT_TRUE(placement.gang.exact);
  }
}

// Four nodes: a leaf holds them; the first free ones lie in four leaves, and their rings cross an uplink at every hop.
TEST(Placement, OneLeafInsteadOfFourSavesTimeAndMoney) {
  const JobPlacement placement = placed(request(32), round_robin_cluster());
  EXPECT_EQ(placement.leaves, 1);
  EXPECT_EQ(placement.naive_leaves, 4);
  EXPECT_LT(placement.predicted.step.step_time_s, placement.naive.step.step_time_s);
  EXPECT_LT(placement.predicted.bill.total.usd, placement.naive.bill.total.usd);
}

TEST(Placement, TensorParallelRanksShareANode) {
  PlaceRequest asked = request(64);
  asked.plan.space.tp = {8};
  const JobPlacement placement = placed(asked, round_robin_cluster());
  for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
    const auto node_of = [&](std::size_t r) {
      return placement.seats.node[static_cast<std::size_t>(placement.ranks[r].seat)];
    };
    EXPECT_EQ(node_of(rank), node_of(rank - rank % 8));
  }
}

TEST(Placement, BusyForbiddenAndUnhealthyNodesAreNotTaken) {
  PlaceRequest asked = request(64);
  asked.busy = {{0, 8}, {1, 1}};
  asked.forbidden = {2, 3};
  asked.unhealthy = {4};
  const JobPlacement placement = placed(asked, round_robin_cluster());
  ASSERT_EQ(placement.nodes.size(), 8U);
  for (const int node : placement.nodes) EXPECT_GT(node, 4);
}

TEST(Placement, ASizeThatDoesNotFitIsCounted) {
  PlaceRequest asked = request(128);
  asked.busy = {{0, 8}};
  const Result<PlaceOutcome> outcome = place_job(asked, catalog(), round_robin_cluster());
  const auto& why = std::get<CannotFit>(outcome.value());
  EXPECT_EQ(why.units, 16);
  EXPECT_EQ(why.fitting, 15);
  EXPECT_EQ(why.nodes_busy, 1);
}

}  // namespace
}  // namespace tare
