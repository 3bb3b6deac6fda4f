// How fast parallelisms are evaluated and searched: GPT-3 175B on 4,096 A100, one core.
//
//   Evaluate      complete evaluations (time and memory) of every configuration of the space
//   Search        the same space with bounds; its answer is compared with Evaluate's once
//   CountedEvaluations  a fixed number of evaluations, for bench/ratchet.sh to count instructions of
// Bars of the project: 1,000,000 evaluations/s, the whole space (over a million configurations) in under 2 s. Peers on
// one core, measured on the same kind of work: Calculon 92–97/s as shipped, 550–610/s without its logging;
// llm-analysis 4,800/s.
#include <benchmark/benchmark.h>

#include "plan/search.h"

namespace tare {
namespace {

constexpr double kCalculonPerS = 94.5, kCalculonQuietPerS = 580, kLlmAnalysisPerS = 4800;

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

// Sequences of 2,048 as in its paper; a batch of 6,144 as MegaScale trains a 175B model with on thousands of GPUs.
Workload workload() {
  Workload workload;
  workload.model = *find_model(catalog(), "gpt3-175b");
  workload.sequence_length = 2048;
  workload.global_batch = 6144;
  workload.stack = *find_stack(catalog(), "megatron-bridge");
  return workload;
}

Machine machine() {
  const NodeType& type = *find_node_type(catalog(), "aws/p4de.24xlarge");
  return machine_of_node(*find_accelerator(catalog(), type.gpu), type, 512);
}

// Everything the model can tell apart: tensor parallelism beyond the node, every number of recomputed layers, every
// offload, both schedules.
Space whole_space(const Workload& workload, const Machine& machine) {
  SpaceLimits limits;
  limits.tp = {1, 2, 4, 8, 16, 32};
  limits.partial_recompute = true;
  limits.offload = {Offload::kNone, Offload::kOptimizer, Offload::kParameters};
  limits.schedule = {PipelineSchedule::kOneForwardOneBackward, PipelineSchedule::kZeroBubble};
  return make_space(workload, machine, limits);
}

double capacity(const Machine& machine) { return usable_memory_bytes(machine.memory_bytes); }

void rate(benchmark::State& state, const char* name, double per_iteration) {
  state.counters[name] = benchmark::Counter(per_iteration, benchmark::Counter::kIsIterationInvariantRate);
}

void Evaluate(benchmark::State& state) {
  const Workload w = workload();
  const Machine m = machine();
  const Space space = whole_space(w, m);
  for (auto _ : state) {
    StepModel model(w, m);
    benchmark::DoNotOptimize(search_exhaustively(model, space, capacity(m)));
  }
  const double size = double(space.size);
  state.counters["configurations"] = size;
  rate(state, "evaluations/s", size);
  rate(state, "x_Calculon", size / kCalculonPerS);
  rate(state, "x_Calculon_quiet", size / kCalculonQuietPerS);
  rate(state, "x_llm-analysis", size / kLlmAnalysisPerS);
}
BENCHMARK(Evaluate)->Unit(benchmark::kMillisecond);

void Search(benchmark::State& state) {
  const Workload w = workload();
  const Machine m = machine();
  const Space space = whole_space(w, m);
  SearchResult found;
  for (auto _ : state) {
    StepModel model(w, m);
    found = search(model, space, capacity(m));
    benchmark::DoNotOptimize(found);
  }
  StepModel model(w, m);
  const SearchResult oracle = search_exhaustively(model, space, capacity(m));
  if (space.size < 1000000) state.SkipWithError("the space has less than a million configurations");
  if (!found.best || found.best != oracle.best || found.step_time_s != oracle.step_time_s) {
    state.SkipWithError("the search and the evaluation of everything disagree");
    return;
  }
  state.counters["configurations"] = double(space.size);
  state.counters["evaluated"] = double(found.evaluated);
  rate(state, "configurations/s", double(space.size));
  state.SetLabel(to_text(*found.best) + ", as brute force");
}
BENCHMARK(Search)->Unit(benchmark::kMillisecond);

void MakeSpace(benchmark::State& state) {
  const Workload w = workload();
  const Machine m = machine();
  for (auto _ : state) benchmark::DoNotOptimize(whole_space(w, m));
}
BENCHMARK(MakeSpace)->Unit(benchmark::kMillisecond);

// The first 50,000 configurations of the space.
void CountedEvaluations(benchmark::State& state) {
  constexpr long kCount = 50000;
  const Workload w = workload();
  const Machine m = machine();
  const Space space = whole_space(w, m);
  StepModel model(w, m);
  long evaluations = 0;
  for (auto _ : state) {
    for (const SpaceGroup& group : space.groups) {
      for_each_in_group(space, group, [&](const Parallelism& p) {
        if (evaluations >= kCount) return;
        ++evaluations;
        benchmark::DoNotOptimize(model.evaluate(p));
      });
    }
  }
  state.counters["evaluations"] = double(evaluations);
}
BENCHMARK(CountedEvaluations)->Iterations(1);

}  // namespace
}  // namespace tare
