// Model FLOPs of a training step, counted operation by operation.
//
// Per layer and token, heads of width d, a of them, g key-value heads, s the sequence, f the MLP width:
//   QKV 2h(a + 2g)d, output 2ad·h, scores and values 4·s_eff·a·d with s_eff = s/2 causal (a sliding window w: the mean
//   number of visible keys), MLP 4hf or, gated, 6hf; MoE: router 2hE + top_k experts + shared ones; MLA its own chain.
//   LM head 2hV once. Backward is twice the forward; once through frozen weights (LoRA: the input gradient only).
// The embedding look-up counts nothing. Source: Narayanan et al. 2021 (SC'21) appendix, Korthikanti et al. 2022 App. A,
// with causal attention counted half.
#pragma once

#include "workload/workload.h"

namespace tare {

struct ForwardFlops {
  double attention_projections = 0;  // per token, all layers
  double attention_scores = 0;       // QK^T and PV
  double mlp = 0;                    // dense MLPs, shared experts and routed ones
  double router = 0;
  double head = 0;
  double adapters = 0;  // LoRA's own GEMMs
  double total() const { return attention_projections + attention_scores + mlp + router + head + adapters; }
};

ForwardFlops forward_flops_per_token(const Workload& workload);

// Backward of one token, part by part: twice the forward, once for GEMMs whose weights are frozen.
ForwardFlops backward_flops_per_token(const Workload& workload);

// Forward + backward of one token: the numerator of MFU. Recomputation does not count.
double model_flops_per_token(const Workload& workload);

// Mean number of keys a query sees: (s+1)/2 causal, less under a sliding window.
double mean_visible_keys(int sequence_length, int window);

}  // namespace tare
