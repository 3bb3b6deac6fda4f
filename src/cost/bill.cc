#include "cost/bill.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "cost/cents.h"
#include "cost/energy.h"
#include "cost/lines.h"
#include "cost/region.h"
#include "cost/residual.h"
#include "cost/waterfall.h"

namespace tare {
namespace {

Bill no_bill(std::vector<std::string> why) {
  Bill bill;
  bill.total.usd = bill.usd_per_million_tokens = std::numeric_limits<double>::infinity();
  bill.unknown = std::move(why);
  return bill;
}

Amount amount_of(std::int64_t cents, const Range& range) {
  const auto rounded = [](double usd) -> std::optional<double> {
    const std::optional<std::int64_t> whole = to_cents(usd);
    return whole ? std::optional(to_usd(*whole)) : std::nullopt;
  };
  Amount amount;
  amount.usd = to_usd(cents);
  // Largest remainder may move a line a cent past the rounded end of its range.
  amount.low_usd = rounded(range.low);
  if (amount.low_usd) amount.low_usd = std::min(*amount.low_usd, amount.usd);
  if (range.high) amount.high_usd = rounded(*range.high);
  if (amount.high_usd) amount.high_usd = std::max(*amount.high_usd, amount.usd);
  return amount;
}

// A sum over lines: causes that several lines share move them together.
struct Sum {
  double usd = 0;
  Swings swings;
  bool open_above = false;

  void add(const EvaluatedLine& line) {
    usd += line.formula.value;
    add_swings(swings, line.swings);
    open_above = open_above || line.open_above;
  }
  Range range() const { return range_of(usd, swings, open_above); }
};

void add_lines(Bill& bill, const std::vector<EvaluatedLine>& lines, const std::vector<std::int64_t>& cents) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const EvaluatedLine& line = lines[i];
    bill.lines.push_back({line.draft.id,
                          amount_of(cents[i], range_of(line.formula.value, line.swings, line.open_above)),
                          line.draft.gpu_time, line.formula});
  }
}

void add_waterfall(Bill& bill, const BillInput& input, const std::vector<EvaluatedLine>& lines,
                   const std::vector<std::int64_t>& cents, const Catalog& catalog) {
  Sum gpu_time;
  std::int64_t gpu_time_cents = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].draft.gpu_time) continue;
    gpu_time.add(lines[i]);
    gpu_time_cents += cents[i];
  }
  const Range range = gpu_time.range();
  const CostParameter* const frag_waste =
      pays_for_idle(input.offer->purchase) ? &parameter(catalog, "frag_waste") : nullptr;
  std::vector<Formula> hours = waterfall_hours(input, bill.billed_gpu_hours, frag_waste);
  std::vector<double> weights;
  double sum = 0;
  for (const Formula& bar : hours) {
    weights.push_back(bar.value);
    sum += bar.value;
  }
  const std::vector<std::int64_t> bar_cents = share_out(gpu_time_cents, weights);
  for (std::size_t i = 0; i < hours.size(); ++i) {
    const double share = sum > 0 ? weights[i] / sum : 0;
    Range bar_range{range.low * share, std::nullopt};
    if (range.high) bar_range.high = *range.high * share;
    std::string id = hours[i].id.substr(std::string_view("waterfall.").size());
    bill.waterfall.push_back({std::move(id), weights[i], amount_of(bar_cents[i], bar_range), std::move(hours[i])});
  }
  for (const BillLine& line : bill.lines) {
    if (!line.gpu_time) bill.waterfall.push_back({line.id, 0, line.amount, {}});
  }
}

// One more checkpoint an hour stalls the run once more an hour and shortens what an interruption loses: by half of what
// the interval T falls to T' = 3600·T ÷ (3600 + T). A second more of the run costs what a second of it does.
void add_checkpoint_marginal(Bill& bill, const BillInput& input, const std::vector<EvaluatedLine>& lines) {
  double gpu_time_usd = 0;
  for (const EvaluatedLine& line : lines) gpu_time_usd += line.draft.gpu_time ? line.formula.value : 0;
  const Run& run = input.run;
  Formula formula;
  formula.id = "bill.checkpoint_marginal_usd";
  formula.unit = "USD";
  formula.expression =
      "gpu_time_usd * (productive_s / 3600 * checkpoint_block_s - failures * checkpoint_interval_s^2"
      " / (3600 + checkpoint_interval_s) / 2) / (productive_s + startup_s + checkpoint_stall_s)";
  const auto from = [](const char* name, double value, const char* unit) {
    return FormulaInput{name, value, unit, std::string("run.") + name, false};
  };
  formula.inputs = {{"gpu_time_usd", gpu_time_usd, "USD", "the lines paid by the GPU-hour", false},
                    from("productive_s", run.productive_s, "s"),
                    from("checkpoint_block_s", run.checkpoint_block_s, "s"),
                    from("failures", run.failures, "1"),
                    from("checkpoint_interval_s", run.checkpoint_interval_s, "s"),
                    from("startup_s", run.startup_s, "s"),
                    from("checkpoint_stall_s", run.checkpoint_stall_s, "s")};
  formula.note = "what the stalls cost less what interruptions lose less; below zero: more often would be cheaper";
  const Result<double> value = evaluate(formula);
  if (!value) return;
  formula.value = *value;
  bill.checkpoint_marginal_usd = *value;
  bill.formulas.push_back(std::move(formula));
}

}  // namespace

