#include "validation/row_setup.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "workload/flops.h"
#include "workload/memory.h"

namespace tare {
namespace {

using Assumed = std::vector<std::string>;

// "deepseek-v3-L4", "llama3.1-405b-proxy-7L": a truncated model; the rest of its dimensions are the whole one's.
std::string without_proxy(std::string name) {
  name = to_lower(name);
  if (const auto at = name.find("-proxy"); at != std::string::npos) name.resize(at);
  if (const auto at = name.rfind("-l"); at != std::string::npos && at + 2 < name.size() &&
                                        name.find_first_not_of("0123456789", at + 2) == std::string::npos) {
    name.resize(at);
  }
  return name;
}

const ModelArchitecture* known_model(const ThroughputRow& row, const Catalog& catalog) {
  return find_model(catalog, without_proxy(row.model_name));
}

bool agrees(const std::optional<int>& stated, int known) { return !stated || known == 0 || *stated == known; }

std::optional<ModelArchitecture> architecture_of(const ThroughputRow& row, const Catalog& catalog, Assumed& assumed) {
  ModelArchitecture model;
  const ModelArchitecture* known = known_model(row, catalog);
  // The catalog's entry lends what rows have no column for (MLA, shared experts, windows), if it is the same model.
  const bool same = known != nullptr && agrees(row.hidden, known->hidden) && agrees(row.heads, known->heads) &&
                    agrees(row.experts, known->experts);
  if (same) model = *known;
  model.id = row.model_name;
  if (!row.layers || !row.hidden || !row.heads) {
    if (!same || !row.layers) return std::nullopt;
  }
  model.layers = *row.layers;
  if (row.hidden) model.hidden = *row.hidden;
  if (row.heads) model.heads = *row.heads;
  model.kv_heads = row.kv_heads.value_or(same ? known->kv_heads : model.heads);
  if (!row.head_dim && !same) assumed.push_back("head_dim = hidden / heads");
  model.head_dim = row.head_dim.value_or(same ? known->head_dim : model.hidden / model.heads);
  model.vocab = row.vocab.value_or(same ? known->vocab : 50304);
  if (row.gated_mlp) model.gated_mlp = *row.gated_mlp;
  if (row.tied_embeddings) model.tied_embeddings = *row.tied_embeddings;
  const int ffn = row.ffn_hidden.value_or(same ? known->ffn_hidden : 4 * model.hidden);
  if (row.arch == "moe") {
    model.experts = row.experts.value_or(model.experts);
    model.top_k = row.top_k.value_or(model.top_k);
    if (model.experts <= 0 || model.top_k <= 0) return std::nullopt;
    model.expert_ffn_hidden = row.ffn_hidden.value_or(model.expert_ffn_hidden);
    if (!same) model.ffn_hidden = ffn;
    model.first_dense_layers = std::min(model.first_dense_layers, model.layers - 1);
  } else {
    model.ffn_hidden = ffn;
  }
  if (!check_dimensions(model).empty()) return std::nullopt;
  return model;
}

// The first stack one of whose framework patterns matches; the last one of the catalog matches everything.
const SoftwareStack* stack_of(const std::string& framework, const Catalog& catalog) {
  for (const SoftwareStack& stack : catalog.stacks) {
    for (const std::string& glob : stack.framework_globs) {
      if (!framework.empty() && glob_matches(glob, framework)) return &stack;
    }
  }
  return find_stack(catalog, "generic");
}

// What a row's notes state about its run that has no column.
void read_notes(const ThroughputRow& row, SoftwareStack& stack, Lora& lora) {
  const std::string notes = to_lower(row.notes);
  const auto says = [&](std::string_view words) { return notes.find(words) != std::string::npos; };
  if (says("torch.compile")) stack.fused_elementwise = true;
  if (says("; eager")) stack.fused_elementwise = false;
  if (says("async tp")) stack.tp_overlap = true;
  if (const auto at = notes.find("lora r="); at != std::string::npos) {
    const int rank = std::atoi(notes.c_str() + at + 7);
    if (rank > 0) lora.rank = rank;
  }
}

std::optional<Method> method_of(const ThroughputRow& row) {
  if (row.method == "pretrain") return Method::kPretrain;
  if (row.method == "sft") return Method::kFull;
  return parse_method(row.method);
}

Precision precision_of(const ThroughputRow& row, const SoftwareStack& stack, Assumed& assumed) {
  std::string text = row.precision;
  if (text.empty()) {
    text = stack.default_precision;
    assumed.push_back("precision = " + text + " (" + stack.id + ")");
  }
  // Weights stored in 4 bit by a stack that multiplies them in a wider format of its own.
  if (row.method == "qlora" && !stack.fp4_recipe.empty()) text = stack.fp4_recipe;
  return parse_precision(text).value_or(Precision::kBf16);
}

AttentionKernel attention_of(const ThroughputRow& row, const SoftwareStack& stack, Assumed& assumed) {
  std::string text = row.attention;
  if (text.empty() || (text == "flash" && stack.attention != "standard")) {
    text = stack.attention;
    assumed.push_back("attention = " + text + " (" + stack.id + ")");
  }
  if (text == "standard") return AttentionKernel::kStandard;
  if (text == "flash1") return AttentionKernel::kFlash1;
  if (text.rfind("flash3", 0) == 0 || text.rfind("flash4", 0) == 0) return AttentionKernel::kFlash3;
  return AttentionKernel::kFlash2;
}

Recompute recompute_of(const ThroughputRow& row, const SoftwareStack& stack, const ModelArchitecture& model, Assumed& assumed) {
  std::string text = row.recompute;
  if (text.empty()) {
    text = stack.recompute;
    if (stack.recompute_full_above_params > 0 && count_parameters(model).total > stack.recompute_full_above_params) text = "full";
    assumed.push_back("recompute = " + text + " (" + stack.id + ")");
  }
  return text == "full" ? Recompute::kFull : text == "selective" ? Recompute::kSelective : Recompute::kNone;
}

void set_sharding(const ThroughputRow& row, const SoftwareStack& stack, Parallelism& p, Assumed& assumed) {
  const std::string text = to_lower(row.sharding);
  const auto starts = [&](std::string_view words) { return text.rfind(words, 0) == 0; };
  if (text.empty()) {
    p.zero_stage = stack.zero_stage;
    assumed.push_back("zero stage = " + std::to_string(p.zero_stage) + " (" + stack.id + ")");
  } else if (starts("fsdp") || starts("zero3")) {
    p.zero_stage = 3;
  } else if (starts("zero2")) {
    p.zero_stage = 2;
  } else if (starts("zero1")) {
    p.zero_stage = 1;
  } else if (starts("ddp")) {
    // Megatron's DDP wrapper carries its distributed optimizer where the stack turns it on.
    p.zero_stage = std::min(stack.zero_stage, 1);
  } else {
    p.zero_stage = 0;
  }
  if (text.find("offload-optimizer") != std::string::npos) {
    p.offload = Offload::kOptimizer;
  } else if (text.find("offload") != std::string::npos) {
    p.offload = Offload::kParameters;
  }
  if (p.dp * p.cp <= 1) p.zero_stage = 0;
}

// The largest micro-batch that divides what a rank gets and fits in memory; pipelines keep it at 1.
int fitting_micro_batch(const Workload& workload, Parallelism p, double memory_bytes) {
  const int per_rank = workload.global_batch / p.dp;
  if (p.pp > 1) return 1;
  const MemoryModel memory(workload);
  for (int micro = std::min(per_rank, 256); micro > 1; --micro) {
    p.micro_batch = micro;
    if (per_rank % micro == 0 && memory.peak(p).total_bytes <= memory_bytes) return micro;
  }
  return 1;
}

double default_network_bytes_per_s(const Machine& machine) {
  if (!machine.server_part) return 100e9 / 8;
  switch (machine.generation) {
    case GpuGeneration::kHopper:
    case GpuGeneration::kBlackwell:
    case GpuGeneration::kCdna3:
    case GpuGeneration::kCdna4: return 400e9 / 8;
    default: return 200e9 / 8;
  }
}

Machine machine_of(const ThroughputRow& row, const Accelerator& accelerator, Assumed& assumed) {
  NodeType type;
  type.gpu = accelerator.id;
  const bool rack = accelerator.link_domain > 8;
  type.gpus = row.gpus_per_node.value_or(rack ? 4 : 8);
  const bool linked = row.intra_node_link.empty() ? accelerator.link_domain > 1 : row.intra_node_link.rfind("pcie", 0) != 0;
  type.nvlink_domain = !linked ? 1 : rack ? accelerator.link_domain : type.gpus;
  type.intra_node_bytes_per_s = accelerator.link_bytes_per_s;
  type.pcie_generation = accelerator.pcie_generation;
  type.pcie_lanes = accelerator.pcie_lanes;
  type.nic_kind = "ib";
  type.inter_node_bytes_per_s_per_gpu = row.inter_node_bytes_per_s_per_gpu;
  Machine machine = machine_of_node(accelerator, type, std::max(1, row.gpus.value_or(1) / std::max(type.gpus, 1)));
  machine.gpus = row.gpus.value_or(1);
  if (!row.inter_node_bytes_per_s_per_gpu) {
    machine.between_nodes.bytes_per_s = default_network_bytes_per_s(machine);
    if (machine.gpus > machine.gpus_per_node) {
      assumed.push_back("network = " + std::to_string(int(machine.between_nodes.bytes_per_s * 8 / 1e9)) + " Gb/s per GPU");
    }
  }
  return machine;
}

}  // namespace

std::optional<double> measured_tokens_per_s_per_gpu(const ThroughputRow& row, const Workload& workload) {
  if (row.tokens_per_s_per_gpu) return row.tokens_per_s_per_gpu;
  if (row.step_time_s && row.gpus) return tokens_per_step(workload) / *row.step_time_s / *row.gpus;
  if (!row.flops_per_s_per_gpu) return std::nullopt;
  const ForwardFlops forward = forward_flops_per_token(workload);
  const std::string& convention = row.flops_convention;
  double per_token = 0;
  const double causal = forward.attention_scores;
  const double full = causal * workload.sequence_length / mean_visible_keys(workload.sequence_length, 0);
  const double layers = forward.attention_projections + forward.mlp + forward.router;
  if (convention == "model_causal_attn" || convention == "see_notes") {
    per_token = 3 * (layers + causal + forward.head);
  } else if (convention == "model_full_attn" || convention == "n/a") {
    per_token = 3 * (layers + full + forward.head);
  } else {
    // Narayanan et al. 2021, eq. 3: the recomputed forward counts, the head is not recomputed.
    per_token = 4 * (layers + full) + 3 * forward.head;
  }
  return *row.flops_per_s_per_gpu / per_token;
}

tl::expected<RowSetup, RowSkip> set_up_row(const ThroughputRow& row, const Catalog& catalog) {
  const auto skip = [](std::string reason) { return tl::unexpected(RowSkip{std::move(reason)}); };
  RowSetup setup;
  const Accelerator* accelerator = find_accelerator(catalog, row.gpu);
  if (accelerator == nullptr) return skip("unknown_gpu");
  const std::optional<Method> method = method_of(row);
  if (!method) return skip("unknown_method");
  const std::optional<ModelArchitecture> model = architecture_of(row, catalog, setup.assumed);
  if (!model || !row.sequence_length) return skip("no_architecture");
  Workload& workload = setup.workload;
  workload.model = *model;
  workload.method = *method;
  workload.sequence_length = *row.sequence_length;
  workload.stack = *stack_of(row.framework, catalog);
  workload.lora.mlp = !workload.stack.lora_attention_only;
  read_notes(row, workload.stack, workload.lora);
  workload.precision = precision_of(row, workload.stack, setup.assumed);
  workload.attention = attention_of(row, workload.stack, setup.assumed);
  if (!row.gpus) return skip("no_gpu_count");
  setup.machine = machine_of(row, *accelerator, setup.assumed);

  Parallelism& p = setup.parallelism;
  if (!row.tp || !row.pp) {
    if (*row.gpus > 1) return skip("no_parallelism");
  }
  p.tp = row.tp.value_or(1);
  p.pp = row.pp.value_or(1);
  p.vpp = row.vpp.value_or(1);
  p.cp = row.cp.value_or(1);
  p.ep = row.ep.value_or(1);
  p.dp = row.dp.value_or(std::max(1, *row.gpus / (p.tp * p.pp * p.cp)));
  if (p.tp * p.pp * p.cp * p.dp != *row.gpus) return skip("bad_parallelism");
  if (row.global_batch) {
    workload.global_batch = *row.global_batch;
  } else if (row.micro_batch) {
    workload.global_batch = *row.micro_batch * p.dp * row.grad_accum.value_or(1);
  } else {
    return skip("no_batch");
  }
  if (workload.global_batch < p.dp) return skip("bad_parallelism");
  p.sequence_parallel = p.tp > 1 && workload.stack.sequence_parallel;
  p.recompute = recompute_of(row, workload.stack, *model, setup.assumed);
  if (p.vpp > 1) p.schedule = PipelineSchedule::kInterleaved;
  set_sharding(row, workload.stack, p, setup.assumed);
  if (row.micro_batch) {
    p.micro_batch = *row.micro_batch;
  } else if (row.grad_accum && workload.global_batch % (p.dp * *row.grad_accum) == 0) {
    p.micro_batch = workload.global_batch / (p.dp * *row.grad_accum);
  } else {
    p.micro_batch = fitting_micro_batch(workload, p, setup.machine.memory_bytes);
    setup.assumed.push_back("micro-batch = " + std::to_string(p.micro_batch) + " (largest that fits)");
  }
  p.micro_batch = std::min(p.micro_batch, std::max(1, workload.global_batch / p.dp));
  const std::optional<double> measured = measured_tokens_per_s_per_gpu(row, workload);
  if (!measured || *measured <= 0) return skip("no_target");
  setup.measured_tokens_per_s_per_gpu = *measured;
  return setup;
}

}  // namespace tare
