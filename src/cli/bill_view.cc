#include "cli/bill_view.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/quantity.h"
#include "cli/labels.h"
#include "cli/option_tables.h"
#include "cli/plan_view.h"
#include "cost/bill_json.h"
#include "cost/uncertainty_json.h"
#include "plan/plan_json.h"
#include "run/run_json.h"
#include "workload/job_json.h"

namespace tare {
namespace {

void add_row(Table& table, const char* what, std::string value) {
  Row row;
  row.cells = {what, std::move(value)};
  table.rows.push_back(std::move(row));
}

std::string chance_text(double probability) { return fmt::format("{} of the draws", percent(probability)); }

// What the run does, and what it draws from the grid.
Table figures_table(const PlanOption& option, const Job& job) {
  Table table;
  table.columns = {{"figure", "the run"}, {"value", "value", Align::kRight}};
  add_row(table, "wall-clock", wall_text(option.run));
  add_row(table, "goodput", percent(option.run.goodput_ratio));
  if (option.uncertainty) {
    const DrawnBill& drawn = *option.uncertainty;
    add_row(table, "wall-clock, P10 … P90",
            fmt::format("{} … {}", format_duration(drawn.wall_s.p10), format_duration(drawn.wall_s.p90)));
    if (drawn.deadline_probability) {
      add_row(table, "meets the deadline in", chance_text(*drawn.deadline_probability));
    }
    if (drawn.budget_probability) {
      add_row(table, "meets the budget in", chance_text(*drawn.budget_probability));
    }
  }
  const Bill& bill = option.bill;
  if (bill.it_kwh) add_row(table, "energy of the machines", fmt::format("{} kWh", format_count(*bill.it_kwh)));
  if (bill.energy_kwh) add_row(table, "energy at the meter", fmt::format("{} kWh", format_count(*bill.energy_kwh)));
  if (bill.co2e_kg) add_row(table, "emissions", fmt::format("{} kg CO2e", format_count(*bill.co2e_kg)));
  if (bill.joules_per_token) add_row(table, "energy per token", fmt::format("{:.3g} J", *bill.joules_per_token));
  if (!bill.energy_kwh) add_row(table, "energy", "unknown");
  if (!option.effective_price.expression.empty()) {
    add_row(table, "price of model FLOPs", fmt::format("{} per PFLOP/s·h", rate_text(option.effective_price.value)));
  }
  if (bill.checkpoint_marginal_usd) {
    add_row(table, "one more checkpoint an hour", dollars(*bill.checkpoint_marginal_usd));
  }
  if (job.deadline_s) add_row(table, "deadline", format_duration(*job.deadline_s));
  if (job.budget_usd) add_row(table, "budget", dollars(*job.budget_usd));
  return table;
}

Cell usd_cell(const std::optional<double>& usd) {
  if (!usd || !std::isfinite(*usd)) return {"", ""};
  return {"", fmt::format("{}", *usd)};
}

void add_csv_row(Table& table, const char* section, const std::string& id, const std::string& offer,
                 const Amount& amount, double gpu_hours) {
  Row row;
  row.cells = {section,
               id,
               offer,
               usd_cell(amount.usd),
               usd_cell(amount.p10),
               usd_cell(amount.p50),
               usd_cell(amount.p90),
               gpu_hours > 0 ? usd_cell(gpu_hours) : Cell("", "")};
  table.rows.push_back(std::move(row));
}

Json one_json(const PlanOption& option) {
  Json json = {{"offer", option.offer.id},
               {"gpu", option.gpu},
               {"gpus", option.gpus},
               {"nodes", option.nodes},
               {"parallelism", to_json(option.parallelism)},
               {"price_stale", option.stale},
               {"meets_deadline", option.meets_deadline},
               {"meets_budget", option.meets_budget}};
  json.update(to_json(option.bill));
  if (!option.effective_price.expression.empty()) {
    json["effective_usd_per_pflops_h"] = option.effective_price.value;
  }
  json["run"] = to_json(option.run);
  if (option.uncertainty) json["uncertainty"] = to_json(*option.uncertainty);
  json["assumed"] = option.assumed;
  return json;
}

}  // namespace

Document bill_document(const std::vector<PlanOption>& options, const Job& job) {
  Document document;
  document.text(describe(job), Tone::kStrong);
  for (const PlanOption& option : options) {
    document.heading(option.offer.id);
    document.text(describe(option));
    add_doubts(document, option);
    add_bill(document, option.bill);
    document.heading("Time and energy");
    document.table(figures_table(option, job));
  }
  return document;
}

Table bill_csv(const std::vector<PlanOption>& options) {
  Table table;
  for (const char* const id : {"section", "id", "offer", "usd", "p10_usd", "p50_usd", "p90_usd", "gpu_hours"}) {
    table.columns.push_back({id, id});
  }
  for (const PlanOption& option : options) {
    const std::string& offer = option.offer.id;
    for (const BillLine& line : option.bill.lines) add_csv_row(table, "line", line.id, offer, line.amount, 0);
    add_csv_row(table, "line", "total", offer, option.bill.total, option.bill.billed_gpu_hours);
    for (const WaterfallBar& bar : option.bill.waterfall) {
      add_csv_row(table, "waterfall", bar.id, offer, bar.amount, bar.gpu_hours);
    }
  }
  return table;
}

Json bill_answer_json(const std::vector<PlanOption>& options, const Job& job) {
  Json json = {{"format_version", "1.0"}, {"job", to_json(job)}};
  json.update(one_json(options.front()));
  if (options.size() < 2) return json;
  json["bills"] = Json::array();
  for (const PlanOption& option : options) json["bills"].push_back(one_json(option));
  return json;
}

std::vector<Formula> bill_formulas(const std::vector<PlanOption>& options) {
  std::vector<Formula> all;
  for (const PlanOption& option : options) {
    const auto add = [&](Formula formula) {
      if (formula.expression.empty()) return;
      if (options.size() > 1) formula.id = option.offer.id + ": " + formula.id;
      all.push_back(std::move(formula));
    };
    if (option.data) {
      for (const Formula& formula : option.data->formulas) add(formula);
    }
    for (const Formula& formula : option.run.formulas) add(formula);
    for (const BillLine& line : option.bill.lines) add(line.formula);
    for (const WaterfallBar& bar : option.bill.waterfall) add(bar.formula);
    for (const Formula& formula : option.bill.formulas) add(formula);
    add(option.effective_price);
  }
  return all;
}

}  // namespace tare
