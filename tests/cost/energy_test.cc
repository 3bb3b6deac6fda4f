// Energy, carbon and the floor under a token's energy.
#include "cost/energy.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/bill_fixture.h"
#include "cost/region.h"

namespace tare {
namespace {

using test::BillCase;

BillCase hundred_hours(Purchase purchase) {
  BillCase c(purchase);
  c.input.run.wall_s = 360000;
  c.input.run.it_energy_j = 8 * 10000.0 * 0.7 * 360000;  // 5,600 kWh
  return c;
}

// Rented by the second, 100 h: 5,600 kWh of the servers, switches 64 · 50 W · 100 h = 320 kWh; PUE 1.5; 400 g/kWh.
TEST(Energy, OfARentedRunByHand) {
  const Bill bill = hundred_hours(Purchase::kOnDemand).bill();
  EXPECT_NEAR(bill.it_kwh.value(), 5920, 1e-9);
  EXPECT_NEAR(bill.energy_kwh.value(), 8880, 1e-9);
  EXPECT_NEAR(bill.co2e_kg.value(), 3552, 1e-9);
  EXPECT_NEAR(bill.joules_per_token.value(), 5600 * 3.6e6 / 1e10, 1e-9);
  EXPECT_EQ(test::find_line(bill, "power"), nullptr);  // information: a rented hour contains it
}

// Owned: 25 h idle at 0.2 · 80 kW = 400 kWh, switches for 125 h = 400 kWh. The line `power` is that energy's price.
TEST(Energy, OfAnOwnedRunIsWhatItsPowerLinePays) {
  const Bill bill = hundred_hours(Purchase::kOwned).bill();
  EXPECT_NEAR(bill.it_kwh.value(), 6400, 1e-9);
  EXPECT_NEAR(test::line_usd(bill, "power"), bill.energy_kwh.value() * 0.1, 0.01);
}

TEST(Energy, UnknownPowerIsUnknownEnergy) {
  BillCase c = hundred_hours(Purchase::kOnDemand);
  c.node_type.node_power_w.reset();
  const Bill bill = c.bill();
  EXPECT_FALSE(bill.it_kwh || bill.energy_kwh || bill.co2e_kg || bill.joules_per_token);
}

Accelerator h100() {
  Accelerator accelerator;
  accelerator.id = "H100";
  accelerator.tdp_w = 700;
  return accelerator;
}

// Llama-2-7B: 40.4e9 FLOPs a token at 989e12 FLOP/s and 700 W take 28.6 mJ, at half of it 14.3 mJ: 12.8 mJ cannot be.
TEST(Energy, BelowTheFloorIsRefused) {
  BillCase c = hundred_hours(Purchase::kOwned);
  c.catalog.accelerators.push_back(h100());
  c.input.model_flops_per_token = 40.4e9;
  c.input.peak_flops = 989e12;
  c.input.run.it_energy_j = 0.0143 * c.input.tokens;
  EXPECT_TRUE(c.bill().joules_per_token.has_value());
  c.input.run.it_energy_j = 0.0128 * c.input.tokens;
  const Bill bill = c.bill();
  EXPECT_FALSE(bill.joules_per_token || bill.energy_kwh);
  EXPECT_EQ(test::find_line(bill, "power"), nullptr);
  ASSERT_EQ(bill.unknown.size(), 2u);
  EXPECT_NE(bill.unknown[0].find("0.0128 J per token is below the 0.0143 J"), std::string::npos) << bill.unknown[0];
}

TEST(Energy, RegionsByTheirNames) {
  EXPECT_EQ(country_of("us-east-1"), "USA");
  EXPECT_EQ(country_of("EastUS2"), "USA");
  EXPECT_EQ(country_of("eu-west-1"), "IRL");
  EXPECT_EQ(country_of("eu-west-3"), "FRA");
  EXPECT_EQ(country_of("eu-south-1"), "EU");
  EXPECT_EQ(country_of("europe-west4"), "NLD");
  EXPECT_EQ(country_of("europe-west9"), "FRA");
  EXPECT_EQ(country_of("swedencentral"), "SWE");
  EXPECT_EQ(country_of("ap-southeast-1"), "SGP");
  EXPECT_EQ(country_of("cn-beijing"), "CHN");
  EXPECT_EQ(country_of("*"), "");
  EXPECT_EQ(country_of("mars"), "");
}

TEST(Energy, WhatARegionDoesNotTellIsMarked) {
  const Result<Catalog> catalog = load_catalog();
  ASSERT_TRUE(catalog.has_value());
  EXPECT_FALSE(grid_intensity("us-east-1", *catalog).input.assumed);
  EXPECT_TRUE(grid_intensity("*", *catalog).input.assumed);
  EXPECT_EQ(grid_intensity("*", *catalog).input.value, 369.5);
  EXPECT_TRUE(grid_intensity("europe-west4", *catalog).input.assumed);  // the Netherlands have no row
  EXPECT_FALSE(tariff_of("eu-west-1", *catalog).inputs[0].input.assumed);
  EXPECT_EQ(tariff_of("eu-west-1", *catalog).expression, "eur_per_kwh * usd_per_eur");
  EXPECT_TRUE(tariff_of("*", *catalog).inputs[0].input.assumed);
}

double log_uniform(double low, double high) { return low * std::pow(high / low, *rc::gen::inRange(0, 100001) / 1e5); }

// Whatever the machine, the model and the rating that somebody wrote: no estimate is below the floor, and a token of a
// machine that is rated above its chips always has one.
RC_GTEST_PROP(EnergyProperties, NoEstimateIsBelowTheFloor, ()) {
  BillCase c(*rc::gen::element(Purchase::kOnDemand, Purchase::kOwned));
  c.catalog.accelerators.push_back(h100());
  c.input.peak_flops = log_uniform(1e13, 1e16);
  c.input.model_flops_per_token = log_uniform(1e8, 1e13);
  c.offer.ownership.cooling = *rc::gen::element("auto", "air", "liquid");
  RunInput run = test::round_run();
  run.purchase = c.offer.purchase;
  const double mfu = *rc::gen::inRange(1, 101) / 100.0;
  run.step_time_s = c.input.model_flops_per_token * run.tokens_per_step / (64 * c.input.peak_flops) / mfu;
  run.kernel_busy_ratio = *rc::gen::inRange(0, 101) / 100.0;
  c.node_type.node_power_w = log_uniform(10, 1e5);
  run.node_power_w = c.node_type.node_power_w;
  c.input.step_time_s = run.step_time_s;
  c.input.run = estimate_run(run, c.catalog);
  if (!c.input.run.finishes) return;
  const Bill bill = c.bill();
  const double floor = c.input.model_flops_per_token / c.input.peak_flops * 700 * 0.5;
  if (bill.joules_per_token) RC_ASSERT(*bill.joules_per_token >= floor);
  if (*c.node_type.node_power_w >= 8 * 700) RC_ASSERT(bill.joules_per_token.has_value());
  if (bill.energy_kwh) RC_ASSERT(*bill.energy_kwh >= *bill.it_kwh);
}

// The marginal checkpoint: stalls of P/3600 · δ against failures · T²/(3600 + T)/2 saved, at the price of a second.
TEST(Energy, OneMoreCheckpointAnHourByHand) {
  BillCase c = hundred_hours(Purchase::kOnDemand);
  auto& run = c.input.run;
  run.productive_s = 340000;
  run.startup_s = 10000;
  run.checkpoint_stall_s = 0;
  run.checkpoint_block_s = 9;
  run.failures = 0.1;
  run.checkpoint_interval_s = 1800;
  const double seconds = 340000 / 3600.0 * 9 - 0.1 * (1800 - 1200) / 2.0;
  EXPECT_NEAR(c.bill().checkpoint_marginal_usd.value(), 12800 * seconds / 350000, 1e-6);
}

}  // namespace
}  // namespace tare
