#include <gtest/gtest.h>

#include "base/file.h"
#include "workload/job.h"

namespace tare {
namespace {

const Catalog& shipped() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

Job parse(const std::string& text) {
  auto job = parse_job(text, "job.toml", shipped());
  if (!job) ADD_FAILURE() << render(job.error());
  return job ? std::move(*job) : Job();
}

std::string errors(const std::string& text) {
  const auto job = parse_job(text, "job.toml", shipped());
  return job ? "no error" : render(job.error());
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kJob =
    "[job]\nmodel = \"llama-2-13b\"\nmethod = \"full\"\ntokens = 20e9\nsequence_length = 4096\nglobal_batch = 512\n";

TEST(JobFile, TheExample) {
  const auto text = read_file(std::string(TARE_SOURCE_DIR) + "/examples/llama-13b-64xh100.toml");
  ASSERT_TRUE(text);
  const Job job = parse(*text);
  EXPECT_EQ(job.name, "llama-2-13b full fine-tune");
  EXPECT_EQ(job.model.id, "llama-2-13b");
  EXPECT_EQ(job.method, Method::kFull);
  EXPECT_EQ(job.tokens, 20e9);
  EXPECT_EQ(job.global_batch, 512);
  EXPECT_EQ(job.precision, Precision::kBf16);
  EXPECT_EQ(job.deadline_s, 72 * 3600.0);
  EXPECT_EQ(job.budget_usd, 60000);
  EXPECT_EQ(job.data.bytes, 120e9);
  EXPECT_EQ(job.data.shards, 8192);
  EXPECT_EQ(job.checkpoint.every, CheckpointPolicy::Every::kAuto);
  EXPECT_TRUE(job.checkpoint.async);
  EXPECT_EQ(job.search.gpus, std::vector<int>{64});
  EXPECT_EQ(job.search.offers.size(), 10u);
  EXPECT_EQ(job.assumed, (std::vector<std::string>{"job.optimizer", "job.attention", "job.stack"}));
  EXPECT_TRUE(job.warnings.empty()) << render(job.warnings);
  EXPECT_EQ(tokens_per_step(job), 4096.0 * 512);
}

TEST(JobFile, DefaultsAreNamed) {
  const Job job = parse("[job]\nmodel = \"gpt2-small\"\ntokens = 1e9\nsequence_length = 1024\nglobal_batch = 64\n");
  EXPECT_EQ(job.method, Method::kPretrain);
  EXPECT_EQ(job.name, "GPT-2 Small");
  EXPECT_EQ(job.assumed, (std::vector<std::string>{"job.method", "job.precision", "job.optimizer", "job.attention",
                                                   "job.stack", "job.checkpoint", "search.gpus"}));
}

TEST(JobFile, AnArchitectureOfOnesOwn) {
  const Job job = parse(
      "[job]\ntokens = 1e9\nsequence_length = 128\nglobal_batch = 64\n"
      "[job.architecture]\nlayers = 2\nhidden = 8\nheads = 4\nkv_heads = 2\nffn_hidden = 16\nvocab = 10\ngated_mlp = "
      "true\n");
  EXPECT_EQ(job.model.id, "job.architecture");
  EXPECT_EQ(job.model.head_dim, 2);
  EXPECT_EQ(count_parameters(job.model).total, 1184 + 80 + 80 + 8);
  EXPECT_EQ(
      errors("[job]\ntokens = 1e9\nsequence_length = 128\nglobal_batch = 64\n"
             "[job.architecture]\nlayers = 2\nhidden = 8\nheads = 4\nkv_heads = 3\nffn_hidden = 16\nvocab = 10\n"),
      "job.toml:8:9: error: heads = 4 is not a multiple of kv_heads = 3 [inconsistent-model]\n"
      "  heads = 4\n"
      "          ^\n");
}

TEST(JobFile, CheckpointIntervals) {
  using Every = CheckpointPolicy::Every;
  const auto with = [](const std::string& every) {
    return kJob + "[job.checkpoint]\nevery = \"" + every + "\"\nmode = \"sync\"\n";
  };
  EXPECT_EQ(parse(with("200 steps")).checkpoint.every, Every::kSteps);
  EXPECT_EQ(parse(with("200 steps")).checkpoint.value, 200);
  EXPECT_EQ(parse(with("30min")).checkpoint.every, Every::kSeconds);
  EXPECT_EQ(parse(with("30min")).checkpoint.value, 1800);
  EXPECT_FALSE(parse(with("auto")).checkpoint.async);
  EXPECT_EQ(parse(with("auto")).checkpoint.store, CheckpointStore::kShared);
  EXPECT_EQ(parse(with("auto") + "store = \"memory\"\n").checkpoint.store, CheckpointStore::kMemory);
  EXPECT_PRED2(has, errors(with("auto") + "store = \"tape\"\n"), "tape");
  for (const char* wrong : {"0 steps", "-5 steps", "1.5 steps", "30", "soon", "0s", "99999999999 steps", ""}) {
    EXPECT_PRED2(has, errors(with(wrong)), "expected when to write a checkpoint");
  }
}

TEST(JobFile, Adapters) {
  const std::string lora =
      "[job]\nmodel = \"llama-3.1-8b\"\nmethod = \"lora\"\ntokens = 1e8\nsequence_length = 2048\nglobal_batch = 16\n";
  const Job job = parse(lora + "[job.lora]\nrank = 8\ntargets = [\"query\", \"value\"]\n");
  EXPECT_EQ(job.lora.rank, 8);
  EXPECT_TRUE(job.lora.query && job.lora.value);
  EXPECT_FALSE(job.lora.key || job.lora.output || job.lora.mlp);
  EXPECT_TRUE(parse(lora).lora.mlp);
  EXPECT_PRED2(has, errors(lora + "[job.lora]\ntargets = [\"gate\"]\n"), "unknown projection 'gate'");
  EXPECT_PRED2(has, errors(kJob + "[job.lora]\nrank = 8\n"),
               "expected method \"lora\" or \"qlora\" beside [job.lora], found \"full\"");
}

TEST(JobFile, PrecisionThatTheMethodAllows) {
  const auto with = [](const std::string& method, const std::string& precision) {
    return errors("[job]\nmodel = \"llama-3.1-8b\"\nmethod = \"" + method + "\"\nprecision = \"" + precision +
                  "\"\ntokens = 1e8\nsequence_length = 2048\nglobal_batch = 16\n");
  };
  EXPECT_EQ(with("qlora", "bf16"), "no error");
  EXPECT_EQ(with("pretrain", "fp8"), "no error");
  EXPECT_PRED2(has, with("qlora", "fp8"), "expected bf16 or fp16 with method \"qlora\", found fp8");
  EXPECT_PRED2(has, with("lora", "nvfp4"), "expected 8 bits or more with method \"lora\", found nvfp4");
}

TEST(JobFile, Warnings) {
  const Job job = parse(
      "[job]\nmodel = \"llama-2-13b\"\ntokens = 1000\nsequence_length = 8192\nglobal_batch = 512\n"
      "[search]\noffers = [\"aws/p9*\"]\n");
  std::vector<std::string> rules;
  for (const Diagnostic& warning : job.warnings) rules.push_back(warning.rule);
  EXPECT_EQ(rules, (std::vector<std::string>{"less-than-a-step", "long-sequence", "no-offer"}));
}

TEST(JobFile, EveryErrorInOneRun) {
  EXPECT_EQ(
      errors("[job]\n"
             "model = \"llama-2-13c\"\n"
             "method = \"finetune\"\n"
             "tokens = -1\n"
             "sequence_length = 0\n"
             "global_batch = \"512\"\n"
             "precision = \"bf61\"\n"
             "deadline = 72\n"
             "budget = \"60000 EUR\"\n"
             "stack = \"megatron\"\n"
             "tokes = 3\n"
             "[search]\n"
             "gpus = [64, 0]\n"),
      "job.toml:2:9: error: unknown model 'llama-2-13c' [unknown-model]\n"
      "  model = \"llama-2-13c\"\n"
      "          ^~~~~~~~~~~~~\n"
      "  help: did you mean \"llama-2-13b\"?\n"
      "job.toml:3:10: error: expected one of pretrain, full, lora, qlora, found 'finetune' [unknown-value]\n"
      "  method = \"finetune\"\n"
      "           ^~~~~~~~~~\n"
      "job.toml:4:10: error: expected 'tokens' above 0, found a negative value [negative-value]\n"
      "  tokens = -1\n"
      "           ^~\n"
      "job.toml:5:19: error: expected 'sequence_length' from 1 to 100000000, found 0 [out-of-range]\n"
      "  sequence_length = 0\n"
      "                    ^\n"
      "job.toml:6:16: error: expected an integer, found a string [wrong-type]\n"
      "  global_batch = \"512\"\n"
      "                 ^~~~~\n"
      "  help: write it without quotes\n"
      "job.toml:7:13: error: expected one of fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4, found 'bf61' [unknown-value]\n"
      "  precision = \"bf61\"\n"
      "              ^~~~~~\n"
      "  help: did you mean \"bf16\"?\n"
      "job.toml:8:12: error: expected a string with a unit (s, ms, us, min, h, d, w), found an integer [missing-unit]\n"
      "  deadline = 72\n"
      "             ^~\n"
      "  help: such as \"30 s\"\n"
      "job.toml:9:10: error: unknown unit 'EUR' [unknown-unit]\n"
      "  budget = \"60000 EUR\"\n"
      "           ^~~~~~~~~~~\n"
      "  help: accepted: USD; no exchange rate is built in, convert other currencies first\n"
      "job.toml:10:9: error: unknown software stack 'megatron' [unknown-stack]\n"
      "  stack = \"megatron\"\n"
      "          ^~~~~~~~~~\n"
      "  help: did you mean \"megatron-bridge\", \"megatron-lm-2020\", \"megatron-deepspeed\", "
      "\"megatron-deepspeed-bf16\"?\n"
      "job.toml:11:1: error: unknown key 'tokes' in [job] [unknown-key]\n"
      "  tokes = 3\n"
      "  ^~~~~\n"
      "  help: did you mean \"tokens\"?\n"
      "job.toml:13:8: error: expected sizes from 1 to 1000000 GPUs, found 0 [out-of-range]\n"
      "  gpus = [64, 0]\n"
      "         ^~~~~~~\n");
}

TEST(JobFile, WhatIsMissing) {
  EXPECT_PRED2(has, errors("[search]\ngpus = [8]\n"), "missing table [job]");
  EXPECT_PRED2(has, errors("[job]\nname = \"x\"\n"), "missing key 'model' in [job]");
  EXPECT_PRED2(has, errors("[job]\nname = \"x\"\n"), "missing key 'tokens' in [job]");
  EXPECT_PRED2(has, errors(kJob + "[job.architecture]\nlayers = 1\n"),
               "expected model or [job.architecture], found both");
}

TEST(Parallelism, CompletesDpFromTheSize) {
  const Job job =
      parse(kJob +
            "[search]\ngpus = [64]\n[parallelism]\ntp = 4\npp = 2\nzero_stage = 1\nrecompute = \"selective\"\n"
            "sequence_parallel = true\nmicro_batch = 2\n");
  ASSERT_TRUE(job.parallelism);
  EXPECT_EQ(job.parallelism->dp, 8);
  EXPECT_EQ(gpus(*job.parallelism), 64);
  EXPECT_EQ(to_text(*job.parallelism), "tp4 pp2 dp8 mb2 zero1 sp recompute=selective");
}

TEST(Parallelism, CompletesTheSizeFromDp) {
  EXPECT_EQ(parse(kJob + "[parallelism]\ntp = 2\ndp = 16\n").search.gpus, std::vector<int>{32});
}

TEST(Parallelism, WhatDoesNotDivide) {
  const auto with = [](const std::string& keys) {
    return errors(kJob + "[search]\ngpus = [64]\n[parallelism]\n" + keys);
  };
  EXPECT_EQ(errors(kJob + "[parallelism]\ntp = 3\n"),
            "job.toml:8:6: error: expected a tp that divides the 40 heads of llama-2-13b, found 3 [indivisible]\n"
            "  tp = 3\n"
            "       ^\n"
            "  help: one of 1, 2, 4, 5, 8, 10, 20, 40\n");
  EXPECT_PRED2(has, with("pp = 64\n"),
               "expected at most one stage for each of the 40 layers of llama-2-13b, found pp 64 times vpp 1");
  EXPECT_PRED2(has, with("ep = 2\n"), "expected ep = 1, llama-2-13b has no experts");
  EXPECT_PRED2(has, with("tp = 5\n"), "expected tp times pp times cp to divide 64 GPUs, found 5");
  EXPECT_PRED2(has, with("tp = 8\ndp = 7\n"),
               "expected tp times pp times cp times dp to be a size of [search] gpus, found 56");
  EXPECT_PRED2(has, with("micro_batch = 3\n"), "expected dp times micro_batch to divide the batch of 512 sequences");
  EXPECT_PRED2(has, with("vpp = 2\n"), "expected vpp = 1 without a pipeline (pp = 1), found 2");
  EXPECT_PRED2(has, with("sequence_parallel = true\n"), "expected tp above 1");
  EXPECT_PRED2(has, with("recompute_layers = 2\n"), "expected recompute = \"full\" beside recompute_layers");
  EXPECT_PRED2(has, with("zero_stage = 4\n"), "expected 'zero_stage' from 0 to 3, found 4");
  EXPECT_PRED2(has, with("schedule = \"interleaved\"\n"), "expected vpp above 1");
  EXPECT_PRED2(has, errors(kJob + "[search]\ngpus = [32, 64]\n[parallelism]\ntp = 2\n"),
               "expected dp: [search] names several sizes");
}

TEST(JobFile, WhereTheDataLie) {
  EXPECT_EQ(parse(kJob + "[job.data]\nbytes = \"1GB\"\nat = \"AWS/us-east-1\"\n").data.at, "aws/us-east-1");
  EXPECT_PRED2(has, errors(kJob + "[job.data]\nat = \"aws\"\n"), "expected PROVIDER/REGION, found 'aws'");
}

TEST(Names, RoundTrip) {
  for (const char* name : {"pretrain", "full", "lora", "qlora"}) EXPECT_EQ(name_of(parse_method(name).value()), name);
  for (const char* name : {"default", "standard", "flash1", "flash2", "flash3"}) {
    EXPECT_EQ(name_of(parse_attention_kernel(name).value()), name);
  }
  EXPECT_EQ(parse_method("sft"), std::nullopt);
}

}  // namespace
}  // namespace tare
