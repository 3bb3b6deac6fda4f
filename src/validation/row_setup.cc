#include "validation/row_setup.h"

#include "validation/measured_rate.h"
#include "validation/row_architecture.h"
#include "validation/row_machine.h"
#include "validation/row_stack.h"

namespace tare {
namespace {

std::optional<Method> method_of(const ThroughputRow& row) {
  if (row.method == "pretrain") return Method::kPretrain;
  if (row.method == "sft") return Method::kFull;
  return parse_method(row.method);
}

}  // namespace

tl::expected<RowSetup, RowSkip> set_up_row(const ThroughputRow& row, const Catalog& catalog) {
  const auto skip = [](std::string reason) { return tl::unexpected(RowSkip{std::move(reason)}); };
  RowSetup setup;
  const Accelerator* accelerator = find_accelerator(catalog, row.gpu);
  if (accelerator == nullptr) return skip("unknown_gpu");
  const std::optional<Method> method = method_of(row);
  if (!method) return skip("unknown_method");
  const std::optional<ModelArchitecture> model = architecture_of(row, catalog, setup.assumed);
  if (!model || !row.sequence_length) return skip("no_architecture");
  if (!row.gpus) return skip("no_gpu_count");

  Workload& workload = setup.workload;
  workload.model = *model;
  workload.method = *method;
  workload.sequence_length = *row.sequence_length;
  workload.stack = stack_of(row.framework, accelerator->generation, catalog);
  workload.lora.mlp = !workload.stack.lora_attention_only;
  read_notes(row.notes, workload.stack, workload.lora);
  const std::optional<Precision> precision = precision_of(row, workload.stack, setup.assumed);
  if (!precision) return skip("unknown_precision");
  workload.precision = *precision;
  workload.attention = attention_of(row, workload.stack, setup.assumed);

  setup.machine = machine_of(row, *accelerator, setup.assumed);
  if (peak_flops(setup.machine, workload.precision) <= 0) return skip("unknown_peak");
  const auto parallelism = parallelism_of(row, setup.machine, workload, setup.assumed);
  if (!parallelism) return tl::unexpected(parallelism.error());
  setup.parallelism = *parallelism;

  const std::optional<double> measured = measured_tokens_per_s_per_gpu(row, workload);
  if (!measured) return skip("no_target");
  setup.measured_tokens_per_s_per_gpu = *measured;
  return setup;
}

}  // namespace tare
