// A search evaluates millions of parallelisms: once a layer has been seen, an evaluation allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "perf/perf_examples.h"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tare {
namespace {

TEST(StepModel, EvaluatesWithoutAllocating) {
  const Workload workload = test::workload_of(gpt(96, 12288, 96, 51200), 2048, 1536);
  StepModel model(workload, test::hgx_like(512));
  std::vector<Parallelism> all;
  for (const int tp : {1, 2, 4, 8}) {
    for (const int pp : {1, 2, 4, 8}) {
      for (int zero = 0; zero < 4; ++zero) all.push_back({.tp = tp, .pp = pp, .dp = 512 / tp / pp, .zero_stage = zero});
    }
  }
  double total = 0;
  for (const Parallelism& p : all) total += model.evaluate(p).step_time_s;
  const long before = allocations;
  for (const Parallelism& p : all) total += model.evaluate(p).step_time_s + model.memory(p).total_bytes;
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(total, 0);
}

}  // namespace
}  // namespace tare
