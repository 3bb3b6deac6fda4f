#include "workload/workload.h"

#include <gtest/gtest.h>

#include "workload/workload_examples.h"

namespace tare {
namespace {

SoftwareStack stack_with_defaults() {
  SoftwareStack stack;
  stack.id = "mlperf";
  stack.attention = "flash3";
  stack.default_precision = "fp8";
  return stack;
}

TEST(MakeWorkload, FillsWhatTheJobLeftOpenAndSaysSo) {
  Job job;
  job.model = llama_2_7b();
  job.sequence_length = 4096;
  job.global_batch = 512;
  job.assumed = {"job.precision"};
  std::vector<std::string> assumed;
  const Workload workload = make_workload(job, stack_with_defaults(), &assumed);
  EXPECT_EQ(workload.precision, Precision::kFp8);
  EXPECT_EQ(workload.attention, AttentionKernel::kFlash3);
  EXPECT_EQ(tokens_per_step(workload), 4096.0 * 512);
  EXPECT_EQ(assumed,
            (std::vector<std::string>{"precision = fp8 (mlperf default)", "attention = flash3 (mlperf default)"}));
}

TEST(MakeWorkload, KeepsWhatTheJobStates) {
  Job job;
  job.model = llama_2_7b();
  job.precision = Precision::kBf16;
  job.attention = AttentionKernel::kStandard;
  std::vector<std::string> assumed;
  const Workload workload = make_workload(job, stack_with_defaults(), &assumed);
  EXPECT_EQ(workload.precision, Precision::kBf16);
  EXPECT_EQ(workload.attention, AttentionKernel::kStandard);
  EXPECT_TRUE(assumed.empty());
}

// What PEFT prints for Llama 2 7B: r = 8 on q and v 4,194,304; r = 16 on all seven projections 39,976,960.
TEST(TrainableParameters, PeftFigures) {
  Workload workload;
  workload.model = llama_2_7b();
  workload.method = Method::kLora;
  workload.lora.rank = 16;
  EXPECT_EQ(trainable_parameters(workload), 39976960);
  workload.lora.rank = 8;
  workload.lora.key = workload.lora.output = workload.lora.mlp = false;
  EXPECT_EQ(trainable_parameters(workload), 4194304);
  workload.lora.embeddings = true;
  EXPECT_EQ(trainable_parameters(workload), 4194304 + 2 * 32000 * 4096);
  workload.method = Method::kPretrain;
  EXPECT_EQ(trainable_parameters(workload), 6738415616);  // the published count of Llama 2 7B
}

TEST(Parallelism, AsText) {
  Parallelism p;
  p.tp = 4;
  p.pp = 8;
  p.vpp = 2;
  p.dp = 2;
  p.zero_stage = 1;
  p.sequence_parallel = true;
  p.recompute = Recompute::kSelective;
  EXPECT_EQ(to_text(p), "tp4 pp8 vpp2 dp2 mb1 zero1 sp recompute=selective");
  EXPECT_EQ(gpus(p), 64);
}

}  // namespace
}  // namespace tare
