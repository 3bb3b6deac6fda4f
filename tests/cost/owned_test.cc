// An owned bill by hand: 8 nodes of 192,000 USD and 10 kW, at 80 % utilisation, for 100 h: 125 h paid.
#include <cmath>

#include <gtest/gtest.h>

#include "cost/bill_fixture.h"

namespace tare {
namespace {

using test::BillCase;
using test::find_bar;
using test::find_line;
using test::line_usd;

BillCase hundred_hours() {
  BillCase c(Purchase::kOwned);
  c.input.run.wall_s = 360000;
  c.input.run.wall_low_s.reset();
  c.input.run.wall_high_s.reset();
  c.input.run.it_energy_j = 8 * 10000.0 * 0.7 * 360000;  // 5,600 kWh
  c.input.run.hardware_failures = 2;
  return c;
}

// With the network 192,000 / 0.96 = 200,000 a node. Residual after five years at 0.2 decades a year: 10^−1 = 0.1.
//   a year: 200,000 · (0.9/5 + 0.1 · 1.1/2) = 200,000 · 0.235 = 47,000; 8 nodes, 125 of 8,760 h
constexpr double kCapital = 8 * 47000.0 * 125 / 8760;

TEST(Owned, CapitalByHand) {
  BillCase c = hundred_hours();
  EXPECT_NEAR(line_usd(c.bill(), "capital"), kCapital, 0.01);
  EXPECT_NEAR(line_usd(c.bill(), "spares"), 0.05 * kCapital, 0.01);
  c.input.nodes = 1;  // no network between nodes
  c.input.gpus = c.input.gpus_used = 8;
  EXPECT_NEAR(line_usd(c.bill(), "capital"), 192000 * 0.235 * 125 / 8760, 0.01);
}

TEST(Owned, NetworkByTiers) {
  BillCase c = hundred_hours();
  c.input.nodes = 128;
  EXPECT_NEAR(line_usd(c.bill(), "capital"), 128 * 192000 / 0.92 * 0.235 * 125 / 8760, 0.01);
  c.input.nodes = 4096;
  EXPECT_NEAR(line_usd(c.bill(), "capital"), 4096 * 192000 / 0.88 * 0.235 * 125 / 8760, 0.01);
}

// IT: 5,600 kWh of work, 25 idle hours · 80 kW · 0.2 = 400 kWh, switches 64 · 50 W · 125 h = 400 kWh.
//   6,400 kWh · PUE 1.5 · 0.1 USD/kWh = 960
TEST(Owned, PowerByHand) {
  BillCase c = hundred_hours();
  EXPECT_NEAR(line_usd(c.bill(), "power"), 960, 0.01);
  c.offer.region = "cn-east";
  EXPECT_NEAR(line_usd(c.bill(), "power"), 768, 0.01);
}

// 80 kW · 10 USD/W · (1/20 + 0.1/2) a year = 80,000 a year; 125 of 8,760 h.
TEST(Owned, SpaceByHand) { EXPECT_NEAR(line_usd(hundred_hours().bill(), "space"), 80000.0 * 125 / 8760, 0.01); }

// A colocation rate of 0.146 USD a watt and month holds space and cooling: 80 kW · 0.146 / 730 · 125 h = 2,000, power
// is the machines' 6,400 kWh · 0.1 without the PUE, and there is no building.
TEST(Owned, ColocationByHand) {
  BillCase c = hundred_hours();
  c.offer.ownership.colocation = true;
  const Bill bill = c.bill();
  EXPECT_NEAR(line_usd(bill, "colocation"), 2000, 0.01);
  EXPECT_NEAR(line_usd(bill, "power"), 640, 0.01);
  EXPECT_EQ(find_line(bill, "space"), nullptr);
  for (const FormulaInput& input : find_line(bill, "power")->formula.inputs) EXPECT_NE(input.name, "pue");
  EXPECT_NEAR(bill.energy_kwh.value(), 9600, 1e-6);  // the building's meter still turns
}

// Servers rated for air, cooled by liquid: a tenth less IT power, PUE 1.1 instead of 1.5.
//   6,400 · 0.9 · 1.1 · 0.1 = 633.60
TEST(Owned, LiquidCoolingByHand) {
  BillCase c = hundred_hours();
  c.offer.ownership.cooling = "liquid";
  EXPECT_NEAR(line_usd(c.bill(), "power"), 633.6, 0.01);
}

// A domain of nine nodes of 10 kW is a rack that air cannot cool; the rating is that of a liquid-cooled machine.
//   6,400 · 1.1 · 0.1 = 704
TEST(Owned, ADenseRackIsLiquidCooled) {
  BillCase c = hundred_hours();
  c.node_type.nvlink_domain = 72;
  EXPECT_NEAR(line_usd(c.bill(), "power"), 704, 0.01);
  c.offer.ownership.cooling = "air";
  EXPECT_NEAR(line_usd(c.bill(), "power"), 960, 0.01);
}

// Germany: 0.2 EUR · 1.1 = 0.22 USD/kWh on 9,600 kWh.
TEST(Owned, EuroTariffsAreConverted) {
  BillCase c = hundred_hours();
  c.offer.region = "eu-central-1";
  EXPECT_NEAR(line_usd(c.bill(), "power"), 2112, 0.01);
}

// The residual by scenario, of a node of 200,000 with its network over five years at 10 %: (1 − r)/5 + 0.1 · (1 + r)/2.
TEST(Owned, ResidualScenariosByHand) {
  BillCase c = hundred_hours();
  const auto capital = [](double r) { return 8 * 200000 * ((1 - r) / 5 + 0.1 * (1 + r) / 2) * 125 / 8760; };
  c.offer.ownership.residual = "decline";  // 0.75^5
  EXPECT_NEAR(line_usd(c.bill(), "capital"), capital(std::pow(0.75, 5)), 0.01);
  c.offer.ownership.residual = "table";  // no accelerator known: as an H100, marked
  EXPECT_NEAR(line_usd(c.bill(), "capital"), capital(std::pow(0.41, 5.0 / 3)), 0.01);
  bool marked = false;
  const Bill bill = c.bill();
  for (const FormulaInput& input : find_line(bill, "capital")->formula.inputs) {
    if (input.name == "residual_36_months") marked = input.assumed;
  }
  EXPECT_TRUE(marked);
  Accelerator a100;
  a100.id = "H100";
  a100.generation = GpuGeneration::kAmpere;
  c.catalog.accelerators.push_back(a100);
  c.offer.ownership.residual = "resale";
  EXPECT_NEAR(line_usd(c.bill(), "capital"), capital(std::pow(0.25, 5.0 / 3)), 0.01);
}

// 8 · 192,000 · 0.02 and · 0.05 a year, 125 of 8,760 h.
TEST(Owned, PartsAndSupportByHand) {
  const Bill bill = hundred_hours().bill();
  EXPECT_NEAR(line_usd(bill, "parts"), 8 * 192000 * 0.02 * 125 / 8760, 0.01);
  EXPECT_NEAR(line_usd(bill, "support"), 8 * 192000 * 0.05 * 125 / 8760, 0.01);
}

// Logs: 8,000 GPU-hours · 1e6 bytes for 10 months at 1e-11: 0.80. An audit of 87,600 a year is 10 an hour.
TEST(Owned, ComplianceByHand) {
  BillCase c = hundred_hours();
  EXPECT_NEAR(line_usd(c.bill(), "compliance"), 0.80, 0.01);
  c.input.certified = true;
  EXPECT_NEAR(line_usd(c.bill(), "compliance"), 1250.80, 0.01);
}

// 2 incidents · 0.5 h · 2 people = 2 h; staff 64 GPUs · 125 h / 400 GPUs per engineer · 1,760/8,760 = 4.018 h; 100
// USD/h.
TEST(Owned, OperationsByHand) {
  EXPECT_NEAR(line_usd(hundred_hours().bill(), "operations"), 100 * (2 + 64 * 125 / 400.0 * 1760 / 8760), 0.01);
}

// 3 checkpoints · 200e9 · 1.25 bytes at 2e-10 USD, (1/5 + 0.1/2) a year, 100 of 8,760 h.
TEST(Owned, StorageByHand) {
  EXPECT_NEAR(line_usd(hundred_hours().bill(), "storage"), 600e9 * 1.25 * 2e-10 * 0.25 * 100 / 8760, 0.01);
}

TEST(Owned, NoRent) {
  const Bill bill = hundred_hours().bill();
  EXPECT_EQ(find_line(bill, "rent"), nullptr);
  EXPECT_EQ(find_line(bill, "egress"), nullptr);
  // Of 8,000 GPU-hours paid, 1,600 are idle: a tenth of all is scattered so that no job fits, the rest found none.
  EXPECT_NEAR(find_bar(bill, "fragmentation")->gpu_hours, 800, 1e-9);
  EXPECT_NEAR(find_bar(bill, "unallocated")->gpu_hours, 800, 1e-9);
}

// Capital, power, space and spares are GPU time; storage and operations stand beside it.
TEST(Owned, GpuTimeIsSpreadOverTheBars) {
  const Bill bill = hundred_hours().bill();
  double gpu_time = 0;
  double bars = 0;
  for (const BillLine& line : bill.lines) gpu_time += line.gpu_time ? line.amount.usd : 0;
  for (const WaterfallBar& bar : bill.waterfall) bars += bar.gpu_hours > 0 ? bar.amount.usd : 0;
  EXPECT_NEAR(gpu_time, bars, 1e-6);
  EXPECT_EQ(find_bar(bill, "operations")->gpu_hours, 0);
  EXPECT_EQ(find_bar(bill, "capital"), nullptr);
}

// Half-known prices: the middle of a range, its one end, or the accelerators' price with the server around them.
TEST(Owned, NodePriceFromWhatIsKnown) {
  BillCase c = hundred_hours();
  c.node_type.capex_base_usd.reset();
  c.node_type.capex_low_usd = 144000;
  c.node_type.capex_high_usd = 240000;
  EXPECT_NEAR(line_usd(c.bill(), "capital"), kCapital, 0.01);
  c.node_type.capex_low_usd.reset();
  c.node_type.capex_high_usd.reset();
  EXPECT_FALSE(is_known(c.bill()));
  Accelerator accelerator;
  accelerator.id = "H100";
  accelerator.price_low_usd = 10000;
  accelerator.price_high_usd = 20000;  // 8 · 15,000 · 1.6 = 192,000
  c.catalog.accelerators.push_back(accelerator);
  EXPECT_NEAR(line_usd(c.bill(), "capital"), kCapital, 0.01);
}

TEST(Owned, UnknownPowerIsNotZero) {
  BillCase c = hundred_hours();
  c.node_type.node_power_w.reset();
  const Bill bill = c.bill();
  EXPECT_TRUE(is_known(bill));
  EXPECT_EQ(find_line(bill, "power"), nullptr);
  ASSERT_EQ(bill.unknown.size(), 2u);
  EXPECT_EQ(bill.unknown[0].substr(0, 6), "power:");
  EXPECT_EQ(bill.unknown[1].substr(0, 6), "space:");
}

// Capital cost moves capital, spares, space and storage at once: the total's swing is the sum of theirs.
TEST(Owned, ASharedCauseMovesAllItsLinesTogether) {
  BillCase c = hundred_hours();
  test::set(c.catalog, "wacc", 0.1, 0.1, 0.2);
  const Bill ranged = c.bill();
  test::set(c.catalog, "wacc", 0.2);
  const Bill dear = c.bill();
  EXPECT_NEAR(ranged.total.high_usd.value(), dear.total.usd, 0.02);
}

TEST(Owned, AParameterOfZeroIsNoCrash) {
  BillCase c = hundred_hours();
  test::set(c.catalog, "gpus_per_fte", 0);
  const Bill bill = c.bill();
  EXPECT_FALSE(is_known(bill));
  EXPECT_EQ(bill.unknown.at(0).substr(0, 11), "operations:");
}

}  // namespace
}  // namespace tare
