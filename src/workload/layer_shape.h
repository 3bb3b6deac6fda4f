// The matrices of one transformer layer, as widths and parameter counts: what FLOPs, memory and communication share.
//
// With h = hidden, a heads of width d, g key-value heads, f the MLP width, m = 3 gated or 2:
//   attention  h·a·d + 2·h·g·d + a·d·h
//   MLA        h·rq + rq·a·(dn+dr) (or h·a·(dn+dr)) + h·(rkv+dr) + rkv·a·(dn+dv) + a·dv·h
//   MLP        m·h·f;  MoE: router h·E, experts m·h·fe each, shared experts m·h·fs together
// Biases and norm weights are left to count_parameters(): they cost no GEMM and less than 0.1 % of the memory.
#pragma once

#include "catalog/model_architecture.h"
#include "workload/job.h"

namespace tare {

struct LayerShape {
  int dense_layers = 0;  // with a dense MLP
  int moe_layers = 0;
  double attention_params = 0;  // per layer
  double dense_mlp_params = 0;  // of a dense layer
  double expert_params = 0;     // of one routed expert
  double shared_params = 0;     // all shared experts of one MoE layer
  double router_params = 0;
  double query_width = 0;   // a·d, for MLA a·(dn+dr)
  double kv_width = 0;      // g·d: one of keys and values (grouped); MLA: a·(dn+dr), its keys after expansion
  double value_width = 0;   // values: g·d; MLA: a·dv
  double output_width = 0;  // the attention's output, the input of its last projection: a·d or a·dv
  double mlp_matrices = 2;  // 3 when gated
};

LayerShape layer_shape(const ModelArchitecture& model);

// Parameters (and forward multiply-adds per token) of the LoRA adapters: r·(in + out) for each adapted matrix.
struct AdapterShape {
  double attention_params = 0;  // per layer
  double dense_mlp_params = 0;  // of a dense layer
  double expert_params = 0;     // of one routed expert
  double shared_params = 0;     // all shared experts of one MoE layer
};

AdapterShape adapter_shape(const ModelArchitecture& model, const Lora& lora);

}  // namespace tare
