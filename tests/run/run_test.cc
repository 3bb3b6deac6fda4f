#include "run/run.h"

#include <cmath>

#include <gtest/gtest.h>

#include "run/checkpoint_interval.h"
#include "run/round_catalog.h"

namespace tare {
namespace {

using test::round_catalog;
using test::round_run;
using test::set;

const Formula* find_formula(const Run& run, const std::string& id) {
  for (const Formula& formula : run.formulas) {
    if (formula.id == id) return &formula;
  }
  return nullptr;
}

// Steps: 1e10 ÷ 1e6 = 10,000, of 10 s each. A started step is a whole step.
TEST(Run, StepsAreWhole) {
  RunInput input = round_run();
  EXPECT_EQ(estimate_run(input, round_catalog()).steps, 10000);
  EXPECT_EQ(estimate_run(input, round_catalog()).productive_s, 100000);
  input.tokens += 1;
  EXPECT_EQ(estimate_run(input, round_catalog()).steps, 10001);
}

// provision 100 + image 10e9/1e9 = 10, driver 10 + processes 20 + NCCL (10 + 2 · log₂(64/64)) + warm-up 30 + VM 47,
// data 80e9 / (8 · 1e9) = 10: 237 s.
TEST(Run, StartUpByHand) {
  RunInput input = round_run();
  input.data_bytes = 80e9;
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).startup_s, 237);
  input.host = "bare_metal";  // no VM, but the node takes 200 s to come
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).startup_s, 237 - 47 + 100);
  input.purchase = Purchase::kOwned;  // it is there
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).startup_s, 237 - 47 - 100);
  input.gpus = 256;  // two doublings more, 32 nodes for the data
  input.nodes = 32;
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).startup_s, 237 - 47 - 100 + 4 - 7.5);
}

// Async: W = 21, δ = 1.3125. Sync: δ = W = 21.
TEST(Run, CheckpointTimesByHand) {
  RunInput input = round_run();
  const auto async = estimate_run(input, round_catalog());
  EXPECT_DOUBLE_EQ(async.checkpoint_durable_s, 21);
  EXPECT_DOUBLE_EQ(async.checkpoint_block_s, 1.3125);
  input.checkpoint.async = false;
  const auto sync = estimate_run(input, round_catalog());
  EXPECT_DOUBLE_EQ(sync.checkpoint_durable_s, 21);
  EXPECT_DOUBLE_EQ(sync.checkpoint_block_s, 21);
  input.nodes = 1;  // one node cannot fill the store: 1 + 200e9 / 5e9
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).checkpoint_durable_s, 41);
}

// Async, automatic: M = 562,500, δ = 1.3125: Daly 1,214.26 s, over W = 21, ⌈100,000/1,214.26⌉ = 83 checkpoints.
//   stall  83 · 1.3125 + 21 = 129.9375
//   restart 600 + (10 + 20 + 10 + 30 + 47) + 200e9/20e9 = 727
//   rework 562,500 − 1,214.26/(e^(1,214.26/562,500) − 1) = 606.91, a little under 1,214.26/2 = 607.13
//   loss   606.91 + 21 + 300 + 727 = 1,654.91
//   wall   (100,000 + 227 + 129.9375) / (1 − 1,654.91/562,500) = 100,653.1
TEST(Run, WallByHand) {
  const auto run = estimate_run(round_run(), round_catalog());
  EXPECT_DOUBLE_EQ(run.mtti_s, 562500);
  const double interval = daly_interval_s(1.3125, 562500);
  EXPECT_NEAR(interval, 1214.264, 0.001);
  EXPECT_DOUBLE_EQ(run.checkpoint_interval_s, interval);
  EXPECT_EQ(run.checkpoints, 83);
  EXPECT_DOUBLE_EQ(run.checkpoint_stall_s, 129.9375);
  EXPECT_DOUBLE_EQ(run.restart_s, 727);
  const double rework = 562500 - interval / std::expm1(interval / 562500);
  EXPECT_NEAR(rework, 606.91, 0.01);
  EXPECT_NEAR(run.loss_per_failure_s, rework + 21 + 300 + 727, 1e-6);
  EXPECT_NEAR(run.wall_s, 100653.1, 0.1);
  EXPECT_NEAR(run.failures, 100653.1 / 562500, 1e-6);
  EXPECT_NEAR(run.goodput_ratio, 100000 / 100653.1, 1e-6);
  EXPECT_NEAR(run.gpu_hours, 100653.1 * 64 / 3600, 0.01);
}

