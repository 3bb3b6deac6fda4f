#include <optional>
#include <utility>

#include "cost/data_lines.h"
#include "cost/lines.h"
#include "run/node_power.h"

namespace tare {
namespace {

// What a node costs to buy. From its node type; else its accelerators' price and the rest of the server around them.
std::optional<RangedInput> node_price(const NodeType& node_type, const Catalog& catalog) {
  const std::optional<double> low = node_type.capex_low_usd;
  const std::optional<double> high = node_type.capex_high_usd;
  std::optional<double> base = node_type.capex_base_usd;
  if (!base && low && high) base = (*low + *high) / 2;
  if (!base) base = low ? low : high;
  if (base) {
    RangedInput price = fixed_input("node_price_usd", *base, "USD", "node type " + node_type.id);
    price.cause = "node_price";
    price.low = low;
    price.high = high;
    return price;
  }
  const Accelerator* const accelerator = find_accelerator(catalog, node_type.gpu);
  if (accelerator == nullptr || (!accelerator->price_low_usd && !accelerator->price_high_usd)) return std::nullopt;
  const double cheap = accelerator->price_low_usd.value_or(accelerator->price_high_usd.value_or(0));
  const double dear = accelerator->price_high_usd.value_or(cheap);
  const double servers = node_type.gpus * parameter(catalog, "server_overhead").base;
  RangedInput price = fixed_input("node_price_usd", servers * (cheap + dear) / 2, "USD",
                                  "GPUs x price of " + accelerator->id + " x parameter server_overhead", true);
  price.cause = "node_price";
  price.low = servers * cheap;
  price.high = servers * dear;
  return price;
}

// Switches and cables as a share of the cluster's capital: by the tiers that so many nodes need.
RangedInput network_share(int nodes, const Catalog& catalog) {
  if (nodes <= 1) return fixed_input("network_share", 0, "ratio", "one node needs no network between nodes");
  const char* const id = nodes <= 64 ? "net_share_small" : nodes <= 2048 ? "net_share_2tier" : "net_share_3tier";
  return parameter_range("network_share", parameter(catalog, id));
}

// Per year and dollar of price: what it loses in value over its life, and the return on what is bound in it on average.
// The residual is a declining value, 10^(−decay · life).
constexpr const char* kCapitalExpression =
    "nodes * node_price_usd * (1 + install_ratio) / (1 - network_share)"
    " * ((1 - 10^(-decay_oom_per_year * life_years)) / life_years"
    " + wacc * (1 + 10^(-decay_oom_per_year * life_years)) / 2) / 8760";

std::vector<RangedInput> capital_inputs(const BillInput& input, const RangedInput& price, const HeldHours& held,
                                        const Catalog& catalog) {
  std::vector<RangedInput> inputs = held.inputs;
  inputs.push_back(fixed_input("nodes", input.nodes, "node", "cluster"));
  inputs.push_back(price);
  inputs.push_back(parameter_range("install_ratio", parameter(catalog, "install_ratio")));
  inputs.push_back(network_share(input.nodes, catalog));
  inputs.push_back(parameter_range("decay_oom_per_year", parameter(catalog, "hw_progress")));
  inputs.push_back(parameter_range("life_years", parameter(catalog, "life_years")));
  inputs.push_back(parameter_range("wacc", parameter(catalog, "wacc")));
  return inputs;
}

LineDraft capital(const BillInput& input, const RangedInput& price, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = "capital";
  line.gpu_time = true;
  line.expression = std::string(kCapitalExpression) + " * (" + held.hours_expression + ")";
  line.inputs = capital_inputs(input, price, held, catalog);
  line.note = "depreciation to the residual and the cost of the capital bound on average, by the hour of 8,760 a year";
  return line;
}

LineDraft spares(const BillInput& input, const RangedInput& price, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = "spares";
  line.gpu_time = true;
  line.expression = "spare_nodes * " + std::string(kCapitalExpression) + " * (" + held.hours_expression + ")";
  line.inputs = capital_inputs(input, price, held, catalog);
  line.inputs.push_back(parameter_range("spare_nodes", parameter(catalog, "spare_nodes")));
  line.note = "nodes kept ready beside those that work: their capital";
  return line;
}

// Tariffs by region where the catalog has one in dollars; a fleet that does not say where it stands is taken to be in
// the United States.
RangedInput tariff(const std::string& region, const Catalog& catalog) {
  const bool china = region.starts_with("cn") || region.starts_with("china");
  const bool united_states = region.starts_with("us");
  RangedInput input = parameter_range("usd_per_kwh", parameter(catalog, china ? "elec_china_ind" : "elec_us_ind"));
  input.input.assumed = input.input.assumed || !(china || united_states);
  return input;
}

LineDraft power(const BillInput& input, const NodePower& node, const Catalog& catalog) {
  LineDraft line;
  line.id = "power";
  line.gpu_time = true;
  line.expression =
      "(it_energy_j + nodes * node_power_w * idle_fraction * (wall_s / alloc_ratio - wall_s)"
      " + gpus * network_w_per_gpu * wall_s / alloc_ratio) * pue * usd_per_kwh / 3600000";
  line.inputs = {fixed_input("it_energy_j", input.run.it_energy_j, "J", "run.it_energy_j"),
                 fixed_input("nodes", input.nodes, "node", "cluster"),
                 fixed_input(node.input.name, node.w, "W", node.input.source, node.input.assumed),
                 parameter_range("idle_fraction", parameter(catalog, "idle_node_frac")),
                 wall_input(input.run),
                 parameter_range("alloc_ratio", parameter(catalog, "alloc_ratio")),
                 fixed_input("gpus", input.gpus, "GPU", "cluster"),
                 input.nodes > 1 ? parameter_range("network_w_per_gpu", parameter(catalog, "network_power_per_gpu_w"))
                                 : fixed_input("network_w_per_gpu", 0, "W", "one node needs no network between nodes"),
                 parameter_range("pue", parameter(catalog, "pue_air_ai")),
                 tariff(input.offer->region, catalog)};
  line.note = "power supply loss is inside the IT energy, UPS and PDU inside the PUE; idle hours draw idle power";
  return line;
}

LineDraft space(const BillInput& input, const NodePower& node, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = "space";
  line.gpu_time = true;
  line.expression = "nodes * node_power_w * facility_usd_per_w * (1 / facility_life_years + wacc / 2) / 8760 * (" +
                    held.hours_expression + ")";
  line.inputs = held.inputs;
  line.inputs.push_back(fixed_input("nodes", input.nodes, "node", "cluster"));
  line.inputs.push_back(fixed_input(node.input.name, node.w, "W", node.input.source, node.input.assumed));
  line.inputs.push_back(parameter_range("facility_usd_per_w", parameter(catalog, "facility_capex")));
  line.inputs.push_back(parameter_range("facility_life_years", parameter(catalog, "facility_life_years")));
  line.inputs.push_back(parameter_range("wacc", parameter(catalog, "wacc")));
  line.note = "building and plant by the watt they are built for; no colocation rate, which would contain them";
  return line;
}

LineDraft storage(const BillInput& input, const Catalog& catalog) {
  LineDraft line;
  line.id = "storage";
  line.expression =
      "(min(checkpoints, checkpoints_kept) * checkpoint_bytes + data_bytes) * (1 + over_provision)"
      " * storage_usd_per_byte * (1 / life_years + wacc / 2) / 8760 * wall_s / 3600";
  line.inputs = {fixed_input("checkpoints", input.run.checkpoints, "1", "run.checkpoints"),
                 parameter_range("checkpoints_kept", parameter(catalog, "checkpoints_kept")),
                 fixed_input("checkpoint_bytes", input.run.checkpoint_bytes, "bytes", "run"),
                 fixed_input("data_bytes", input.run.data_bytes, "bytes", "job"),
                 parameter_range("over_provision", parameter(catalog, "fs_overprov")),
                 parameter_range("storage_usd_per_byte", parameter(catalog, "storage_price")),
                 parameter_range("life_years", parameter(catalog, "life_years")),
                 parameter_range("wacc", parameter(catalog, "wacc")),
                 wall_input(input.run)};
  line.note = "the share of a parallel file system's capital while the run lasts";
  return line;
}

LineDraft operations(const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = "operations";
  line.expression = "(incidents * hands_on_s / 3600 * people + gpus * (" + held.hours_expression +
                    ") / gpus_per_engineer * 1760 / 8760) * engineer_usd_per_h";
  line.inputs = held.inputs;
  line.inputs.push_back(fixed_input("incidents", input.run.hardware_failures, "1", "run.hardware_failures"));
  line.inputs.push_back(parameter_range("hands_on_s", parameter(catalog, "mttr")));
  line.inputs.push_back(parameter_range("people", parameter(catalog, "incident_people")));
  line.inputs.push_back(fixed_input("gpus", input.gpus, "GPU", "cluster"));
  line.inputs.push_back(parameter_range("gpus_per_engineer", parameter(catalog, "gpus_per_fte")));
  line.inputs.push_back(parameter_range("engineer_usd_per_h", parameter(catalog, "eng_rate")));
  line.note = "incidents, and the base staff's share: 1,760 working hours in a year of 8,760";
  return line;
}

}  // namespace

Lines owned_lines(const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  Lines lines;
  const std::optional<RangedInput> price = node_price(*input.node_type, catalog);
  if (!price) {
    lines.priced = false;
    lines.unknown.push_back("capital: no price is known for " + input.node_type->id);
    return lines;
  }
  lines.drafts.push_back(capital(input, *price, held, catalog));
  const std::optional<NodePower> node = node_power(*input.node_type, catalog);
  if (node && input.run.it_energy_j > 0) {
    lines.drafts.push_back(power(input, *node, catalog));
  } else {
    lines.unknown.push_back("power: the power of a node of " + input.node_type->id + " is not known");
  }
  if (node) {
    lines.drafts.push_back(space(input, *node, held, catalog));
  } else {
    lines.unknown.push_back("space: the power of a node of " + input.node_type->id + " is not known");
  }
  lines.drafts.push_back(spares(input, *price, held, catalog));
  lines.drafts.push_back(storage(input, catalog));
  lines.drafts.push_back(operations(input, held, catalog));
  if (auto line = data_transfer_line(input, catalog)) lines.drafts.push_back(std::move(*line));
  return lines;
}

}  // namespace tare
