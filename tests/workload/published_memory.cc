#include "workload/published_memory.h"

#include <algorithm>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace tare {

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

class RowReader {
 public:
  RowReader(const CsvTable& table, std::size_t row, Diagnostics& diagnostics)
      : table_(table), row_(row), diagnostics_(diagnostics) {}

  std::string text(std::string_view column) const { return std::string(table_.field(row_, column)); }
  int integer(std::string_view column, int missing = 0) const {
    return static_cast<int>(table_.integer(row_, column, diagnostics_).value_or(missing));
  }
  double number(std::string_view column) const { return table_.number(row_, column, diagnostics_).value_or(0); }

 private:
  const CsvTable& table_;
  std::size_t row_;
  Diagnostics& diagnostics_;
};

// The catalog's architecture with the row's depth, or one made of the row's own dimensions.
ModelArchitecture read_model(const RowReader& row, const Catalog& catalog) {
  ModelArchitecture model;
  const std::string id = row.text("model");
  if (const ModelArchitecture* known = find_model(catalog, id)) {
    model = *known;
  } else {
    model.id = id;
    model.hidden = row.integer("hidden");
    model.ffn_hidden = row.integer("ffn_hidden");
    model.heads = row.integer("heads");
    model.kv_heads = row.integer("kv_heads");
    model.head_dim = model.hidden / model.heads;
    model.vocab = row.integer("vocab");
    model.gated_mlp = row.integer("gated_mlp") == 1;
    model.tied_embeddings = row.integer("tied_embeddings") == 1;
    model.rms_norm = row.text("norm") == "rmsnorm";
    model.norm_bias = !model.rms_norm;
    model.norms_per_layer = row.integer("norms_per_layer", 2);
    model.learned_positions = row.integer("learned_positions");
  }
  model.layers = row.integer("layers");
  return model;
}

Lora read_lora(const RowReader& row) {
  Lora lora;
  lora.rank = row.integer("lora_rank", lora.rank);
  const std::string targets = row.text("lora_targets");
  const auto words = split(targets, ',');
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  lora.query = has("q");
  lora.key = has("k");
  lora.value = has("v");
  lora.output = has("o");
  lora.mlp = has("mlp");
  lora.embeddings = has("embeddings");
  return lora;
}

const SoftwareStack* stack_of(const RowReader& row, const Catalog& catalog) {
  if (!row.text("stack").empty()) return find_stack(catalog, row.text("stack"));
  const std::string framework = row.text("framework");
  for (const SoftwareStack& stack : catalog.stacks) {
    for (const std::string& glob : stack.framework_globs) {
      if (glob_matches(glob, framework)) return &stack;
    }
  }
  return nullptr;
}

Method read_method(const std::string& text) {
  if (text == "full") return Method::kFull;
  if (text == "lora") return Method::kLora;
  if (text == "qlora") return Method::kQlora;
  return Method::kPretrain;
}

AttentionKernel read_attention(const std::string& text) {
  if (text == "standard") return AttentionKernel::kStandard;
  if (text == "flash1") return AttentionKernel::kFlash1;
  if (text == "flash2") return AttentionKernel::kFlash2;
  if (text == "flash3") return AttentionKernel::kFlash3;
  return AttentionKernel::kDefault;
}

Parallelism read_parallelism(const RowReader& row, const SoftwareStack& stack) {
  Parallelism p;
  p.tp = row.integer("tp", 1);
  p.pp = row.integer("pp", 1);
  p.vpp = row.integer("vpp", 1);
  p.dp = row.integer("dp", 1);
  p.cp = row.integer("cp", 1);
  p.ep = row.integer("ep", 1);
  p.zero_stage = row.integer("zero_stage", p.dp > 1 ? stack.zero_stage : 0);
  p.micro_batch = row.integer("micro_batch", 1);
  p.sequence_parallel = row.integer("sequence_parallel") == 1;
  std::string recompute = row.text("recompute");
  if (recompute.empty()) recompute = stack.recompute;
  p.recompute = recompute == "full"        ? Recompute::kFull
                : recompute == "selective" ? Recompute::kSelective
                                           : Recompute::kNone;
  if (row.text("offload") == "parameters") p.offload = Offload::kParameters;
  if (row.text("offload") == "optimizer") p.offload = Offload::kOptimizer;
  return p;
}

PublishedMemory read_row(const RowReader& row, const SoftwareStack& stack, const Catalog& catalog) {
  Job job;
  job.model = read_model(row, catalog);
  job.method = read_method(row.text("method"));
  job.sequence_length = row.integer("seq_len", 512);
  job.global_batch = row.integer("global_batch", 1);
  job.precision = parse_precision(row.text("precision")).value_or(Precision::kBf16);
  job.optimizer = row.text("optimizer");
  job.attention = read_attention(row.text("attention"));
  job.lora = read_lora(row);
  PublishedMemory result;
  result.id = row.text("id");
  result.source_group = row.text("source_group");
  result.framework = row.text("framework");
  result.workload = make_workload(job, stack);
  result.parallelism = read_parallelism(row, stack);
  result.value_type = row.text("value_type");
  result.memory_kind = row.text("memory_kind");
  result.gpu_memory_bytes = row.number("gpu_memory_gib") * kGib;
  result.peak_bytes = row.number("peak_memory_gib") * kGib;
  result.left_out = row.text("left_out");
  return result;
}

}  // namespace

Result<std::vector<PublishedMemory>> read_published_memory(const std::string& path, const Catalog& catalog) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto table = CsvTable::parse(*text, path);
  if (!table) return tl::unexpected(table.error());
  Diagnostics diagnostics;
  std::vector<PublishedMemory> rows;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    const RowReader row(*table, i, diagnostics);
    const SoftwareStack* stack = stack_of(row, catalog);
    if (stack == nullptr) {
      diagnostics.push_back(table->at(i, "framework", "unknown-stack", "no software stack matches"));
      continue;
    }
    rows.push_back(read_row(row, *stack, catalog));
  }
  if (has_error(diagnostics)) return tl::unexpected(diagnostics);
  return rows;
}

double predicted_bytes(const Memory& memory, const std::string& memory_kind) {
  if (memory_kind == "nvidia-smi" || memory_kind == "unstated") return memory.total_bytes;
  if (memory_kind == "allocated") return allocated_bytes(memory);
  if (memory_kind == "activations") return memory.activations_bytes;
  return memory.total_bytes - memory.framework_bytes;
}

}  // namespace tare
