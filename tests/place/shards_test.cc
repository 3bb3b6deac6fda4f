#include "place/shards.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare {
namespace {

using testing::ElementsAre;

// Three disks of 1, 2 and 4 bytes a second and 14 shards of a byte: 2, 4, 8 shards, all done after 2 s = 14 / 7. Round
// robin gives 5, 5, 4: the slow one takes 5 s.
TEST(Shards, FastDisksTakeMore) {
  const ShardPlan plan = place_shards(14, 1, {{0, 1}, {0, 2}, {1, 4}});
  EXPECT_THAT(plan.shards_of, ElementsAre(2, 4, 8));
  EXPECT_DOUBLE_EQ(plan.read_s, 2);
  EXPECT_DOUBLE_EQ(plan.bound_s, 2);
  EXPECT_DOUBLE_EQ(plan.round_robin_s, 5);
  EXPECT_THAT(plan.checkpoint_disk, ElementsAre(0, 2));
  EXPECT_DOUBLE_EQ(plan.failed_node_bytes, 8);
}

// The disk of 4 B/s has room for 4 shards: full after 1 s; the 10 others on 3 B/s: 10 / 3 s; in whole
// shards 3 and 7: max(3 / 1, 7 / 2) = 3.5 s.
TEST(Shards, FullDisksLeaveTheRestToOthers) {
  const ShardPlan plan = place_shards(14, 1, {{0, 1}, {0, 2}, {1, 4, 0, 4}});
  EXPECT_THAT(plan.shards_of, ElementsAre(3, 7, 4));
  EXPECT_DOUBLE_EQ(plan.bound_s, 10.0 / 3);
  EXPECT_DOUBLE_EQ(plan.read_s, 3.5);
}

TEST(Shards, SayWhenThereIsNoRoom) { EXPECT_TRUE(place_shards(3, 1, {{0, 1, 0, 2}}).disk_of.empty()); }

double brute_force(int shards, const std::vector<ShardDisk>& disks, std::size_t disk, double slowest) {
  if (disk == disks.size()) return shards == 0 ? slowest : INFINITY;
  double best = INFINITY;
  const int most = disks[disk].bytes > 0 ? static_cast<int>(disks[disk].bytes) : shards;
  for (int count = 0; count <= std::min(shards, most); ++count) {
    const double own = std::max(slowest, count / disks[disk].read_bytes_per_s);
    best = std::min(best, brute_force(shards - count, disks, disk + 1, own));
  }
  return best;
}

TEST(Shards, AreOptimalAsBruteForceFindsIt) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> small(1, 9);
  for (int i = 0; i < 2000; ++i) {
    std::vector<ShardDisk> disks;
    for (int d = small(random) % 4; d >= 0; --d) {
      disks.push_back({0, double(small(random)), 0, small(random) > 5 ? double(small(random)) : 0});
    }
    const int shards = small(random) + small(random);
    const ShardPlan plan = place_shards(shards, 1, disks);
    const double best = brute_force(shards, disks, 0, 0);
    ASSERT_EQ(plan.disk_of.empty(), !std::isfinite(best));
    if (plan.disk_of.empty()) continue;
    EXPECT_DOUBLE_EQ(plan.read_s, best);
    EXPECT_LE(plan.bound_s, best * (1 + 1e-12));
  }
}

// The bar: within 3 % of the linear program's bound, from some tens of shards per disk on.
TEST(Shards, AreWithinThreePerCentOfTheBoundOnUnequalDisks) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> rate(0.2e9, 7e9);
  for (int i = 0; i < 200; ++i) {
    std::vector<ShardDisk> disks;
    for (int d = 0; d < 32; ++d) disks.push_back({d, rate(random)});
    const ShardPlan plan = place_shards(4096, 15e6, disks);
    EXPECT_LE(plan.read_s, 1.03 * plan.bound_s);
    EXPECT_GE(plan.round_robin_s, plan.read_s);
  }
}

}  // namespace
}  // namespace tare
