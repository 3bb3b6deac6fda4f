// What is chosen beside the parallelism, and what the draws say of an option.
#include <gtest/gtest.h>

#include "base/file.h"
#include "plan/deliveries.h"
#include "plan/plan.h"
#include "plan/uncertain_options.h"

namespace tare {
namespace {

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

PlanRequest request() {
  static const char* const kFile = "examples/llama-13b-64xh100.toml";
  PlanRequest request;
  request.job = parse_job(read_file(kFile).value(), kFile, catalog()).value();
  request.job.search.offers = {"owned/dgx-h100", "oci/bm.gpu.h100.8*"};
  request.as_of = *parse_date("2026-12-01");
  request.threads = 1;
  request.draws = 500;
  return request;
}

const PlanOption& owned(const Plan& plan) {
  for (const PlanOption& option : plan.options) {
    if (option.offer.purchase == Purchase::kOwned) return option;
  }
  ADD_FAILURE() << "no owned option";
  return plan.options.front();
}

TEST(Choices, ACapSavesEnergyAndTakesTime) {
  PlanRequest free = request();
  free.objective = "energy";
  PlanRequest capped = free;
  capped.power_caps = {1, 0.6, 0.4};
  const Plan before = make_plan(free, catalog()).value(), after = make_plan(capped, catalog()).value();
  EXPECT_LT(owned(after).power_cap_ratio, 1);
  EXPECT_LT(*owned(after).bill.energy_kwh, *owned(before).bill.energy_kwh);
  EXPECT_GT(owned(after).run.wall_s, owned(before).run.wall_s);
}

TEST(Choices, ForTimeNoCapIsTaken) {
  PlanRequest capped = request();
  capped.objective = "time";
  capped.power_caps = {0.4, 1};
  EXPECT_EQ(owned(make_plan(capped, catalog()).value()).power_cap_ratio, 1);
}

TEST(Choices, TheBestIntervalIsKept) {
  PlanRequest every = request();
  CheckpointPolicy often;
  often.every = CheckpointPolicy::Every::kSteps;
  often.value = 1;
  often.async = false;
  CheckpointPolicy automatic;
  automatic.async = false;
  every.checkpoints = {often, automatic};
  EXPECT_EQ(owned(make_plan(every, catalog()).value()).checkpoint.every, CheckpointPolicy::Every::kAuto);
}

TEST(Choices, RanksByWhatIsAsked) {
  for (const char* const objective : {"cost", "time", "energy", "carbon"}) {
    PlanRequest by = request();
    by.objective = objective;
    const Plan plan = make_plan(by, catalog()).value();
    for (std::size_t i = 1; i < plan.options.size(); ++i) {
      EXPECT_LE(objective_value(plan.options[i - 1], objective), objective_value(plan.options[i], objective));
    }
  }
}

TEST(Draws, EveryAmountHasItsPercentiles) {
  const Plan plan = make_plan(request(), catalog()).value();
  for (const PlanOption& option : plan.options) {
    ASSERT_TRUE(option.uncertainty);
    EXPECT_LE(*option.bill.total.p10, *option.bill.total.p50);
    EXPECT_LE(*option.bill.total.p50, *option.bill.total.p90);
    EXPECT_GE(*option.uncertainty->deadline_probability, 0.9);
  }
}

// A deadline at the base wall-clock is kept in about half of the draws: enough at its base value, not for nine in ten.
TEST(Draws, AConfidenceAsksForMoreThanTheBase) {
  PlanRequest tight = request();
  tight.job.deadline_s = owned(make_plan(tight, catalog()).value()).run.wall_s * 1.001;
  EXPECT_TRUE(owned(make_plan(tight, catalog()).value()).meets_deadline);
  tight.confidence = 0.9;
  EXPECT_FALSE(owned(make_plan(tight, catalog()).value()).meets_deadline);
}

TEST(Draws, NoneAreMadeWhenNoneAreAskedFor) {
  PlanRequest none = request();
  none.draws = 0;
  const Plan plan = make_plan(none, catalog()).value();
  EXPECT_FALSE(owned(plan).uncertainty);
  EXPECT_FALSE(owned(plan).bill.total.p10);
}

}  // namespace
}  // namespace tare
