// Peak memory of the fullest GPU, part by part.
//
// States: weights, gradients, optimizer (Adam: fp32 master + two moments) sharded by tp, pp and, by ZeRO stage, over
// dp·cp. With ep > 1 routed experts are split by ep alone (whole experts on a rank), their states over tp·cp·dp/ep.
// Activations are counted tensor by tensor (memory_activations.h); for the GPT block they give Korthikanti's forms
// sbh(10 + 24/t + 5as/(ht)) and, with sequence parallel, sbh/t·(34 + 5as/h); flash 34sbh/t; full recompute 2sbh/t. In
// flight on the first stage: min(p, m) micro-batches, × (1 + (p−1)/(p·v)) interleaved; one on the last stage, which
// holds the logits. The peak is the larger of the two stages.
#pragma once

#include "workload/memory_activations.h"
#include "workload/parallelism.h"
#include "workload/workload.h"

namespace tare {

struct Memory {
  double weights_bytes = 0;
  double gradients_bytes = 0;
  double optimizer_bytes = 0;
  double activations_bytes = 0;
  double logits_bytes = 0;     // at the moment of the peak: 0 when a layer's backward needs more than the loss does
  double gathered_bytes = 0;   // FSDP's full layers in flight, communication buffers
  double framework_bytes = 0;  // context, workspaces, NCCL
  double fragmentation_bytes = 0;
  double total_bytes = 0;  // the sum of the above
  double host_bytes = 0;   // offloaded, per GPU; not in the total
};

// What of a card's memory a configuration may be planned to fill: 97 %. The driver's reserve and the allocator's 2 MiB
// blocks take the rest; against published rows (tests/workload/memory_published_test.cc) this share tells runs that fit
// from runs that went out of memory best.
inline double usable_memory_bytes(double card_bytes) { return 0.97 * card_bytes; }

// What the caching allocator of the framework counts: without context, workspaces outside it and fragmentation.
inline double allocated_bytes(const Memory& m) { return m.total_bytes - m.framework_bytes - m.fragmentation_bytes; }

// The memory of one workload under many parallelisms: everything that does not depend on the parallelism is worked out
// once, so peak() is some hundred multiplications and allocates nothing.
// Thread safety: constant after construction.
class MemoryModel {
 public:
  explicit MemoryModel(const Workload& workload);

  // The fuller of the first and the last pipeline stage.
  // Monotone: never less for a larger micro-batch, never more for a larger tp, nor for a higher ZeRO stage apart from
  // gathered_bytes (what stages 2 and 3 hold in transit), nor for a stronger recompute.
  Memory peak(const Parallelism& parallelism) const;

 private:
  // Parameters of a stage by how they are sharded and whether they are trained.
  struct Parameters {
    double dense = 0;   // split by tp
    double expert = 0;  // split by ep, or by tp where ep is 1
  };
  struct Stage {
    double layers = 0;
    double dense_layers = 0;  // of these, with a dense MLP
    double in_flight = 1;     // micro-batches whose activations are held
    bool embedding = false;
    bool head = false;
  };

  Memory stage_memory(const Parallelism& p, const Stage& stage) const;
  void add_states(const Parallelism& p, const Stage& stage, Memory& memory) const;
  void add_gathered(const Parallelism& p, const Stage& stage, Memory& memory) const;
  void add_activations(const Parallelism& p, const Stage& stage, Memory& memory) const;

  // Parameter counts.
  double layers_ = 0, dense_layers_ = 0;
  Parameters dense_layer_, moe_layer_;                    // the base model's, per layer
  Parameters dense_layer_adapters_, moe_layer_adapters_;  // LoRA
  double embedding_ = 0, head_ = 0;
  bool tied_ = false;
  bool adapters_only_ = false;
  bool trains_edges_ = false;  // LoRA with embedding and head trained in full, as copies of their own
  // Bytes per parameter.
  double weight_bytes_ = 2, gradient_bytes_ = 4, optimizer_bytes_ = 12, step_bytes_ = 0;  // trained ones
  double frozen_bytes_ = 2, frozen_edge_bytes_ = 2;  // LoRA base: layers; embedding and head
  double gathered_weight_bytes_ = 2, cast_bytes_ = 0;
  double dequantised_params_ = 0;  // QLoRA: the largest matrix, in 16 bit
  // Activations.
  double tokens_per_sequence_ = 0, global_batch_ = 0;
  ActivationBytes dense_activations_, moe_activations_;
  double logit_bytes_per_token_ = 0;
  double boundary_bytes_per_token_ = 0;  // the residual stream of one token
  bool keeps_stage_outputs_ = false, whole_gradients_ = false, edges_apart_ = false;
  bool reduces_copies_ = false;
  double fixed_bytes_ = 0, fragmentation_ratio_ = 0;
};

Memory peak_memory(const Workload& workload, const Parallelism& parallelism);

}  // namespace tare
