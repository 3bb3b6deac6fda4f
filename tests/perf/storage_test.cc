// Loading a step's data by hand, and the laws that any dataset keeps to.
#include "perf/storage.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

const Catalog& catalog() {
  static const Catalog shipped = load_catalog().value();
  return shipped;
}

void set(Catalog& c, const char* id, double base) {
  for (CostParameter& p : c.parameters) {
    if (p.id == id) p.base = base;
  }
}

// 4 bytes a token, node links of 1 GB/s, a store of 3 GB/s, no congestion, disks of 2 GB/s, 1,000 metadata operations a
// second, a third of the memory for caches.
Catalog round() {
  Catalog c = catalog();
  set(c, "data_bytes_per_token", 4);
  set(c, "page_cache_share", 0.5);
  set(c, "storage_congestion_ratio", 0);
  set(c, "checkpoint_node_bytes_per_s", 1e9);
  set(c, "checkpoint_load_bytes_per_s", 3e9);
  set(c, "metadata_ops_per_s", 1000);
  set(c, "metadata_round_trip_s", 0.001);
  set(c, "metadata_ops_per_shard", 2);
  set(c, "loader_workers_per_gpu", 4);
  set(c, "local_nvme_read_bytes_per_s", 2e9);
  return c;
}

// 120 GB, 60e9 tokens of 4 bytes: two epochs, in 6,000 steps of 40 MB.
DataInput two_epochs() {
  DataInput in;
  in.dataset_bytes = 120e9;
  in.tokens = 60e9;
  in.tokens_per_step = 10e6;
  in.nodes = 8;
  in.gpus = 64;
  return in;
}

TEST(Storage, ReadsFromTheStoreByHand) {
  const DataLoading loading = load_data(two_epochs(), round());
  EXPECT_DOUBLE_EQ(loading.epochs, 2);
  EXPECT_NEAR(loading.bytes_per_step, 40e6, 1e-3);
  EXPECT_EQ(loading.store_bytes_per_s, 3e9);  // min(8 · 1, 3) GB/s
  EXPECT_NEAR(loading.read_s, 40e6 / 3e9, 1e-12);
  DataInput two_nodes = two_epochs();
  two_nodes.nodes = 2;
  EXPECT_EQ(load_data(two_nodes, round()).store_bytes_per_s, 2e9);
}

TEST(Storage, FewerTokensThanTheDataHoldStillReadThemOnce) {
  DataInput in = two_epochs();
  in.tokens = 20e9;
  EXPECT_EQ(load_data(in, round()).epochs, 1);
  in.tokens = in.tokens_per_step / 2;  // shorter than a step: all in that step
  EXPECT_EQ(load_data(in, round()).bytes_per_step, 120e9);
}

// 15 GB a node on two disks of 2 GB/s each: 40 MB ÷ (8 · 4 GB/s) = 1.25 ms. Without affinity each node would need all
// 120 GB and 1/8 of that is local: 40 MB/8 ÷ 32 GB/s + 40 MB · 7/8 ÷ 3 GB/s.
TEST(Storage, AffinityKeepsReadsOnTheNode) {
  DataInput in = two_epochs();
  in.local_disks = 2;
  in.local_bytes = 15e9;
  const DataLoading loading = load_data(in, round());
  EXPECT_EQ(loading.local_ratio, 1);
  EXPECT_NEAR(loading.read_s, 0.00125, 1e-12);
  EXPECT_NEAR(loading.read_without_affinity_s, 40e6 / 8 / 32e9 + 40e6 * 7 / 8 / 3e9, 1e-12);
  EXPECT_NEAR(loading.affinity_saves_ratio, 1 - loading.read_s / loading.read_without_affinity_s, 1e-12);
  in.local_disk_bytes_per_s = 8e9;
  EXPECT_NEAR(load_data(in, round()).read_s, 0.00125 / 4, 1e-12);
}

// Memory of 30 GB a node, half of it cache: all 15 GB of its part; half the reads, those of the second epoch, are free.
TEST(Storage, ThePageCacheServesTheSecondEpoch) {
  DataInput in = two_epochs();
  in.host_memory_bytes = 30e9;
  DataLoading loading = load_data(in, round());
  EXPECT_DOUBLE_EQ(loading.cache_hit_ratio, 0.5);
  EXPECT_NEAR(loading.read_s, 20e6 / 3e9, 1e-12);
  in.host_memory_bytes = 15e9;  // half of its part: c + (1 − c) ln(1 − c) = 0.5 − 0.5 · 0.6931 = 0.1534
  loading = load_data(in, round());
  EXPECT_NEAR(loading.cache_hit_ratio, 0.5 * 0.1534264, 1e-6);
  in.affinity = false;  // 7.5 of 120 GB, any read as likely as any other
  EXPECT_DOUBLE_EQ(load_data(in, round()).cache_hit_ratio, 0.5 * 7.5 / 120);
}

// 6,000 shards in two epochs of 3,000 steps: 2 shards a step, 4 operations; 256 loaders keep 1,000 a second busy: 4 ms.
TEST(Storage, OpeningShardsWaitsInTheMetadataQueue) {
  DataInput in = two_epochs();
  in.shards = 6000;
  const DataLoading loading = load_data(in, round());
  EXPECT_NEAR(loading.metadata_s, 0.004, 1e-12);
  EXPECT_NEAR(loading.metadata.response_s, 0.256, 1e-9);
  in.local_disks = 1;
  in.local_bytes = 15e9;
  EXPECT_EQ(load_data(in, round()).metadata_s, 0);
}

