#include "plan/requirements.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

Offer offer() {
  Offer offer;
  offer.id = "acme/box/eu-1/on_demand";
  offer.region = "eu-1";
  offer.gpu = "H100-SXM5-80GB";
  offer.gpus = 8;
  offer.price_usd_per_h = 20;
  offer.date = parse_date("2026-06-01");
  return offer;
}

PlanRequest request() {
  PlanRequest request;
  request.as_of = *parse_date("2026-07-01");
  return request;
}

std::string reason(const PlanRequest& request, const Offer& offer, const NodeType& type = {}, int gpus = 64) {
  const auto refusal = check_requirements(request, offer, type, gpus);
  if (!refusal) return "";
  EXPECT_EQ(refusal->offer, offer.id);
  EXPECT_EQ(refusal->gpus, gpus);
  EXPECT_FALSE(refusal->needed.empty());
  EXPECT_FALSE(refusal->had.empty());
  EXPECT_FALSE(refusal->nearest.empty());
  return refusal->reason;
}

TEST(Requirements, NothingRequiredRefusesNothing) { EXPECT_EQ(reason(request(), offer()), ""); }

// Unknown is not "dedicated"; where the offer does not say, the node type does.
TEST(Requirements, Tenancy) {
  PlanRequest asked = request();
  asked.job.require.tenancy = "dedicated";
  EXPECT_EQ(reason(asked, offer()), "tenancy");
  Offer dedicated = offer();
  dedicated.delivery.tenancy = "dedicated";
  EXPECT_EQ(reason(asked, dedicated), "");
  NodeType type;
  type.delivery.tenancy = "dedicated";
  EXPECT_EQ(reason(asked, offer(), type), "");
  Offer shared = offer();
  shared.delivery.tenancy = "shared";
  EXPECT_EQ(reason(asked, shared, type), "tenancy");
}

TEST(Requirements, Host) {
  PlanRequest asked = request();
  asked.job.require.host = "bare_metal";
  EXPECT_EQ(reason(asked, offer()), "host");
  Offer vm = offer();
  vm.delivery.host = "vm";
  EXPECT_EQ(reason(asked, vm), "host");
  vm.delivery.host = "bare_metal";
  EXPECT_EQ(reason(asked, vm), "");
}

TEST(Requirements, RegionsAreGlobs) {
  PlanRequest asked = request();
  asked.job.require.regions = {"us-*", "EU-*"};
  EXPECT_EQ(reason(asked, offer()), "");
  asked.job.require.regions = {"us-*"};
  EXPECT_EQ(reason(asked, offer()), "region");
  Offer anywhere = offer();
  anywhere.region = "*";
  EXPECT_EQ(check_requirements(asked, anywhere, {}, 64)->had, "not stated");
}

TEST(Requirements, Certifications) {
  PlanRequest asked = request();
  asked.job.require.certifications = {"ISO27001"};
  EXPECT_EQ(reason(asked, offer()), "certification");
  Offer certified = offer();
  certified.certifications = {"SOC2", "iso27001"};
  EXPECT_EQ(reason(asked, certified), "");
  asked.job.require.certifications.push_back("HIPAA");
  EXPECT_EQ(check_requirements(asked, certified, {}, 64)->needed, "HIPAA");
}

TEST(Requirements, SuspectPricesAreNotRankedUnlessAskedFor) {
  PlanRequest asked = request();
  Offer suspect = offer();
  suspect.suspect = "host not included";
  EXPECT_EQ(reason(asked, suspect), "suspect_price");
  asked.include_suspect = true;
  EXPECT_EQ(reason(asked, suspect), "");
}

TEST(Requirements, APriceIsNeededUnlessOwned) {
  Offer free = offer();
  free.price_usd_per_h.reset();
  EXPECT_EQ(reason(request(), free), "no_price");
  free.purchase = Purchase::kOwned;
  EXPECT_EQ(reason(request(), free), "");
}

// A stale price is marked, and refused only under --max-price-age; undated ones then too.
TEST(Requirements, OldAndUndatedPrices) {
  PlanRequest asked = request();
  asked.max_price_age_days = 30;
  EXPECT_EQ(reason(asked, offer()), "");  // 30 days
  asked.max_price_age_days = 29;
  EXPECT_EQ(reason(asked, offer()), "stale_price");
  EXPECT_EQ(check_requirements(asked, offer(), {}, 64)->had, "30 days");
  Offer undated = offer();
  undated.date.reset();
  EXPECT_EQ(check_requirements(asked, undated, {}, 64)->had, "undated");
  asked.max_price_age_days.reset();
  EXPECT_EQ(reason(asked, undated), "");
}

TEST(Requirements, NodesThatOneClusterMayHave) {
  NodeType type;
  type.max_cluster_nodes = 4;
  EXPECT_EQ(reason(request(), offer(), type, 32), "");
  EXPECT_EQ(reason(request(), offer(), type, 33), "cluster_limit");
  EXPECT_EQ(check_requirements(request(), offer(), type, 64)->nearest, "at most 32 GPUs of this offer");
}

}  // namespace
}  // namespace tare
