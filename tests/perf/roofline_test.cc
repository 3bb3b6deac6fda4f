#include "perf/roofline.h"

#include <gtest/gtest.h>

#include <map>

#include "perf/perf_examples.h"

namespace tare {
namespace {

using test::hgx_like;
using test::small_moe;
using test::workload_of;

std::map<std::string, RooflineRow> rows_of(const Workload& workload, const Parallelism& p = {},
                                           const StepConstants& constants = default_constants()) {
  StepModel model(workload, hgx_like(gpus(p)), {}, constants);
  std::map<std::string, RooflineRow> rows;
  for (RooflineRow& row : roofline(model, p)) rows[row.operation] = row;
  return rows;
}

Workload llama_2_7b_workload() { return workload_of(llama_2_7b(), 4096, 64); }

// Ridge = 989e12 ÷ 3.35e12 = 295 FLOPs a byte.
TEST(Roofline, RidgeIsPeakOverBandwidth) {
  for (const auto& [name, row] : rows_of(llama_2_7b_workload())) {
    EXPECT_DOUBLE_EQ(row.ridge_flops_per_byte, 989e12 / 3.35e12) << name;
  }
}

// The MLP's first product: 2·4096·22016·4096 FLOPs over 2·(m·k + k·n + m·n) bytes.
TEST(Roofline, IntensityOfAProduct) {
  const RooflineRow row = rows_of(llama_2_7b_workload()).at("mlp up");
  const double m = 4096, n = 22016, k = 4096;
  EXPECT_DOUBLE_EQ(row.flops, 2 * m * n * k);
  EXPECT_DOUBLE_EQ(row.bytes, 2 * (m * k + k * n + m * n));
  EXPECT_DOUBLE_EQ(row.intensity_flops_per_byte, row.flops / row.bytes);
  EXPECT_EQ(row.bound, "compute");
}

TEST(Roofline, NormsAreBoundByMemory) {
  EXPECT_EQ(rows_of(llama_2_7b_workload()).at("norms and residuals").bound, "memory");
}

TEST(Roofline, TinyProductsAreBoundByLaunches) {
  const Workload tiny = workload_of(gpt(2, 128, 2, 512), 128, 8);
  StepConstants constants = default_constants();
  constants.kernel_s = 1e-3;
  EXPECT_EQ(rows_of(tiny, {}, constants).at("attention qkv").bound, "launch");
}

TEST(Roofline, EfficiencyIsAShareOfTheRoof) {
  Workload moe = workload_of(small_moe(), 2048, 64);
  moe.precision = Precision::kFp8;
  for (const Workload& workload : {llama_2_7b_workload(), moe, workload_of(deepseek_v3(), 4096, 64)}) {
    const auto rows = rows_of(workload);
    EXPECT_GE(rows.size(), 5u);
    for (const auto& [name, row] : rows) {
      EXPECT_GT(row.time_s, 0) << name;
      EXPECT_GT(row.efficiency_ratio, 0) << name;
      EXPECT_LE(row.efficiency_ratio, 1) << name;
    }
  }
}

TEST(Roofline, ExpertsHaveTheirOwnRows) {
  const auto rows = rows_of(workload_of(small_moe(), 2048, 64), {.ep = 8, .dp = 8});
  EXPECT_TRUE(rows.count("experts up"));
  EXPECT_TRUE(rows.count("experts down"));
  EXPECT_FALSE(rows.count("mlp up"));  // no dense layer
}

}  // namespace
}  // namespace tare
