#include "cost/energy.h"

#include <utility>

#include <fmt/format.h>

#include "cost/region.h"

namespace tare {
namespace {

// GPUs of one link domain that reaches over several nodes, in watts: what one rack of them has to be cooled for.
double domain_w(const NodeType& node_type, double node_w) {
  const int domain = node_type.nvlink_domain.value_or(1);
  if (node_type.gpus <= 0 || domain <= node_type.gpus) return 0;
  return node_w * domain / node_type.gpus;
}

Formula formula_of(std::string id, std::string unit, std::string expression, const std::vector<RangedInput>& inputs,
                   std::string note) {
  Formula formula;
  formula.id = std::move(id);
  formula.unit = std::move(unit);
  formula.expression = std::move(expression);
  for (const RangedInput& ranged : inputs) formula.inputs.push_back(formula_input(ranged));
  formula.note = std::move(note);
  formula.value = evaluate(formula).value_or(0);
  return formula;
}

double saving_of(const CoolingChoice& cooling, const Catalog& catalog) {
  return cooling.saves_fans ? parameter(catalog, "liquid_it_saving").base : 0;
}

}  // namespace

CoolingChoice cooling_of(const BillInput& input, const Catalog& catalog) {
  CoolingChoice choice;
  const std::optional<NodePower> node = node_power(*input.node_type, catalog);
  const std::string& stated = input.offer->ownership.cooling;
  const bool dense = node && domain_w(*input.node_type, node->w) > parameter(catalog, "air_rack_limit_w").base;
  choice.liquid = stated == "liquid" || (stated != "air" && dense);
  choice.saves_fans = choice.liquid && !dense;
  choice.pue = parameter_range("pue", parameter(catalog, choice.liquid ? "pue_liquid" : "pue_air_ai"));
  return choice;
}

std::optional<EnergyDraft> it_energy(const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  const std::optional<NodePower> node = node_power(*input.node_type, catalog);
  if (!node || input.run.it_energy_j <= 0) return std::nullopt;
  const CoolingChoice cooling = cooling_of(input, catalog);
  EnergyDraft draft;
  draft.expression = "(it_energy_j + nodes * node_power_w * idle_fraction * max(0, 3600 * (" + held.hours_expression +
                     ") - wall_s) + gpus * network_w_per_gpu * 3600 * (" + held.hours_expression + "))";
  draft.inputs = held.inputs;
  draft.inputs.push_back(fixed_input("it_energy_j", input.run.it_energy_j, "J", "run.it_energy_j"));
  draft.inputs.push_back(fixed_input("nodes", input.nodes, "node", "cluster"));
  draft.inputs.push_back(fixed_input(node->input.name, node->w, "W", node->input.source, node->input.assumed));
  draft.inputs.push_back(parameter_range("idle_fraction", parameter(catalog, "idle_node_frac")));
  draft.inputs.push_back(fixed_input("gpus", input.gpus, "GPU", "cluster"));
  draft.inputs.push_back(input.nodes > 1
                             ? parameter_range("network_w_per_gpu", parameter(catalog, "network_power_per_gpu_w"))
                             : fixed_input("network_w_per_gpu", 0, "W", "one node needs no network between nodes"));
  if (cooling.saves_fans) {
    draft.expression += " * (1 - liquid_it_saving)";
    draft.inputs.push_back(parameter_range("liquid_it_saving", parameter(catalog, "liquid_it_saving")));
  }
  draft.expression += " / 3600000";
  return draft;
}

std::optional<Formula> energy_floor(const BillInput& input, const Catalog& catalog) {
  const Accelerator* const accelerator = find_accelerator(catalog, input.node_type->gpu);
  if (accelerator == nullptr || !accelerator->tdp_w || input.model_flops_per_token <= 0 || input.peak_flops <= 0) {
    return std::nullopt;
  }
  return formula_of("bill.joules_per_token_floor", "J",
                    "model_flops_per_token / peak_flops * tdp_w * energy_floor_ratio",
                    {fixed_input("model_flops_per_token", input.model_flops_per_token, "FLOP", "step model"),
                     fixed_input("peak_flops", input.peak_flops, "FLOP/s", "catalog: " + accelerator->id),
                     fixed_input("tdp_w", *accelerator->tdp_w, "W", "catalog: " + accelerator->id),
                     parameter_range("energy_floor_ratio", parameter(catalog, "energy_floor_ratio"))},
                    "the model's FLOPs at the dense peak, at the least power that a power cap reaches it with");
}

std::optional<std::string> impossible_energy(const BillInput& input, const Catalog& catalog) {
  if (input.run.it_energy_j <= 0) return std::nullopt;
  const std::optional<Formula> floor = energy_floor(input, catalog);
  const double joules = input.run.it_energy_j * (1 - saving_of(cooling_of(input, catalog), catalog)) / input.tokens;
  if (!floor || joules >= floor->value) return std::nullopt;
  return fmt::format(
      "{:.3g} J per token is below the {:.3g} J that {} takes for its FLOPs: the power of the node is wrong", joules,
      floor->value, input.node_type->gpu);
}

void add_energy(Bill& bill, const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  const std::optional<EnergyDraft> it = it_energy(input, held, catalog);
  if (!it) return;
  if (const std::optional<std::string> why = impossible_energy(input, catalog)) {
    bill.unknown.push_back("energy: " + *why);
    return;
  }
  const CoolingChoice cooling = cooling_of(input, catalog);
  const auto add = [&](std::optional<double>& value, Formula formula) {
    value = formula.value;
    bill.formulas.push_back(std::move(formula));
  };
  add(bill.it_kwh, formula_of("bill.it_kwh", "kWh", it->expression, it->inputs,
                              "servers and switches, idle hours that are billed too"));
  add(bill.energy_kwh, formula_of("bill.energy_kwh", "kWh", "it_kwh * pue",
                                  {fixed_input("it_kwh", *bill.it_kwh, "kWh", "bill.it_kwh"), cooling.pue},
                                  cooling.liquid ? "liquid-cooled" : "air-cooled"));
  add(bill.co2e_kg, formula_of("bill.co2e_kg", "kg", "energy_kwh * grams_per_kwh / 1000",
                               {fixed_input("energy_kwh", *bill.energy_kwh, "kWh", "bill.energy_kwh"),
                                grid_intensity(input.offer->region, catalog)},
                               "of the electricity, not of building the machines"));
  std::vector<RangedInput> per_token = {fixed_input("it_energy_j", input.run.it_energy_j, "J", "run.it_energy_j"),
                                        fixed_input("tokens", input.tokens, "token", "job")};
  std::string expression = "it_energy_j / tokens";
  if (cooling.saves_fans) {
    expression += " * (1 - liquid_it_saving)";
    per_token.push_back(parameter_range("liquid_it_saving", parameter(catalog, "liquid_it_saving")));
  }
  add(bill.joules_per_token,
      formula_of("bill.joules_per_token", "J", std::move(expression), per_token, "IT energy of the run"));
  if (std::optional<Formula> floor = energy_floor(input, catalog)) bill.formulas.push_back(std::move(*floor));
}

}  // namespace tare
