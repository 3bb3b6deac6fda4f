// What a training framework does by default: data, since it moves a prediction more than any fitted scalar.
//
// One row of data/catalog/stacks.csv each. A job or a published row names a stack; where it is silent on recompute,
// attention kernel, overlap or precision, these stand in and the output says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/source.h"

namespace tare {

struct SoftwareStack {
  std::string id;  // "megatron-core"
  std::string name;
  std::vector<std::string>
      framework_globs;             // framework names of published rows that mean this stack, most specific first
  std::string newer;               // the stack that its name means on Hopper and later; empty = itself
  std::string family;              // calibration family
  std::string recompute = "none";  // none, selective, full: when not stated
  double recompute_full_above_params = 0;  // > 0: full for larger models, `recompute` below
  std::string attention = "flash2";        // standard, flash1, flash2, flash3 (also cuDNN's fused kernel)
  bool sequence_parallel = false;          // whenever tp > 1
  bool tp_overlap = false;                 // user buffers / async TP
  bool dp_overlap = true;                  // gradient buckets or FSDP prefetch
  bool fused_elementwise = false;          // fused or compiled norms, activations, rotary
  bool cuda_graphs = false;                // launches replayed: CPU issue time gone
  int zero_stage = 0;                      // when not stated and dp > 1
  int gradient_bytes = 4;                  // held until the step: 2, 4, or 6 (16-bit ones beside their fp32 sum)
  bool fp8_gather = false;                 // weights gathered in 8 bit under fp8
  std::string default_precision = "bf16";  // when a row leaves it blank
  std::string fp4_recipe;                  // what "FP4" really runs: fp8 for QoNF4 storage
  double selective_share = 0;        // selective recompute repeats this share of a forward; 0 = the attention core,
                                     // else a per-operation policy (attention output and every second GEMM kept)
  bool interleaves = false;          // pipelines run one layer a chunk when the number of chunks is not stated
  bool lora_attention_only = false;  // adapters on the attention projections alone
  bool fused_cross_entropy = false;  // logits never stored in fp32
  std::string states = "mixed";      // mixed: 16-bit weights beside fp32 masters; fp32: the parameters are fp32 and
                                     // cast on use (FSDP, autocast); pure: all states in the compute type
  bool fp8_mlp_input = false;        // under 8-bit GEMMs the MLP's activation keeps its input in 8 bit too
  bool dropout = false;              // trained with dropout: its masks and outputs are kept
  bool adapter_dropout = false;      // LoRA with dropout: each adapted GEMM keeps its own input and mask
  int qlora_element_bytes = 2;       // of activations under QLoRA: 4 where what is not quantised stays in fp32
  bool expands_kv = false;           // grouped keys and values repeated to all heads before the kernel (SDPA)
  double logit_bytes = 0;            // per logit at the loss's peak; 0: 2 with fused cross-entropy, else 10
  double step_bytes = 0;         // per parameter of the optimizer's shard, copies made for its step (DeepSpeed: fp32
                                 // gradients of the partition and the flat 16-bit ones they come from)
  bool whole_gradients = false;  // FSDP accumulates micro-batches without reducing: gradients whole until the last
  bool edges_apart = false;      // FSDP gathers embedding and head on their own, not as one root unit
  bool keeps_stage_outputs = false;  // a pipeline stage holds its output besides what the next stage received
  double fixed_memory_bytes = 0;     // context, workspaces, NCCL buffers
  double fragmentation_ratio = 0;    // share of the peak allocated that the allocator adds
  Source source;
};

}  // namespace tare