TEST(Storage, CongestionTakesItsShareUnlessStorageHasItsOwnLinks) {
  Catalog c = round();
  set(c, "storage_congestion_ratio", 0.5);
  DataInput in = two_epochs();
  EXPECT_EQ(load_data(in, c).store_bytes_per_s, 1.5e9);
  in.storage_shares_fabric = false;
  EXPECT_EQ(load_data(in, c).store_bytes_per_s, 3e9);
}

// The article: I/O wait 142 → 11 ms, loading −68 %: true if waiting was 73.7 % of it. 1 − 11/142 = 0.9225.
TEST(Storage, ReductionOfTheArticle) {
  EXPECT_NEAR(loading_reduction(0.737, 142, 11), 0.68, 1e-3);
  EXPECT_NEAR(loading_reduction(1, 142, 11), 0.9225, 1e-4);
}

// A cache of least recently used items, run over epochs of random order.
TEST(Storage, LruOfReshuffledEpochsBySimulation) {
  constexpr int kItems = 1000;
  std::mt19937_64 random(7);
  for (const int cached : {100, 500, 900}) {
    std::vector<long long> last(kItems, -1);  // when it was read last
    std::vector<int> order(kItems);
    std::iota(order.begin(), order.end(), 0);
    long long time = 0;
    int hits = 0, reads = 0;
    for (int epoch = 0; epoch < 40; ++epoch) {
      std::shuffle(order.begin(), order.end(), random);
      for (const int item : order) {
        const auto at = last[static_cast<std::size_t>(item)];
        if (epoch > 0) {
          const auto newer = std::count_if(last.begin(), last.end(), [at](long long t) { return t > at; });
          hits += newer < cached;
          ++reads;
        }
        last[static_cast<std::size_t>(item)] = time++;
      }
    }
    EXPECT_NEAR(double(hits) / reads, reshuffled_lru_hit_ratio(cached / double(kItems)), 0.01) << cached;
  }
}

TEST(Storage, HitRatiosAtTheirEnds) {
  EXPECT_EQ(reshuffled_lru_hit_ratio(0), 0);
  EXPECT_EQ(reshuffled_lru_hit_ratio(1), 1);
  EXPECT_EQ(independent_hit_ratio(0.37), 0.37);
  EXPECT_EQ(independent_hit_ratio(2), 1);
}

TEST(Storage, NodeTypesThatSayNothingAreTakenToHoldWhatIsStaged) {
  Job job;
  job.data.bytes = 8e9;
  job.data.shards = 10;
  job.tokens = 1e9;
  job.global_batch = 100;
  job.sequence_length = 1000;
  NodeType type;
  DataInput in = data_input(job, type, 8, 64);
  EXPECT_TRUE(in.local_assumed);
  EXPECT_EQ(in.local_bytes, 1e9);
  EXPECT_EQ(in.tokens_per_step, 1e5);
  type.local_nvme_count = 0;
  type.local_nvme_bytes = 0;
  in = data_input(job, type, 8, 64);
  EXPECT_FALSE(in.local_assumed);
  EXPECT_EQ(load_data(in, catalog()).local_ratio, 0);
}

TEST(Storage, TheShippedCatalogHasItsParameters) {
  for (const std::string& id : data_parameter_ids()) EXPECT_NE(find_parameter(catalog(), id), nullptr) << id;
}

DataInput any_data() {
  DataInput in;
  in.dataset_bytes = *rc::gen::inRange(1, 1000) * 1e9;
  in.shards = *rc::gen::inRange(0, 100000);
  in.tokens = *rc::gen::inRange(1, 1000) * 1e9;
  in.tokens_per_step = *rc::gen::inRange(1, 100) * 1e5;
  in.nodes = *rc::gen::inRange(1, 64);
  in.gpus = 8 * in.nodes;
  in.local_disks = *rc::gen::inRange(0, 8);
  in.local_bytes = in.local_disks * *rc::gen::inRange(1, 100) * 1e9;
  in.host_memory_bytes = *rc::gen::inRange(0, 100) * 1e9;
  in.affinity = *rc::gen::arbitrary<bool>();
  in.storage_shares_fabric = *rc::gen::arbitrary<bool>();
  return in;
}

RC_GTEST_PROP(StorageProperty, EveryFormulaGivesItsValue, ()) {
  for (const Formula& f : load_data(any_data(), catalog()).formulas) {
    const Result<double> value = evaluate(f);
    RC_ASSERT(value.has_value());
    RC_ASSERT(std::abs(*value - f.value) <= 1e-9 * std::abs(f.value));
  }
}

RC_GTEST_PROP(StorageProperty, SharesAreSharesAndMoreHardwareNeverHurts, ()) {
  const DataInput in = any_data();
  const DataLoading loading = load_data(in, catalog());
  RC_ASSERT(loading.local_ratio >= 0 && loading.local_ratio <= 1);
  RC_ASSERT(loading.cache_hit_ratio >= 0 && loading.cache_hit_ratio <= 1);
  RC_ASSERT(loading.epochs >= 1);
  RC_ASSERT(std::abs(loading.read_s - (loading.local_s + loading.store_s + loading.metadata_s)) <= 1e-12);
  DataInput more = in;
  more.host_memory_bytes *= 2;
  RC_ASSERT(load_data(more, catalog()).read_s <= loading.read_s * (1 + 1e-12));
}

}  // namespace
}  // namespace tare
