// Bytes that one transformer layer keeps for its backward pass, per token, tensor by tensor.
//
// Each tensor is either replicated over the tensor-parallel group (norm inputs and outputs, dropout masks on the
// residual stream; with sequence parallelism these too are split) or split by it (heads, MLP columns). With e bytes per
// element, h hidden, a heads of width d, g key-value heads, f the MLP width, s the sequence, per token of a GPT layer
// (e = 2):
//   replicated  4eh (inputs of both norms and of the GEMMs behind them) + 2h dropout masks           = 10h
//   split       e(a + 2g)d (Q, K, V) + e·ad (attention output) + e·2f (GELU input and output)        = 24h for f = 4h
//   quadratic   a·s(2e + 1) softmax output, dropout mask, dropout output                            = 5as
// which is Korthikanti et al. 2022, eq. 1–4. Flash attention replaces the quadratic part by 4a bytes of statistics.
#pragma once

#include "workload/workload.h"

namespace tare {

struct TensorBytes {
  double replicated = 0;  // per token; divided by tp under sequence parallelism only
  double split = 0;       // per token; divided by tp
};

// One kind of layer under each recompute mode.
struct ActivationBytes {
  TensorBytes kept_none;
  TensorBytes kept_selective;
  TensorBytes kept_full;     // the layer's input alone
  TensorBytes working_none;  // gradients in flight while one layer runs backward
  TensorBytes working_selective;
  TensorBytes working_full;  // that, and the recomputed layer itself
};

ActivationBytes dense_layer_activations(const Workload& workload);
ActivationBytes moe_layer_activations(const Workload& workload);

// Bytes per logit at the peak of the loss on the last stage.
double logit_bytes(const Workload& workload);

// Whether 8-bit casts are kept in place of what they were cast from: activations that feed GEMMs, and frozen weights.
bool keeps_casts(const Workload& workload);

// Bytes of one element of activations: 4 in fp32 and tf32, else 2 (8- and 4-bit GEMMs keep 16-bit residuals)
// or what the stack says for QLoRA.
double element_bytes(const Workload& workload);

}  // namespace tare
