#include "ingest/training_dialects.h"

#include "ingest/scan.h"

namespace tare {
namespace {

constexpr bool kPerGpu = true;
constexpr bool kOfJob = true;

// The more particular first.
constexpr TrainingDialect kDialects[] = {
    {"", {}},
    {"GPT-NeoX", {"elapsed time per iteration", "approx flops per GPU"}},
    {"Megatron-DeepSpeed", {"elapsed time per iteration", "consumed tokens"}},
    {"Megatron-DeepSpeed", {"elapsed time per iteration", "TFLOPs:"}},
    {"Megatron-LM", {"elapsed time per iteration"}},
    {"Megatron-LM", {"lapsed time per", "consumed samples"}},
    {"nanotron", {"elapsed_time_per_iteration_ms"}, false, kOfJob},
    {"MaxText", {"completed step:", "/device"}},
    {"MaxText", {"completed step"}},
    {"InternEvo", {"tokens/gpu/second"}},
    {"InternEvo", {"record_current_batch_training_metrics"}},
    {"InternEvo", {"fwd_bwd_time"}},
    {"LeRobot", {"updt_s:", "data_s:"}},
    {"torchtitan", {"titan", "step:"}, kPerGpu},
    {"torchtitan", {"memory:", "iB(", "tps:"}, kPerGpu},
    {"torchtitan", {"memory:", "iB(", "wps:"}, kPerGpu},
    {"torchtitan", {"global_avg_loss", "throughput(tps)"}, kPerGpu},
    {"PaddleNLP", {"interval_runtime"}},
    {"NeMo", {"reduced_train_loss"}},
    {"NeMo", {"train_step_timing"}},
    {"NeMo Automodel", {"num_label_tokens", "tps"}},
    {"verl", {"timing_s/"}},
    {"verl", {"perf/throughput"}},
    {"verl", {"global_seqlen/"}},
    {"modded-nanogpt", {"train_time:", "step_avg:"}},
    {"LitGPT", {"iter time:", "iter ", "loss"}},
    {"llm.c", {"bf16 MFU"}, false, kOfJob},
    {"llm.c", {"tok/s", "norm", "| loss"}, false, kOfJob},
    {"nanochat", {"tok/sec", "lrm:"}, false, kOfJob},
    {"nanochat", {"tok/sec", "bf16_mfu"}, false, kOfJob},
    {"nanoGPT", {"iter ", "loss", "mfu"}},
    {"Colossal-AI", {"TFLOPS per GPU by Megatron"}},
    {"DeepSpeed", {"RunningAvgSamplesPerSec"}},
    {"DeepSpeed", {"SamplesPerSec="}},
    {"DeepSpeed", {"log_dist"}},
    {"DeepSpeed", {"iter time (s)", "samples/sec"}},
    {"fairseq", {"train_inner"}},
    {"fairseq", {"wps", "ups", "gnorm"}},
    {"OpenMMLab", {"Epoch(train)"}},
    {"OpenMMLab", {"Iter(train)"}},
    {"OpenMMLab", {"mmengine"}},
    {"Detectron2", {"max_mem:", "eta:", "data_time"}},
    {"timm", {"Train:", "Time:", "LR:"}},
    {"Composer", {"throughput/device/"}, false, kOfJob},
    {"Composer", {"loss/train/total"}, false, kOfJob},
    {"OLMo", {"throughput/device/tokens_per_second"}, false, kOfJob},
    {"DeepSpeed-Chat", {"Avg loss:", "BatchSize"}},
    {"Hugging Face Trainer", {"'loss':", "'learning_rate':"}},
    {"Hugging Face Trainer", {"'loss':", "'epoch':"}},
    {"Hugging Face Trainer", {"train_runtime"}},
    {"Hugging Face Trainer", {"'eval_loss':"}},
    {"Lightning", {"v_num="}},
    {"torchtune", {"tokens_per_second_per_gpu", "peak_memory"}},
    {"Levanter", {"Progress on:train"}},
    {"CLU", {"logging_writer.py"}},
};

struct Hint {
  std::string_view word;
  std::string_view name;
};
constexpr Hint kHints[] = {
    {"Unsloth", "Unsloth"},
    {"unsloth", "Unsloth"},
    {"axolotl", "Axolotl"},
    {"llamafactory", "LLaMA-Factory"},
    {"LLaMA-Factory", "LLaMA-Factory"},
    {"***** Running training *****", "Hugging Face Trainer"},
    {"MODEL_TFLOP/s/GPU", "Megatron-Bridge"},
    {"megatron.bridge", "Megatron-Bridge"},
    {"megatron/bridge", "Megatron-Bridge"},
    {"Megatron-Bridge", "Megatron-Bridge"},
    {"Megatron-LLM", "Megatron-LLM"},
    {"internlm", "InternEvo"},
    {"llm-foundry", "Composer"},
    {"llmfoundry", "Composer"},
    {"composer.", "Composer"},
    {"lerobot", "LeRobot"},
    {"[deepspeed]", "DeepSpeed"},
    {"[deepscale]", "DeepSpeed"},
    {"DeepSpeed info", "DeepSpeed"},
    {"log_dist]", "DeepSpeed"},
    {"colossalai", "Colossal-AI"},
    {"NeMo ", "NeMo"},
    {"nemo_logger", "NeMo"},
    {"torchtitan", "torchtitan"},
};

}  // namespace

std::span<const TrainingDialect> training_dialects() { return kDialects; }

std::uint8_t dialect_of_line(std::string_view line) {
  line = line.substr(0, 4096);
  for (std::size_t i = 1; i < std::size(kDialects); ++i) {
    bool all = true;
    for (const std::string_view word : kDialects[i].words) all = all && (word.empty() || contains(line, word));
    if (all) return static_cast<std::uint8_t>(i);
  }
  return kUnknownDialect;
}

std::uint8_t dialect_named(std::string_view name) {
  for (std::size_t i = 1; i < std::size(kDialects); ++i) {
    if (kDialects[i].name == name) return static_cast<std::uint8_t>(i);
  }
  return kUnknownDialect;
}

std::string_view framework_hint(std::string_view line) {
  line = line.substr(0, 512);
  for (const Hint& hint : kHints) {
    if (contains(line, hint.word)) return hint.name;
  }
  return {};
}

}  // namespace tare
