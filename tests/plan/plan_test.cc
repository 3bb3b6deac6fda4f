// The main job end to end, on the shipped catalog and the README's example.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "plan/plan_json.h"

namespace tare {
namespace {

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

PlanRequest example() {
  static const char* const kFile = "examples/llama-13b-64xh100.toml";
  PlanRequest request;
  request.job = parse_job(read_file(kFile).value(), kFile, catalog()).value();
  request.as_of = *parse_date("2026-12-01");
  request.threads = 1;
  return request;
}

// A few offers only: for what is not about their number.
PlanRequest small_example() {
  PlanRequest request = example();
  request.job.search.offers = {"aws/p5.48xlarge/us-east-1/on_demand", "oci/bm.gpu.h100.8*", "owned/dgx-h100"};
  return request;
}

Plan plan_of(const PlanRequest& request) { return make_plan(request, catalog()).value(); }

const Refusal* find_refusal(const Plan& plan, std::string_view reason) {
  for (const Refusal& refusal : plan.refused) {
    if (refusal.reason == reason) return &refusal;
  }
  return nullptr;
}

TEST(Plan, RanksTwelveOffersAcrossNodes) {
  const Plan plan = plan_of(example());
  EXPECT_GE(plan.options.size(), 12u);
  for (std::size_t i = 0; i < plan.options.size(); ++i) {
    const PlanOption& option = plan.options[i];
    EXPECT_EQ(option.rank, static_cast<int>(i) + 1);
    EXPECT_GT(option.nodes, 1) << option.offer.id;
    EXPECT_EQ(option.gpus, 64);
    EXPECT_EQ(gpus(option.parallelism), 64);
    EXPECT_LE(option.step.memory.total_bytes, usable_memory_bytes(option.capacity_bytes));
    EXPECT_GT(option.step.mfu_ratio, 0);
    EXPECT_LT(option.step.mfu_ratio, 1);
    EXPECT_GT(option.run.wall_s, option.run.productive_s);
    if (i > 0) {
      EXPECT_GE(option.bill.total.usd, plan.options[i - 1].bill.total.usd);
    }
  }
  const auto purchases = [&](Purchase purchase) {
    return std::count_if(plan.options.begin(), plan.options.end(),
                         [&](const PlanOption& option) { return option.offer.purchase == purchase; });
  };
  EXPECT_GT(purchases(Purchase::kOnDemand), 0);
  EXPECT_GT(purchases(Purchase::kSpot), 0);
  EXPECT_GT(purchases(Purchase::kOwned), 0);
}

// Lines and waterfall are the same money, to the cent.
TEST(Plan, BillsAddUpTwice) {
  for (const PlanOption& option : plan_of(example()).options) {
    double lines = 0, bars = 0;
    for (const BillLine& line : option.bill.lines) lines += line.amount.usd;
    for (const WaterfallBar& bar : option.bill.waterfall) bars += bar.amount.usd;
    EXPECT_NEAR(lines, option.bill.total.usd, 1e-6) << option.offer.id;
    EXPECT_NEAR(bars, option.bill.total.usd, 1e-6) << option.offer.id;
  }
}

TEST(Plan, ThreadsDoNotChangeAByte) {
  PlanRequest request = example();
  Plan one = plan_of(request);
  request.threads = 2;
  Plan two = plan_of(request);
  one.elapsed_s = two.elapsed_s = 0;
  EXPECT_EQ(to_json(one).dump(), to_json(two).dump());
}

TEST(Plan, ChosenIsTheCheapestThatMeetsBoth) {
  PlanRequest request = example();
  const Plan all = plan_of(request);
  // A deadline that the cheapest misses and some other meets.
  double fastest = 1e300;
  for (const PlanOption& option : all.options) fastest = std::min(fastest, option.run.wall_s);
  ASSERT_LT(fastest, all.options.front().run.wall_s);
  request.job.deadline_s = (fastest + all.options.front().run.wall_s) / 2;
  const Plan plan = plan_of(request);
  const PlanOption* chosen = nullptr;
  for (const PlanOption& option : plan.options) {
    EXPECT_EQ(option.meets_deadline, option.run.wall_s <= *request.job.deadline_s);
    EXPECT_EQ(option.meets_budget, option.bill.total.usd <= *request.job.budget_usd);
    if (option.meets_deadline && option.meets_budget && chosen == nullptr) chosen = &option;
    EXPECT_EQ(option.chosen, &option == chosen);
  }
  ASSERT_NE(chosen, nullptr);
  EXPECT_GT(chosen->rank, 1);
  EXPECT_TRUE(plan.closest.empty());
}

TEST(Plan, SaysWhatIsClosestWhenNothingMeetsTheDeadline) {
  PlanRequest request = small_example();
  request.job.deadline_s = 60;
  const Plan plan = plan_of(request);
  ASSERT_FALSE(plan.options.empty());
  const PlanOption* nearest = nullptr;
  for (const PlanOption& option : plan.options) {
    EXPECT_FALSE(option.chosen);
    if (nearest == nullptr || option.run.wall_s < nearest->run.wall_s) nearest = &option;
  }
  EXPECT_EQ(plan.closest.find(nearest->offer.id + " on 64 GPUs"), 0u) << plan.closest;
}

TEST(Plan, SaysWhatIsClosestWhenNothingMeetsTheBudget) {
  PlanRequest request = small_example();
  request.job.budget_usd = 1;
  const Plan plan = plan_of(request);
  ASSERT_FALSE(plan.options.empty());
  EXPECT_EQ(plan.closest.find(plan.options.front().offer.id), 0u) << plan.closest;
}

TEST(Plan, ByTime) {
  PlanRequest request = example();
  request.objective = "time";
  const Plan plan = plan_of(request);
  for (std::size_t i = 1; i < plan.options.size(); ++i) {
    EXPECT_GE(plan.options[i].run.wall_s, plan.options[i - 1].run.wall_s);
  }
}

TEST(Plan, CountsWhatItLookedAt) {
  const Plan plan = plan_of(small_example());
  EXPECT_GT(plan.configurations, 1000);
  EXPECT_GT(plan.pruned, 0);
  EXPECT_LT(plan.pruned, plan.configurations);
  EXPECT_GT(plan.infeasible.at("divisibility"), 0);
  EXPECT_GT(plan.infeasible.at("memory"), 0);
}

TEST(Plan, APinnedParallelismIsTheOnlyOne) {
  PlanRequest request = small_example();
  request.job.parallelism = Parallelism{.tp = 4, .pp = 2, .dp = 8, .zero_stage = 1, .sequence_parallel = true};
  const Plan plan = plan_of(request);
  ASSERT_FALSE(plan.options.empty());
  EXPECT_EQ(plan.configurations, static_cast<long long>(plan.options.size()));
  for (const PlanOption& option : plan.options) EXPECT_EQ(option.parallelism, *request.job.parallelism);
}

TEST(Plan, APinnedParallelismThatDoesNotDivideIsRefused) {
  PlanRequest request = small_example();
  request.job.parallelism = Parallelism{.tp = 3, .dp = 21};
  const Plan plan = plan_of(request);
  EXPECT_TRUE(plan.options.empty());
  const Refusal* refusal = find_refusal(plan, "divisibility");
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->had, "63 of 64");
}

TEST(Plan, APinnedParallelismThatDoesNotFitIsRefused) {
  PlanRequest request = small_example();
  request.job.parallelism = Parallelism{.dp = 64};  // 13e9 · 18 bytes on each
  const Plan plan = plan_of(request);
  EXPECT_TRUE(plan.options.empty());
  EXPECT_NE(find_refusal(plan, "memory"), nullptr);
}

TEST(Plan, AcrossNodesTheFabricIsKnownOrAssumed) {
  PlanRequest request = example();
  request.job.search.offers = {"lambda/gpu_8x_h100_sxm5/*"};
  const Plan refused = plan_of(request);
  EXPECT_TRUE(refused.options.empty());
  ASSERT_NE(find_refusal(refused, "no_known_fabric"), nullptr);
  EXPECT_NE(find_refusal(refused, "no_known_fabric")->nearest.find("--assume-fabric"), std::string::npos);
  request.assume_fabric = AssumedFabric{50e9};
  const Plan assumed = plan_of(request);
  ASSERT_EQ(assumed.options.size(), refused.refused.size());
  for (const PlanOption& option : assumed.options) {
    EXPECT_TRUE(option.fabric_assumed);
    EXPECT_TRUE(std::any_of(option.assumed.begin(), option.assumed.end(),
                            [](const std::string& line) { return line.find("fabric") != std::string::npos; }));
  }
}

// The nearest change has to hold: within one node no fabric is needed.
TEST(Plan, NoFabricIsNeededWithinANode) {
  PlanRequest request = example();
  request.job.search.offers = {"lambda/gpu_8x_h100_sxm5/*"};
  request.job.search.gpus = {8};
  request.job.model = *find_model(catalog(), "llama-2-7b");
  const Plan plan = plan_of(request);
  ASSERT_FALSE(plan.options.empty());
  EXPECT_EQ(plan.options.front().nodes, 1);
}

TEST(Plan, StalePricesAreMarkedAndCounted) {
  PlanRequest request = small_example();
  request.as_of = *parse_date("2028-01-01");  // the shipped snapshot ages, and still answers
  const Plan plan = plan_of(request);
  ASSERT_FALSE(plan.options.empty());
  int stale = 0;
  for (const PlanOption& option : plan.options) {
    EXPECT_EQ(option.stale, option.offer.purchase != Purchase::kOwned) << option.offer.id;
    stale += option.stale;
  }
  EXPECT_EQ(plan.stale_prices, stale);
  request.max_price_age_days = 180;
  const Plan left = plan_of(request);
  EXPECT_EQ(left.options.size() + static_cast<std::size_t>(stale), plan.options.size());
  EXPECT_NE(find_refusal(left, "stale_price"), nullptr);
}

int gpus_named_in(const std::string& nearest) {
  int gpus = 0;
  EXPECT_EQ(std::sscanf(nearest.c_str(), "fits on %d GPUs", &gpus), 1) << nearest;
  return gpus;
}

// GPT-3 175B needs 18 bytes a parameter: 3 TB, more than eight cards have; what is named as nearest does fit.
TEST(Plan, TheNearestSizeOfAMemoryRefusalFits) {
  PlanRequest request = example();
  request.job.search.offers = {"aws/p5.48xlarge/us-east-1/on_demand"};
  request.job.search.gpus = {8};
  request.job.model = *find_model(catalog(), "gpt3-175b");
  request.job.sequence_length = 2048;
  const Plan refused = plan_of(request);
  ASSERT_TRUE(refused.options.empty());
  const Refusal* refusal = find_refusal(refused, "memory");
  ASSERT_NE(refusal, nullptr);
  request.job.search.gpus = {gpus_named_in(refusal->nearest)};
  EXPECT_EQ(plan_of(request).options.size(), 1u);
  EXPECT_GT(request.job.search.gpus.front(), 8);
}

TEST(Plan, SeveralSizesAreRankedTogether) {
  PlanRequest request = small_example();
  request.job.search.gpus = {32, 64};
  const Plan plan = plan_of(request);
  const auto of_size = [&](int gpus) {
    return std::count_if(plan.options.begin(), plan.options.end(), [&](const PlanOption& o) { return o.gpus == gpus; });
  };
  EXPECT_GT(of_size(32), 0);
  EXPECT_EQ(of_size(32), of_size(64));
}

Cluster own_cluster(int nodes) {
  const Offer& offer = *match_offers(catalog(), {"owned/dgx-h100"}).front();
  Cluster cluster = cluster_from_offer(catalog(), offer, nodes).value();
  cluster.name = "lab";
  cluster.offer = offer;
  return cluster;
}

TEST(Plan, AnOwnClusterStandsBesideTheOffers) {
  PlanRequest request = small_example();
  request.clusters.push_back(own_cluster(16));
  const Plan plan = plan_of(request);
  EXPECT_EQ(plan.options.size(), plan_of(small_example()).options.size() + 1);
  request.clusters = {own_cluster(4)};
  const Refusal* refusal = nullptr;
  const Plan small = plan_of(request);
  refusal = find_refusal(small, "cluster_size");
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->had, "32");
}

