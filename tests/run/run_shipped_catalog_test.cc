// The shipped parameters, and what they say of runs that were published.
#include <gtest/gtest.h>

#include "run/round_catalog.h"
#include "run/run.h"

namespace tare {
namespace {

class ShippedCatalog : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Catalog> loaded = load_catalog();
    ASSERT_TRUE(loaded.has_value()) << render(loaded.error());
    catalog_ = std::move(*loaded);
  }
  Catalog catalog_;
};

TEST_F(ShippedCatalog, HasEveryParameterOfARun) {
  for (const std::string& id : run_parameter_ids()) EXPECT_NE(find_parameter(catalog_, id), nullptr) << id;
}

// Dubey et al. 2024: 16,384 H100, 419 unexpected interruptions in 54 days, one in 3.1 hours; a store of 2 TB/s;
// effective time "higher than 90 %". The rest of the parameters are at their base. With the catalog's own store, which
// grows with the cluster, the same run comes out alike; at 20 GB/s, where a checkpoint of 5.7 TB takes five minutes to
// save and five to load, it would reach 85 %.
TEST_F(ShippedCatalog, Llama3IsInterruptedEveryThreeHours) {
  RunInput input = test::round_run();
  input.gpus = 16384;
  input.nodes = 2048;
  input.host = "bare_metal";
  input.purchase = Purchase::kOwned;
  input.step_time_s = 5.7;
  input.tokens_per_step = 16e6;
  input.tokens = input.tokens_per_step * 54 * 86400 / input.step_time_s;
  input.checkpoint_bytes = 405e9 * 14;
  EXPECT_GT(estimate_run(input, catalog_).goodput_ratio, 0.9);
  Catalog small = catalog_;
  test::set(small, "ckpt_bw_per_gpu", 0);
  const auto slow = estimate_run(input, small);
  EXPECT_NEAR(slow.mtti_s / 3600, 54 * 24 / 419.0, 0.01);
  EXPECT_NEAR(slow.goodput_ratio, 0.85, 0.02);
  Catalog fast = catalog_;
  test::set(fast, "ckpt_bw_shared", 2e12);
  test::set(fast, "checkpoint_load_bytes_per_s", 2e12);
  const auto run = estimate_run(input, fast);
  EXPECT_GT(run.goodput_ratio, 0.9);
  EXPECT_LT(run.goodput_ratio, 0.95);
}

// BLOOM: 2.3 TB saved in 40 s by 48 nodes. One of 384 A100 lost about weekly; the research cluster's rate says one in
// 77 h, since it counts every cause.
TEST_F(ShippedCatalog, BloomSavesInUnderAMinuteAtTheFastEnd) {
  RunInput input = test::round_run();
  input.gpus = 384;
  input.nodes = 48;
  input.generation = GpuGeneration::kAmpere;
  input.checkpoint.async = false;
  input.checkpoint_bytes = 2.3e12;
  Catalog fast = catalog_;
  test::set(fast, "ckpt_bw_shared", parameter(fast, "ckpt_bw_shared").high.value());
  EXPECT_NEAR(estimate_run(input, fast).checkpoint_block_s, 40, 2);
  EXPECT_NEAR(estimate_run(input, catalog_).mtti_s / 3600, 77, 1);
}

}  // namespace
}  // namespace tare
