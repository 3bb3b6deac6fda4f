// How a model is split over the GPUs of a job.
#pragma once

#include <cstdint>
#include <string>

namespace tare {

enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
enum class Offload : std::uint8_t {
  kNone,
  kOptimizer,
  kParameters
};  // to host memory; kParameters: optimizer and weights
enum class PipelineSchedule : std::uint8_t { kOneForwardOneBackward, kInterleaved, kZeroBubble };

std::string_view name_of(Recompute recompute);  // none, selective, full
std::string_view name_of(Offload offload);
std::string_view name_of(PipelineSchedule schedule);  // 1f1b, interleaved, zero_bubble

// gpus = tp · pp · cp · dp; with ep > 1 whole experts lie on ep of the tp·cp·dp ranks of a stage (ep divides that
// product).
struct Parallelism {
  int tp = 1;
  int pp = 1;
  int vpp = 1;  // model chunks per pipeline stage; > 1 is the interleaved schedule
  int cp = 1;
  int ep = 1;
  int dp = 1;
  int zero_stage = 0;   // 0 replicated, 1 optimizer, 2 + gradients, 3 + weights (FSDP), over dp·cp
  int micro_batch = 1;  // sequences
  Recompute recompute = Recompute::kNone;
  int recompute_layers = -1;  // with kFull: layers per stage that are recomputed; -1 = all
  bool sequence_parallel = false;
  Offload offload = Offload::kNone;
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;

  bool operator==(const Parallelism&) const = default;
};

inline int gpus(const Parallelism& p) { return p.tp * p.pp * p.cp * p.dp; }

// "tp4 pp8 vpp2 dp2 mb1 zero1 sp recompute=selective": ones are left out.
std::string to_text(const Parallelism& parallelism);

}  // namespace tare
