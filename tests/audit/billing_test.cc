// Costs of bills, worked by hand.
#include <gtest/gtest.h>

#include "rule_case.h"

namespace tare {
namespace {

// 24 hours of a p5.48xlarge (8 H100) for 9,600 dollars: 192 GPU-hours at 50 dollars. The bill spans 2026-03-01 and -02,
// two days. With m the catalog's median: (50 - m) * 192 / 2 dollars a day.
TEST(Billing, WhatIsPaidOverTheUsualPrice) {
  const AuditReport report = audit_files(
      {{"cur.csv",
        "lineItem/LineItemType,lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,"
        "lineItem/LineItemDescription,lineItem/UsageAmount,pricing/unit,product/instanceType,lineItem/UnblendedCost,"
        "lineItem/CurrencyCode\n"
        "Usage,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,AmazonEC2,p5,24,Hrs,p5.48xlarge,9600.00,USD\n"}});
  const std::vector<const Finding*> found = findings_of(report, "billing.price-above");
  ASSERT_EQ(found.size(), 1U);
  const std::optional<LossRange> usual = usual_price_usd_per_gpu_h(shipped_catalog(), "H100-SXM5-80GB");
  ASSERT_TRUE(usual);
  ASSERT_TRUE(found.front()->cost_usd_per_day.base_usd);
  EXPECT_NEAR(*found.front()->cost_usd_per_day.base_usd, (50 - usual->base) * 192 / 2, 1e-6);
  EXPECT_NEAR(*found.front()->cost_usd_per_day.low_usd, (50 - usual->high) * 192 / 2, 1e-6);
  EXPECT_NEAR(*found.front()->cost_usd_per_day.high_usd, (50 - usual->low) * 192 / 2, 1e-6);
}

// An idle address: 3.60 dollars on a bill of two days are 1.80 a day.
TEST(Billing, IdleAddresses) {
  const AuditReport report = audit_files(
      {{"cur.csv",
        "lineItem/LineItemType,lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,"
        "lineItem/LineItemDescription,lineItem/UnblendedCost,lineItem/CurrencyCode\n"
        "Usage,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,AmazonVPC,Idle public IPv4 address per hour,3.60,USD\n"}});
  const std::vector<const Finding*> found = findings_of(report, "billing.idle-resources");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found.front()->cost_usd_per_day.base_usd);
  EXPECT_NEAR(*found.front()->cost_usd_per_day.base_usd, 1.80, 1e-9);
}

}  // namespace
}  // namespace tare