TEST(Plan, AnOwnClusterAloneIsRankedAlone) {
  PlanRequest request = small_example();
  request.job.search.offers.clear();
  request.clusters.push_back(own_cluster(8));
  const Plan plan = plan_of(request);
  ASSERT_EQ(plan.options.size(), 1u);
  EXPECT_EQ(plan.options.front().nodes, 8);
}

TEST(Plan, UnknownNamesAreErrors) {
  PlanRequest request = small_example();
  request.job.search.offers = {"acme/*"};
  auto plan = make_plan(request, catalog());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().front().rule, "no-offer");
  request = small_example();
  request.job.stack = "megatron-brigde";
  plan = make_plan(request, catalog());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().front().rule, "unknown-stack");
  EXPECT_NE(plan.error().front().help.find("megatron-bridge"), std::string::npos);
}

TEST(Estimate, IsThePlansOption) {
  const PlanRequest request = small_example();
  const Cluster cluster = own_cluster(8);
  const PlanOption option = estimate(request, catalog(), cluster, 64).value();
  PlanRequest alone = request;
  alone.job.search.offers.clear();
  alone.clusters = {cluster};
  const PlanOption ranked = plan_of(alone).options.front();
  EXPECT_EQ(option.parallelism, ranked.parallelism);
  EXPECT_EQ(option.bill.total.usd, ranked.bill.total.usd);
}

TEST(Estimate, RefusesMoreGpusThanThereAre) {
  const auto option = estimate(small_example(), catalog(), own_cluster(4), 64);
  ASSERT_FALSE(option);
  EXPECT_EQ(option.error().front().rule, "cluster_size");
}

}  // namespace
}  // namespace tare
