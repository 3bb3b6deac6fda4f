// The free constants of the step model, each physical, each in one place.
//
// They are shared by all rows, models and sources: keyed at most on a hardware generation or on an implementation
// (attention kernel), never on a model, a source or a row. Values were fitted with `tools/fit_constants` on
// tests/published/published.csv from the priors noted here; docs/validation.md has the errors they give.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "catalog/accelerator.h"

namespace tare {

// What a generation's kernels sustain, as shares of the dense peak.
struct GenerationConstants {
  double gemm_16bit = 0.75;   // large GEMM, bf16 and fp16
  double gemm_8bit = 0.65;    // of the 8-bit peak
  double gemm_4bit = 0.50;    // of the 4-bit peak
  double flash_fused = 0.55;  // best fused attention of the generation (FA3, cuDNN, CK) at head_dim 128, forward
  double flash2 = 0.45;       // FlashAttention-2
  double tile_n = 128;        // columns of an output tile (rows: 128)
};

struct StepConstants {
  std::array<GenerationConstants, 15> generation;  // by GpuGeneration; the last slot: consumer and PCIe Blackwell

  // GEMM: docs/step-model.md
  double tile_fixed_s = 2.2e-6;    // start and end of one output tile: pipeline fill, drain, epilogue
  double wave_share = 0.909;       // how much of the last partial wave is lost (stream-K and split-K recover the rest)
  double kernel_s = 1.11e-6;       // start and drain of one kernel
  double memory_share = 0.92;      // of HBM bandwidth that a streaming kernel reaches
  double power_exponent = 0.0948;  // sustained clock ∝ (board power ÷ the generation's reference)^this

  // Attention
  double flash1_share = 1;           // FlashAttention-1 / Triton, relative to FlashAttention-2
  double attention_backward = 3.08;  // backward ÷ forward time (recomputes the scores)
  double head_dim_64_share = 0.926;  // relative efficiency at head_dim 64
  double softmax_passes = 5.08;      // trips of the s×s scores through HBM, unfused forward
  double misaligned = 25.1;          // head_dim not a multiple of 8, unfused

  // Elementwise: trips of an h-wide (f-wide, qkv-wide) tensor through HBM, forward
  double norm_passes_fused = 4, norm_passes_eager = 6.4;
  double mlp_passes_fused = 2, mlp_passes_eager = 3.74;
  double qkv_passes_fused = 1, qkv_passes_eager = 5.32;
  double cast_passes_8bit = 1.34;   // trips per GEMM input for quantisation with one scale a tensor, bytes per element
  double cast_passes_block = 1.69;  // with a scale per block (mxfp8, nvfp4): scales are computed and laid out beside

  // CPU issue per layer and forward pass; the backward is issued from C++
  double issue_eager_s = 0.0015, issue_fused_s = 0.000737;
  double issue_backward = 2.5;  // relative to forward
  double issue_per_adapter_s = 0.00013;
  double issue_moe = 1.78;  // a MoE layer's kernels relative to a dense one's

  // Communication
  double tp_bus_share = 0.603;        // of link rate, all-reduce sized by activations
  double tp_overlap_exposed = 0.129;  // share that overlapped TP still shows
  double dp_bus_share = 0.95;
  double ep_bus_share = 0.315;      // all-to-all inside a link domain
  double ep_network_share = 0.849;  // across nodes
  double cp_bus_share = 0.95;
  double pp_bus_share = 0.95;
  double half_size_bytes = 2.04e7;  // message at which half of the bus share is reached
  // Overlap of work w and traffic t: both take (w^q + t^q)^(1/q); q = 1 hides nothing, ∞ hides perfectly.
  double dp_overlap_norm = 1.2;
  double fsdp_overlap_norm = 1.56;
  double host_memory_bytes_per_s = 20e9;  // per GPU, what a CPU Adam streams
  double p2p_exposed = 0.0395;

  // MoE
  double expert_imbalance = 1.2;  // fullest rank ÷ mean
  double permute_passes = 10;     // trips of the top_k copies

  // Rest
  double optimizer_bytes = 34.9;  // HBM traffic per fp32-master parameter of an Adam step
  double optimizer_share = 0.6;   // of HBM bandwidth it reaches
  double jitter_ratio = 0.0176;   // standard deviation of a rank's step
  double dequant_passes = 0.5;    // QLoRA: cost of expanding weights relative to one trip of the 16-bit copy
  double step_fixed_s = 0.00785;  // per step: loss reduction, clipping, logging
};

// The fitted values.
const StepConstants& default_constants();

// The slot of StepConstants::generation for a part: consumer and PCIe Blackwell have their own.
int generation_slot(GpuGeneration generation, bool server_part);

// Every free constant by name, for fitting and for printing their number.
struct NamedConstant {
  std::string_view name;
  double StepConstants::*member;
  double low, high;  // physical bounds
};
const std::vector<NamedConstant>& named_constants();

}  // namespace tare
