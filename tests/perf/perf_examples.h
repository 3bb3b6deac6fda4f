// Machines and workloads of round numbers, so that the algebra of a test can be done in the head. Nothing here is a
// fact.
#pragma once

#include "perf/step.h"
#include "workload/workload_examples.h"

namespace tare::test {

// Every overhead gone and every share whole: a GEMM takes FLOPs ÷ peak, a collective c·S·(n−1)/n ÷ B, nothing hides
// behind anything (q = 1), nothing but GEMMs and attention takes time on the GPU.
inline StepConstants exact_constants() {
  StepConstants c;
  for (GenerationConstants& g : c.generation) g = {1, 1, 1, 1, 1, 128};
  c.tile_fixed_s = c.wave_share = c.kernel_s = c.power_exponent = 0;
  c.memory_share = c.flash1_share = c.head_dim_64_share = 1;
  c.attention_backward = 2;
  c.softmax_passes = 0;
  c.misaligned = 1;
  c.norm_passes_fused = c.norm_passes_eager = c.mlp_passes_fused = c.mlp_passes_eager = 0;
  c.qkv_passes_fused = c.qkv_passes_eager = c.cast_passes_8bit = c.cast_passes_block = 0;
  c.issue_eager_s = c.issue_fused_s = c.issue_per_adapter_s = 0;
  c.tp_bus_share = c.tp_overlap_exposed = c.dp_bus_share = c.ep_bus_share = c.ep_network_share = 1;
  c.cp_bus_share = c.pp_bus_share = 1;
  c.half_size_bytes = 0;
  c.dp_overlap_norm = c.fsdp_overlap_norm = 1;
  c.p2p_exposed = c.expert_imbalance = 1;
  c.permute_passes = c.jitter_ratio = c.dequant_passes = c.step_fixed_s = 0;
  c.optimizer_bytes = 28;
  c.optimizer_share = 1;
  return c;
}

// Nodes of eight GPUs: 100 TFLOP/s in 16 bit, memory so fast that no GEMM waits for it, links of 100 and 10 GB/s
// without latency.
inline Machine round_machine(int gpus) {
  Machine machine;
  machine.gpu = "ROUND";
  machine.generation = GpuGeneration::kUnknown;
  machine.peak_fp16_flops = machine.peak_bf16_flops = 100e12;
  machine.peak_fp8_flops = 200e12;
  machine.peak_fp4_flops = 400e12;
  machine.peak_fp32_flops = 10e12;
  machine.peak_tf32_flops = 50e12;
  machine.memory_bytes = 80e9;
  machine.memory_bytes_per_s = 1e18;
  machine.sm_count = 1;
  machine.gpus_per_node = 8;
  machine.domain_gpus = 8;
  machine.gpus = gpus;
  machine.in_domain = {LinkKind::kNvlink, 100e9, 0};
  machine.in_node = {LinkKind::kPcie, 25e9, 0};
  machine.between_nodes = {LinkKind::kNetwork, 10e9, 0};
  machine.host_bytes_per_s = 25e9;
  return machine;
}

// Numbers of the size of an HGX H100, for tests that want the model's own constants.
inline Machine hgx_like(int gpus) {
  Machine machine = round_machine(gpus);
  machine.generation = GpuGeneration::kHopper;
  machine.peak_fp16_flops = machine.peak_bf16_flops = 989e12;
  machine.peak_fp8_flops = 1979e12;
  machine.peak_fp4_flops = 0;
  machine.peak_fp32_flops = 67e12;
  machine.peak_tf32_flops = 494e12;
  machine.memory_bytes_per_s = 3.35e12;
  machine.tdp_w = 700;
  machine.sm_count = 132;
  machine.in_domain = {LinkKind::kNvlink, 450e9, 3e-6};
  machine.in_node = {LinkKind::kPcie, 50e9, 8e-6};
  machine.between_nodes = {LinkKind::kNetwork, 50e9, 6e-6};
  machine.host_bytes_per_s = 50e9;
  return machine;
}

inline Workload workload_of(const ModelArchitecture& model, int sequence_length, int global_batch) {
  Workload workload;
  workload.model = model;
  workload.sequence_length = sequence_length;
  workload.global_batch = global_batch;
  workload.stack.id = "test";
  return workload;
}

// Eight layers of width 1,024 over sequences of 1,024, a batch of 64.
inline Workload small_gpt() { return workload_of(gpt(8, 1024, 8, 4096), 1024, 64); }

inline ModelArchitecture small_moe() {
  ModelArchitecture model = llama(8, 1024, 4096, 8, 8, 4096);
  model.id = "moe";
  model.experts = 8;
  model.top_k = 2;
  model.expert_ffn_hidden = 2048;
  return model;
}

}  // namespace tare::test