bool is_known(const Bill& bill) { return std::isfinite(bill.total.usd); }

Bill make_bill(const BillInput& input, const Catalog& catalog) {
  if (!input.run.finishes) return no_bill({"run: interruptions take more than they leave, it never ends"});

  const HeldHours held = held_hours(input, catalog);
  const bool owned = input.offer->purchase == Purchase::kOwned;
  Lines drafts = owned ? owned_lines(input, held, catalog) : rented_lines(input, held, catalog);
  if (!drafts.priced) return no_bill(std::move(drafts.unknown));

  Sum total;
  std::vector<EvaluatedLine> lines;
  for (LineDraft& draft : drafts.drafts) {
    const std::string id = draft.id;
    Result<EvaluatedLine> line = evaluate_line(std::move(draft));
    if (!line) return no_bill({id + ": " + line.error().front().text});
    if (line->formula.value < 0) return no_bill({id + ": comes out below zero"});
    total.add(*line);
    lines.push_back(std::move(*line));
  }
  const std::optional<std::int64_t> total_cents = to_cents(total.usd);
  if (!total_cents) return no_bill({"total: beyond any amount of money"});

  Bill bill;
  bill.unknown = std::move(drafts.unknown);
  bill.billed_gpu_hours = held.gpu_hours;
  bill.formulas.push_back(billed_gpu_hours_formula(input, held));
  bill.total = amount_of(*total_cents, total.range());
  bill.usd_per_million_tokens = bill.total.usd / input.tokens * 1e6;
  std::vector<double> exact;
  exact.reserve(lines.size());
  for (const EvaluatedLine& line : lines) exact.push_back(line.formula.value * 100);
  const std::vector<std::int64_t> cents = round_to_sum(*total_cents, exact);
  add_lines(bill, lines, cents);
  add_waterfall(bill, input, lines, cents, catalog);
  bill.goodput_ratio = input.run.goodput_ratio;
  add_energy(bill, input, held, catalog);
  add_checkpoint_marginal(bill, input, lines);
  return bill;
}

const std::vector<std::string>& bill_parameter_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all = {"alloc_ratio",
                                    "checkpoints_kept",
                                    "file_storage_usd_per_byte_month",
                                    "egress_large_cloud_usd_per_byte",
                                    "egress_other_usd_per_byte",
                                    "inter_region_usd_per_byte",
                                    "cross_zone_usd_per_byte",
                                    "cross_zone_ratio",
                                    "mttr",
                                    "incident_people",
                                    "eng_rate",
                                    "server_overhead",
                                    "install_ratio",
                                    "net_share_small",
                                    "net_share_2tier",
                                    "net_share_3tier",
                                    "life_years",
                                    "wacc",
                                    "spare_nodes",
                                    "elec_china_ind",
                                    "elec_us_ind",
                                    "idle_node_frac",
                                    "network_power_per_gpu_w",
                                    "pue_air_ai",
                                    "facility_capex",
                                    "facility_life_years",
                                    "fs_overprov",
                                    "storage_price",
                                    "gpus_per_fte",
                                    "server_power_per_tdp",
                                    "frag_waste",
                                    "spares_ratio_per_year",
                                    "sw_support",
                                    "colo_kw",
                                    "log_volume",
                                    "log_retention",
                                    "archive_price",
                                    "audit_cost",
                                    "pue_liquid",
                                    "liquid_it_saving",
                                    "air_rack_limit_w",
                                    "energy_floor_ratio"};
    all.insert(all.end(), region_parameter_ids().begin(), region_parameter_ids().end());
    all.insert(all.end(), residual_parameter_ids().begin(), residual_parameter_ids().end());
    return all;
  }();
  return ids;
}

}  // namespace tare
