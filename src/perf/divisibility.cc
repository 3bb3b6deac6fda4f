#include "perf/step.h"

#include <string>

namespace tare {
namespace {

std::optional<Infeasible> refuse(std::string needed, std::string had) {
  return Infeasible{"divisibility", std::move(needed), std::move(had)};
}

std::string number(long long value) { return std::to_string(value); }

}  // namespace

std::optional<Infeasible> check_divisibility(const Workload& workload, const Machine& machine, const Parallelism& p) {
  const ModelArchitecture& model = workload.model;
  if (gpus(p) != machine.gpus) return refuse("tp*pp*cp*dp = GPUs", number(gpus(p)) + " of " + number(machine.gpus));
  if (model.heads % p.tp != 0) return refuse("tp divides " + number(model.heads) + " heads", "tp " + number(p.tp));
  if (!model.is_mla() && model.kv_heads % p.tp != 0 && p.tp % model.kv_heads != 0) {
    return refuse("tp and " + number(model.kv_heads) + " key-value heads divide one another", "tp " + number(p.tp));
  }
  const bool split_experts = model.is_moe() && p.ep == 1;
  if (!model.is_moe() || model.first_dense_layers > 0) {
    if (model.ffn_hidden % p.tp != 0)
      return refuse("tp divides the MLP width " + number(model.ffn_hidden), "tp " + number(p.tp));
  }
  if (split_experts && model.expert_ffn_hidden % p.tp != 0) {
    return refuse("tp divides the expert width " + number(model.expert_ffn_hidden), "tp " + number(p.tp));
  }
  if (model.is_moe() && model.shared_expert_ffn_hidden % p.tp != 0) {
    return refuse("tp divides the shared experts' width " + number(model.shared_expert_ffn_hidden),
                  "tp " + number(p.tp));
  }
  if (p.ep > 1) {
    if (!model.is_moe()) return refuse("experts for ep > 1", "a dense model");
    if (model.experts % p.ep != 0)
      return refuse("ep divides " + number(model.experts) + " experts", "ep " + number(p.ep));
    if ((p.tp * p.cp * p.dp) % p.ep != 0) return refuse("ep divides tp*cp*dp", "ep " + number(p.ep));
  }
  // Stages of equal depth, or the two ends one layer short (they hold embedding and head instead).
  const int chunks = p.pp * p.vpp;
  if (model.layers % chunks != 0 && (model.layers + 2) % chunks != 0) {
    return refuse("pp*vpp divides " + number(model.layers) + " layers (or " + number(model.layers + 2) + ")",
                  number(chunks));
  }
  if (chunks > model.layers) return refuse("a layer for each of pp*vpp chunks", number(chunks));
  // Context-parallel ranks take two pieces each, one from either end of the sequence, for equal causal work.
  const int sequence_split = (p.cp > 1 ? 2 * p.cp : 1) * (p.sequence_parallel ? p.tp : 1);
  if (workload.sequence_length % sequence_split != 0) {
    return refuse(std::string(p.cp > 1 ? "2*cp" : "1") + (p.sequence_parallel ? "*tp" : "") +
                      " divides the sequence of " + number(workload.sequence_length),
                  number(sequence_split));
  }
  const long long per_step = static_cast<long long>(p.dp) * p.micro_batch;
  if (workload.global_batch % per_step != 0) {
    return refuse("dp*micro_batch divides the batch of " + number(workload.global_batch), number(per_step));
  }
  const long long micro_batches = workload.global_batch / per_step;
  if (p.vpp > 1 && micro_batches % p.pp != 0) {
    return refuse("pp divides the micro-batches under the interleaved schedule", number(micro_batches));
  }
  return std::nullopt;
}

}  // namespace tare
