#include "validation/row_setup.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/row_stack.h"
#include "validation/rows.h"
#include "workload/memory.h"

namespace tare {
namespace {

using test::complete_row;
using test::set_up;
using test::shipped_catalog;
using test::skipped;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(RowSetup, ACompleteRowAssumesNothing) {
  const RowSetup setup = set_up(complete_row());
  EXPECT_THAT(setup.assumed, IsEmpty());
  EXPECT_EQ(setup.workload.model.layers, 24);
  EXPECT_EQ(setup.workload.global_batch, 32);
  EXPECT_EQ(setup.workload.attention, AttentionKernel::kFlash2);
  EXPECT_EQ(setup.workload.stack.id, "megatron-bridge");
  EXPECT_EQ(to_text(setup.parallelism), "tp2 pp2 dp4 mb2 zero1 sp");
  EXPECT_EQ(setup.machine.gpus, 16);
  EXPECT_EQ(setup.machine.domain_gpus, 8);
  EXPECT_DOUBLE_EQ(setup.machine.between_nodes.bytes_per_s, 50e9);
  EXPECT_DOUBLE_EQ(setup.measured_tokens_per_s_per_gpu, 10'000);
}

TEST(RowSetup, SaysWhatItAssumes) {
  ThroughputRow row = complete_row();
  row.head_dim.reset();
  row.kv_heads.reset();
  row.vocab.reset();
  row.ffn_hidden.reset();
  row.precision.clear();
  row.attention.clear();
  row.recompute.clear();
  row.sharding.clear();
  row.inter_node_bytes_per_s_per_gpu.reset();
  row.micro_batch.reset();
  const RowSetup setup = set_up(row);
  EXPECT_THAT(setup.assumed,
              ElementsAre("kv_heads = heads", "head_dim = hidden / heads", "vocab = 50304", "ffn_hidden = 4 * hidden",
                          "precision = bf16 (megatron-bridge)", "attention = flash3 (megatron-bridge)",
                          "network = 400 Gb/s per GPU", "recompute = none (megatron-bridge)",
                          "zero stage = 1 (megatron-bridge)", "micro-batch = 1 (usual in a pipeline)"));
}

TEST(RowSetup, AWordThatIsNotUnderstoodIsNotPassedOver) {
  ThroughputRow row = complete_row();
  row.recompute = "blockwise";
  row.attention = "quantum";
  row.sharding = "hybrid";
  const RowSetup setup = set_up(row);
  EXPECT_THAT(setup.assumed, ElementsAre("attention = flash3 (megatron-bridge; 'quantum' is not understood)",
                                         "recompute = none (megatron-bridge; 'blockwise' is not understood)",
                                         "zero stage = 1 (megatron-bridge; 'hybrid' is not understood)"));
}

TEST(RowSetup, SkipsWithTheReason) {
  const auto with = [](const std::function<void(ThroughputRow&)>& change) {
    ThroughputRow row = complete_row();
    change(row);
    return skipped(row);
  };
  EXPECT_EQ(with([](ThroughputRow&) {}), "");
  EXPECT_EQ(with([](ThroughputRow& r) { r.gpu = "H100-SXM9"; }), "unknown_gpu");
  EXPECT_EQ(with([](ThroughputRow& r) { r.method = "distil"; }), "unknown_method");
  EXPECT_EQ(with([](ThroughputRow& r) { r.precision = "fp3"; }), "unknown_precision");
  EXPECT_EQ(with([](ThroughputRow& r) { r.layers.reset(); }), "no_architecture");
  EXPECT_EQ(with([](ThroughputRow& r) { r.heads = 17; }), "no_architecture");  // 16 key-value heads do not divide it
  EXPECT_EQ(with([](ThroughputRow& r) { r.sequence_length.reset(); }), "no_architecture");
  EXPECT_EQ(with([](ThroughputRow& r) { r.gpus.reset(); }), "no_gpu_count");
  EXPECT_EQ(with([](ThroughputRow& r) { r.tp.reset(); }), "no_parallelism");
  EXPECT_EQ(with([](ThroughputRow& r) { r.dp = 8; }), "bad_parallelism");  // 2 * 2 * 8 is not 16
  EXPECT_EQ(with([](ThroughputRow& r) { r.global_batch = 3; }), "bad_parallelism");
  EXPECT_EQ(with([](ThroughputRow& r) { r.micro_batch.reset(), r.global_batch.reset(); }), "no_batch");
  EXPECT_EQ(with([](ThroughputRow& r) { r.tokens_per_s_per_gpu.reset(); }), "no_target");
  EXPECT_EQ(with([](ThroughputRow& r) { r.tokens_per_s_per_gpu = 0; }), "no_target");
}

// A billion of everything: no sum of these fits an int.
TEST(RowSetup, SizesBeyondAnyMachineAreSkipped) {
  const int huge = 1'000'000'000;
  ThroughputRow row = complete_row();
  row.tp = row.pp = row.cp = row.dp = row.gpus = huge;
  EXPECT_EQ(skipped(row), "bad_parallelism");
  row.dp.reset();
  EXPECT_EQ(skipped(row), "bad_parallelism");
  row = complete_row();
  row.global_batch.reset();
  row.micro_batch = row.grad_accum = huge;
  EXPECT_EQ(skipped(row), "bad_parallelism");
  row = complete_row();
  row.hidden = row.ffn_hidden = row.vocab = huge;
  EXPECT_EQ(skipped(row), "no_architecture");
}

TEST(RowSetup, DataParallelRanksFollowFromTheRest) {
  ThroughputRow row = complete_row();
  row.dp.reset();
  EXPECT_EQ(set_up(row).parallelism.dp, 4);  // 16 / (2 * 2)
}

TEST(RowSetup, OneGpuNeedsNoParallelism) {
  ThroughputRow row = complete_row();
  row.gpus = 1;
  row.tp.reset(), row.pp.reset(), row.dp.reset();
  const RowSetup setup = set_up(row);
  EXPECT_EQ(gpus(setup.parallelism), 1);
  EXPECT_EQ(setup.parallelism.zero_stage, 0);  // nothing to shard over, whatever the row says
}

TEST(RowSetup, TheBatchFollowsFromMicroBatchAndAccumulation) {
  ThroughputRow row = complete_row();
  row.global_batch.reset();
  row.grad_accum = 5;
  EXPECT_EQ(set_up(row).workload.global_batch, 2 * 4 * 5);
  row = complete_row();
  row.micro_batch.reset();
  row.grad_accum = 2;
  EXPECT_EQ(set_up(row).parallelism.micro_batch, 32 / 4 / 2);
}

TEST(RowSetup, AMicroBatchBeyondARanksShareIsCut) {
  ThroughputRow row = complete_row();
  row.micro_batch = 16;
  const RowSetup setup = set_up(row);
  EXPECT_EQ(setup.parallelism.micro_batch, 8);  // 32 sequences / 4 ranks
  EXPECT_THAT(setup.assumed, ElementsAre("micro-batch = 8 (all that a rank gets)"));
}

TEST(RowSetup, WithoutAPipelineTheLargestMicroBatchThatFits) {
  ThroughputRow row = complete_row();
  row.tp = row.pp = 1;
  row.dp = 16;
  row.global_batch = 1024;
  row.micro_batch.reset();
  const RowSetup setup = set_up(row);
  const int micro = setup.parallelism.micro_batch;
  EXPECT_GT(micro, 1);
  const double usable = usable_memory_bytes(setup.machine.memory_bytes);
  Parallelism larger = setup.parallelism;
  larger.micro_batch = 2 * micro;  // 64 sequences a rank: its divisors are the powers of two
  EXPECT_TRUE(micro == 64 || peak_memory(setup.workload, larger).total_bytes > usable);
  EXPECT_LE(peak_memory(setup.workload, setup.parallelism).total_bytes, usable);
}

TEST(RowSetup, ShardingAndOffload) {
  const auto parallelism = [](const std::string& sharding) {
    ThroughputRow row = complete_row();
    row.sharding = sharding;
    return set_up(row).parallelism;
  };
  EXPECT_EQ(parallelism("fsdp-full").zero_stage, 3);
  EXPECT_EQ(parallelism("FSDP2").zero_stage, 3);
  EXPECT_EQ(parallelism("zero2").zero_stage, 2);
  EXPECT_EQ(parallelism("zero1(8)").zero_stage, 1);
  EXPECT_EQ(parallelism("dp").zero_stage, 0);
  EXPECT_EQ(parallelism("zero3+cpu-offload-optimizer").offload, Offload::kOptimizer);
  EXPECT_EQ(parallelism("fsdp-full+cpu-offload").offload, Offload::kParameters);
}

TEST(RowSetup, TheCatalogLendsWhatRowsHaveNoColumnFor) {
  ThroughputRow row = complete_row();
  row.model_name = "deepseek-v3-L4";  // four layers of the model
  row.arch = "moe";
  row.layers = 4;
  row.hidden = 7168;
  row.heads = 128;
  row.kv_heads = 128;
  row.head_dim.reset();
  row.ffn_hidden = 2048;
  row.experts = 256;
  row.top_k = 8;
  row.gated_mlp = true;
  const ModelArchitecture model = set_up(row).workload.model;
  EXPECT_EQ(model.layers, 4);
  EXPECT_TRUE(model.is_mla());
  EXPECT_EQ(model.first_dense_layers, 3);
  EXPECT_EQ(model.shared_experts, 1);
  EXPECT_EQ(model.expert_ffn_hidden, 2048);
}

TEST(RowSetup, ANameAloneIsNotTheModel) {
  ThroughputRow row = complete_row();
  row.model_name = "deepseek-v3";  // and yet 2,048 wide
  EXPECT_FALSE(set_up(row).workload.model.is_mla());
}

TEST(RowSetup, LayersMayComeFromTheCatalogUnlessTruncated) {
  ThroughputRow row = complete_row();
  row.model_name = "llama-2-13b";
  row.layers.reset(), row.hidden.reset(), row.ffn_hidden.reset(), row.heads.reset();
  row.kv_heads.reset(), row.head_dim.reset(), row.vocab.reset();
  const RowSetup setup = set_up(row);
  EXPECT_EQ(setup.workload.model.layers, 40);
  EXPECT_THAT(setup.assumed, Contains("layers = 40 (catalog: llama-2-13b)"));
  row.model_name = "llama-2-13b-L4";
  EXPECT_EQ(skipped(row), "no_architecture");
}

TEST(RowSetup, NotesChangeWhatHasNoColumn) {
  SoftwareStack stack;
  Lora lora;
  read_notes("bf16; torch.compile; async TP; LoRA r=64", stack, lora);
  EXPECT_TRUE(stack.fused_elementwise);
  EXPECT_TRUE(stack.tp_overlap);
  EXPECT_EQ(lora.rank, 64);
  read_notes("FSDP; eager; LoRA r=99999999999", stack, lora);
  EXPECT_FALSE(stack.fused_elementwise);
  stack.tp_overlap = false;
  read_notes("torch.compile+float8+AsyncTP+1F1B", stack, lora);
  EXPECT_TRUE(stack.tp_overlap);
  EXPECT_EQ(lora.rank, 64);  // no rank of that size
}

TEST(RowSetup, FrameworksFindTheirStacks) {
  const std::pair<const char*, const char*> expected[] = {
      {"Megatron-Bridge 26.02", "megatron-bridge"},
      {"NeMo (dgxc v25.02)", "megatron-bridge"},
      {"NVIDIA NeMo Framework Release 24.09", "mlperf-nvidia"},
      {"NeMo AutoModel (PyTorch/FSDP2)", "nemo-automodel"},
      {"Megatron-LM 2020", "megatron-lm-2020"},
      {"Megatron-LM 23e00ed09 + TE 2.11", "simumax"},
      {"Megatron-DeepSpeed", "megatron-deepspeed"},
      {"NGC PyTorch Release 24.01 Deepspeed N8", "deepspeed"},
      {"DeepSpeed 0.19.2 + HF + Liger", "deepspeed-hf"},
      {"llm-foundry/composer FSDP", "llm-foundry"},
      {"PAXML/JAX XLA", "pax-xla"},
      {"PAXML/JAX TE", "pax"},
      {"PyTorch 2.6.0, ROCm 6.4", "mlperf-amd"},
      {"torchtitan", "torchtitan"},
      {"Surogate FP4", "surogate"},
      {"something new", "generic"},
      {"", "generic"},
  };
  for (const auto& [framework, stack] : expected)
    EXPECT_EQ(stack_of(framework, GpuGeneration::kAmpere, shipped_catalog()).id, stack) << framework;
}

}  // namespace
}  // namespace tare
