// stacks.csv -> SoftwareStack.
#include <fmt/format.h>

#include "catalog/tables.h"

namespace tare {
namespace {

SoftwareStack read_row(TableReader& row) {
  static const std::vector<std::string> kRecompute = {"none", "selective", "full"};
  static const std::vector<std::string> kAttention = {"standard", "flash1", "flash2", "flash3"};
  static const std::vector<std::string> kStates = {"mixed", "fp32", "pure"};
  SoftwareStack s;
  s.id = row.require_id("id");
  s.name = row.text("name").empty() ? s.id : row.text("name");
  s.framework_globs = row.list("framework_globs");
  s.newer = row.text("newer");
  s.family = row.text("family");
  s.recompute = row.word("recompute", kRecompute, s.recompute);
  s.recompute_full_above_params = row.number("recompute_full_above_params").value_or(s.recompute_full_above_params);
  s.attention = row.word("attention", kAttention, s.attention);
  s.sequence_parallel = row.flag("sequence_parallel").value_or(s.sequence_parallel);
  s.tp_overlap = row.flag("tp_overlap").value_or(s.tp_overlap);
  s.dp_overlap = row.flag("dp_overlap").value_or(s.dp_overlap);
  s.fused_elementwise = row.flag("fused_elementwise").value_or(s.fused_elementwise);
  s.cuda_graphs = row.flag("cuda_graphs").value_or(s.cuda_graphs);
  s.zero_stage = row.count("zero_stage").value_or(s.zero_stage);
  s.gradient_bytes = row.count("gradient_bytes").value_or(s.gradient_bytes);
  s.fp8_gather = row.flag("fp8_gather").value_or(s.fp8_gather);
  s.default_precision = row.word("default_precision", precision_names(), s.default_precision);
  s.fp4_recipe = row.word("fp4_recipe", precision_names(), s.fp4_recipe);
  s.interleaves = row.flag("interleaves").value_or(s.interleaves);
  s.lora_attention_only = row.flag("lora_attention_only").value_or(s.lora_attention_only);
  s.fused_cross_entropy = row.flag("fused_cross_entropy").value_or(s.fused_cross_entropy);
  s.selective_share = row.number("selective_share").value_or(s.selective_share);
  s.states = row.word("states", kStates, s.states);
  s.fp8_mlp_input = row.flag("fp8_mlp_input").value_or(s.fp8_mlp_input);
  s.dropout = row.flag("dropout").value_or(s.dropout);
  s.adapter_dropout = row.flag("adapter_dropout").value_or(s.adapter_dropout);
  s.qlora_element_bytes = row.count("qlora_element_bytes").value_or(s.qlora_element_bytes);
  s.expands_kv = row.flag("expands_kv").value_or(s.expands_kv);
  s.logit_bytes = row.number("logit_bytes").value_or(s.logit_bytes);
  s.step_bytes = row.number("step_bytes").value_or(s.step_bytes);
  s.whole_gradients = row.flag("whole_gradients").value_or(s.whole_gradients);
  s.edges_apart = row.flag("edges_apart").value_or(s.edges_apart);
  s.keeps_stage_outputs = row.flag("keeps_stage_outputs").value_or(s.keeps_stage_outputs);
  s.fixed_memory_bytes = row.number("fixed_memory_bytes").value_or(s.fixed_memory_bytes);
  s.fragmentation_ratio = row.number("fragmentation_ratio").value_or(s.fragmentation_ratio);
  s.source = row.source();
  return s;
}

void check(TableReader& row, const SoftwareStack& s) {
  if (s.zero_stage > 3)
    row.error("zero_stage", "out-of-range", fmt::format("expected a ZeRO stage 0 to 3, found {}", s.zero_stage));
  if (s.gradient_bytes != 2 && s.gradient_bytes != 4 && s.gradient_bytes != 6) {
    row.error("gradient_bytes", "out-of-range",
              fmt::format("expected gradients of 2, 4 or 6 bytes, found {}", s.gradient_bytes));
  }
  if (s.fragmentation_ratio >= 1) {
    row.error("fragmentation_ratio", "out-of-range",
              fmt::format("expected a share below 1, found {:g}", s.fragmentation_ratio));
  }
}

}  // namespace

std::vector<SoftwareStack> read_stacks(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics) {
  std::vector<SoftwareStack> rows;
  TableReader row(table, file, diagnostics, {"id"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    SoftwareStack stack = read_row(row);
    check(row, stack);
    rows.push_back(std::move(stack));
  }
  return rows;
}

}  // namespace tare
