#include "perf/collective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "perf/perf_examples.h"

namespace tare {
namespace {

using test::exact_constants;
using test::hgx_like;
using test::round_machine;

double time_of(Collective kind, double bytes, const Machine& machine, int ranks, int stride = 1) {
  return collective_s(kind, bytes, machine, place_group(machine, ranks, stride), 1, exact_constants());
}

TEST(PlaceGroup, NeighboursFillADomain) {
  const GroupPlace place = place_group(round_machine(64), 16, 1);
  EXPECT_EQ(place.in_domain, 8);
  EXPECT_EQ(place.in_node, 8);
  EXPECT_FALSE(place.across_leaves);
}

TEST(PlaceGroup, StridesLeaveFewerInADomain) {
  EXPECT_EQ(place_group(round_machine(64), 16, 4).in_node, 2);
  EXPECT_EQ(place_group(round_machine(64), 8, 8).in_node, 1);
  EXPECT_EQ(place_group(round_machine(64), 2, 2).in_node, 2);
}

TEST(PlaceGroup, ADomainMaySpanNodes) {
  Machine machine = round_machine(144);
  machine.gpus_per_node = 4;
  machine.domain_gpus = 72;
  EXPECT_EQ(place_group(machine, 64, 1).in_node, 64);
}

// A ring of n moves 2(n−1)/n of the buffer over each link: 2·7/8·8 GB at 100 GB/s.
TEST(Collective, RingAllReduce) {
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllReduce, 8e9, round_machine(8), 8), 2 * 7.0 / 8 * 8e9 / 100e9);
}

TEST(Collective, ReduceScatterAndAllGatherAreHalves) {
  const Machine machine = round_machine(8);
  const double whole = time_of(Collective::kAllReduce, 8e9, machine, 8);
  EXPECT_DOUBLE_EQ(time_of(Collective::kReduceScatter, 8e9, machine, 8), whole / 2);
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllGather, 8e9, machine, 8), whole / 2);
}

TEST(Collective, OneRankAndNoBytesAreFree) {
  EXPECT_EQ(time_of(Collective::kAllReduce, 8e9, round_machine(8), 1), 0);
  EXPECT_EQ(time_of(Collective::kAllReduce, 0, round_machine(8), 8), 0);
}

// Sixteen neighbours over two nodes: eight network links of 10 GB/s carry the ring out, 80 GB/s < 100 GB/s.
TEST(Collective, AllLinksOfANodeCarryTheRing) {
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllReduce, 8e9, round_machine(16), 16), 2 * 15.0 / 16 * 8e9 / 80e9);
}

// Stride 8: one rank a node, one link of 10 GB/s.
TEST(Collective, OneRankANodeHasOneLink) {
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllReduce, 8e9, round_machine(64), 8, 8), 2 * 7.0 / 8 * 8e9 / 10e9);
}

// All-to-all of 16 over two nodes: 8 of a rank's 15 messages cross its own link of 10 GB/s.
TEST(Collective, AllToAllSendsItsRemoteShareOverOneLink) {
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllToAll, 8e9, round_machine(16), 16), 15.0 / 16 * 8e9 / (10e9 / (8.0 / 15)));
}

TEST(Collective, OversubscribedLeavesShareTheirUplinks) {
  Machine machine = round_machine(64);
  machine.gpus_per_leaf = 32;
  machine.oversubscription = 4;
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllReduce, 8e9, machine, 32, 1), 2 * 31.0 / 32 * 8e9 / 80e9);
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllReduce, 8e9, machine, 64, 1), 2 * 63.0 / 64 * 8e9 / 20e9);
}

// Bridged pairs: the ring leaves a domain of two over two PCIe links of 25 GB/s.
TEST(Collective, BareLinksInsideANode) {
  Machine machine = round_machine(8);
  machine.domain_gpus = 2;
  EXPECT_DOUBLE_EQ(time_of(Collective::kAllReduce, 8e9, machine, 8), 2 * 7.0 / 8 * 8e9 / 50e9);
}

// A ring of eight on one node has seven hops each way; trees have log₂ n + 1 and win once rings grow.
TEST(Collective, LatencyOfTheCheaperAlgorithm) {
  Machine machine = round_machine(512);
  machine.in_domain.latency_s = machine.between_nodes.latency_s = 1e-6;
  const double hops_of_8 = time_of(Collective::kAllReduce, 8, machine, 8) / 2e-6;
  EXPECT_NEAR(hops_of_8, std::min(7.0, std::log2(8.0) + 1), 1e-3);
  const double hops_of_512 = time_of(Collective::kAllReduce, 8, machine, 512) / 2e-6;
  EXPECT_NEAR(hops_of_512, std::log2(512.0) + 1, 1e-3);
}

