#include <optional>
#include <utility>

#include "cost/data_lines.h"
#include "cost/energy.h"
#include "cost/lines.h"
#include "cost/region.h"
#include "cost/residual.h"
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
std::string capital_expression(const Residual& residual) {
  return "nodes * node_price_usd * (1 + install_ratio) / (1 - network_share) * ((1 - " + residual.expression +
         ") / life_years + wacc * (1 + " + residual.expression + ") / 2) / 8760";
}

std::vector<RangedInput> capital_inputs(const BillInput& input, const RangedInput& price, const HeldHours& held,
                                        const Residual& residual, const Catalog& catalog) {
  std::vector<RangedInput> inputs = held.inputs;
  inputs.push_back(fixed_input("nodes", input.nodes, "node", "cluster"));
  inputs.push_back(price);
  inputs.push_back(parameter_range("install_ratio", parameter(catalog, "install_ratio")));
  inputs.push_back(network_share(input.nodes, catalog));
  inputs.insert(inputs.end(), residual.inputs.begin(), residual.inputs.end());
  inputs.push_back(parameter_range("life_years", parameter(catalog, "life_years")));
  inputs.push_back(parameter_range("wacc", parameter(catalog, "wacc")));
  return inputs;
}

LineDraft capital(const BillInput& input, const RangedInput& price, const HeldHours& held, const Catalog& catalog) {
  const Residual residual = residual_of(input, catalog);
  LineDraft line;
  line.id = "capital";
  line.gpu_time = true;
  line.expression = capital_expression(residual) + " * (" + held.hours_expression + ")";
  line.inputs = capital_inputs(input, price, held, residual, catalog);
  line.note = "depreciation to the residual (scenario " + input.offer->ownership.residual +
              ") and the cost of the capital bound on average, by the hour of 8,760 a year";
  return line;
}

LineDraft spares(const BillInput& input, const RangedInput& price, const HeldHours& held, const Catalog& catalog) {
  const Residual residual = residual_of(input, catalog);
  LineDraft line;
  line.id = "spares";
  line.gpu_time = true;
  line.expression = "spare_nodes * " + capital_expression(residual) + " * (" + held.hours_expression + ")";
  line.inputs = capital_inputs(input, price, held, residual, catalog);
  line.inputs.push_back(parameter_range("spare_nodes", parameter(catalog, "spare_nodes")));
  line.note = "nodes kept ready beside those that work: their capital";
  return line;
}

// A share of the nodes' price a year.
LineDraft yearly(const char* id, const char* name, const char* parameter_id, const char* note, const BillInput& input,
                 const RangedInput& price, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = id;
  line.gpu_time = true;
  line.expression = std::string("nodes * node_price_usd * ") + name + " / 8760 * (" + held.hours_expression + ")";
  line.inputs = held.inputs;
  line.inputs.push_back(fixed_input("nodes", input.nodes, "node", "cluster"));
  line.inputs.push_back(price);
  line.inputs.push_back(parameter_range(name, parameter(catalog, parameter_id)));
  line.note = note;
  return line;
}

LineDraft power(const BillInput& input, const EnergyDraft& energy, const Catalog& catalog) {
  const Tariff tariff = tariff_of(input.offer->region, catalog);
  LineDraft line;
  line.id = "power";
  line.gpu_time = true;
  line.expression = energy.expression + " * " + tariff.expression;
  line.inputs = energy.inputs;
  line.inputs.insert(line.inputs.end(), tariff.inputs.begin(), tariff.inputs.end());
  if (input.offer->ownership.colocation) {
    line.note = "what the machines draw: cooling and losses of the building are in the colocation rate";
    return line;
  }
  line.expression += " * pue";
  line.inputs.push_back(cooling_of(input, catalog).pue);
  line.note = "power supply loss is inside the IT energy, UPS and PDU inside the PUE; idle hours draw idle power";
  return line;
}

// Instead of `space`: one or the other stands on a bill.
LineDraft colocation(const BillInput& input, const NodePower& node, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = "colocation";
  line.gpu_time = true;
  line.expression = "nodes * node_power_w * colocation_usd_per_w_month / 730 * (" + held.hours_expression + ")";
  line.inputs = held.inputs;
  line.inputs.push_back(fixed_input("nodes", input.nodes, "node", "cluster"));
  line.inputs.push_back(fixed_input(node.input.name, node.w, "W", node.input.source, node.input.assumed));
  line.inputs.push_back(parameter_range("colocation_usd_per_w_month", parameter(catalog, "colo_kw")));
  line.note = "by the watt that is reserved, months of 730 h: space, cooling and the building's losses";
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
  line.note = "building and plant by the watt they are built for";
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

// Power, and the room it is drawn in.
void add_facility(Lines& lines, const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  const std::string unknown = "the power of a node of " + input.node_type->id + " is not known";
  const std::optional<std::string> impossible = impossible_energy(input, catalog);
  if (impossible) {
    lines.unknown.push_back("power: " + *impossible);
  } else if (const std::optional<EnergyDraft> energy = it_energy(input, held, catalog)) {
    lines.drafts.push_back(power(input, *energy, catalog));
  } else {
    lines.unknown.push_back("power: " + unknown);
  }
  const bool shared = input.offer->ownership.colocation;
  if (const std::optional<NodePower> node = node_power(*input.node_type, catalog)) {
    lines.drafts.push_back(shared ? colocation(input, *node, held, catalog) : space(input, *node, held, catalog));
  } else {
    lines.unknown.push_back((shared ? "colocation: " : "space: ") + unknown);
  }
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
  add_facility(lines, input, held, catalog);
  lines.drafts.push_back(spares(input, *price, held, catalog));
  lines.drafts.push_back(yearly("parts", "parts_per_year", "spares_ratio_per_year", "repairs outside the warranty",
                                input, *price, held, catalog));
  lines.drafts.push_back(yearly("support", "support_per_year", "sw_support", "vendor support and licensed software",
                                input, *price, held, catalog));
  lines.drafts.push_back(storage(input, catalog));
  lines.drafts.push_back(operations(input, held, catalog));
  lines.drafts.push_back(compliance_line(input, held, catalog));
  if (auto line = data_transfer_line(input, catalog)) lines.drafts.push_back(std::move(*line));
  return lines;
}

}  // namespace tare
