#include <gtest/gtest.h>

#include "perf/perf_examples.h"

namespace tare {
namespace {

using test::round_machine;
using test::small_moe;
using test::workload_of;

// 24 layers, 24 heads of which 8 key-value heads, MLP 4,096 wide, sequences of 2,048, a batch of 96.
Workload workload() { return workload_of(llama(24, 3072, 4096, 24, 8, 32000), 2048, 96); }

std::string refusal(const Workload& w, const Parallelism& p) {
  const auto no = check_divisibility(w, round_machine(gpus(p)), p);
  if (!no) return "";
  EXPECT_EQ(no->reason, "divisibility");
  return no->needed + ", had " + no->had;
}

TEST(Divisibility, WhatDivides) {
  EXPECT_EQ(refusal(workload(), {}), "");
  EXPECT_EQ(refusal(workload(), {.tp = 4, .pp = 3, .vpp = 2, .cp = 2, .dp = 4, .sequence_parallel = true}), "");
  EXPECT_EQ(refusal(workload(), {.tp = 8, .pp = 13}), "");  // 26 = 24 + 2: the ends hold embedding and head
}

TEST(Divisibility, DegreesMultiplyToTheGpus) {
  const auto no = check_divisibility(workload(), round_machine(64), {.tp = 8, .dp = 4});
  ASSERT_TRUE(no);
  EXPECT_EQ(no->had, "32 of 64");
}

TEST(Divisibility, Heads) {
  EXPECT_EQ(refusal(workload(), {.tp = 16}), "tp divides 24 heads, had tp 16");
  // 3 divides the 24 heads, but neither do 8 key-value heads split in 3 nor is each shared by whole ranks.
  EXPECT_EQ(refusal(workload(), {.tp = 3}), "tp and 8 key-value heads divide one another, had tp 3");
}

TEST(Divisibility, Widths) {
  Workload w = workload();
  w.model.ffn_hidden = 4098;
  EXPECT_EQ(refusal(w, {.tp = 4}), "tp divides the MLP width 4098, had tp 4");
  w = workload_of(small_moe(), 1024, 64);
  w.model.expert_ffn_hidden = 1030;
  EXPECT_EQ(refusal(w, {.tp = 4}), "tp divides the expert width 1030, had tp 4");
  EXPECT_EQ(refusal(w, {.tp = 4, .ep = 4}), "");  // whole experts on a rank
  w.model.shared_expert_ffn_hidden = 1030;
  EXPECT_EQ(refusal(w, {.tp = 4, .ep = 4}), "tp divides the shared experts' width 1030, had tp 4");
}

TEST(Divisibility, Experts) {
  EXPECT_EQ(refusal(workload(), {.ep = 2, .dp = 2}), "experts for ep > 1, had a dense model");
  const Workload w = workload_of(small_moe(), 1024, 96);
  EXPECT_EQ(refusal(w, {.ep = 3, .dp = 3}), "ep divides 8 experts, had ep 3");
  EXPECT_EQ(refusal(w, {.ep = 8, .dp = 4}), "ep divides tp*cp*dp, had ep 8");
  EXPECT_EQ(refusal(w, {.tp = 2, .ep = 8, .dp = 4}), "");
}

TEST(Divisibility, Layers) {
  EXPECT_EQ(refusal(workload(), {.pp = 5}), "pp*vpp divides 24 layers (or 26), had 5");
  EXPECT_EQ(refusal(workload(), {.pp = 26}), "a layer for each of pp*vpp chunks, had 26");
}

TEST(Divisibility, Sequence) {
  EXPECT_EQ(refusal(workload(), {.cp = 3}), "2*cp divides the sequence of 2048, had 6");
  Workload w = workload();
  w.sequence_length = 1020;  // 4·255
  EXPECT_EQ(refusal(w, {.tp = 8, .sequence_parallel = true}), "1*tp divides the sequence of 1020, had 8");
  EXPECT_EQ(refusal(w, {.tp = 8}), "");
}

TEST(Divisibility, Batch) {
  EXPECT_EQ(refusal(workload(), {.dp = 64}), "dp*micro_batch divides the batch of 96, had 64");
  EXPECT_EQ(refusal(workload(), {.dp = 32, .micro_batch = 2}), "dp*micro_batch divides the batch of 96, had 64");
}

// 96/(8·1) = 12 micro-batches do not come in rounds of 8.
TEST(Divisibility, InterleavingRunsMicroBatchesInRounds) {
  EXPECT_EQ(refusal(workload(), {.pp = 8, .vpp = 3, .dp = 8}),
            "pp divides the micro-batches under the interleaved schedule, had 12");
  EXPECT_EQ(refusal(workload(), {.pp = 8, .dp = 8}), "");
}

}  // namespace
}  // namespace tare
