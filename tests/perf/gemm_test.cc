#include "perf/gemm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "perf/perf_examples.h"

namespace tare {
namespace {

using test::exact_constants;
using test::hgx_like;
using test::round_machine;

KernelRates exact_rates() { return kernel_rates(round_machine(1), Precision::kBf16, exact_constants()); }

TEST(GemmFormat, FollowsThePrecision) {
  EXPECT_EQ(gemm_format(Precision::kBf16), GemmFormat::k16Bit);
  EXPECT_EQ(gemm_format(Precision::kFp32), GemmFormat::k16Bit);  // the wide slot
  EXPECT_EQ(gemm_format(Precision::kFp8), GemmFormat::k8Bit);
  EXPECT_EQ(gemm_format(Precision::kMxfp8), GemmFormat::k8Bit);
  EXPECT_EQ(gemm_format(Precision::kNvfp4), GemmFormat::k4Bit);
}

// 2·256·512·1024 = 268,435,456 FLOPs at 100 TFLOP/s.
TEST(Gemm, FlopsOverPeak) { EXPECT_DOUBLE_EQ(gemm_s({256, 512, 1024}, exact_rates()), 268435456 / 100e12); }

TEST(Gemm, CountMultipliesTheWork) {
  const KernelRates rates = exact_rates();
  EXPECT_DOUBLE_EQ(gemm_s({256, 512, 1024, 6}, rates), 6 * gemm_s({256, 512, 1024}, rates));
}

// (m·k + k·n)·2 + m·n·2 bytes with m = 1, n = k = 1000: 2,004,000 at 1 GB/s; the compute of 2e6 FLOPs is far below.
TEST(Gemm, BytesOverBandwidthWhereThatIsLonger) {
  KernelRates rates = exact_rates();
  rates.memory_bytes_per_s = 1e9;
  EXPECT_DOUBLE_EQ(gemm_bytes({1, 1000, 1000}, rates), 2004000.0);
  EXPECT_DOUBLE_EQ(gemm_s({1, 1000, 1000}, rates), 2004000 / 1e9);
  // In 8 bit the inputs are half as large, the output is not.
  EXPECT_DOUBLE_EQ(gemm_bytes({1, 1000, 1000, 1, GemmFormat::k8Bit}, rates), 1000 + 1000000 + 2000.0);
}

// Ten SMs and tiles of 128 × 128: m = 1280 fills one wave; m = 1408 is eleven tiles, two waves, the work of twenty.
TEST(Gemm, AWaveThatIsNotFullCostsAsIfItWere) {
  KernelRates rates = exact_rates();
  rates.sm_count = 10;
  rates.wave_share = 1;
  const double one_tile = 2.0 * 128 * 128 * 512 / 100e12;
  EXPECT_DOUBLE_EQ(gemm_s({1280, 128, 512}, rates), 10 * one_tile);
  EXPECT_DOUBLE_EQ(gemm_s({1408, 128, 512}, rates), 20 * one_tile);
  rates.wave_share = 0.5;  // half of what is lost is recovered: 11 + 9/2
  EXPECT_DOUBLE_EQ(gemm_s({1408, 128, 512}, rates), 15.5 * one_tile);
}

// n = 129 is two tiles wide: the second is computed whole. A product smaller than a tile is padded to 16 only.
TEST(Gemm, RaggedTilesAreComputedWhole) {
  KernelRates rates = exact_rates();
  rates.wave_share = 1;
  EXPECT_DOUBLE_EQ(gemm_s({128, 129, 512}, rates), 2 * gemm_s({128, 128, 512}, rates));
  EXPECT_DOUBLE_EQ(gemm_s({128, 9, 512}, rates), 2.0 * 128 * 16 * 512 / 100e12);
}

// At k = k_ramp filling and draining the main loop costs as much as the loop.
TEST(Gemm, ShortInnerDimensionCostsARamp) {
  KernelRates rates = exact_rates();
  rates.k_ramp[0] = 256;
  EXPECT_DOUBLE_EQ(gemm_s({128, 128, 256}, rates), 2 * 2.0 * 128 * 128 * 256 / 100e12);
}

// A tile of 128 × 128 on an SM that sustains 1e12 FLOP/s works 2·128·128·k off: tile_fixed_s = 2·128·128·k ÷ 1e12 hides
// behind the same k whatever the format; at twice the rate it takes twice the k.
TEST(Gemm, RampGrowsWithTheRateOfAnSm) {
  Machine machine;
  machine.generation = GpuGeneration::kAmpere;
  machine.peak_bf16_flops = 100e12;
  machine.peak_fp8_flops = 200e12;
  machine.memory_bytes_per_s = 1e12;
  machine.sm_count = 100;
  StepConstants constants;
  constants.generation[static_cast<std::size_t>(GpuGeneration::kAmpere)] = {1, 1, 1, 1, 1, 128};
  constants.tile_fixed_s = 2.0 * 128 * 128 * 64 / 1e12;
  const KernelRates rates = kernel_rates(machine, Precision::kBf16, constants);
  EXPECT_DOUBLE_EQ(rates.k_ramp[0], 64);
  EXPECT_DOUBLE_EQ(rates.k_ramp[1], 128);
}

TEST(Gemm, StartUpIsAdded) {
  KernelRates rates = exact_rates();
  const double without = gemm_s({128, 128, 128}, rates);
  rates.kernel_s = 3e-6;
  EXPECT_DOUBLE_EQ(gemm_s({128, 128, 128}, rates), without + 3e-6);
  EXPECT_DOUBLE_EQ(streaming_s(2e9, rates), 2e9 / 1e18 + 3e-6);
}

TEST(Gemm, NothingTakesNoTime) {
  EXPECT_EQ(gemm_s({0, 128, 128}, exact_rates()), 0);
  EXPECT_EQ(gemm_s({128, 128, 128, 0}, exact_rates()), 0);
}

TEST(KernelRates, EachFormatAtItsPeak) {
  const KernelRates rates = exact_rates();
  EXPECT_DOUBLE_EQ(rates.gemm_flops[0], 100e12);
  EXPECT_DOUBLE_EQ(rates.gemm_flops[1], 200e12);
  EXPECT_DOUBLE_EQ(rates.gemm_flops[2], 400e12);
}

TEST(KernelRates, AFormatThePartLacksRunsInTheNextWider) {
  Machine machine = round_machine(1);
  machine.peak_fp4_flops = 0;
  EXPECT_DOUBLE_EQ(kernel_rates(machine, Precision::kBf16, exact_constants()).gemm_flops[2], 200e12);
  machine.peak_fp8_flops = 0;
  const KernelRates rates = kernel_rates(machine, Precision::kBf16, exact_constants());
  EXPECT_DOUBLE_EQ(rates.gemm_flops[1], 100e12);
  EXPECT_DOUBLE_EQ(rates.gemm_flops[2], 100e12);
  EXPECT_FALSE(rates.native[1]);
}

// fp32 and tf32 do not run at the 16-bit peak, and their elements are twice as large.
TEST(KernelRates, WideTypesAtTheirOwnPeak) {
  const Machine machine = round_machine(1);
  EXPECT_DOUBLE_EQ(kernel_rates(machine, Precision::kFp32, exact_constants()).gemm_flops[0], 10e12);
  EXPECT_DOUBLE_EQ(kernel_rates(machine, Precision::kTf32, exact_constants()).gemm_flops[0], 50e12);
  EXPECT_EQ(kernel_rates(machine, Precision::kFp32, exact_constants()).element_bytes[0], 4);
}

TEST(KernelRates, WithoutBf16UnitsBf16RunsInFp32) {
  Machine machine = round_machine(1);
  machine.peak_bf16_flops = 0;
  EXPECT_DOUBLE_EQ(kernel_rates(machine, Precision::kBf16, exact_constants()).gemm_flops[0], 10e12);
  EXPECT_DOUBLE_EQ(kernel_rates(machine, Precision::kFp16, exact_constants()).gemm_flops[0], 100e12);
}

// (350 ÷ 700)^½ of the clock at half the board power; more than the reference gives no more.
TEST(KernelRates, ClockFollowsTheBoardPower) {
  Machine machine = hgx_like(1);
  StepConstants constants = exact_constants();
  constants.power_exponent = 0.5;
  const double full = kernel_rates(machine, Precision::kBf16, constants).gemm_flops[0];
  machine.tdp_w = 350;
  EXPECT_NEAR(kernel_rates(machine, Precision::kBf16, constants).gemm_flops[0], full * std::sqrt(0.5), 1);
  machine.tdp_w = 1400;
  EXPECT_DOUBLE_EQ(kernel_rates(machine, Precision::kBf16, constants).gemm_flops[0], full);
}

// Whatever the shape: one row, column, product or inner step more never takes less time.
RC_GTEST_PROP(GemmProperties, NeverFasterForALargerShape, ()) {
  const KernelRates rates = kernel_rates(hgx_like(1), Precision::kBf16, default_constants());
  Gemm gemm{double(*rc::gen::inRange(1, 3000)), double(*rc::gen::inRange(1, 3000)), double(*rc::gen::inRange(1, 3000)),
            double(*rc::gen::inRange(1, 20)), GemmFormat(*rc::gen::inRange(0, 3))};
  const double before = gemm_s(gemm, rates);
  double* const grown = *rc::gen::element(&gemm.m, &gemm.n, &gemm.k, &gemm.count);
  *grown += *rc::gen::element(1, 2, 17, 128);
  RC_ASSERT(gemm_s(gemm, rates) >= before * (1 - 1e-12));
}

}  // namespace
}  // namespace tare