TEST(Run, AnIntervalNeverEndsBeforeItsWriteDoes) {
  RunInput input = round_run();
  input.checkpoint_bytes = 40e12;  // W = 4,001 s
  Catalog catalog = round_catalog();
  set(catalog, "checkpoint_d2h_bytes_per_s", 1e15);  // a snapshot costs next to nothing: Daly's interval is short
  EXPECT_DOUBLE_EQ(estimate_run(input, catalog).checkpoint_interval_s, 4001);
  input.checkpoint = {CheckpointPolicy::Every::kSteps, 10, true};  // asked for 100 s
  EXPECT_DOUBLE_EQ(estimate_run(input, catalog).checkpoint_interval_s, 4001);
  input.checkpoint.async = false;  // waiting for the write, any interval is possible
  EXPECT_DOUBLE_EQ(estimate_run(input, catalog).checkpoint_interval_s, 100);
}

// 10,000 steps at every 50 are 200 checkpoints, at every 100 half of that: I/O is linear in the frequency.
TEST(Run, FixedIntervals) {
  RunInput input = round_run();
  input.checkpoint = {CheckpointPolicy::Every::kSteps, 50, true};
  input.step_time_s = 0.7;  // 50 · 0.7 is no whole number in binary: still 200
  EXPECT_EQ(estimate_run(input, round_catalog()).checkpoints, 200);
  input.checkpoint.value = 100;
  EXPECT_EQ(estimate_run(input, round_catalog()).checkpoints, 100);
  input.checkpoint.value = 200;
  EXPECT_EQ(estimate_run(input, round_catalog()).checkpoints, 50);
  input.step_time_s = 10;
  input.checkpoint = {CheckpointPolicy::Every::kSeconds, 1800, true};
  const auto run = estimate_run(input, round_catalog());
  EXPECT_EQ(run.checkpoint_interval_s, 1800);
  EXPECT_EQ(run.checkpoints, 56);  // ⌈100,000 / 1,800⌉
}

// A run shorter than an interval writes one checkpoint, and loses half of itself rather than half an interval.
TEST(Run, ShorterThanAnInterval) {
  RunInput input = round_run();
  input.tokens = 10e6;  // 10 steps, 100 s
  const auto run = estimate_run(input, round_catalog());
  EXPECT_EQ(run.checkpoints, 1);
  EXPECT_NEAR(run.loss_per_failure_s, 50 + 21 + 300 + 727, 0.01);
}

// Ampere goes by failures per eight-GPU node: 8e-4 / 8 = 1e-4 per GPU-hour, here the same as Hopper's. Spot adds 9e-4.
TEST(Run, FailureRates) {
  RunInput input = round_run();
  input.generation = GpuGeneration::kAmpere;
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).mtti_s, 562500);
  input.purchase = Purchase::kSpot;
  const auto spot = estimate_run(input, round_catalog());
  EXPECT_DOUBLE_EQ(spot.mtti_s, 56250);
  EXPECT_NEAR(spot.hardware_failures, spot.failures / 10, 1e-12);
}

TEST(Run, RatesOfAnotherGenerationAreMarked) {
  RunInput input = round_run();
  const auto is_assumed = [&](GpuGeneration generation) {
    input.generation = generation;
    const auto run = estimate_run(input, round_catalog());
    return find_formula(run, "run.all_failures_per_gpu_h")->inputs[0].assumed;
  };
  EXPECT_FALSE(is_assumed(GpuGeneration::kHopper));
  EXPECT_FALSE(is_assumed(GpuGeneration::kAmpere));
  EXPECT_TRUE(is_assumed(GpuGeneration::kVolta));
  EXPECT_TRUE(is_assumed(GpuGeneration::kBlackwell));
}

// Of 100 interruptions in the published run 50 are GPU faults and 25 their memory, 10 the network, 15 the rest; one GPU
// fault in five is the link. At 1e-4 in all: GPUs 0.8 · 5e-5 + 2.5e-5 = 6.5e-5, links 1e-5, network 1e-5, node 1.5e-5.
TEST(Run, FailuresByPart) {
  RunInput input = round_run();
  const auto value = [](const tare::Run& run, const std::string& id) {
    const Formula* const formula = find_formula(run, "run." + id + "_per_gpu_h");
    return formula == nullptr ? 0 : formula->value;
  };
  const auto run = estimate_run(input, round_catalog());
  EXPECT_NEAR(value(run, "gpu_failures"), 6.5e-5, 1e-12);
  EXPECT_NEAR(value(run, "nvlink_failures"), 1e-5, 1e-12);
  EXPECT_NEAR(value(run, "nic_failures"), 1e-5, 1e-12);
  EXPECT_NEAR(value(run, "node_failures"), 1.5e-5, 1e-12);
  EXPECT_NEAR(value(run, "failures"), value(run, "all_failures"), 1e-15);
  input.linked_gpus = false;  // nothing joins the GPUs: no link can fail
  EXPECT_NEAR(value(estimate_run(input, round_catalog()), "failures"), 9e-5, 1e-12);
  input.nodes = 1;  // nor a network
  input.gpus = 8;
  EXPECT_NEAR(value(estimate_run(input, round_catalog()), "failures"), 8e-5, 1e-12);
}

