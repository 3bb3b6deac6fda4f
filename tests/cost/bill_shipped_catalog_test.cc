// The shipped parameters and offers in a bill.
#include <gtest/gtest.h>

#include "cost/bill_fixture.h"
#include "run/node_power.h"

namespace tare {
namespace {

class BillOfShippedCatalog : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Catalog> loaded = load_catalog();
    ASSERT_TRUE(loaded.has_value()) << render(loaded.error());
    catalog_ = std::move(*loaded);
  }

  // 64 GPUs for 20e9 tokens at a step of 3.3 s.
  Bill bill_of(const Offer& offer, const NodeType& node_type) const {
    RunInput run = test::round_run();
    run.purchase = offer.purchase;
    run.host = offer.delivery.host;
    run.step_time_s = 3.3;
    run.tokens = 20e9;
    run.tokens_per_step = 2.1e6;
    run.nodes = (64 + node_type.gpus - 1) / node_type.gpus;
    if (const auto power = node_power(node_type, catalog_)) run.node_power_w = power->w;
    BillInput input;
    input.offer = &offer;
    input.node_type = &node_type;
    input.nodes = run.nodes;
    input.gpus = run.nodes * node_type.gpus;
    input.gpus_used = run.gpus;
    input.tokens = run.tokens;
    input.step_time_s = run.step_time_s;
    input.step_time_after_removal_s = {{"bubble", 3.0}, {"kernel", 1.4}};
    input.run = estimate_run(run, catalog_);
    return make_bill(input, catalog_);
  }

  Catalog catalog_;
};

TEST_F(BillOfShippedCatalog, HasEveryParameterOfABill) {
  for (const std::string& id : bill_parameter_ids()) EXPECT_NE(find_parameter(catalog_, id), nullptr) << id;
}

TEST_F(BillOfShippedCatalog, EveryOfferWithANodeTypeSumsToTheCent) {
  int bills = 0;
  for (const Offer& offer : catalog_.offers) {
    const NodeType* const node_type = find_node_type(catalog_, offer.node_type);
    if (node_type == nullptr) continue;
    const Bill bill = bill_of(offer, *node_type);
    if (!is_known(bill)) {
      EXPECT_FALSE(bill.unknown.empty()) << offer.id;
      continue;
    }
    ++bills;
    std::int64_t lines = 0;
    std::int64_t bars = 0;
    for (const BillLine& line : bill.lines) lines += test::cents(line.amount.usd);
    for (const WaterfallBar& bar : bill.waterfall) bars += test::cents(bar.amount.usd);
    EXPECT_EQ(lines, test::cents(bill.total.usd)) << offer.id;
    EXPECT_EQ(bars, test::cents(bill.total.usd)) << offer.id;
  }
  EXPECT_GT(bills, 50);
}

// A DGX H100 of 230,000 to 375,000 USD over three to six years comes to a few dollars a GPU-hour, under any rent of a
// large cloud in 2024.
TEST_F(BillOfShippedCatalog, AnOwnedHourCostsWhatPeopleSayItDoes) {
  const Offer* const offer = find_offer(catalog_, "owned/dgx-h100/*/owned");
  ASSERT_NE(offer, nullptr);
  const NodeType* const node_type = find_node_type(catalog_, offer->node_type);
  ASSERT_NE(node_type, nullptr);
  const Bill bill = bill_of(*offer, *node_type);
  ASSERT_TRUE(is_known(bill));
  EXPECT_TRUE(bill.unknown.empty());
  const double usd_per_used_gpu_h =
      bill.total.usd / (bill.billed_gpu_hours - test::find_bar(bill, "unallocated")->gpu_hours);
  EXPECT_GT(usd_per_used_gpu_h, 1.2);
  EXPECT_LT(usd_per_used_gpu_h, 3.0);
  EXPECT_LT(bill.total.low_usd.value(), bill.total.usd);
  EXPECT_GT(bill.total.high_usd.value(), bill.total.usd);
}

}  // namespace
}  // namespace tare
