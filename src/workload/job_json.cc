#include "workload/job_json.h"

#include "base/json.h"

namespace tare {
namespace {

Json model_json(const ModelArchitecture& model) {
  const ParameterCount parameters = count_parameters(model);
  return {{"id", model.id}, {"parameters", parameters.total}, {"active_parameters", parameters.active}};
}

}  // namespace

Json to_json(const Job& job) {
  Json json = {{"name", job.name},
               {"model", model_json(job.model)},
               {"method", name_of(job.method)},
               {"tokens", job.tokens},
               {"sequence_length", job.sequence_length},
               {"global_batch", job.global_batch},
               {"precision", name_of(job.precision)},
               {"optimizer", job.optimizer}};
  if (!job.stack.empty()) json["stack"] = job.stack;
  if (job.deadline_s) json["deadline_s"] = *job.deadline_s;
  if (job.budget_usd) json["budget"] = {{"usd", *job.budget_usd}};
  json["assumed"] = job.assumed;
  return json;
}

Json to_json(const Parallelism& parallelism) {
  Json json = {{"tp", parallelism.tp},
               {"pp", parallelism.pp},
               {"vpp", parallelism.vpp},
               {"cp", parallelism.cp},
               {"ep", parallelism.ep},
               {"dp", parallelism.dp},
               {"zero_stage", parallelism.zero_stage},
               {"micro_batch", parallelism.micro_batch},
               {"recompute", name_of(parallelism.recompute)},
               {"sequence_parallel", parallelism.sequence_parallel},
               {"offload", name_of(parallelism.offload)},
               {"schedule", name_of(parallelism.schedule)}};
  if (parallelism.recompute_layers >= 0) json["recompute_layers"] = parallelism.recompute_layers;
  return json;
}

}  // namespace tare