// At the half size a message reaches half of the bandwidth.
TEST(Collective, SmallMessagesReachLess) {
  StepConstants constants = exact_constants();
  constants.half_size_bytes = 8e6;
  const Machine machine = round_machine(8);
  const double time = collective_s(Collective::kAllGather, 8e6, machine, place_group(machine, 8, 1), 1, constants);
  EXPECT_DOUBLE_EQ(time, 7.0 / 8 * 8e6 / (100e9 / 2));
}

TEST(PointToPoint, OverTheLinkItNeeds) {
  const Machine machine = round_machine(64);
  EXPECT_DOUBLE_EQ(point_to_point_s(1e9, machine, 4, 1, exact_constants()), 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(point_to_point_s(1e9, machine, 8, 1, exact_constants()), 1e9 / 10e9);
  Machine pairs = machine;
  pairs.domain_gpus = 2;
  EXPECT_DOUBLE_EQ(point_to_point_s(1e9, pairs, 4, 1, exact_constants()), 1e9 / 25e9);
}

Machine any_machine() {
  Machine machine = hgx_like(4096);
  machine.domain_gpus = *rc::gen::element(1, 2, 4, 8, 72);
  machine.gpus_per_node = *rc::gen::element(4, 8);
  machine.in_domain.bytes_per_s = *rc::gen::element(25e9, 300e9, 900e9);
  // Network cards hang off PCIe: no faster than it, nor nearer.
  machine.in_node = {LinkKind::kPcie, std::min(machine.in_domain.bytes_per_s, 50e9), 4e-6};
  machine.between_nodes = {LinkKind::kNetwork, *rc::gen::element(1e9, 12.5e9, 25e9), *rc::gen::element(5e-6, 30e-6)};
  machine.gpus_per_leaf = *rc::gen::element(0, 64, 256);
  machine.oversubscription = *rc::gen::element(1.0, 2.0, 8.0);
  return machine;
}

// As many ranks at the same stride, or more: never less time, inside a node and across.
RC_GTEST_PROP(CollectiveProperties, NeverCheaperAsTheGroupGrows, ()) {
  const Machine machine = any_machine();
  const auto kind = *rc::gen::element(Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather,
                                      Collective::kAllToAll);
  const double bytes = *rc::gen::element(1e3, 1e6, 1e8, 1e10);
  const int stride = *rc::gen::element(1, 2, 4, 8, 16);
  const int ranks = *rc::gen::inRange(1, 256);
  const int more = ranks + *rc::gen::element(1, 2, ranks, 3 * ranks);
  const auto time = [&](int n) {
    return collective_s(kind, bytes, machine, place_group(machine, n, stride), 0.8, default_constants());
  };
  RC_ASSERT(time(more) >= time(ranks) * (1 - 1e-12));
}

RC_GTEST_PROP(CollectiveProperties, NeverCheaperFurtherApart, ()) {
  const Machine machine = any_machine();
  const auto kind = *rc::gen::element(Collective::kAllReduce, Collective::kAllGather, Collective::kAllToAll);
  const int stride = *rc::gen::element(1, 2, 4, 8, 16);
  const int ranks = *rc::gen::inRange(2, 256);
  const auto time = [&](int apart) {
    return collective_s(kind, 1e8, machine, place_group(machine, ranks, apart), 0.8, default_constants());
  };
  RC_ASSERT(time(2 * stride) >= time(stride) * (1 - 1e-12));
}

// A message to another leaf gets 1 ÷ oversubscription of the network; one within the leaf all of it.
TEST(PointToPoint, UplinksAreShared) {
  Machine machine;
  machine.gpus_per_node = machine.domain_gpus = 8;
  machine.between_nodes = {LinkKind::kNetwork, 50e9, 0};
  machine.gpus_per_leaf = 32;
  machine.oversubscription = 4;
  StepConstants constants;
  constants.half_size_bytes = 0;
  EXPECT_DOUBLE_EQ(point_to_point_s(1e9, machine, 8, 1, constants), 1e9 / 50e9);
  EXPECT_DOUBLE_EQ(point_to_point_s(1e9, machine, 32, 1, constants), 4e9 / 50e9);
}

}  // namespace
}  // namespace tare