// Where checkpoints lie, 200e9 bytes of 64 GPUs in 8 nodes with two disks of 5 (write) and 10 GB/s (read):
//   local   W = 1 + 2 · 200e9/(8 · 2 · 5e9) = 6 s, load 200e9/(8 · 2 · 10e9) = 1.25 s, δ = 1.3125 s
//   memory  W = 200e9/(64 · 10e9) + 200e9/(8 · 5e9) = 5.3125 s, load 5 s, δ = 0.3125 s
// The last one goes to the shared store, 21 s, either way.
TEST(Run, CheckpointTiersByHand) {
  RunInput input = round_run();
  input.local_disks = 2;
  input.checkpoint.store = CheckpointStore::kLocal;
  const auto local = estimate_run(input, round_catalog());
  EXPECT_DOUBLE_EQ(local.checkpoint_durable_s, 6);
  EXPECT_DOUBLE_EQ(local.checkpoint_block_s, 1.3125);
  EXPECT_DOUBLE_EQ(local.restart_s, 727 - 10 + 1.25);
  EXPECT_DOUBLE_EQ(local.checkpoint_stall_s, local.checkpoints * 1.3125 + 21);
  input.checkpoint.store = CheckpointStore::kMemory;
  const auto memory = estimate_run(input, round_catalog());
  EXPECT_DOUBLE_EQ(memory.checkpoint_durable_s, 5.3125);
  EXPECT_DOUBLE_EQ(memory.checkpoint_block_s, 0.3125);
  EXPECT_DOUBLE_EQ(memory.restart_s, 727 - 10 + 5);
  input.checkpoint.async = false;
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).checkpoint_block_s, 5.3125);
  input.nodes = 1;  // no peer to leave a copy with: the shared store
  EXPECT_DOUBLE_EQ(estimate_run(input, round_catalog()).checkpoint_durable_s, 41);
}

// A store grows with its cluster: 2,000 GPUs at 10 MB/s each pass the catalog's 10 GB/s.
TEST(Run, ALargerClusterHasAFasterStore) {
  Catalog catalog = round_catalog();
  set(catalog, "ckpt_bw_per_gpu", 10e6);
  RunInput input = round_run();
  input.gpus = 2000;
  input.nodes = 250;
  EXPECT_DOUBLE_EQ(estimate_run(input, catalog).checkpoint_durable_s, 1 + 200e9 / 20e9);
  input.gpus = 640;
  EXPECT_DOUBLE_EQ(estimate_run(input, catalog).checkpoint_durable_s, 21);
}

// One planned stop in 10,000 GPU-hours, 64 GPUs: one in 562,500 s, each W + restart = 21 + 727 = 748 s, 0.00133 of the
// wall. Held nodes are in a window for 31,536 s of a year besides: 0.001 of it.
TEST(Run, MaintenanceByHand) {
  Catalog catalog = round_catalog();
  const auto without = estimate_run(round_run(), catalog);
  set(catalog, "planned_int_rate", 1e-4);
  set(catalog, "fw_downtime", 31536);
  const auto rented = estimate_run(round_run(), catalog);
  EXPECT_NEAR(rented.maintenance_s / rented.wall_s, 748 / 562500.0, 1e-9);
  EXPECT_NEAR(rented.planned_interruptions, rented.wall_s / 562500, 1e-9);
  EXPECT_GT(rented.wall_s, without.wall_s);
  RunInput input = round_run();
  input.purchase = Purchase::kReserved;  // a spare comes in, 300 s sooner
  const auto held = estimate_run(input, catalog);
  EXPECT_NEAR(held.maintenance_s / held.wall_s, 448 / 562500.0 + 0.001, 1e-9);
  set(catalog, "fw_downtime", 31536000);  // always in a window
  EXPECT_FALSE(estimate_run(input, catalog).finishes);
}

// An interval as long as the mean time between interruptions, T = M: R = M − M/(e − 1) = 0.418 M, not half of it.
TEST(Run, ReworkOfALongInterval) {
  RunInput input = round_run();
  input.tokens = 1e12;
  input.checkpoint = {CheckpointPolicy::Every::kSeconds, 562500, false};
  const auto run = estimate_run(input, round_catalog());
  EXPECT_NEAR(run.loss_per_failure_s - 1027, 562500 * (1 - 1 / std::expm1(1)), 1);
}

