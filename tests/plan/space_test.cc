#include "plan/space.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "perf/any_step.h"

namespace tare {
namespace {

using test::round_machine;
using test::small_gpt;
using test::small_moe;
using test::workload_of;

std::vector<Parallelism> all_of(const Space& space) {
  std::vector<Parallelism> all;
  for (const SpaceGroup& group : space.groups) {
    for_each_in_group(space, group, [&](const Parallelism& p) { all.push_back(p); });
  }
  return all;
}

std::set<std::string> texts_of(const std::vector<Parallelism>& all) {
  std::set<std::string> texts;
  for (const Parallelism& p : all) EXPECT_TRUE(texts.insert(to_text(p)).second) << "twice: " << to_text(p);
  return texts;
}

// The exclusions that plan/space.h states beyond divisibility.
bool is_stated(const Workload& w, const Machine& m, const Parallelism& p) {
  if (p.tp > std::max(m.gpus_per_node, m.domain_gpus)) return false;
  if (p.cp > 1 && w.sequence_length / p.cp < 1024) return false;
  if (p.vpp > 1 && p.pp == 1) return false;
  if (p.zero_stage > 0 && p.dp * p.cp == 1) return false;
  if (p.zero_stage == 2 && p.pp > 1) return false;
  return !p.sequence_parallel || p.tp > 1;
}

// Calls f for every value of every degree up to the GPUs, without any thought of what divides what.
template <typename F>
void for_each_parallelism(const Workload& w, const Machine& m, F&& f) {
  const int experts = std::max(w.model.experts, 1);
  for (int tp = 1; tp <= m.gpus; ++tp) {
    for (int cp = 1; tp * cp <= m.gpus; cp *= 2) {
      for (int pp = 1; tp * cp * pp <= m.gpus; ++pp) {
        if (m.gpus % (tp * cp * pp) != 0) continue;
        for (int vpp = 1; vpp <= 16; ++vpp) {
          for (int ep = 1; ep <= experts; ++ep) {
            for (int micro = 1; micro <= 128; ++micro) {
              Parallelism p{.tp = tp, .pp = pp, .vpp = vpp, .cp = cp, .ep = ep, .dp = m.gpus / (tp * cp * pp)};
              p.micro_batch = micro;
              p.schedule = vpp > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::kOneForwardOneBackward;
              f(p);
            }
          }
        }
      }
    }
  }
}

std::set<std::string> brute_force(const Workload& w, const Machine& m) {
  std::set<std::string> texts;
  for_each_parallelism(w, m, [&](Parallelism p) {
    for (const bool sequence_parallel : {false, true}) {
      p.sequence_parallel = sequence_parallel;
      if (check_divisibility(w, m, p)) continue;
      for (p.zero_stage = 0; p.zero_stage < 4; ++p.zero_stage) {
        if (!is_stated(w, m, p)) continue;
        for (const Offload offload : {Offload::kNone, Offload::kOptimizer}) {
          for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
            p.offload = offload;
            p.recompute = recompute;
            texts.insert(to_text(p));
          }
        }
      }
    }
  });
  return texts;
}

void expect_whole(const Workload& w, const Machine& m) {
  const Space space = make_space(w, m, {});
  const std::vector<Parallelism> all = all_of(space);
  EXPECT_EQ(space.size, static_cast<long long>(all.size()));
  for (const Parallelism& p : all) {
    const auto no = check_divisibility(w, m, p);
    ASSERT_FALSE(no) << to_text(p) << ": " << no->needed << ", had " << no->had;
  }
  EXPECT_EQ(texts_of(all), brute_force(w, m)) << w.model.id << " on " << m.gpus;
}

TEST(Space, IsWholeForDenseModels) {
  expect_whole(small_gpt(), round_machine(1));
  expect_whole(small_gpt(), round_machine(8));
  expect_whole(small_gpt(), round_machine(32));
}

TEST(Space, IsWholeForOddModels) {
  Workload w = workload_of(llama(22, 768, 4104, 12, 4, 32000), 4 * 1024 + 4, 96);  // 22 + 2 layers, an odd sequence
  expect_whole(w, round_machine(24));
  w.sequence_length = 4096;
  expect_whole(w, round_machine(24));
}

TEST(Space, IsWholeForMixturesOfExperts) {
  expect_whole(workload_of(small_moe(), 2048, 32), round_machine(16));
  ModelArchitecture model = small_moe();
  model.shared_expert_ffn_hidden = 1028;
  model.first_dense_layers = 1;
  model.ffn_hidden = 4098;
  expect_whole(workload_of(model, 2048, 32), round_machine(16));
}

RC_GTEST_PROP(SpaceProperties, EveryParallelismOfItIsPossible, ()) {
  Workload workload = test::any_workload();
  const Machine machine = test::any_machine(*rc::gen::element(1, 6, 16, 48, 64));
  workload.global_batch = *rc::gen::element(1, 48, 64, 96);
  const Space space = make_space(workload, machine, {});
  long long count = 0;
  for (const SpaceGroup& group : space.groups) {
    for_each_in_group(space, group, [&](const Parallelism& p) {
      ++count;
      RC_ASSERT(!check_divisibility(workload, machine, p).has_value());
    });
  }
  RC_ASSERT(count == space.size);
}

// Full recompute of 1 … n layers of a stage: eight layers over pp stages give 8/pp choices in place of one.
TEST(Space, PartialRecompute) {
  SpaceLimits limits;
  limits.tp = limits.cp = limits.micro_batch = {1};
  limits.zero_stage = {0};
  limits.offload = {Offload::kNone};
  limits.vpp = {1};
  limits.pp = {2};
  limits.partial_recompute = true;
  std::vector<int> layers;
  for (const Parallelism& p : all_of(make_space(small_gpt(), round_machine(8), limits))) {
    if (p.recompute == Recompute::kFull) layers.push_back(p.recompute_layers);
  }
  EXPECT_EQ(layers, (std::vector<int>{1, 2, 3, -1}));  // -1: all four
}

TEST(Space, LimitsReplaceTheDefaults) {
  SpaceLimits limits;
  limits.tp = {2, 3};  // 3 does not divide
  limits.pp = {2};
  limits.micro_batch = {4};
  limits.zero_stage = {1};
  limits.recompute = {Recompute::kFull};
  limits.offload = {Offload::kParameters};
  limits.schedule = {PipelineSchedule::kZeroBubble};
  limits.vpp = {1};
  const Space space = make_space(small_gpt(), round_machine(8), limits);
  const std::vector<Parallelism> all = all_of(space);
  ASSERT_EQ(all.size(), 2u);  // with sequence parallelism and without
  Parallelism expected{.tp = 2, .pp = 2, .dp = 2, .zero_stage = 1, .micro_batch = 4};
  expected.recompute = Recompute::kFull;
  expected.offload = Offload::kParameters;
  expected.schedule = PipelineSchedule::kZeroBubble;
  EXPECT_EQ(all[0], expected);
  EXPECT_GT(space.indivisible, 0);
}

TEST(Space, LimitsThatDoNotDivideLeaveNothing) {
  SpaceLimits limits;
  limits.ep = {3};
  EXPECT_EQ(make_space(workload_of(small_moe(), 2048, 24), round_machine(24), limits).size, 0);
  limits = {};
  limits.cp = {3};
  EXPECT_EQ(make_space(small_gpt(), round_machine(24), limits).size, 0);
}

}  // namespace
}  // namespace tare
