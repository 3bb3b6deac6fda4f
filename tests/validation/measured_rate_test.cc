#include "validation/measured_rate.h"

#include <gtest/gtest.h>

#include "validation/rows.h"
#include "workload/flops.h"

namespace tare {
namespace {

struct Case {
  ThroughputRow row = test::complete_row();
  Workload workload = test::set_up(row).workload;
  double rate() const { return measured_tokens_per_s_per_gpu(row, workload).value_or(-1); }
};

TEST(MeasuredRate, AsStated) {
  Case c;
  c.row.step_time_s = 99;  // the rate comes first
  EXPECT_DOUBLE_EQ(c.rate(), 10'000);
}

TEST(MeasuredRate, FromTheStepTime) {
  Case c;
  c.row.tokens_per_s_per_gpu.reset();
  c.row.step_time_s = 2;
  EXPECT_DOUBLE_EQ(c.rate(), 32.0 * 2048 / 2 / 16);
}

// Per layer and token, forward, h = 2048, f = 4h, no grouped keys: projections 2h·4h, MLP 2·2h·4h = 4h·f; over 24
// layers. Scores and values 4·s·h for the whole square; causal sees (s + 1)/2 of s keys. Head 2hV.
TEST(MeasuredRate, FromFlopsWithinTheRowsOwnConvention) {
  Case c;
  c.row.tokens_per_s_per_gpu.reset();
  c.row.flops_per_s_per_gpu = 400e12;
  const double h = 2048, s = 2048, layers = 24 * (8 * h * h + 4 * h * 4 * h), head = 2 * h * 50304;
  const double full = 24 * 4 * s * h, causal = 24 * 4 * (s + 1) / 2 * h;

  c.row.flops_convention = "model_causal_attn";
  EXPECT_NEAR(c.rate(), 400e12 / (3 * (layers + causal + head)), 1e-6 * c.rate());
  c.row.flops_convention = "model_full_attn";
  EXPECT_NEAR(c.rate(), 400e12 / (3 * (layers + full + head)), 1e-6 * c.rate());
  c.row.flops_convention = "hardware_incl_recompute_full_attn";
  EXPECT_NEAR(c.rate(), 400e12 / (4 * (layers + full) + 3 * head), 1e-6 * c.rate());
}

TEST(MeasuredRate, NothingToGoBy) {
  Case c;
  c.row.tokens_per_s_per_gpu.reset();
  EXPECT_EQ(c.rate(), -1);
  c.row.step_time_s = 0;
  EXPECT_EQ(c.rate(), -1);
}

}  // namespace
}  // namespace tare
