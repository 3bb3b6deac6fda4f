#include "validation/row_parallelism.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "validation/row_stack.h"
#include "workload/memory.h"

namespace tare {
namespace {

using Assumed = std::vector<std::string>;

tl::unexpected<RowSkip> skip(std::string reason) { return tl::unexpected(RowSkip{std::move(reason)}); }

tl::expected<Parallelism, RowSkip> degrees_of(const ThroughputRow& row, Assumed& assumed) {
  if (*row.gpus > 1 && !row.tp) return skip("no_parallelism");
  // A source that states tp and not pp had no pipeline to speak of.
  if (*row.gpus > 1 && !row.pp) assumed.push_back("pp = 1 (not stated)");
  Parallelism p;
  p.tp = row.tp.value_or(1);
  p.pp = row.pp.value_or(1);
  p.vpp = row.vpp.value_or(1);
  p.cp = row.cp.value_or(1);
  p.ep = row.ep.value_or(1);
  // In double: the degrees of a bad row overflow an int.
  const double split = double(p.tp) * p.pp * p.cp;
  p.dp = row.dp.value_or(std::max(1, static_cast<int>(*row.gpus / split)));
  if (split * p.dp != *row.gpus || p.ep > *row.gpus) return skip("bad_parallelism");
  return p;
}

// Chunks a stage: as stated, else one layer each where the stack interleaves by habit.
void set_schedule(const ThroughputRow& row, const Workload& workload, Parallelism& p, Assumed& assumed) {
  if (!row.vpp && p.pp > 1 && workload.stack.interleaves && workload.model.layers % p.pp == 0) {
    p.vpp = workload.model.layers / p.pp;
    assumed.push_back("vpp = " + std::to_string(p.vpp) + " (" + workload.stack.id + ")");
  }
  if (p.vpp > 1) p.schedule = PipelineSchedule::kInterleaved;
}

// Sequences of a step; 0 when the row does not say.
double batch_of(const ThroughputRow& row, const Parallelism& p) {
  if (row.global_batch) return *row.global_batch;
  if (row.micro_batch) return double(*row.micro_batch) * p.dp * row.grad_accum.value_or(1);
  return 0;
}

// The ZeRO stage that "zero1(8)", "fsdp-full", "hsdp", "dp", … names; nullopt: nothing, or a word nobody knows.
std::optional<int> stage_of(const std::string& sharding, const SoftwareStack& stack) {
  const auto starts = [&](std::string_view words) { return sharding.rfind(words, 0) == 0; };
  if (starts("fsdp") || starts("hsdp") || starts("zero3")) return 3;
  if (starts("zero2")) return 2;
  if (starts("zero1")) return 1;
  // Megatron's DDP wrapper carries its distributed optimizer where the stack turns it on.
  if (starts("ddp")) return std::min(stack.zero_stage, 1);
  if (sharding == "dp" || sharding == "none" || starts("zero0")) return 0;
  return std::nullopt;
}

void set_sharding(const ThroughputRow& row, const SoftwareStack& stack, Parallelism& p, Assumed& assumed) {
  const std::string text = to_lower(row.sharding);
  if (text.find("offload-optimizer") != std::string::npos) {
    p.offload = Offload::kOptimizer;
  } else if (text.find("offload") != std::string::npos) {
    p.offload = Offload::kParameters;
  }
  if (p.dp * p.cp <= 1) return;  // nothing to shard over
  const std::optional<int> stage = stage_of(text, stack);
  p.zero_stage = stage.value_or(stack.zero_stage);
  if (!stage) assumed.push_back(assumed_default("zero stage", std::to_string(p.zero_stage), row.sharding, stack));
}

// The largest micro-batch that divides what a rank gets and fits in memory; pipelines keep it at 1.
int fitting_micro_batch(const Workload& workload, Parallelism p, double memory_bytes) {
  constexpr int kLargest = 256;
  const int per_rank = workload.global_batch / p.dp;
  if (p.pp > 1) return 1;
  const MemoryModel memory(workload);
  for (int micro = std::min(per_rank, kLargest); micro > 1; --micro) {
    p.micro_batch = micro;
    if (per_rank % micro == 0 && memory.peak(p).total_bytes <= memory_bytes) return micro;
  }
  return 1;
}

int micro_batch_of(const ThroughputRow& row, const Machine& machine, const Workload& workload, const Parallelism& p,
                   Assumed& assumed) {
  const int per_rank = workload.global_batch / p.dp;
  if (row.micro_batch) {
    if (*row.micro_batch <= per_rank) return *row.micro_batch;
    assumed.push_back("micro-batch = " + std::to_string(per_rank) + " (all that a rank gets)");
    return per_rank;
  }
  if (row.grad_accum && per_rank % *row.grad_accum == 0 && workload.global_batch % p.dp == 0) {
    return per_rank / *row.grad_accum;
  }
  const int micro = fitting_micro_batch(workload, p, usable_memory_bytes(machine.memory_bytes));
  assumed.push_back("micro-batch = " + std::to_string(micro) + " (" +
                    (p.pp > 1 ? "usual in a pipeline" : "largest that fits") + ")");
  return micro;
}

}  // namespace

tl::expected<Parallelism, RowSkip> parallelism_of(const ThroughputRow& row, const Machine& machine, Workload& workload,
                                                  Assumed& assumed) {
  tl::expected<Parallelism, RowSkip> degrees = degrees_of(row, assumed);
  if (!degrees) return degrees;
  Parallelism p = *degrees;
  const double batch = batch_of(row, p);
  if (batch <= 0) return skip("no_batch");
  if (batch < p.dp || batch > std::numeric_limits<int>::max()) return skip("bad_parallelism");
  workload.global_batch = static_cast<int>(batch);
  p.sequence_parallel = p.tp > 1 && workload.stack.sequence_parallel;
  p.recompute = recompute_of(row, workload.stack, workload.model, assumed);
  set_schedule(row, workload, p, assumed);
  set_sharding(row, workload.stack, p, assumed);
  p.micro_batch = micro_batch_of(row, machine, workload, p, assumed);
  return p;
}

}  // namespace tare
