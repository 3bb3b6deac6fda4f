// Random workloads, machines and parallelisms that go together: the degrees multiply to the GPUs and divide the model.
#pragma once

#include <rapidcheck.h>

#include "perf/perf_examples.h"

namespace tare::test {

struct AnyStep {
  Workload workload;
  Machine machine;
  Parallelism parallelism;
};

inline ModelArchitecture any_model() {
  const int heads = *rc::gen::element(8, 16, 32);
  const int head_dim = *rc::gen::element(64, 96, 128);
  const int kv = *rc::gen::element(heads, 8);
  ModelArchitecture model = llama(*rc::gen::element(8, 12, 24, 30), heads * head_dim, 8 * *rc::gen::inRange(32, 2000),
                                  heads, kv, *rc::gen::inRange(1000, 200000));
  model.gated_mlp = *rc::gen::arbitrary<bool>();
  model.tied_embeddings = *rc::gen::arbitrary<bool>();
  if (*rc::gen::inRange(0, 3) == 0) {
    model.attention_window = *rc::gen::element(128, 1000, 4096);
    model.window_every = *rc::gen::element(1, 2, 5);
  }
  if (*rc::gen::inRange(0, 3) == 0) {
    model.experts = *rc::gen::element(8, 16, 64);
    model.top_k = *rc::gen::element(1, 2, 8);
    model.expert_ffn_hidden = 8 * *rc::gen::inRange(16, 500);
    model.shared_expert_ffn_hidden = *rc::gen::element(0, 1024);
    model.first_dense_layers = *rc::gen::element(0, 1, 3);
  }
  if (*rc::gen::inRange(0, 4) == 0) {
    model.mla_q_rank = *rc::gen::element(0, 512);
    model.mla_kv_rank = 256;
    model.mla_nope_head_dim = model.mla_v_head_dim = 128;
    model.mla_rope_head_dim = 64;
  }
  return model;
}

inline SoftwareStack any_stack() {
  SoftwareStack stack;
  stack.id = "any";
  stack.tp_overlap = *rc::gen::arbitrary<bool>();
  stack.dp_overlap = *rc::gen::arbitrary<bool>();
  stack.fused_elementwise = *rc::gen::arbitrary<bool>();
  stack.cuda_graphs = *rc::gen::arbitrary<bool>();
  stack.fused_cross_entropy = *rc::gen::arbitrary<bool>();
  stack.fp8_gather = *rc::gen::arbitrary<bool>();
  stack.lora_attention_only = *rc::gen::arbitrary<bool>();
  stack.gradient_bytes = *rc::gen::element(2, 4);
  stack.selective_share = *rc::gen::element(0.0, 0.41);
  stack.states = *rc::gen::element(std::string("mixed"), std::string("fp32"), std::string("pure"));
  stack.fixed_memory_bytes = 1e9;
  stack.fragmentation_ratio = 0.03;
  return stack;
}

inline Workload any_workload() {
  Workload workload;
  workload.model = any_model();
  workload.method = *rc::gen::element(Method::kPretrain, Method::kPretrain, Method::kLora, Method::kQlora);
  workload.lora.rank = *rc::gen::element(4, 16, 128);
  workload.lora.mlp = *rc::gen::arbitrary<bool>();
  workload.sequence_length = *rc::gen::element(512, 2048, 8192);
  workload.precision = *rc::gen::element(Precision::kBf16, Precision::kBf16, Precision::kFp16, Precision::kFp32,
                                         Precision::kTf32, Precision::kFp8, Precision::kMxfp8, Precision::kNvfp4);
  workload.attention = *rc::gen::element(AttentionKernel::kStandard, AttentionKernel::kFlash1, AttentionKernel::kFlash2,
                                         AttentionKernel::kFlash3);
  workload.optimizer = *rc::gen::element(std::string("adam"), std::string("sgd"), std::string("adam_8bit"));
  workload.data_bytes_per_step = *rc::gen::element(0.0, 1e6, 1e10);
  workload.stack = any_stack();
  return workload;
}

inline Machine any_machine(int gpus) {
  Machine machine = hgx_like(gpus);
  machine.generation = *rc::gen::element(GpuGeneration::kVolta, GpuGeneration::kAmpere, GpuGeneration::kHopper,
                                         GpuGeneration::kBlackwell, GpuGeneration::kCdna3, GpuGeneration::kUnknown);
  machine.server_part = *rc::gen::arbitrary<bool>();
  const double peak = *rc::gen::element(100e12, 1000e12, 2500e12);
  machine.peak_fp16_flops = peak;
  machine.peak_bf16_flops = *rc::gen::element(0.0, peak, peak);
  machine.peak_fp8_flops = *rc::gen::element(0.0, 2 * peak);
  machine.peak_fp4_flops = machine.peak_fp8_flops > 0 ? *rc::gen::element(0.0, 4 * peak) : 0;
  machine.peak_fp32_flops = peak / 16;
  machine.peak_tf32_flops = *rc::gen::element(0.0, peak / 2);
  machine.memory_bytes_per_s = *rc::gen::element(0.3e12, 3e12, 8e12);
  machine.tdp_w = *rc::gen::element(0.0, 350.0, 700.0);
  machine.sm_count = *rc::gen::element(80, 108, 132);
  machine.gpus_per_node = *rc::gen::element(1, 4, 8);
  machine.domain_gpus = *rc::gen::element(1, 4, 8, 72);
  machine.in_domain.bytes_per_s = *rc::gen::element(25e9, 450e9);
  // Network cards hang off PCIe: no faster than it, nor nearer.
  machine.between_nodes.bytes_per_s = *rc::gen::element(1e9, 10e9, 25e9);
  machine.between_nodes.latency_s = *rc::gen::element(8e-6, 30e-6);
  machine.gpus_per_leaf = *rc::gen::element(0, 32);
  machine.oversubscription = *rc::gen::element(1.0, 4.0);
  machine.storage_bytes_per_s = *rc::gen::element(0.0, 1e9);
  machine.delivery.host_ratio = *rc::gen::element(0.0, 0.05);
  machine.delivery.packaging_ratio = *rc::gen::element(0.0, 0.01);
  machine.delivery.gpu_share_ratio = *rc::gen::element(0.0, 1.0);
  machine.delivery.sync_s = *rc::gen::element(0.0, 1e-5);
  machine.delivery.network_slowdown_ratio = *rc::gen::element(0.0, 0.1);
  machine.delivery.jitter_ratio = *rc::gen::element(0.0, 0.02);
  return machine;
}

inline Parallelism any_parallelism(const ModelArchitecture& model) {
  Parallelism p;
  p.tp = *rc::gen::element(1, 2, 4, 8);
  p.pp = *rc::gen::element(1, 1, 2, 4);
  p.vpp = p.pp > 1 ? *rc::gen::element(1, 2, 3) : 1;
  p.cp = *rc::gen::element(1, 1, 2, 4);
  p.dp = *rc::gen::element(1, 2, 8, 32);
  p.ep = model.is_moe() ? *rc::gen::element(1, 2, 8) : 1;
  p.zero_stage = p.dp * p.cp > 1 ? *rc::gen::inRange(0, 4) : 0;
  p.micro_batch = *rc::gen::element(1, 2, 3, 8);
  p.recompute = *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
  p.recompute_layers = *rc::gen::element(-1, -1, 1, 2);
  p.sequence_parallel = p.tp > 1 && *rc::gen::arbitrary<bool>();
  p.offload = *rc::gen::element(Offload::kNone, Offload::kNone, Offload::kOptimizer, Offload::kParameters);
  p.schedule = p.vpp > 1                     ? PipelineSchedule::kInterleaved
               : *rc::gen::arbitrary<bool>() ? PipelineSchedule::kOneForwardOneBackward
                                             : PipelineSchedule::kZeroBubble;
  return p;
}

// Discards the few that do not divide (ep over too few ranks, layers over chunks).
inline AnyStep any_step() {
  AnyStep any;
  any.workload = any_workload();
  any.parallelism = any_parallelism(any.workload.model);
  const Parallelism& p = any.parallelism;
  any.workload.global_batch = p.dp * p.micro_batch * p.pp * *rc::gen::element(1, 2, 6);
  any.machine = any_machine(gpus(p));
  RC_PRE(!check_divisibility(any.workload, any.machine, p).has_value());
  return any;
}

inline StepModel model_of(const AnyStep& any) { return StepModel(any.workload, any.machine); }

}  // namespace tare::test
