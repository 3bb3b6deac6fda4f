#include <utility>

#include "perf/step.h"

namespace tare {
namespace {

constexpr std::string_view kLayerModel = "layer model (docs/step-model.md)";

FormulaInput input(std::string name, double value, std::string unit, std::string source, bool assumed = false) {
  return {std::move(name), value, std::move(unit), std::move(source), assumed};
}
FormulaInput modelled(std::string name, double value) {
  return input(std::move(name), value, "s", std::string(kLayerModel));
}

Formula formula(std::string id, double value, std::string unit, std::string expression,
                std::vector<FormulaInput> inputs, std::string note = {}) {
  return {std::move(id), value, std::move(unit), std::move(expression), std::move(inputs), std::move(note)};
}

std::vector<Formula> stage_formulas(const StepTerms& t, const StepParts& parts) {
  const FormulaInput m = input("micro_batches", t.micro_batches, "1", "global_batch / (dp * micro_batch)");
  const FormulaInput layers = input("layers", t.layers, "1", "model layers / pp");
  const FormulaInput recomputed = input("recomputed_layers", t.recomputed_layers, "1", "parallelism: recompute");
  const double on_stage =
      parts.compute_s + parts.recompute_s + parts.tp_exposed_s + parts.cp_exposed_s + parts.ep_exposed_s;
  return {
      formula("step.compute_s", parts.compute_s, "s", "micro_batches * (layers * layer_s + edge_s)",
              {m, layers, modelled("layer_s", t.layer_s), modelled("edge_s", t.edge_s)},
              "forward and backward of every layer, embedding and head at their modelled kernel times"),
      formula("step.recompute_s", parts.recompute_s, "s", "micro_batches * recomputed_layers * recompute_layer_s",
              {m, recomputed, modelled("recompute_layer_s", t.recompute_layer_s)}),
      formula("step.tp_exposed_s", parts.tp_exposed_s, "s",
              "micro_batches * (layers * tp_layer_s + recomputed_layers * tp_recompute_s + tp_edge_s)",
              {m, layers, modelled("tp_layer_s", t.tp_layer_s), recomputed,
               modelled("tp_recompute_s", t.tp_recompute_s), modelled("tp_edge_s", t.tp_edge_s)}),
      formula("step.cp_exposed_s", parts.cp_exposed_s, "s", "micro_batches * layers * cp_layer_s",
              {m, layers, modelled("cp_layer_s", t.cp_layer_s)}),
      formula(
          "step.ep_exposed_s", parts.ep_exposed_s, "s",
          "micro_batches * (layers * ep_layer_s + recomputed_layers * ep_recompute_s)",
          {m, layers, modelled("ep_layer_s", t.ep_layer_s), recomputed, modelled("ep_recompute_s", t.ep_recompute_s)}),
      formula("step.pp_bubble_s", parts.pp_bubble_s, "s", "bubble_slots * on_stage_s / micro_batches",
              {input("bubble_slots", t.bubble_slots, "1", "(pp - 1) / vpp, a third of it under zero-bubble"),
               input("on_stage_s", on_stage, "s", "compute + recompute + tp + cp + ep"), m},
              "Narayanan et al. 2021: the pipeline fills and drains once a step"),
      formula("step.pp_imbalance_s", parts.pp_imbalance_s, "s", "micro_batches * (slowest_stage_s - stage_s)",
              {m, modelled("slowest_stage_s", t.slowest_stage_s), modelled("stage_s", t.stage_s)},
              "the stage with the head or with one layer more sets the pace"),
      formula("step.pp_p2p_s", parts.pp_p2p_s, "s", "micro_batches * p2p_s", {m, modelled("p2p_s", t.p2p_s)}),
  };
}

// Each axis that takes something by itself, stretching what the ones before it left, and their sum.
std::vector<Formula> delivery_formulas(const StepTerms& t, const StepParts& parts, double before) {
  const DeliveryEffect& d = t.delivery;
  std::vector<Formula> axes;
  std::vector<FormulaInput> left = {input("before_s", before, "s", "all parts above but the straggler")};
  std::string stretched = "before_s", total;
  double left_s = before;
  const auto add = [&](const std::string& name, double value, std::string expression, std::vector<FormulaInput> inputs,
                       std::string note) {
    axes.push_back(formula("step." + name, value, "s", std::move(expression), std::move(inputs), std::move(note)));
    left.push_back(input(name, value, "s", "step." + name));
    left_s += value;
    stretched += " + " + name;
    total += (total.empty() ? "" : " + ") + name;
  };
  const auto axis = [&](const std::string& name, double ratio, const char* source, const char* note) {
    if (ratio == 0) return;
    std::vector<FormulaInput> inputs = left;
    inputs.insert(inputs.begin(), input(name + "_ratio", ratio, "1", source));
    add("delivery_" + name + "_s", ratio * left_s,
        name + "_ratio * " + (axes.empty() ? stretched : "(" + stretched + ")"), std::move(inputs), note);
  };
  axis("host", d.host_ratio, "tax / (1 - tax) of parameter virt_tax_vm or virt_tax_unknown",
       "whole GPUs passed through: throughput of a VM over that of bare metal");
  axis("packaging", d.packaging_ratio, "tax / (1 - tax) of parameter ct_tax", "");
  axis("gpu_share", d.gpu_share_ratio,
       "sharers / (1 - tax) - 1 of parameters mig_tax, timeslice_tax or mps_tax, and gpu_sharers", "");
  if (d.sync_s > 0) {
    add("delivery_sync_s", d.sync_s, "sync_s",
        {input("sync_s", d.sync_s, "s", "parameter host_syncs_per_step x parameter vm_sync_latency_s")},
        "waits for the host; collectives poll and pay none");
  }
  if (axes.empty()) {
    return {formula("step.delivery_s", parts.delivery_s, "s", "delivery_ratio * before_s",
                    {input("delivery_ratio", 0, "1", "parameters of the delivery"), left.front()})};
  }
  axes.push_back(formula("step.delivery_s", parts.delivery_s, "s", total,
                         std::vector<FormulaInput>(left.begin() + 1, left.end())));
  return axes;
}

std::vector<Formula> whole_formulas(const StepTerms& t, const StepParts& parts) {
  const double before = parts.compute_s + parts.recompute_s + parts.tp_exposed_s + parts.cp_exposed_s +
                        parts.ep_exposed_s + parts.pp_bubble_s + parts.pp_imbalance_s + parts.pp_p2p_s +
                        parts.dp_exposed_s + parts.optimizer_s;
  std::vector<Formula> formulas = {
      formula(
          "step.dp_exposed_s", parts.dp_exposed_s, "s",
          "pow(pow(dp_work_s, q) + pow(dp_traffic_s, q), 1 / q) - dp_work_s + dp_extra_s",
          {modelled("dp_work_s", t.dp_work_s), modelled("dp_traffic_s", t.dp_traffic_s),
           input("q", t.dp_overlap_norm, "1", "overlap norm, perf/constants.h"), modelled("dp_extra_s", t.dp_extra_s)},
          "gradients and weights beside the work they can hide behind"),
      formula("step.optimizer_s", parts.optimizer_s, "s", "optimizer_s", {modelled("optimizer_s", t.optimizer_s)}),
      formula("step.straggler_s", parts.straggler_s, "s", "straggler_ratio * before_s",
              {input("straggler_ratio", t.straggler_ratio, "1", "jitter * sqrt(2 ln GPUs): expected maximum"),
               input("before_s", before, "s", "all parts above")})};
  for (Formula& f : delivery_formulas(t, parts, before)) formulas.push_back(std::move(f));
  formulas.push_back(formula("step.data_stall_s", parts.data_stall_s, "s", "max(0, data_read_s - busy_s)",
                             {input("data_read_s", t.data_read_s, "s", "data.read_s; 0 where the job states no data"),
                              input("busy_s", before + parts.straggler_s + parts.delivery_s, "s", "all parts above")}));
  return formulas;
}

Formula total_formula(const StepParts& parts) {
  std::vector<FormulaInput> inputs;
  std::string expression;
  for (const auto& [name, value] : named_parts(parts)) {
    expression += (expression.empty() ? "" : " + ") + std::string(name);
    inputs.push_back(input(std::string(name), value, "s", "step." + std::string(name)));
  }
  return formula("step.step_time_s", sum(parts), "s", expression, inputs);
}

Formula memory_formula(const Memory& memory) {
  return formula(
      "memory.total_bytes", memory.total_bytes, "bytes",
      "weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes + logits_bytes + gathered_bytes + "
      "framework_bytes + fragmentation_bytes",
      {input("weights_bytes", memory.weights_bytes, "bytes", "memory model"),
       input("gradients_bytes", memory.gradients_bytes, "bytes", "memory model"),
       input("optimizer_bytes", memory.optimizer_bytes, "bytes", "memory model"),
       input("activations_bytes", memory.activations_bytes, "bytes", "memory model"),
       input("logits_bytes", memory.logits_bytes, "bytes", "memory model"),
       input("gathered_bytes", memory.gathered_bytes, "bytes", "memory model"),
       input("framework_bytes", memory.framework_bytes, "bytes", "software stack", true),
       input("fragmentation_bytes", memory.fragmentation_bytes, "bytes", "software stack", true)});
}

}  // namespace

std::vector<Formula> StepModel::explain(const Parallelism& p) {
  const StepTerms t = terms(p);
  const StepParts parts = parts_of(t);
  const double step_time = sum(parts);
  std::vector<Formula> formulas = stage_formulas(t, parts);
  for (Formula& f : whole_formulas(t, parts)) formulas.push_back(std::move(f));
  formulas.push_back(total_formula(parts));
  const double tokens = tokens_per_step(workload_);
  formulas.push_back(formula("step.tokens_per_s", tokens / step_time, "tokens/s", "tokens_per_step / step_time_s",
                             {input("tokens_per_step", tokens, "tokens", "global_batch * sequence_length"),
                              input("step_time_s", step_time, "s", "step.step_time_s")}));
  formulas.push_back(formula("step.mfu_ratio", t.model_flops / (step_time * t.peak_flops), "1",
                             "model_flops_per_gpu / (step_time_s * peak_flops)",
                             {input("model_flops_per_gpu", t.model_flops, "FLOP", "workload: FLOPs of one step / GPUs"),
                              input("step_time_s", step_time, "s", "step.step_time_s"),
                              input("peak_flops", t.peak_flops, "FLOP/s",
                                    "catalog: " + machine_.gpu + " dense " + std::string(name_of(peak_precision_)))}));
  formulas.push_back(memory_formula(memory_.peak(p)));
  return formulas;
}

}  // namespace tare
