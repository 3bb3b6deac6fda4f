// Every printed formula of a run gives its printed value, over all the forms that a run can take.
#include <cmath>

#include <gtest/gtest.h>

#include "run/node_power.h"
#include "run/round_catalog.h"
#include "run/run.h"

namespace tare {
namespace {

using test::round_catalog;
using test::round_run;
using test::set;

void expect_formulas_hold(const Run& run) {
  EXPECT_GE(run.formulas.size(), 10u);
  for (const Formula& formula : run.formulas) {
    const Result<double> value = evaluate(formula);
    ASSERT_TRUE(value.has_value()) << formula.id << ": " << render(value.error());
    EXPECT_NEAR(*value, formula.value, 1e-12 * std::fabs(formula.value)) << formula.id;
    // An input that an earlier formula gives has its value.
    for (const FormulaInput& input : formula.inputs) {
      for (const Formula& earlier : run.formulas) {
        if (input.source != earlier.id) continue;
        EXPECT_EQ(input.value, earlier.value) << formula.id << " " << input.name;
      }
    }
  }
}

TEST(RunFormulas, HoldForEveryPolicy) {
  using Every = CheckpointPolicy::Every;
  for (const bool async : {false, true}) {
    for (const CheckpointPolicy policy :
         {CheckpointPolicy{Every::kAuto, 0, async}, CheckpointPolicy{Every::kSteps, 50, async},
          CheckpointPolicy{Every::kSteps, 1, async}, CheckpointPolicy{Every::kSeconds, 1800, async},
          CheckpointPolicy{Every::kSeconds, 1, async}}) {
      for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned}) {
        RunInput input = round_run();
        input.checkpoint = policy;
        input.purchase = purchase;
        input.data_bytes = async ? 120e9 : 0;
        input.generation = async ? GpuGeneration::kAmpere : GpuGeneration::kHopper;
        input.node_power_w = 10200;
        input.linked_gpus = async;
        input.checkpoint.store = purchase == Purchase::kSpot    ? CheckpointStore::kLocal
                                 : purchase == Purchase::kOwned ? CheckpointStore::kMemory
                                                                : CheckpointStore::kShared;
        input.local_disks = async ? 8 : 0;
        if (async) input.local_write_bytes_per_s = 3e9;
        input.kernel_busy_ratio = 0.9;
        expect_formulas_hold(estimate_run(input, round_catalog()));
      }
    }
  }
}

TEST(RunFormulas, HoldForARunThatNeverEnds) {
  Catalog catalog = round_catalog();
  set(catalog, "gpu_failures_per_gpu_h", 10);  // a stall is longer than twice the time between interruptions
  RunInput input = round_run();
  input.checkpoint.async = false;
  expect_formulas_hold(estimate_run(input, catalog));
}

TEST(RunFormulas, HoldWithTheShippedCatalog) {
  const Result<Catalog> catalog = load_catalog();
  ASSERT_TRUE(catalog.has_value()) << render(catalog.error());
  RunInput input = round_run();
  input.data_bytes = 120e9;
  input.node_power_w = 10200;
  expect_formulas_hold(estimate_run(input, *catalog));
}

TEST(NodePower, IsTheRatingOrComesFromTheAccelerators) {
  Catalog catalog = round_catalog();
  Accelerator accelerator;
  accelerator.id = "H100";
  accelerator.tdp_w = 700;
  catalog.accelerators.push_back(accelerator);
  NodeType node;
  node.gpu = "H100";
  node.gpus = 8;
  EXPECT_DOUBLE_EQ(node_power(node, catalog)->w, 8 * 700 * 2);
  EXPECT_TRUE(node_power(node, catalog)->input.assumed);
  node.node_power_w = 10200;
  EXPECT_EQ(node_power(node, catalog)->w, 10200);
  EXPECT_FALSE(node_power(node, catalog)->input.assumed);
  node.node_power_w.reset();
  node.gpu = "nothing known";
  EXPECT_FALSE(node_power(node, catalog).has_value());
}

}  // namespace
}  // namespace tare
