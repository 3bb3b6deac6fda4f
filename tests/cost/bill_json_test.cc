#include "cost/bill_json.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "cost/bill_fixture.h"

namespace tare {
namespace {

TEST(BillJson, AmountsAreObjectsAndRatesAreNumbers) {
  test::BillCase c(Purchase::kOnDemand);
  c.input.step_time_after_removal_s = {{"bubble", 9}};
  const Bill bill = c.bill();
  const Json json = to_json(bill);
  EXPECT_EQ(json.at("total").at("usd"), bill.total.usd);
  EXPECT_EQ(json.at("usd_per_million_tokens"), bill.usd_per_million_tokens);
  EXPECT_EQ(json.at("lines").at(0).at("id"), "rent");
  EXPECT_EQ(json.at("lines").at(0).at("amount").at("usd"), bill.lines[0].amount.usd);
  EXPECT_EQ(json.at("waterfall").at(0).at("id"), "unallocated");
  EXPECT_EQ(json.at("waterfall").at(5).at("id"), "bubble");
  EXPECT_EQ(json.at("waterfall").at(5).at("gpu_hours"), bill.waterfall[5].gpu_hours);
  EXPECT_FALSE(json.contains("unknown"));
}

TEST(BillJson, AnUnknownEndIsLeftOut) {
  EXPECT_EQ(to_json(Amount{1, 0.5, std::nullopt}).dump(), R"({"usd":1.0,"low_usd":0.5})");
}

TEST(BillJson, NoBillIsNull) {
  test::BillCase c(Purchase::kOnDemand);
  c.offer.price_usd_per_h.reset();
  const Json json = to_json(c.bill());
  EXPECT_TRUE(json.at("total").at("usd").is_null());
  EXPECT_EQ(json.at("unknown").size(), 1u);
}

}  // namespace
}  // namespace tare
