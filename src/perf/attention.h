// Time of the attention core: scores, softmax, values.
//
// Fused kernels:  FLOPs(causal, block-rounded) ÷ (flash share · peak · head_dim factor); backward ×attention_backward.
// Unfused:        two batched GEMMs over the whole s×s square + softmax_passes trips of the scores through HBM.
// Sources: Dao 2023 (FlashAttention-2), Shah et al. 2024 (FlashAttention-3) for the shape of the curves over head_dim
// and sequence; Korthikanti et al. 2022 for the unfused operations.
#pragma once

#include "perf/gemm.h"
#include "workload/workload.h"

namespace tare {

struct AttentionShape {
  double sequences = 1;  // micro-batch
  double queries = 0;    // per sequence on this rank (s ÷ cp)
  double keys = 0;       // s
  double heads = 0;      // on this rank
  double qk_head_dim = 0, v_head_dim = 0;
  int window = 0;  // tokens; 0 = full causal
};

struct AttentionTime {
  double forward_s = 0, backward_s = 0;
  double flops = 0;  // forward, causal
};

AttentionTime attention_time(const AttentionShape& shape, AttentionKernel kernel, const KernelRates& rates,
                             const StepConstants& constants);

}  // namespace tare