// 47 s more at each of N restarts of 64 GPUs are N · 47 · 64 / 3600 GPU-hours; 100 a day make 83.6 (claim A05).
TEST(Run, SlowerStartsCostGpuHoursAtEachRestart) {
  RunInput input = round_run();
  const auto vm = estimate_run(input, round_catalog());
  Catalog catalog = round_catalog();
  set(catalog, "init_delta", 0);
  const auto quick = estimate_run(input, catalog);
  EXPECT_DOUBLE_EQ(vm.restart_s - quick.restart_s, 47);
  const double lost_gpu_h = (vm.wall_s - quick.wall_s) * 64 / 3600;
  EXPECT_NEAR(lost_gpu_h, (1 + vm.failures) * 47 * 64 / 3600, 0.01 * lost_gpu_h);
  EXPECT_NEAR(100 * 47 * 64 / 3600.0, 83.6, 0.05);
}

// L = 1,214/2 + … against M: at 1e-4 · 1,000 interruptions per GPU-hour M = 562.5 s and detection with restart alone
// take 1,027 s.
TEST(Run, InterruptionsFasterThanRecoveryNeverEnd) {
  Catalog catalog = round_catalog();
  set(catalog, "gpu_failures_per_gpu_h", 0.1);
  const auto run = estimate_run(round_run(), catalog);
  EXPECT_FALSE(run.finishes);
  EXPECT_EQ(run.goodput_ratio, 0);
  EXPECT_TRUE(std::isinf(run.wall_s));
  const Formula* ratio = find_formula(run, "run.loss_ratio");
  ASSERT_NE(ratio, nullptr);
  EXPECT_GE(ratio->value, 1);
  EXPECT_NE(ratio->note.find("never ends"), std::string::npos);
  EXPECT_EQ(find_formula(run, "run.wall_s"), nullptr);
}

TEST(Run, NothingEverFails) {
  Catalog catalog = round_catalog();
  set(catalog, "gpu_failures_per_gpu_h", 0);
  const auto run = estimate_run(round_run(), catalog);
  EXPECT_TRUE(run.finishes);
  EXPECT_EQ(run.checkpoints, 1);
  EXPECT_NEAR(run.failure_lost_s, 0, 1e-3);
}

// 8 nodes of 10 kW, kernels running half the time: (0.6 + 0.2 · 0.5) = 0.7 of the rating while it trains, 0.2 else.
// Work done again counts as training: T/2 + W of each failure.
TEST(Run, EnergyByHand) {
  RunInput input = round_run();
  input.node_power_w = 10000;
  input.kernel_busy_ratio = 0.5;
  const auto run = estimate_run(input, round_catalog());
  const double rework_s = run.mtti_s - run.checkpoint_interval_s / std::expm1(run.checkpoint_interval_s / run.mtti_s);
  const double busy_s = run.productive_s + run.failures * (rework_s + 21);
  EXPECT_NEAR(run.it_energy_j, 8 * 10000 * (0.7 * busy_s + 0.2 * (run.wall_s - busy_s)), 1);
  EXPECT_LT(run.it_energy_j, 8 * 10000 * 0.82 * run.wall_s);
  input.node_power_w.reset();
  EXPECT_EQ(estimate_run(input, round_catalog()).it_energy_j, 0);
}

// One parameter with a range: the wall's range is its two ends.
TEST(Run, RangeOfTheWall) {
  Catalog catalog = round_catalog();
  const auto exact = estimate_run(round_run(), catalog);
  EXPECT_DOUBLE_EQ(exact.wall_low_s.value(), exact.wall_s);
  EXPECT_DOUBLE_EQ(exact.wall_high_s.value(), exact.wall_s);
  set(catalog, "compile_warmup_s", 30, 0, 130);
  const auto ranged = estimate_run(round_run(), catalog);
  set(catalog, "compile_warmup_s", 0);
  EXPECT_NEAR(ranged.wall_low_s.value(), estimate_run(round_run(), catalog).wall_s, 1e-6);
  set(catalog, "compile_warmup_s", 130);
  EXPECT_NEAR(ranged.wall_high_s.value(), estimate_run(round_run(), catalog).wall_s, 1e-6);
}

TEST(Run, RangeIsOpenWhereTheFarEndNeverFinishes) {
  Catalog catalog = round_catalog();
  set(catalog, "gpu_failures_per_gpu_h", 1e-4, 1e-5, 0.1);
  const auto run = estimate_run(round_run(), catalog);
  EXPECT_TRUE(run.wall_low_s.has_value());
  EXPECT_FALSE(run.wall_high_s.has_value());
}

}  // namespace
}  // namespace tare
