#include "perf/attention.h"

#include <gtest/gtest.h>

#include "perf/perf_examples.h"

namespace tare {
namespace {

using test::exact_constants;
using test::round_machine;

KernelRates exact_rates(const StepConstants& constants = exact_constants()) {
  return kernel_rates(round_machine(1), Precision::kBf16, constants);
}

AttentionShape shape_of(double tokens) {
  AttentionShape shape;
  shape.sequences = 2;
  shape.queries = shape.keys = tokens;
  shape.heads = 4;
  shape.qk_head_dim = shape.v_head_dim = 128;
  return shape;
}

// Per sequence, head and query: 2·(128 + 128) FLOPs for each key seen; a causal query sees (s + 1)/2 on average.
TEST(Attention, FlopsAreCausal) {
  const AttentionTime time = attention_time(shape_of(1024), AttentionKernel::kFlash2, exact_rates(), exact_constants());
  EXPECT_DOUBLE_EQ(time.flops, 2.0 * 4 * 1024 * 512 * 1025 / 2);
}

// The mask is skipped by blocks: 64 keys more than the 512.5 that are needed.
TEST(Attention, FusedKernelsComputeWholeBlocks) {
  const AttentionTime time = attention_time(shape_of(1024), AttentionKernel::kFlash2, exact_rates(), exact_constants());
  EXPECT_DOUBLE_EQ(time.forward_s, 2.0 * 4 * 1024 * 512 * (512.5 + 64) / 100e12);
  EXPECT_DOUBLE_EQ(time.backward_s, 2 * time.forward_s);
}

TEST(Attention, NeverMoreThanTheWholeSquare) {
  AttentionShape shape = shape_of(64);
  const AttentionTime time = attention_time(shape, AttentionKernel::kFlash2, exact_rates(), exact_constants());
  EXPECT_DOUBLE_EQ(time.forward_s, 2.0 * 4 * 64 * 512 * 64 / 100e12);
}

TEST(Attention, EachKernelAtItsRate) {
  StepConstants constants = exact_constants();
  for (GenerationConstants& g : constants.generation) {
    g.flash_fused = 0.8;
    g.flash2 = 0.4;
  }
  constants.flash1_share = 0.5;
  const KernelRates rates = exact_rates(constants);
  const auto forward = [&](AttentionKernel kernel) {
    return attention_time(shape_of(1024), kernel, rates, constants).forward_s;
  };
  EXPECT_DOUBLE_EQ(forward(AttentionKernel::kFlash2), 2 * forward(AttentionKernel::kFlash3));
  EXPECT_DOUBLE_EQ(forward(AttentionKernel::kFlash1), 2 * forward(AttentionKernel::kFlash2));
}

// Under a window of 256 keys the mean of 1,024 queries sees (256·257/2 + 768·256)/1024 = 224.125 of them.
TEST(Attention, AWindowLeavesFewerKeys) {
  AttentionShape shape = shape_of(1024);
  shape.window = 256;
  const AttentionTime time = attention_time(shape, AttentionKernel::kFlash2, exact_rates(), exact_constants());
  const double visible = 224.125;
  EXPECT_DOUBLE_EQ(time.flops, 2.0 * 4 * 1024 * 512 * visible);
}

// Head width 64 runs at its own share, 96 half-way, 80 pads to 96.
TEST(Attention, NarrowHeadsRunSlower) {
  StepConstants constants = exact_constants();
  constants.head_dim_64_share = 0.5;
  const auto per_flop = [&](double width) {
    AttentionShape shape = shape_of(1024);
    shape.qk_head_dim = shape.v_head_dim = width;
    return attention_time(shape, AttentionKernel::kFlash2, exact_rates(), constants).forward_s / width;
  };
  EXPECT_DOUBLE_EQ(per_flop(64), 2 * per_flop(128));
  EXPECT_DOUBLE_EQ(per_flop(96), per_flop(128) / 0.75);
  EXPECT_NEAR(per_flop(80), per_flop(96) * 96 / 80, 1e-20);
}

// Eight blocks of 128 queries on 16 SMs fill half of them.
TEST(Attention, FewBlocksLeaveProcessorsIdle) {
  KernelRates rates = exact_rates();
  AttentionShape shape = shape_of(256);
  shape.sequences = 1;  // 2 blocks · 4 heads
  const double full = attention_time(shape, AttentionKernel::kFlash2, rates, exact_constants()).forward_s;
  rates.sm_count = 16;
  EXPECT_DOUBLE_EQ(attention_time(shape, AttentionKernel::kFlash2, rates, exact_constants()).forward_s, 2 * full);
}

// Two products over the whole square, 2·s·s·d each; the softmax's trips over 2 s² bytes at 1 TB/s.
TEST(Attention, UnfusedComputesTheSquareAndStoresTheScores) {
  StepConstants constants = exact_constants();
  constants.softmax_passes = 6;
  KernelRates rates = exact_rates(constants);
  const double products = 2 * (2.0 * 8 * 1024 * 1024 * 128) / 100e12;
  EXPECT_NEAR(attention_time(shape_of(1024), AttentionKernel::kStandard, rates, constants).forward_s, products, 1e-9);
  rates.memory_bytes_per_s = 1e12;
  const AttentionTime time = attention_time(shape_of(1024), AttentionKernel::kStandard, rates, constants);
  EXPECT_NEAR(time.forward_s, products + 6 * 8 * 1024.0 * 1024 * 2 / 1e12, 1e-12);
  EXPECT_NEAR(time.backward_s, 2 * products + 6 * 8 * 1024.0 * 1024 * 2 / 1e12, 1e-12);
}

TEST(Attention, MisalignedHeadsRunUnfusedProductsSlowly) {
  StepConstants constants = exact_constants();
  constants.misaligned = 10;
  AttentionShape shape = shape_of(1024);
  shape.qk_head_dim = shape.v_head_dim = 100;
  const double slow = attention_time(shape, AttentionKernel::kStandard, exact_rates(), constants).forward_s;
  const double fast = attention_time(shape, AttentionKernel::kStandard, exact_rates(), exact_constants()).forward_s;
  EXPECT_NEAR(slow, 10 * fast, 1e-12);
}

}  // namespace
}  // namespace tare
