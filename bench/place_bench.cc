// How fast gangs are placed: 12,544 nodes of 8 GPUs (100,352 GPUs) in 49 pods of 16 leaves of 16 nodes, 90 % full.
//
//   Gang512             512 whole nodes                       Gang512Blocks  in blocks of 4 nodes, each in one pod
//   Gang512Fragmented   the free GPUs lie in pieces: 512 units of 2 GPUs
//   CannotFit           2,048 nodes, with every reason counted and the nearest changes
//   TenThousand         64 whole nodes in blocks of 2 on 10,240 GPUs (5 pods of the same)
//   Load                a cluster file of 12,544 nodes below 784 leaves, to a state ready to place on
//   OccupyRelease       one gang of 512 nodes in and out
// Each iteration takes another of 100 random fillings; p50_ms, p99_ms and most_ms are over all of
// them by the clock, cpu_p99_ms by the time of the thread: what a machine that is shared takes away is not in it. Bars
// of the project: p99 ≤ 5 ms (≤ 1 ms at 10,000 GPUs), cannot fit ≤ 10 ms, loading ≤ 1 s. Peers, as published or
// measured: Slurm 68–107 ms, HiveD 3–10 ms in its core and 17.5 s whole, KAI 48.7 s for 500 nodes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <random>

#include <fmt/format.h>

#include "place/gang.h"

namespace tare {
namespace {

constexpr int kStates = 100;

PlaceTopology tree(int pods, int leaves, int nodes) {
  PlaceTopology topology;
  topology.levels = {{"pod", {}}, {"leaf", {}}};
  for (int i = 0; i < pods * leaves * nodes; ++i) {
    topology.gpus.push_back(8);
    topology.levels[0].domain.push_back(i / (leaves * nodes));
    topology.levels[1].domain.push_back(i / nodes % leaves);
  }
  return topology;
}

// Runs of 1 to 64 nodes are taken until `share` of the nodes is; with pieces, half of a node instead of all of it.
ClusterState filled(const PlaceTopology& topology, double share, bool pieces, unsigned seed) {
  ClusterState state(topology);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> start(0, state.nodes() - 1), length(1, 64);
  long long taken = 0;
  while (taken < static_cast<long long>(share * 8 * state.nodes())) {
    const int first = start(random), last = std::min(first + length(random), state.nodes());
    for (int node = first; node < last && taken < static_cast<long long>(share * 8 * state.nodes()); ++node) {
      const int gpus = std::min(state.free_gpus(node), pieces ? 4 : 8);
      state.occupy(node, gpus);
      taken += gpus;
    }
  }
  return state;
}

std::vector<ClusterState> states(const PlaceTopology& topology, double share, bool pieces) {
  std::vector<ClusterState> made;
  for (unsigned seed = 1; seed <= kStates; ++seed) made.push_back(filled(topology, share, pieces, seed));
  return made;
}

double thread_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

struct Times {
  std::vector<double> ms, cpu_ms;
  int fitted = 0, exact = 0;

  void report(benchmark::State& bench) {
    std::sort(ms.begin(), ms.end());
    std::sort(cpu_ms.begin(), cpu_ms.end());
    bench.counters["p50_ms"] = ms[ms.size() / 2];
    bench.counters["p99_ms"] = ms[ms.size() * 99 / 100];
    bench.counters["most_ms"] = ms.back();
    bench.counters["cpu_p99_ms"] = cpu_ms[cpu_ms.size() * 99 / 100];
    bench.counters["fit_ratio"] = double(fitted) / double(ms.size());
    bench.counters["exact_ratio"] = double(exact) / double(ms.size());
  }
};

void run(benchmark::State& bench, const std::vector<ClusterState>& on, const GangRequest& request) {
  GangPlacer placer;
  GangPlacement placement;
  Times times;
  std::size_t next = 0;
  for (auto _ : bench) {
    const ClusterState& state = on[next++ % on.size()];
    const double start_s = thread_s();
    const auto start = std::chrono::steady_clock::now();
    const bool fits = placer.place(state, request, placement);
    if (!fits) benchmark::DoNotOptimize(placer.why_not(state, request));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    times.ms.push_back(took.count());
    times.cpu_ms.push_back(1e3 * (thread_s() - start_s));
    times.fitted += fits;
    times.exact += fits && placement.exact;
  }
  times.report(bench);
}

void Gang512(benchmark::State& bench) { run(bench, states(tree(49, 16, 16), 0.9, false), {.units = 512}); }
void Gang512Blocks(benchmark::State& bench) {
  run(bench, states(tree(49, 16, 16), 0.9, false), {.units = 512, .block_units = 4, .block_depth = 1});
}
void Gang512Fragmented(benchmark::State& bench) {
  run(bench, states(tree(49, 16, 16), 0.9, true), {.units = 512, .gpus_per_unit = 2});
}
void CannotFit(benchmark::State& bench) {
  run(bench, states(tree(49, 16, 16), 0.9, false), {.units = 2048, .block_units = 4, .block_depth = 1});
}
void TenThousand(benchmark::State& bench) {
  run(bench, states(tree(5, 16, 16), 0.9, false), {.units = 64, .block_units = 2, .block_depth = 1});
}

std::string cluster_text() {
  std::string text =
      "[cluster]\nname = \"hall\"\n[node_type.hgx]\ngpus = { model = \"H100-SXM5-80GB\", count = 8 }\n"
      "nics = { model = \"CX-7 NDR\", count = 8, rate = \"400Gb/s\", rails = true }\n"
      "[[node]]\nnames = \"n[1-12544]\"\ntype = \"hgx\"\n[fabric]\nleaves = [\n";
  for (int leaf = 0; leaf < 784; ++leaf) {
    text += fmt::format("  {{ name = \"leaf{}\", nodes = \"n[{}-{}]\", uplink = \"3200Gb/s\" }},\n", leaf + 1,
                        leaf * 16 + 1, leaf * 16 + 16);
  }
  return text + "]\n";
}

void Load(benchmark::State& bench) {
  const Catalog catalog = load_catalog().value();
  const std::string text = cluster_text();
  for (auto _ : bench) {
    const Result<Cluster> cluster = parse_cluster(text, "hall.toml", catalog);
    benchmark::DoNotOptimize(ClusterState(place_topology(cluster.value())));
  }
}

void OccupyRelease(benchmark::State& bench) {
  ClusterState state = filled(tree(49, 16, 16), 0.9, false, 1);
  GangPlacement placement;
  GangPlacer().place(state, {.units = 512}, placement);
  for (auto _ : bench) {
    for (const GangShare& share : placement.shares) state.occupy(share.node, 8);
    for (const GangShare& share : placement.shares) state.release(share.node, 8);
  }
}

BENCHMARK(Gang512)->Iterations(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(Gang512Blocks)->Iterations(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(Gang512Fragmented)->Iterations(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(CannotFit)->Iterations(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(TenThousand)->Iterations(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(Load)->Unit(benchmark::kMillisecond);
BENCHMARK(OccupyRelease)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tare
