// A rented bill by hand. 64 GPUs at 16 USD an hour for 8: 2 USD per GPU-hour.
#include <gtest/gtest.h>

#include "cost/bill_fixture.h"

namespace tare {
namespace {

using test::BillCase;
using test::find_bar;
using test::find_line;
using test::line_usd;

BillCase with_wall(Purchase purchase, double wall_s) {
  BillCase c(purchase);
  c.input.run.wall_s = wall_s;
  c.input.run.wall_low_s.reset();
  c.input.run.wall_high_s.reset();
  return c;
}

// 100 h · 64 · 2 = 12,800.
TEST(Rented, RentByHand) {
  BillCase c = with_wall(Purchase::kOnDemand, 360000);
  const Bill bill = c.bill();
  EXPECT_DOUBLE_EQ(line_usd(bill, "rent"), 12800);
  EXPECT_DOUBLE_EQ(bill.billed_gpu_hours, 6400);
  EXPECT_TRUE(bill.unknown.empty());
}

// 100 h and one second: the period is rounded up, the minimum is paid.
TEST(Rented, BillingPeriodAndMinimum) {
  BillCase c = with_wall(Purchase::kOnDemand, 360001);
  c.offer.billing_period = "hour";
  EXPECT_DOUBLE_EQ(line_usd(c.bill(), "rent"), 101 * 128);
  c.offer.billing_period = "minute";
  EXPECT_NEAR(line_usd(c.bill(), "rent"), (100 + 1 / 60.0) * 128, 0.01);
  c.offer.billing_period = "week";
  EXPECT_DOUBLE_EQ(line_usd(c.bill(), "rent"), 168 * 128);
  c.offer.billing_period = "month";
  EXPECT_DOUBLE_EQ(line_usd(c.bill(), "rent"), 730 * 128);
  c.offer.billing_period = "second";
  c.offer.billing_minimum_s = 200 * 3600;
  EXPECT_DOUBLE_EQ(line_usd(c.bill(), "rent"), 200 * 128);
  // What is billed and not run is held for nothing.
  EXPECT_NEAR(find_bar(c.bill(), "unallocated")->gpu_hours, 64 * (200 - 360001 / 3600.0), 1e-9);
}

TEST(Rented, AnUnknownPeriodIsTakenAsAnHourAndMarked) {
  BillCase c = with_wall(Purchase::kOnDemand, 360001);
  c.offer.billing_period = "";
  const Bill bill = c.bill();
  EXPECT_DOUBLE_EQ(line_usd(bill, "rent"), 101 * 128);
  bool marked = false;
  for (const FormulaInput& input : find_line(bill, "rent")->formula.inputs) {
    if (input.name == "billing_period_s") marked = input.assumed;
  }
  EXPECT_TRUE(marked);
}

// Reserved: 100 h at 80 % utilisation are 125 h paid.
TEST(Rented, AReservationPaysItsIdleHours) {
  BillCase c = with_wall(Purchase::kReserved, 360000);
  const Bill bill = c.bill();
  EXPECT_DOUBLE_EQ(line_usd(bill, "rent"), 125 * 128);
  EXPECT_NEAR(find_bar(bill, "unallocated")->gpu_hours + find_bar(bill, "fragmentation")->gpu_hours, 25 * 64, 1e-9);
}

// A job on 60 of 64 GPUs: 4 stand idle for 100 h.
TEST(Rented, UnusedGpusOfANodeArePaid) {
  BillCase c = with_wall(Purchase::kOnDemand, 360000);
  c.input.gpus_used = 60;
  const Bill bill = c.bill();
  EXPECT_DOUBLE_EQ(line_usd(bill, "rent"), 12800);
  EXPECT_NEAR(find_bar(bill, "unallocated")->gpu_hours, 400, 1e-9);
}

// Three of the checkpoints are kept: (3 · 200e9 + 120e9) bytes at 1e-10 USD for 100 of 730 h.
TEST(Rented, StorageByHand) {
  BillCase c = with_wall(Purchase::kOnDemand, 360000);
  c.input.run.data_bytes = 120e9;
  ASSERT_GT(c.input.run.checkpoints, 3);
  EXPECT_NEAR(line_usd(c.bill(), "storage"), 720e9 * 1e-10 * 100 / 730, 0.01);
  c.input.run.checkpoints = 1;
  EXPECT_NEAR(line_usd(c.bill(), "storage"), 320e9 * 1e-10 * 100 / 730, 0.01);
}

// 200 GB at 0.09 USD/GB leave a large cloud; elsewhere the line says that it is nothing.
TEST(Rented, EgressByProvider) {
  BillCase c = with_wall(Purchase::kOnDemand, 360000);
  EXPECT_EQ(line_usd(c.bill(), "egress"), 0);
  c.offer.provider = "aws";
  EXPECT_NEAR(line_usd(c.bill(), "egress"), 18, 0.01);
}

// 4 failures · half an hour · 2 people · 100 USD/h. The provider's own staff is in the rent.
TEST(Rented, OperationsByHand) {
  BillCase c = with_wall(Purchase::kOnDemand, 360000);
  c.input.run.hardware_failures = 4;
  EXPECT_NEAR(line_usd(c.bill(), "operations"), 400, 0.01);
}

// The lowest and highest region bound the price: 1.5 and 3 USD per GPU-hour.
TEST(Rented, PriceRange) {
  BillCase c = with_wall(Purchase::kOnDemand, 360000);
  c.offer.price_low_usd_per_h = 12;
  c.offer.price_high_usd_per_h = 24;
  const BillLine rent = *find_line(c.bill(), "rent");
  EXPECT_NEAR(rent.amount.low_usd.value(), 9600, 0.01);
  EXPECT_NEAR(rent.amount.high_usd.value(), 19200, 0.01);
}

// What owning costs is in the rent, and cannot stand beside it.
TEST(Rented, NoCostOfOwning) {
  for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved}) {
    const Bill bill = BillCase(purchase).bill();
    EXPECT_NE(find_line(bill, "rent"), nullptr);
    for (const char* id : {"capital", "power", "cooling", "space", "colocation", "spares", "parts", "support"})
      EXPECT_EQ(find_line(bill, id), nullptr);
  }
}

TEST(Rented, WithoutAPriceThereIsNoBill) {
  BillCase c(Purchase::kOnDemand);
  c.offer.price_usd_per_h.reset();
  const Bill bill = c.bill();
  EXPECT_FALSE(is_known(bill));
  EXPECT_TRUE(bill.lines.empty());
  ASSERT_EQ(bill.unknown.size(), 1u);
  EXPECT_NE(bill.unknown[0].find("no price"), std::string::npos);
}

TEST(Rented, ARunThatNeverEndsHasNoBill) {
  BillCase c(Purchase::kOnDemand);
  c.input.run.finishes = false;
  c.input.run.wall_s = INFINITY;
  EXPECT_FALSE(is_known(c.bill()));
}

}  // namespace
}  // namespace tare
