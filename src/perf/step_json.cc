#include "perf/step_json.h"

#include "base/json.h"

namespace tare {

Json to_json(const Step& step) {
  Json json = {{"step_time_s", step.step_time_s}};
  for (const auto& [name, value] : named_parts(step.parts)) json[std::string(name)] = value;
  return json;
}

std::vector<std::pair<std::string_view, double>> named_parts(const Memory& memory) {
  return {{"weights_bytes", memory.weights_bytes},     {"gradients_bytes", memory.gradients_bytes},
          {"optimizer_bytes", memory.optimizer_bytes}, {"activations_bytes", memory.activations_bytes},
          {"logits_bytes", memory.logits_bytes},       {"gathered_bytes", memory.gathered_bytes},
          {"framework_bytes", memory.framework_bytes}, {"fragmentation_bytes", memory.fragmentation_bytes}};
}

Json to_json(const Memory& memory, double capacity_bytes) {
  Json parts;
  for (const auto& [name, value] : named_parts(memory)) parts[std::string(name)] = value;
  Json json = {{"per_gpu_bytes", memory.total_bytes}, {"capacity_bytes", capacity_bytes}, {"parts", std::move(parts)}};
  if (memory.host_bytes > 0) json["host_bytes"] = memory.host_bytes;
  return json;
}

}  // namespace tare
