#include "cost/focus.h"

#include <gtest/gtest.h>

#include "cost/bill_fixture.h"

namespace tare::test {
namespace {

std::string cell(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].id == column) return table.rows[row].cells[c].text;
  }
  return "no such column";
}

// The rows' billed costs are the ledger's cents: they sum to the total.
TEST(Focus, RowsSumToTheTotal) {
  for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned}) {
    BillCase c(purchase);
    const Bill bill = c.bill();
    const Table table = focus_table({{&bill, &c.offer, c.input.run.wall_s, *parse_date("2026-11-30")}});
    ASSERT_EQ(table.rows.size(), bill.lines.size());
    double sum = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) sum += std::stod(cell(table, row, "BilledCost"));
    EXPECT_NEAR(sum, bill.total.usd, 1e-6);
  }
}

// A run of 36 h from November 30th ends at noon of December 1st; it touches two calendar months.
TEST(Focus, PeriodsAreThoseOfTheRun) {
  BillCase c(Purchase::kOnDemand);
  const Bill bill = c.bill();
  const Table table = focus_table({{&bill, &c.offer, 36 * 3600.0, *parse_date("2026-11-30")}});
  EXPECT_EQ(cell(table, 0, "ChargePeriodStart"), "2026-11-30T00:00:00Z");
  EXPECT_EQ(cell(table, 0, "ChargePeriodEnd"), "2026-12-01T12:00:00Z");
  EXPECT_EQ(cell(table, 0, "BillingPeriodStart"), "2026-11-01T00:00:00Z");
  EXPECT_EQ(cell(table, 0, "BillingPeriodEnd"), "2027-01-01T00:00:00Z");
}

TEST(Focus, WordsAreThoseOfTheSpecification) {
  BillCase reserved(Purchase::kReserved);
  const Bill bill = reserved.bill();
  const Table table = focus_table({{&bill, &reserved.offer, 3600, *parse_date("2026-11-30")}});
  EXPECT_EQ(cell(table, 0, "x_TareLine"), "rent");
  EXPECT_EQ(cell(table, 0, "ChargeCategory"), "Usage");
  EXPECT_EQ(cell(table, 0, "PricingCategory"), "Committed");
  EXPECT_EQ(cell(table, 0, "CommitmentDiscountStatus"), "Used");
  EXPECT_EQ(cell(table, 0, "BillingCurrency"), "USD");
}

TEST(Focus, AnUnknownBillHasNoRows) {
  BillCase c(Purchase::kOnDemand);
  c.offer.price_usd_per_h.reset();
  const Bill bill = c.bill();
  EXPECT_TRUE(focus_table({{&bill, &c.offer, 3600, *parse_date("2026-11-30")}}).rows.empty());
}

}  // namespace
}  // namespace tare::test
