#include "workload/workload.h"

#include <algorithm>

#include "workload/layer_shape.h"

namespace tare {

namespace {

AttentionKernel attention_of(const SoftwareStack& stack) {
  if (stack.attention == "standard") return AttentionKernel::kStandard;
  if (stack.attention == "flash1") return AttentionKernel::kFlash1;
  if (stack.attention == "flash3") return AttentionKernel::kFlash3;
  return AttentionKernel::kFlash2;
}

bool left_to_default(const Job& job, std::string_view key) {
  return std::any_of(job.assumed.begin(), job.assumed.end(), [&](const std::string& assumed) {
    return assumed == key ||
           (assumed.size() > key.size() && assumed.ends_with(key) && assumed[assumed.size() - key.size() - 1] == '.');
  });
}

}  // namespace

Workload make_workload(const Job& job, const SoftwareStack& stack, std::vector<std::string>* assumed) {
  const auto note = [&](std::string line) {
    if (assumed != nullptr) assumed->push_back(std::move(line));
  };
  Workload workload;
  workload.model = job.model;
  workload.method = job.method;
  workload.lora = job.lora;
  workload.sequence_length = job.sequence_length;
  workload.global_batch = job.global_batch;
  workload.optimizer = job.optimizer;
  workload.stack = stack;
  workload.precision = job.precision;
  if (left_to_default(job, "precision")) {
    workload.precision = parse_precision(stack.default_precision).value_or(job.precision);
    note("precision = " + std::string(name_of(workload.precision)) + " (" + stack.id + " default)");
  }
  workload.attention = job.attention;
  if (workload.attention == AttentionKernel::kDefault) {
    workload.attention = attention_of(stack);
    note("attention = " + stack.attention + " (" + stack.id + " default)");
  }
  return workload;
}

double trainable_parameters(const Workload& workload) {
  const ModelArchitecture& model = workload.model;
  if (workload.method != Method::kLora && workload.method != Method::kQlora) return count_parameters(model).total;
  const LayerShape shape = layer_shape(model);
  const AdapterShape adapters = adapter_shape(model, workload.lora);
  const double edges = double(model.vocab) * model.hidden * (model.tied_embeddings ? 1 : 2);
  return (workload.lora.embeddings ? edges : 0) + model.layers * adapters.attention_params +
         shape.dense_layers * adapters.dense_mlp_params +
         shape.moe_layers * (model.experts * adapters.expert_params + adapters.shared_params);
}

}  // namespace tare
