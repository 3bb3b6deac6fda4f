#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "ingest/step_series.h"
#include "read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, const char* list, std::size_t at) {
  static const FactRecord none;
  const std::vector<Fact>* const found = facts.find_list(list);
  return found == nullptr || found->size() <= at ? none : *(*found)[at].as_record();
}

// What one program's lines say of their last step.
struct Expected {
  const char* fact;
  double value;
};
struct Case {
  const char* name;
  const char* framework;
  std::string text;
  std::size_t steps;
  std::vector<Expected> last;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class Programs : public testing::TestWithParam<Case> {};

TEST_P(Programs, AreRead) {
  const Case& one = GetParam();
  const FileFacts file = read_text(one.text);
  ASSERT_EQ(kind_of(file), "training-log");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("framework"), one.framework);
  const std::vector<Fact>* const steps = facts.find_list("steps");
  ASSERT_NE(steps, nullptr);
  ASSERT_EQ(steps->size(), one.steps);
  const FactRecord& last = *steps->back().as_record();
  EXPECT_GT(last.line, 0);
  for (const Expected& expected : one.last) {
    const std::optional<double> found = last.number(expected.fact);
    ASSERT_TRUE(found.has_value()) << expected.fact;
    EXPECT_DOUBLE_EQ(*found, expected.value) << expected.fact;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Programs,
    testing::Values(
        Case{"megatron",
             "Megatron-LM",
             " [2026-02-03 04:05:06] iteration        7/     900 | consumed samples:         1792 | elapsed time per "
             "iteration (ms): 812.5 | throughput per GPU (TFLOP/s/GPU): 401.2 | learning rate: 1.500000E-05 | global "
             "batch size:   256 | lm loss: 7.125000E+00 | loss scale: 1.0 | grad norm: 1.250 | number of skipped "
             "iterations:   0 | number of nan iterations:   0 |\n"
             " [2026-02-03 04:05:07] iteration        8/     900 | consumed samples:         2048 | elapsed time per "
             "iteration (ms): 810.5 | throughput per GPU (TFLOP/s/GPU): 402.2 | learning rate: 1.600000E-05 | global "
             "batch size:   256 | lm loss: 7.025000E+00 | loss scale: 1.0 | grad norm: 1.125 | number of skipped "
             "iterations:   0 | number of nan iterations:   0 |\n",
             2,
             {{"step", 8},
              {"step_time_ms", 810.5},
              {"tflops_per_gpu", 402.2},
              {"loss", 7.025},
              {"grad_norm", 1.125},
              {"global_batch", 256},
              {"consumed_samples", 2048}}},
        Case{"megatron_wrapped",
             "Megatron-DeepSpeed",
             "[default7]: iteration   420/ 900 | consumed samples: 107520 | consumed tokens: 220200960 | elapsed time "
             "per iteration (s): 95.25 | learning\n rate: 4.4E-05 | global batch size: 256 | lm loss: 2.5E+00 | grad "
             "norm: 0.150 | number of nan\niterations:  0 | samples per second: 2.688 | TFLOPs: 140.5 |\n",
             1,
             {{"step", 420}, {"step_time_s", 95.25}, {"learning_rate", 4.4e-5}, {"tflops_per_gpu", 140.5}}},
        Case{"megatron_old",
             "Megatron-LM",
             " iteration        1/    50 | elapsed time per iteration (ms): 1218.5 | learning rate: 1.8E-05 | lm "
             "loss: 1.2E+01 | loss scale: 1024.0 | number of skipped iterations:   0 |\n"
             "Effective Tera Flops per GPU: 41.5 and total parameters 5.25 B\n",
             1,
             {{"step_time_ms", 1218.5}, {"tflops_per_gpu", 41.5}}},
        Case{"megatron_bridge",
             "Megatron-Bridge",
             "Step Time : 5.25s GPU utilization: 701.5MODEL_TFLOP/s/GPU\n"
             " [2026-02-03 04:05:06.123456] iteration        2/      50 | consumed samples:          256 | elapsed "
             "time per iteration (ms): 5250.5 | learning rate: 3.0E-05 | global batch size:   128 | lm loss: 1.15E+01 "
             "| number of nan iterations:   0 |\n",
             1,
             {{"step", 2}, {"step_time_ms", 5250.5}, {"tflops_per_gpu", 701.5}}},
        Case{"gpt_neox",
             "GPT-NeoX",
             " samples/sec: 63.75 | iteration      100/  3200 | elapsed time per iteration (ms): 4016.5 | learning "
             "rate: 2.0E-05 | approx flops per GPU: 54.5TFLOPS | lm_loss: 8.25E+00 | loss scale: 65536.0 | number of "
             "skipped iterations:   0 | number of nan iterations:   0 |\n",
             1,
             {{"samples_per_s", 63.75}, {"tflops_per_gpu", 54.5}, {"loss", 8.25}}},
        Case{"deepspeed",
             "DeepSpeed",
             "[2026-01-01 00:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=1, lr=[0.001], "
             "mom=[[0.9, 0.999]]\n"
             "[2026-01-01 00:00:00,124] [INFO] [timer.py:199:stop] epoch=0/micro_step=40/global_step=20, "
             "RunningAvgSamplesPerSec=32.5, CurrSamplesPerSec=33.25, MemAllocated=4.25GB, MaxMemAllocated=11.5GB\n",
             1,
             {{"step", 20},
              {"samples_per_s", 33.25},
              {"memory_peak_gb", 11.5},
              {"skipped_iterations", 1},
              {"learning_rate", 0.001}}},
        Case{"deepspeed_pipeline",
             "DeepSpeed",
             "steps: 20 loss: 4.625 iter time (s): 0.875 samples/sec: 257.5\n",
             1,
             {{"step", 20}, {"step_time_s", 0.875}, {"samples_per_s", 257.5}}},
        Case{"torchtitan",
             "torchtitan",
             "[rank0]:[titan] 2026-03-01 10:00:20,123 - root - INFO - step:  1  loss: 12.25  grad_norm:  4.5  memory: "
             "45.25GiB(57.07%)  tps: 1,234  tflops: 71.5  mfu: 7.25%\n"
             "[rank0]:[titan] 2026-03-01 10:00:50,124 - root - INFO - step: 10  loss:  9.25  grad_norm:  2.5  memory: "
             "52.75GiB(66.70%)  tps: 6,812  tflops: 394.5  mfu: 39.75%\n",
             2,
             {{"step", 10},
              {"tokens_per_s_per_gpu", 6812},
              {"memory_allocated_gib", 52.75},
              {"mfu_percent", 39.75},
              {"loss", 9.25}}},
        Case{"nanotron",
             "nanotron",
             "01/17/2026 13:47:27 [INFO|DP=0|PP=0|TP=0|gpu-7]: iteration: 991 / 1000 | consumed_tokens: 634K | "
             "elapsed_time_per_iteration_ms: 45.5 | tokens_per_sec: 14.5K | tokens_per_sec_per_gpu: 1.75K | "
             "global_batch_size: 20 | lm_loss: 10.5 | lr: 1e-05 | model_tflops_per_gpu: 0.00875 | grad_norm: 0.5\n",
             1,
             {{"step", 991}, {"step_time_ms", 45.5}, {"tokens_per_s", 14500}, {"tokens_per_s_per_gpu", 1750}}},
        Case{"maxtext",
             "MaxText",
             "completed step: 9, seconds: 2.25, TFLOP/s/device: 412.5, Tokens/s/device: 8690.25, total_weights: 65536, "
             "loss: 8.125\n",
             1,
             {{"step", 9}, {"step_time_s", 2.25}, {"tflops_per_gpu", 412.5}, {"tokens_per_s_per_gpu", 8690.25}}},
        Case{"nemo",
             "NeMo",
             "Training epoch 0, iteration 9/99 | lr: 1.25e-05 | global_batch_size: 512 | global_step: 9 | "
             "reduced_train_loss: 10.75 | train_step_timing in s: 5.25 | TFLOPS_per_GPU: 647.5 | consumed_samples: "
             "5120\n",
             1,
             {{"step", 9}, {"step_time_s", 5.25}, {"tflops_per_gpu", 647.5}, {"loss", 10.75}}},
        Case{"nemo_bar",
             "NeMo",
             "Epoch 0:   1%|          | 79/7722 [9:07:58<878:01:48, 41.5s/it, loss=3.1, v_num=, "
             "reduced_train_loss=3.075, global_step=78.0, consumed_samples=1.5e+6]\n",
             1,
             {{"step", 78}, {"step_time_s", 41.5}, {"loss", 3.075}, {"consumed_samples", 1500000}}},
        Case{"lightning",
             "Lightning",
             "Epoch 0:  10%|█         | 10/100 [00:05<00:45,  2.00it/s, v_num=0, train_loss=2.25]\r"
             "Epoch 0:  11%|█         | 11/100 [00:05<00:44,  4.00it/s, v_num=0, train_loss=2.125]\n",
             2,
             {{"step", 11}, {"step_time_s", 0.25}, {"loss", 2.125}}},
        Case{"hugging_face",
             "Hugging Face Trainer",
             "{'loss': 1.5, 'grad_norm': 0.75, 'learning_rate': 1.9e-05, 'epoch': 0.02}\n"
             "{'loss': '1.25', 'grad_norm': '0.5', 'learning_rate': '1.8e-05', 'epoch': '0.05'}\n",
             2,
             {{"loss", 1.25}, {"grad_norm", 0.5}, {"learning_rate", 1.8e-5}, {"epoch", 0.05}}},
        Case{"internevo",
             "InternEvo",
             "2026-07-07 12:28:57,802\tINFO train.py:323 in record_current_batch_training_metrics -- "
             "tflops=63.5,step=0,loss=11.5,tgs (tokens/gpu/second)=1424.5,lr=4e-07,grad_norm={'0_default': "
             "66.5},inf_nan_skip_batches=0,num_samples_in_batch=19,fwd_bwd_time=6.5\n",
             1,
             {{"step", 0}, {"tokens_per_s_per_gpu", 1424.5}, {"tflops_per_gpu", 63.5}, {"grad_norm", 66.5}}},
        Case{"lerobot",
             "LeRobot",
             "INFO 2026-07-11 08:20:13 ts/train.py:232 step:9 smpl:576 ep:2 epch:0.00 loss:1.125 grdn:4.5 lr:1.8e-06 "
             "updt_s:0.25 data_s:13.5\n"
             "INFO 2026-07-11 08:20:14 ts/train.py:232 step:16 smpl:1K ep:2 epch:0.00 loss:1.0 grdn:4.25 lr:2e-06 "
             "updt_s:0.125 data_s:0.001\n",
             2,
             {{"step", 16}, {"update_time_s", 0.125}, {"data_time_s", 0.001}, {"consumed_samples", 1000}}},
        Case{"litgpt",
             "LitGPT",
             "Epoch 3 | iter 3050 step 610 | loss train: 2.75, val: 2.875 | iter time: 112.25 ms (step) remaining "
             "time: 0:01:54\n",
             1,
             {{"step", 610}, {"step_time_ms", 112.25}, {"loss", 2.75}, {"eval_loss", 2.875}}},
        Case{"nanogpt",
             "nanoGPT",
             "step 0: train loss 10.9876, val loss 10.9870\n"
             "iter 0: loss 10.9886, time 31234.56ms, mfu -100.00%\n"
             "iter 10: loss 9.5, time 234.5ms, mfu 41.25%\n",
             2,
             {{"step", 10}, {"step_time_ms", 234.5}, {"mfu_percent", 41.25}}},
        Case{"modded_nanogpt",
             "modded-nanogpt",
             "step:1/1750 train_loss:10.75 train_time:24389ms step_avg:nanms\n"
             "step:13/1750 train_loss:6.25 train_time:405ms step_avg:134.75ms\n",
             2,
             {{"step", 13}, {"elapsed_ms", 405}, {"step_time_average_ms", 134.75}}},
        Case{"llm_c",
             "llm.c",
             "step    2/18865 | loss 10.875 (+nanz)| norm 14.5 (+nanz)| lr 1.71e-06 | 812.5 ms | 61.5% bf16 MFU | "
             "645277 tok/s\n",
             1,
             {{"step", 2}, {"step_time_ms", 812.5}, {"mfu_percent", 61.5}, {"tokens_per_s", 645277}}},
        Case{"nanochat",
             "nanochat",
             "step 00011/21400 (0.05%) | loss: 9.125 | lrm: 1.00 | dt: 344.25ms | tok/sec: 1,523,000 | mfu: 45.5 | "
             "total time: 0.07m\n",
             1,
             {{"step", 11}, {"step_time_ms", 344.25}, {"tokens_per_s", 1523000}, {"mfu_percent", 45.5}}},
        Case{"composer",
             "Composer",
             "[epoch=0][batch=10/4800]:\n"
             "\t Train time/epoch: 0\n"
             "\t Train loss/train/total: 11.125\n"
             "\t Train throughput/batches_per_sec: 0.25\n"
             "\t Train throughput/device/tokens_per_sec: 16461.5\n"
             "\t Train throughput/tokens_per_sec: 131692.0\n"
             "\t Train memory/allocated_mem: 6.75\n",
             1,
             {{"step", 10}, {"steps_per_s", 0.25}, {"tokens_per_s", 131692}, {"memory_allocated_gb", 6.75}}},
        Case{"olmo",
             "OLMo",
             "2026-02-01 10:00:00.000\thost:0\ttrain:100\tINFO\t[step=10/739328,epoch=0]\n"
             "    train/CrossEntropyLoss=9.125\n"
             "    throughput/total_tokens=41,943,040\n"
             "    throughput/device/tokens_per_second=10,122\n",
             1,
             {{"step", 10}, {"loss", 9.125}, {"consumed_tokens", 41943040}, {"tokens_per_s_per_gpu", 10122}}},
        Case{"paddlenlp",
             "PaddleNLP",
             "[2026-05-01 10:00:00,123] [    INFO] - loss: 10.5, learning_rate: 1e-05, global_step: 10, "
             "interval_runtime: 12.25, interval_samples_per_second: 5.25, interval_tokens_per_second_per_device: "
             "1330.5, interval_steps_per_second: 0.75, progress_or_epoch: 0.01\n",
             1,
             {{"step", 10}, {"step_time_s", 12.25}, {"samples_per_s", 5.25}, {"tokens_per_s_per_gpu", 1330.5}}},
        Case{"verl",
             "verl",
             "step:10 - global_seqlen/min:12345 - actor/grad_norm:0.25 - timing_s/gen:45.25 - timing_s/step:123.5 - "
             "perf/throughput:1834.5 - perf/mfu/actor:0.375\n",
             1,
             {{"step", 10}, {"step_time_s", 123.5}, {"mfu", 0.375}}},
        Case{
            "fairseq",
            "fairseq",
            "2026-05-01 12:00:00 | INFO | train_inner | {\"epoch\": 1, \"loss\": \"12.5\", \"wps\": \"12345.5\", "
            "\"ups\": \"1.25\", \"num_updates\": \"100\", \"lr\": \"1.2e-05\", \"gnorm\": \"3.5\", \"wall\": \"95\"}\n",
            1,
            {{"step", 100}, {"tokens_per_s", 12345.5}, {"steps_per_s", 1.25}, {"grad_norm", 3.5}}},
        Case{"openmmlab",
             "OpenMMLab",
             "2026/05/01 12:00:00 - mmengine - INFO - Epoch(train)  [1][  50/1000]  lr: 1.0000e-02  eta: 1:02:03  "
             "time: 0.3515  data_time: 0.0112  memory: 5120  loss: 1.25\n",
             1,
             {{"step", 50}, {"step_time_s", 0.3515}, {"data_time_s", 0.0112}, {"loss", 1.25}}},
        Case{"detectron2",
             "Detectron2",
             "[05/01 12:00:00 d2.utils.events]:  eta: 2:10:00  iter: 19  total_loss: 3.125  time: 0.3515  last_time: "
             "0.3400  data_time: 0.0112  lr: 0.0002  max_mem: 5120M\n",
             1,
             {{"step", 19}, {"step_time_s", 0.3515}, {"memory_peak_mb", 5120}}},
        Case{"automodel",
             "NeMo Automodel",
             "2026-08-01 10:00:00 | INFO | root | step 10 | epoch 0 | loss 1.25 | grad_norm 0.5 | lr 1.00e-05 | mem "
             "52.25 GiB | tps 12345.50(1543.25/gpu) | num_label_tokens 65536\n",
             1,
             {{"step", 10}, {"tokens_per_s", 12345.5}, {"tokens_per_s_per_gpu", 1543.25}}},
        Case{"key_value",
             "",
             "INFO step=10 loss=2.5 step_time=0.5 tokens_per_sec=81234 lr=0.0003\n"
             "INFO step=20 loss=2.25 step_time=0.625 tokens_per_sec=82234 lr=0.0003\n",
             2,
             {{"step", 20}, {"step_time_s", 0.625}, {"tokens_per_s", 82234}}},
        Case{"prose",
             "",
             "Step 200: loss = 2.25, time per step = 510.5 ms, throughput = 124,456 tokens/s\n",
             1,
             {{"step", 200}, {"step_time_ms", 510.5}, {"tokens_per_s", 124456}}},
        Case{"csv",
             "",
             "epoch,step,train_loss,val_loss,step_time_ms\n0,9,2.5,,512.5\n0,19,2.25,,510.5\n0,19,,2.4,\n",
             2,
             {{"step", 19}, {"loss", 2.25}, {"step_time_ms", 510.5}}},
        Case{"wandb_csv",
             "",
             "\"Step\",\"run-a - train/loss\",\"run-a - train/loss__MIN\",\"run-a - perf/step_time_ms\"\n"
             "\"0\",\"2.5\",\"2.5\",\"510\"\n\"10\",\"2.25\",\"2.25\",\"511.5\"\n",
             2,
             {{"step", 10}, {"loss", 2.25}, {"step_time_ms", 511.5}}},
        Case{
            "json_lines",
            "",
            "{\"step\": 1, \"metrics\": {\"train/loss\": 2.5, \"perf\": {\"step_time_ms\": 812.5}}, \"host\": \"n1\"}\n"
            "{\"step\": 2, \"metrics\": {\"train/loss\": 2.25, \"perf\": {\"step_time_ms\": 512.5}}, \"host\": "
            "\"n1\"}\n",
            2,
            {{"step", 2}, {"loss", 2.25}, {"step_time_ms", 512.5}}},
        Case{"json_array",
             "",
             "[\n {\"step\": 1, \"loss\": 2.5, \"step_time_s\": 0.5},\n {\"step\": 2, \"loss\": 2.25, \"step_time_s\": "
             "0.25},\n {\"step\": 3, \"loss\": 2.0, \"step_time_s\": 0.125}\n]\n",
             3,
             {{"step", 3}, {"loss", 2}, {"step_time_s", 0.125}}},
        Case{"json_columns",
             "",
             "{\"step\": [1, 2, 3], \"loss\": [3.5, 3.25, 3.0], \"step_time_ms\": [10, 11, 12.5]}\n",
             3,
             {{"step", 3}, {"loss", 3}, {"step_time_ms", 12.5}}}),
    [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

TEST(TrainingLog, TellsOfTheRun) {
  const FileFacts file = read_text(
      "using world size: 64, data-parallel size: 2, context-parallel size: 1, tensor-model-parallel size: 8, "
      "pipeline-model-parallel size: 4\n"
      "  hidden_size ..................................... 8192\n"
      "  seq_length ...................................... 4096\n"
      " iteration      100/  5000 | consumed samples:       102400 | elapsed time per iteration (ms): 12512.5 | "
      "learning rate: 1.5E-04 | global batch size:  1024 | lm loss: 2.25E+00 | number of nan iterations:   0 |\n"
      " validation loss at iteration 100 | lm loss value: 2.375E+00 | lm loss PPL: 1.1E+01 | \n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpus"), 64);
  EXPECT_EQ(facts.integer("tensor_parallel"), 8);
  EXPECT_EQ(facts.integer("pipeline_parallel"), 4);
  EXPECT_EQ(facts.integer("data_parallel"), 2);
  EXPECT_EQ(facts.integer("sequence_length"), 4096);
  EXPECT_EQ(facts.integer("hidden"), 8192);
  EXPECT_EQ(facts.integer("global_batch"), 1024);
  EXPECT_EQ(facts.integer("total_steps"), 5000);
  EXPECT_EQ(facts.find("sequence_length")->line, 3);
  EXPECT_EQ(item(facts, "evaluations", 0).number("eval_loss"), 2.375);
  EXPECT_EQ(file.unused_lines, 0);
}

TEST(TrainingLog, TellsOfATrainersRun) {
  const FileFacts file = read_text(
      "***** Running training *****\n"
      "  Num examples = 52,002\n"
      "  Instantaneous batch size per device = 4\n"
      "  Total train batch size (w. parallel, distributed & accumulation) = 128\n"
      "  Gradient Accumulation steps = 8\n"
      "  Total optimization steps = 1,218\n"
      "{'loss': nan, 'grad_norm': nan, 'learning_rate': 1.9e-05, 'epoch': 0.02}\n"
      "{'loss': 1.25, 'grad_norm': 0.5, 'learning_rate': 1.9e-05, 'epoch': 0.02}\n"
      "{'train_runtime': 7321.5, 'train_samples_per_second': 21.25, 'train_steps_per_second': 0.166, 'train_loss': "
      "1.05, 'epoch': 3.0}\n"
      "{'train_runtime': 7321.6, 'train_samples_per_second': 21.25, 'train_steps_per_second': 0.166, 'train_loss': "
      "1.05, 'epoch': 3.0}\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("examples"), 52002);
  EXPECT_EQ(facts.integer("global_batch"), 128);
  EXPECT_EQ(facts.integer("micro_batch"), 4);
  EXPECT_EQ(facts.integer("gradient_accumulation"), 8);
  EXPECT_EQ(facts.integer("total_steps"), 1218);
  const FactRecord& summary = *facts.find_record("train_summary");
  EXPECT_EQ(summary.number("train_runtime_s"), 7321.5);
  EXPECT_EQ(summary.integer("printed_times"), 2);  // once for every rank: not added up
  const FactRecord& loss = *facts.find_record("summary")->find_record("loss");
  EXPECT_EQ(loss.integer("not_finite"), 1);
  EXPECT_EQ(loss.integer("count"), 1);
}

TEST(TrainingLog, ReadsTimersAndMemoryOfRanks) {
  const FileFacts file = read_text(
      " iteration       10/    50 | consumed samples: 40 | elapsed time per iteration (ms): 356.5 | global batch size: "
      "4 | number of skipped iterations:  10 | number of nan iterations:   0 |\n"
      "[Rank 3] (after 10 iterations) memory (MB) | allocated: 100.5 | max allocated: 200.5 | reserved: 300.0 | max "
      "reserved: 300.0[Rank 1] (after 10 iterations) memory (MB) | allocated: 90.5 | max allocated: 190.5 | reserved: "
      "280.0 | max reserved: 280.0\n"
      "time (ms) | forward-compute: 193.75 | backward-params-all-reduce: 20.5\n"
      "time (ms) | forward-compute: 195.75 | backward-params-all-reduce: 22.5\n"
      "(min, max) time across ranks (ms):\n"
      "    optimizer ......................................: (120.5, 130.25)\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(item(facts, "rank_memory", 0).integer("rank"), 1);
  EXPECT_EQ(item(facts, "rank_memory", 1).number("max_allocated_mb"), 200.5);
  EXPECT_EQ(facts.integer("gpus_at_least"), 4);
  EXPECT_EQ(item(facts, "timers", 1).text("name"), "backward_params_all_reduce");
  EXPECT_EQ(item(facts, "timers", 1).number("mean_ms"), 21.5);
  EXPECT_EQ(item(facts, "timers", 2).number("max_of_ranks_ms"), 130.25);
  EXPECT_EQ(item(facts, "timer_rows", 1).number("forward_compute_ms"), 195.75);
  EXPECT_EQ(item(facts, "timer_rows", 1).line, 4);
}

TEST(TrainingLog, KeepsRanksApart) {
  std::string text;
  for (int step = 1; step <= 4; ++step) {
    for (int rank = 0; rank < 3; ++rank) {
      text += fmt::format("[rank{}]: step={} loss=2.5 step_time_ms={}\n", rank, step, 500 + 10 * rank + step);
    }
  }
  const FileFacts file = read_text(text);
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("rank"), 0);
  EXPECT_EQ(facts.integer("step_count"), 4);
  EXPECT_EQ(item(facts, "ranks", 2).integer("rank"), 2);
  EXPECT_EQ(item(facts, "ranks", 2).number("step_time_ms_median"), 522.5);
}

TEST(TrainingLog, ReadsBarsAndWhatIsGluedToThem) {
  const FileFacts file = read_text(
      "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs = 1\n"
      "    \\   /|    Num examples = 2,500 | Num Epochs = 1\n"
      "\\        /    Total batch size = 16 | Total steps = 156\n"
      "  0%|          | 1/156 [00:25<1:02:19, 25.5s/it]0, 2.5\n"
      "  7%|▎         | 11/156 [02:27<30:48, 12.5s/it]10, 2.25\n"
      "  8%|▎         | 12/156 [02:28<30:48, 2.00it/s][2026-06-21 07:39:09,625] [INFO] [logging.py:96:log_dist] [Rank "
      "0] "
      "rank=0 time (ms) | optimizer_step: 60.5\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("framework"), "Unsloth");
  EXPECT_EQ(facts.integer("gpus"), 1);
  EXPECT_EQ(facts.integer("global_batch"), 16);
  EXPECT_EQ(item(facts, "steps", 1).number("loss"), 2.25);
  EXPECT_EQ(item(facts, "steps", 1).number("step_time_s"), 12.5);
  EXPECT_EQ(item(facts, "progress", 2).text("rate"), "2it/s");
  EXPECT_EQ(item(facts, "progress", 2).number("remaining_s"), 30 * 60 + 48);
  EXPECT_EQ(item(facts, "timers", 0).number("first_ms"), 60.5);
}

TEST(TrainingLog, ReadsTrainerState) {
  const FileFacts file = read_text(
      "{\n \"global_step\": 20,\n \"max_steps\": 40,\n \"log_history\": [\n"
      "  {\"loss\": 2.5, \"learning_rate\": 1e-05, \"epoch\": 0.1, \"step\": 10},\n"
      "  {\"eval_loss\": 2.4, \"epoch\": 0.1, \"step\": 10},\n"
      "  {\"loss\": 2.25, \"learning_rate\": 1e-05, \"epoch\": 0.2, \"step\": 20},\n"
      "  {\"train_runtime\": 120.5, \"train_loss\": 2.375, \"step\": 20}\n ]\n}\n",
      "trainer_state.json");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("framework"), "Hugging Face Trainer");
  EXPECT_EQ(facts.integer("global_step"), 20);
  EXPECT_EQ(facts.integer("log_entries"), 4);
  EXPECT_EQ(item(facts, "steps", 1).number("loss"), 2.25);
  EXPECT_EQ(item(facts, "steps", 1).line, 7);
  EXPECT_EQ(item(facts, "evaluations", 0).number("eval_loss"), 2.4);
  EXPECT_EQ(facts.find_record("train_summary")->number("train_runtime_s"), 120.5);
}

TEST(TrainingLog, ReadsMlperf) {
  const FileFacts file = read_text(
      ":::MLLOG {\"time_ms\": 1700000000000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"submission_benchmark\", "
      "\"value\": \"bert\", \"metadata\": {}}\n"
      "0: :::MLLOG {\"time_ms\": 1700000000001, \"event_type\": \"POINT_IN_TIME\", \"key\": \"global_batch_size\", "
      "\"value\": 448, \"metadata\": {}}\n"
      ":::MLLOG {\"time_ms\": 1700000001000, \"event_type\": \"INTERVAL_START\", \"key\": \"run_start\", \"value\": "
      "null, \"metadata\": {}}\n"
      ":::MLLOG {\"time_ms\": 1700000002000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"tracked_stats\", \"value\": "
      "{\"train_loss\": 1.5, \"throughput\": 812.5}, \"metadata\": {\"step\": 10}}\n"
      ":::MLLOG {\"time_ms\": 1700000003000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"eval_accuracy\", \"value\": "
      "0.725, \"metadata\": {\"step\": 10}}\n"
      ":::MLLOG {\"time_ms\": 1700000004500, \"event_type\": \"INTERVAL_END\", \"key\": \"run_stop\", \"value\": null, "
      "\"metadata\": {\"status\": \"success\"}}\n"
      ":::MLLOG {\"time_ms\": 17000\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("benchmark"), "bert");
  EXPECT_EQ(facts.integer("global_batch_size"), 448);
  EXPECT_EQ(facts.number("run_seconds"), 3.5);
  EXPECT_EQ(facts.text("status_of_run"), "success");
  EXPECT_EQ(item(facts, "steps", 0).number("samples_per_s"), 812.5);
  EXPECT_EQ(item(facts, "evaluations", 0).number("eval_accuracy"), 0.725);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(TrainingLog, GoesOnAfterDamage) {
  const FileFacts file = read_text(
      "{\"step\": 1, \"loss\": 2.5, \"step_time_ms\": 510}\n"
      "Traceback (most recent call last):\n"
      "{\"step\": 2, \"loss\": NaN, \"step_time_ms\": 511}\n"
      "{\"step\": 3, \"split\": \"eval\", \"loss\": 2.75}\n"
      "{\"step\": 4, \"loss\": 2.25, \"step_time_ms\": 512}\n"
      "{\"step\": 5, \"loss\": 2.2\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.find_record("summary")->find_record("loss")->integer("not_finite"), 1);
  EXPECT_EQ(item(facts, "evaluations", 0).number("eval_loss"), 2.75);
  EXPECT_EQ(facts.find_record("summary")->find_record("step_time_ms")->integer("count"), 3);
}

TEST(TrainingLog, IsNotWhateverNamesSteps) {
  for (const char* const text :
       {"Step 1: install the driver\nStep 2: reboot\n", "The loss of 3 packets\n", "loss: 3 packets\n",
        "pod/trainer-0 Running step 5\n", "Downloading: 100%|███| 4.2G/4.2G [00:10<00:00, 420MB/s]\n"}) {
    EXPECT_NE(kind_of(read_text(text)), "training-log") << text;
  }
}

TEST(StepSeries, KeepsAllInSummariesAndAFewRows) {
  std::string text;
  constexpr int kCount = 50'000;
  for (int i = 0; i < kCount; ++i) {
    text += fmt::format("{{\"step\": {}, \"loss\": 2.5, \"step_time_ms\": {}}}\n", i, i % 8 == 0 ? 900 : 500);
  }
  const FileFacts file = read_text(text);
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("step_count"), kCount);
  EXPECT_LE(facts.find_list("steps")->size(), StepSeries::kRows);
  EXPECT_EQ(facts.integer("log_interval"), 1);
  const FactRecord& time = *facts.find_record("summary")->find_record("step_time_ms");
  EXPECT_EQ(time.integer("count"), kCount);
  EXPECT_NEAR(*time.number("median"), 500, 2);  // not what every eighth row says
  EXPECT_NEAR(*time.number("p95"), 900, 4);
  EXPECT_DOUBLE_EQ(*time.number("mean"), 550);
}

TEST(TrainingLog, FailuresWarningsCheckpointsAndTheGpuAreEvents) {
  const FileFacts file = read_text(
      "GPU: NVIDIA GeForce RTX 4090. Max memory: 23.6 GB.\n"
      "Peak FLOPS used for computing MFU: 1.652e+14\n"
      "2026-02-01 10:00:00 step: 1 loss: 9.5 tps: 1,000 mfu: 30.0%\n"
      "Finished saving the checkpoint in 12.5 seconds.\n"
      "saving checkpoint at iteration 2\n"
      "2026-02-01 10:00:10 step: 2 loss: 9.4 tps: 1,010 mfu: 30.5%\n"
      "2026-02-01 10:01:00 still here\n"
      "Traceback (most recent call last):\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.\n"
      "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.\n"
      "2026-02-01 10:02:00 bye\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("gpu_model"), "NVIDIA GeForce RTX 4090");
  EXPECT_DOUBLE_EQ(*facts.number("mfu_peak_tflops"), 165.2);
  EXPECT_EQ(facts.integer("checkpoint_saves"), 2);
  EXPECT_DOUBLE_EQ(*facts.number("checkpoint_seconds_total"), 12.5);
  ASSERT_EQ(facts.find_list("events")->size(), 2u);
  EXPECT_EQ(item(facts, "events", 0).text("kind"), "crashed");
  EXPECT_EQ(item(facts, "events", 1).text("kind"), "out-of-memory");
  EXPECT_EQ(item(facts, "events", 1).integer("count"), 2);
  EXPECT_EQ(item(facts, "events", 1).line, 9);
  EXPECT_EQ(facts.text("first_time_behind_last_step"), "2026-02-01T10:01:00");
  EXPECT_EQ(facts.text("last_time_not_of_a_step"), "2026-02-01T10:02:00");
}

TEST(TrainingLog, ParametersInWordsOfThousands) {
  const FileFacts file = read_text(
      "number parameters: 1.104 billion\n"
      "completed step: 8, seconds: 2.5, TFLOP/s/device: 410.5, Tokens/s/device: 8653.25, loss: 8.25\n");
  EXPECT_DOUBLE_EQ(*facts_of(file).number("params_billion"), 1.104);
}

TEST(TrainingLog, WaitsForDataWithoutAUnitBesideTimes) {
  for (const char* const line :
       {"Epoch: [0][30/900]\tTime  0.800 ( 0.810)\tData  0.250 ( 0.300)\tLoss 6.9e+00 (6.95e+00)\n",
        "Train: 0 [  50/900 (  5%)]  Loss: 5.1 (5.2)  Time: 0.800s,  320.00/s  (0.810s,  316.00/s)  "
        "LR: 1.0e-04  Data: 0.250 (0.300)\n"}) {
    const FileFacts file = read_text(std::string(line) + line);
    EXPECT_DOUBLE_EQ(item(facts_of(file), "steps", 0).number("data_time_s").value_or(0), 0.25) << line;
  }
}

TEST(TrainingLog, WordsThatOnlyLookLikeAGpuOrAFailureAreNone) {
  const FileFacts file = read_text(
      "NVIDIA Megatron Core is imported\n"
      "cpu_adam ............... [NO] ....... [OKAY]\n"
      "step: 1 loss: 9.5 tps: 1,000 mfu: 30.0%\n"
      "Killing subprocess 48040\n"
      "step: 2 loss: 9.4 tps: 1,010 mfu: 30.5%\n");
  EXPECT_FALSE(facts_of(file).has("gpu_model"));
  EXPECT_FALSE(facts_of(file).has("events"));
}

TEST(StepSeries, ComesBackFromItsFacts) {
  const FileFacts file = read_text(
      "completed step: 8, seconds: 2.5, TFLOP/s/device: 410.5, Tokens/s/device: 8653.25, loss: 8.25\n"
      "completed step: 9, seconds: 2.25, TFLOP/s/device: 412.5, Tokens/s/device: 8690.25, loss: 8.125\n");
  const std::optional<StepSeries> series = step_series_of(facts_of(file));
  ASSERT_TRUE(series.has_value());
  EXPECT_EQ(series->framework, "MaxText");
  ASSERT_EQ(series->rows.size(), 2u);
  EXPECT_EQ(series->rows[1].step, 9);
  EXPECT_DOUBLE_EQ(series->base(series->rows[1], StepField::kStepTime), 2.25);
  EXPECT_DOUBLE_EQ(series->base(series->rows[1], StepField::kTflopsPerGpu), 412.5e12);
  EXPECT_TRUE(std::isnan(series->rows[1][StepField::kGradNorm]));
  EXPECT_DOUBLE_EQ(series->summary(StepField::kStepTime).mean(), 2.375);
  const StepTimes times = step_times_of(*series);
  EXPECT_EQ(times.basis, "printed");
  EXPECT_DOUBLE_EQ(times.seconds[0], 2.5);
  EXPECT_FALSE(step_series_of(FactRecord()).has_value());
}

TEST(TrainingLog, KeepsTheTimersOfEachRank) {
  const FileFacts file = read_text(
      " iteration 5/ 90 | consumed samples: 80 | elapsed time per iteration (ms): 512.5 | global batch size: 16 | lm "
      "loss: "
      "3.5E+00 |\n"
      "times across ranks (ms):\n"
      "  forward-compute:\n     rank  0: 41.25\n     rank  1: 40.50\n"
      "  all-grads-sync:\n     rank  0: 12.00\n     rank 11: 3.50\n");
  const FactRecord& first = item(facts_of(file), "rank_timers", 0);
  EXPECT_EQ(first.text("name"), "forward_compute");
  EXPECT_EQ(first.integer("rank"), 0);
  EXPECT_EQ(first.line, 4);
  const FactRecord& last = item(facts_of(file), "rank_timers", 3);
  EXPECT_EQ(last.integer("rank"), 11);
  EXPECT_EQ(last.number("mean_ms"), 3.5);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 0);
}

TEST(TrainingLog, KeepsEachRanksTimeInCollectives) {
  const FileFacts file = read_text(
      "{\"rank\": 0, \"step\": 1, \"step_ms\": 400, \"allreduce_ms\": 52.5}\n"
      "{\"rank\": 1, \"step\": 1, \"step_ms\": 400, \"allreduce_ms\": 29.5}\n"
      "{\"rank\": 0, \"step\": 2, \"step_ms\": 400, \"allreduce_ms\": 53.5}\n"
      "{\"rank\": 1, \"step\": 2, \"step_ms\": 400, \"allreduce_ms\": 29.5}\n");
  const FactRecord& rank = item(facts_of(file), "ranks", 0);
  ASSERT_NE(rank.find_list("comm_times_ms"), nullptr);
  EXPECT_DOUBLE_EQ(*(*rank.find_list("comm_times_ms"))[1].number(), 53.5);
}

TEST(StepSeries, DerivesStepTimes) {
  const auto basis = [](const std::string& text) {
    const FileFacts file = read_text(text);
    const FactRecord* const derived = facts_of(file).find_record("derived_step_time");
    return derived == nullptr ? std::string()
                              : fmt::format("{} {}", derived->text("basis"), *derived->number("mean_s"));
  };
  EXPECT_EQ(basis("{\"step\": 1, \"loss\": 2, \"it/s\": 2}\n{\"step\": 2, \"loss\": 2, \"it/s\": 2}\n"),
            "steps per second 0.5");
  EXPECT_EQ(basis("{\"step\": 1, \"loss\": 2, \"samples_per_s\": 64, \"global_batch\": 256}\n"
                  "{\"step\": 2, \"loss\": 2, \"samples_per_s\": 64, \"global_batch\": 256}\n"),
            "global batch over samples per second 4");
  EXPECT_EQ(basis("{\"step\": 10, \"loss\": 2, \"elapsed_s\": 10}\n{\"step\": 20, \"loss\": 2, \"elapsed_s\": 25}\n"),
            "differences of the elapsed time 1.5");
  EXPECT_EQ(basis("2026-01-01 00:00:00 step=10 loss=2.5 lr=0.1\n2026-01-01 00:00:20 step=20 loss=2.25 lr=0.1\n"),
            "differences of the time stamps 2");
}

}  // namespace
}  // namespace tare
