// What one micro-batch costs on one rank: a mean transformer layer, the head, and the traffic they cause.
//
// Everything here depends on (tp, cp, ep, micro-batch, sequence parallel) alone, so a search works it out once for
// thousands of pipelines, ZeRO stages and recompute choices.
#pragma once

#include "perf/collective.h"
#include "perf/gemm.h"
#include "workload/parallelism.h"
#include "workload/workload.h"

namespace tare {

struct LayerCost {
  // One layer, one micro-batch, seconds; kernels only, communication apart.
  double forward_s = 0, backward_s = 0;
  double full_s = 0;       // what full recomputation repeats: the forward, or its issue where that is longer
  double selective_s = 0;  // what selective recomputation repeats
  double issue_s = 0;      // CPU time to issue the layer's forward + backward
  double forward_issue_s = 0;
  double gemm_s = 0, attention_s = 0, elementwise_s = 0;  // forward + backward, by kind
  // Communication that shows.
  double tp_forward_s = 0, tp_backward_s = 0;
  double cp_s = 0;
  double ep_forward_s = 0, ep_backward_s = 0;
  // FLOPs the hardware runs, forward + backward, and those of one forward.
  double flops = 0, forward_flops = 0, selective_flops = 0;
};

struct EdgeCost {     // embedding and head
  double head_s = 0;  // forward + backward of the LM head and the loss, one micro-batch
  double embedding_s = 0;
  double tp_s = 0;  // embedding all-reduce and the loss's small ones
  double flops = 0;
};

struct RankCost {
  LayerCost layer;  // the mean layer (dense and MoE, windowed and full, weighted)
  EdgeCost edge;
};

// GPUs between neighbouring ranks of a group, by where the rank layout puts its axis.
struct GroupStrides {
  int tp = 1, cp = 1, ep = 1;
};

class LayerModel {
 public:
  LayerModel(const Workload& workload, const Machine& machine, const StepConstants& constants);

  RankCost cost(const Parallelism& p, const GroupStrides& strides) const;
  const KernelRates& rates() const { return rates_; }

 private:
  struct Accumulator;
  LayerCost one_layer(const Parallelism& p, const GroupStrides& strides, bool moe, bool windowed) const;
  void add_gemm(Accumulator& sum, double m, double n, double k, double count, bool low_precision, bool frozen) const;
  void add_attention(Accumulator& sum, const Parallelism& p, double tokens, bool windowed) const;
  void add_mlp(Accumulator& sum, const Parallelism& p, double tokens, bool moe) const;
  void add_elementwise(Accumulator& sum, const Parallelism& p, double tokens, bool moe) const;
  void add_adapters(Accumulator& sum, const Parallelism& p, double tokens, bool moe) const;
  void add_communication(LayerCost& cost, const Parallelism& p, const GroupStrides& strides, double tokens,
                         bool moe) const;
  EdgeCost edge(const Parallelism& p, const GroupStrides& strides) const;

  const Workload& workload_;
  const Machine& machine_;
  const StepConstants& constants_;
  KernelRates rates_;
  GemmFormat format_ = GemmFormat::k16Bit;
  double activation_bytes_ = 2;  // of one element, in memory and on a link
  bool block_scaled_ = false;
  bool frozen_ = false;  // LoRA, QLoRA: base weights get no gradient
};

}  // namespace tare
