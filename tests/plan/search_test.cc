#include "plan/search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perf/any_step.h"

namespace tare {
namespace {

using test::hgx_like;
using test::small_gpt;

constexpr double kEnough = 1e18;

// The pruned search and the one that looks at everything agree on the parallelism itself, not only on its time.
void expect_exact(const Workload& workload, const Machine& machine, const SpaceLimits& limits, double capacity_bytes) {
  const Space space = make_space(workload, machine, limits);
  StepModel model(workload, machine), other(workload, machine);
  const SearchResult found = search(model, space, capacity_bytes);
  const SearchResult oracle = search_exhaustively(other, space, capacity_bytes);
  RC_ASSERT(found.best.has_value() == oracle.best.has_value());
  RC_ASSERT(found.evaluated + found.pruned == space.size);
  RC_ASSERT(oracle.evaluated == space.size);
  if (!found.best) {
    RC_ASSERT(found.least_memory_bytes == oracle.least_memory_bytes);
    return;
  }
  RC_ASSERT(to_text(*found.best) == to_text(*oracle.best));
  RC_ASSERT(*found.best == *oracle.best);
  RC_ASSERT(found.step_time_s == oracle.step_time_s);
  RC_ASSERT(model.evaluate(*found.best).step_time_s == found.step_time_s);
}

RC_GTEST_PROP(SearchProperties, IsExact, ()) {
  Workload workload = test::any_workload();
  workload.global_batch = *rc::gen::element(8, 16, 24);
  const Machine machine = test::any_machine(*rc::gen::element(1, 4, 8, 16));
  SpaceLimits limits;
  limits.partial_recompute = *rc::gen::arbitrary<bool>();
  // From a capacity that holds nothing to one that holds everything.
  const double capacity = *rc::gen::element(1e6, 3e9, 10e9, 30e9, 100e9, 1e12, kEnough);
  expect_exact(workload, machine, limits, capacity);
}

TEST(Search, SaysTheLeastMemoryWhenNothingFits) {
  const Space space = make_space(small_gpt(), hgx_like(8), {});
  StepModel model(small_gpt(), hgx_like(8));
  const SearchResult found = search(model, space, 1e6);
  EXPECT_FALSE(found.best);
  EXPECT_EQ(found.evaluated, space.size);
  EXPECT_EQ(found.out_of_memory, space.size);
  EXPECT_GT(found.least_memory_bytes, 1e6);
  EXPECT_EQ(model.memory(found.least_memory).total_bytes, found.least_memory_bytes);
  for (const SpaceGroup& group : space.groups) {
    for_each_in_group(space, group, [&](const Parallelism& p) {
      EXPECT_GE(model.memory(p).total_bytes, found.least_memory_bytes) << to_text(p);
    });
  }
}

// On one GPU ZeRO and layout do not exist and nothing is recomputed by need: the first of several equals is taken, in
// enumeration order, by both searches.
TEST(Search, TiesGoToTheFirst) {
  const Workload workload = small_gpt();
  Machine machine = hgx_like(8);
  // Without network cost, ZeRO 0 and 1 differ only in the optimizer; make that free too.
  StepConstants constants = test::exact_constants();
  constants.optimizer_bytes = 0;
  machine.in_domain.bytes_per_s = machine.between_nodes.bytes_per_s = 1e30;
  const Space space = make_space(workload, machine, {});
  StepModel model(workload, machine, {}, constants), other(workload, machine, {}, constants);
  const SearchResult found = search(model, space, kEnough);
  double least = 1e300;
  std::optional<Parallelism> first;
  int equal = 0;
  for (const SpaceGroup& group : space.groups) {
    for_each_in_group(space, group, [&](const Parallelism& p) {
      const double time = other.step_time_s(p);
      if (time == least) ++equal;
      if (time >= least) return;
      least = time;
      equal = 0;
      first = p;
    });
  }
  EXPECT_GT(equal, 0);
  EXPECT_EQ(to_text(*found.best), to_text(*first));
  EXPECT_EQ(*search_exhaustively(other, space, kEnough).best, *first);
}

// What is offloaded lies in host memory: a host that is too small rules it out.
TEST(Search, OffloadedStatesFitInTheHost) {
  const Workload workload = test::workload_of(gpt(24, 4096, 32, 51200), 1024, 8);
  Machine machine = hgx_like(1);
  const Space space = make_space(workload, machine, {});
  StepModel unknown(workload, machine);
  const SearchResult without = search(unknown, space, 60e9);
  ASSERT_TRUE(without.best);
  EXPECT_EQ(without.best->offload, Offload::kOptimizer);
  machine.host_memory_bytes = 1e9;
  StepModel small_host(workload, machine);
  EXPECT_FALSE(search(small_host, space, 60e9).best);
}

TEST(Search, BoundsPruneALargeSpace) {
  const Workload workload = test::workload_of(gpt(96, 12288, 96, 51200), 2048, 1536);
  const Machine machine = hgx_like(1024);
  const Space space = make_space(workload, machine, {});
  StepModel model(workload, machine);
  const SearchResult found = search(model, space, 78e9);
  EXPECT_TRUE(found.best);
  EXPECT_GT(found.pruned, space.size / 4);
}

}  // namespace
}  // namespace tare
