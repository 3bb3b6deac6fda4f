// The delivery's range in the run, and the look-up of shards at every start.
#include <cmath>

#include <gtest/gtest.h>

#include "run/round_catalog.h"

namespace tare {
namespace {

using test::round_catalog;
using test::round_run;
using test::set;

const Formula& formula(const Run& run, const std::string& id) {
  for (const Formula& f : run.formulas) {
    if (f.id == id) return f;
  }
  static const Formula none;
  return none;
}

Run run_with_tax(double base, double low, double high, const char* host = "vm") {
  Catalog catalog = round_catalog();
  set(catalog, "virt_tax_vm", base, low, high);
  set(catalog, "virt_tax_unknown", 0, 0, high);
  RunInput in = round_run();
  in.host = host;
  return estimate_run(in, catalog);
}

// The step of 10 s holds the base: 10,000 steps are 100,000 s whatever it is. Between 0 and 5.6 % instead of 1.5 they
// are 98,500 and 104,343 s.
TEST(RunDelivery, TheStepHoldsTheBaseAndTheWallTheRange) {
  const tare::Run run = run_with_tax(0.015, 0, 0.056);
  EXPECT_EQ(run.productive_s, 100000);
  const tare::Run sure = run_with_tax(0.015, 0.015, 0.015);
  EXPECT_EQ(run.wall_s, sure.wall_s);
  const double stretch = run.wall_s / (run.productive_s + run.startup_s + run.checkpoint_stall_s);
  EXPECT_NEAR(run.wall_s - run.wall_low_s.value(), 1500 * stretch, 20);
  EXPECT_NEAR(run.wall_high_s.value() - run.wall_s, (100000 * 0.985 / 0.944 - 100000) * stretch, 50);
}

TEST(RunDelivery, BareMetalHasNoTaxAndAnUnknownHostARangeUpwards) {
  EXPECT_EQ(formula(run_with_tax(0.015, 0, 0.056, "bare_metal"), "run.productive_s").expression, "steps * step_time_s");
  const tare::Run unknown = run_with_tax(0.015, 0, 0.056, "unknown");
  EXPECT_EQ(unknown.wall_low_s.value(), unknown.wall_s);
  EXPECT_GT(unknown.wall_high_s.value(), unknown.wall_s + 5000);
}

TEST(RunDelivery, EveryAxisIsAnInputOfTheFormula) {
  Catalog catalog = round_catalog();
  set(catalog, "virt_tax_vm", 0.02, 0, 0.05);
  set(catalog, "ct_tax", 0.01, 0, 0.02);
  set(catalog, "mig_tax", 0.03, 0, 0.05);
  RunInput in = round_run();
  in.packaging = "container";
  in.gpu_share = "mig";
  Formula f = formula(estimate_run(in, catalog), "run.productive_s");
  EXPECT_EQ(f.expression,
            "steps * step_time_s * delivered_in_step / ((1 - host_tax) * (1 - packaging_tax) * (1 - gpu_share_tax))");
  EXPECT_NEAR(evaluate(f).value(), 100000, 1e-6);
  // A draw of 5 % instead of 2: · 0.98/0.95.
  for (FormulaInput& input : f.inputs) {
    if (input.name == "host_tax") input.value = 0.05;
  }
  EXPECT_NEAR(evaluate(f).value(), 100000 * 0.98 / 0.95, 1e-6);
}

// 64 ranks · 8,192 shards · 2 operations ÷ 100,000 a second = 10.49 s, at the first start and at every other.
TEST(RunData, EveryRankLooksUpEveryShard) {
  const Catalog catalog = round_catalog();
  RunInput in = round_run();
  const tare::Run without = estimate_run(in, catalog);
  in.data_shards = 8192;
  const tare::Run with = estimate_run(in, catalog);
  EXPECT_NEAR(with.startup_s - without.startup_s, 64 * 8192 * 2 / 1e5, 1e-9);
  EXPECT_NEAR(with.restart_s - without.restart_s, 64 * 8192 * 2 / 1e5, 1e-9);
  EXPECT_NEAR(evaluate(formula(with, "run.startup_s")).value(), with.startup_s, 1e-9);
  EXPECT_NEAR(evaluate(formula(with, "run.restart_s")).value(), with.restart_s, 1e-9);
}

}  // namespace
}  // namespace tare
