#include "run/run_json.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "run/round_catalog.h"

namespace tare {
namespace {

TEST(RunJson, NumbersInBaseUnits) {
  RunInput input = test::round_run();
  input.node_power_w = 10200;
  const auto run = estimate_run(input, test::round_catalog());
  const Json json = to_json(run);
  EXPECT_EQ(json.at("wall_s"), run.wall_s);
  EXPECT_EQ(json.at("gpu_hours"), run.gpu_hours);
  EXPECT_EQ(json.at("goodput_ratio"), run.goodput_ratio);
  EXPECT_EQ(json.at("checkpoint").at("durable_s"), 21);
  EXPECT_EQ(json.at("it_energy_j"), run.it_energy_j);
  EXPECT_EQ(json.begin().key(), "finishes");
}

TEST(RunJson, WhatIsInfiniteIsNull) {
  Catalog catalog = test::round_catalog();
  test::set(catalog, "gpu_failures_per_gpu_h", 1);
  const Json json = to_json(estimate_run(test::round_run(), catalog));
  EXPECT_EQ(json.at("finishes"), false);
  EXPECT_TRUE(json.at("wall_s").is_null());
  EXPECT_TRUE(json.at("gpu_hours").is_null());
  EXPECT_EQ(json.at("goodput_ratio"), 0);
  EXPECT_FALSE(json.contains("wall_high_s"));
}

}  // namespace
}  // namespace tare
