// The dataset's way to the job, by hand: 120 GB.
#include "cost/data_lines.h"

#include <gtest/gtest.h>

#include "cost/bill_fixture.h"

namespace tare {
namespace {

using test::BillCase;
using test::find_bar;
using test::find_line;
using test::line_usd;
using test::set;

BillCase with_data(const std::string& at, const std::string& provider, const std::string& region,
                   Purchase purchase = Purchase::kOnDemand) {
  BillCase c(purchase);
  set(c.catalog, "inter_region_usd_per_byte", 2e-11);
  set(c.catalog, "cross_zone_usd_per_byte", 2e-11, 0, 2e-11);
  set(c.catalog, "cross_zone_ratio", 0, 0, 1);
  c.input.run.data_bytes = 120e9;
  c.input.data_at = at;
  c.offer.provider = provider;
  c.offer.region = region;
  return c;
}

// 120 GB · 0.09 USD/GB = 10.80.
TEST(DataTransfer, OutOfALargeCloud) {
  EXPECT_NEAR(line_usd(with_data("aws/us-east-1", "lab", "us-1").bill(), "data_transfer"), 10.80, 0.01);
}

TEST(DataTransfer, OutOfOneThatChargesNothing) {
  EXPECT_EQ(line_usd(with_data("nebius/eu-north1", "lab", "us-1").bill(), "data_transfer"), 0);
}

// 120 GB · 0.02 USD/GB = 2.40.
TEST(DataTransfer, BetweenRegions) {
  EXPECT_NEAR(line_usd(with_data("aws/us-west-2", "aws", "us-east-1").bill(), "data_transfer"), 2.40, 0.01);
  EXPECT_EQ(find_line(with_data("lab/a", "lab", "b").bill(), "data_transfer"), nullptr);
}

// In the region nothing is known to cross a zone; at most all of it does: 2.40.
TEST(DataTransfer, BetweenZonesIsARange) {
  Bill bill = with_data("aws/us-east-1", "aws", "us-east-1").bill();
  EXPECT_EQ(line_usd(bill, "data_transfer"), 0);
  EXPECT_NEAR(find_line(bill, "data_transfer")->amount.high_usd.value(), 2.40, 0.01);
  EXPECT_EQ(line_usd(with_data("aws/us-east-1", "aws", "*").bill(), "data_transfer"), 0);
}

TEST(DataTransfer, NoPlaceNoLine) {
  EXPECT_EQ(find_line(with_data("", "aws", "us-east-1").bill(), "data_transfer"), nullptr);
}

TEST(DataTransfer, OwnedNodesPayItTooAndItHasItsOwnBar) {
  const Bill bill = with_data("gcp/us-central1", "lab", "us-1", Purchase::kOwned).bill();
  EXPECT_NEAR(line_usd(bill, "data_transfer"), 10.80, 0.01);
  ASSERT_NE(find_bar(bill, "data_transfer"), nullptr);
  EXPECT_NEAR(find_bar(bill, "data_transfer")->amount.usd, 10.80, 0.01);
}

}  // namespace
}  // namespace tare
