#include "cli/plan_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/labels.h"
#include "cli/option_tables.h"
#include "workload/checkpoint_text.h"

namespace tare {
namespace {

// What it is ranked by, where no column has it, and what was chosen beside the split.
std::string ranked_by(const PlanOption& option, const std::string& objective) {
  std::vector<std::string> words;
  const auto known = [](const std::optional<double>& value, const char* unit) {
    return value ? fmt::format("{} {}", format_count(*value), unit) : std::string("energy unknown");
  };
  if (objective == "energy") words.push_back(known(option.bill.energy_kwh, "kWh"));
  if (objective == "carbon") words.push_back(known(option.bill.co2e_kg, "kg CO2e"));
  if (option.power_cap_ratio < 1) words.push_back(fmt::format("capped at {:.0f} %", option.power_cap_ratio * 100));
  return join(words, ", ");
}

std::string status_text(const PlanOption& option, const std::string& objective) {
  std::vector<std::string> words;
  if (option.chosen) words.emplace_back("CHOSEN ✔");
  if (std::string by = ranked_by(option, objective); !by.empty()) words.push_back(std::move(by));
  if (!option.run.finishes) {
    words.emplace_back("never ends");
  } else if (!option.meets_deadline) {
    words.emplace_back("too late");
  }
  if (!option.meets_budget) words.emplace_back("over budget");
  if (!option.offer.suspect.empty()) words.emplace_back("suspect price");
  return join(words, ", ");
}

std::string searched_text(const Plan& plan) {
  const auto count = [](long long value) { return format_count(static_cast<double>(value)); };
  // Of one width on fast and on busy machines, so that lines break at the same place.
  std::string text = fmt::format("{} configurations searched in {:.2f} s, {} of them ruled out by a bound",
                                 count(plan.configurations), plan.elapsed_s, count(plan.pruned));
  std::vector<std::string> infeasible;
  for (const auto& [reason, refused] : plan.infeasible)
    infeasible.push_back(fmt::format("{} {}", reason, count(refused)));
  return infeasible.empty() ? text : text + "; infeasible: " + join(infeasible, ", ");
}

// What holds for the table: how many of how many, and what its marks mean.
void add_notes(Document& document, const Plan& plan, std::size_t shown) {
  const std::size_t all = plan.options.size();
  document.text(fmt::format("Shown {} of {}", shown, all));
  if (plan.stale_prices > 0) {
    document.text(fmt::format("* price older than 180 days, or undated: {} of {}; check it before renting",
                              plan.stale_prices, all),
                  Tone::kWarning);
  }
  const bool assumed = std::any_of(plan.options.begin(), plan.options.end(),
                                   [](const PlanOption& option) { return option.fabric_assumed; });
  if (assumed) document.text("~ the network between its nodes is assumed (--assume-fabric)", Tone::kWarning);
}

// "P10 … P90: $2,900 … $3,400, 15.2 h … 17.9 h; meets the deadline in 96.0 % of the draws"
std::string chances_text(const PlanOption& option) {
  if (!option.uncertainty) return {};
  const DrawnBill& drawn = *option.uncertainty;
  std::string text =
      fmt::format("P10 … P90: {} … {}, {} … {}", dollars(drawn.total_usd.p10), dollars(drawn.total_usd.p90),
                  format_duration(drawn.wall_s.p10), format_duration(drawn.wall_s.p90));
  if (drawn.deadline_probability) {
    text += fmt::format("; meets the deadline in {} of the draws", percent(*drawn.deadline_probability));
  }
  if (drawn.budget_probability) text += fmt::format("; the budget in {}", percent(*drawn.budget_probability));
  return text;
}

void add_verdict(Document& document, const Plan& plan, const PlanView& view) {
  const PlanOption* option = leading_option(plan);
  if (option == nullptr || !option->chosen) {
    document.heading(option == nullptr ? "Nothing that was searched can run the job"
                                       : "Nothing meets the job's limits");
    if (!plan.closest.empty()) document.text("Closest is " + plan.closest, Tone::kWarning);
    if (option == nullptr) return;
  }
  document.heading((option->chosen ? "CHOSEN ✔ " : "Closest: ") + option->offer.id);
  document.text(describe(*option));
  if (!option->offer.suspect.empty()) document.text("Suspect price: " + option->offer.suspect, Tone::kWarning);
  if (!option->assumed.empty()) document.text("Assumed: " + join(option->assumed, "; "), Tone::kFaint);
  if (option->chosen && view.fail_over_usd && option->bill.total.usd > *view.fail_over_usd) {
    document.text(fmt::format("Over the gate: {} is more than --fail-over {}", format_usd(option->bill.total.usd, 2),
                              format_usd(*view.fail_over_usd, 2)),
                  Tone::kBad);
  }
  if (const std::string chances = chances_text(*option); !chances.empty()) document.text(chances);
  add_bill(document, option->bill);
}

void add_refusals(Document& document, const Plan& plan, bool every) {
  if (plan.refused.empty()) return;
  document.heading(fmt::format("Refused: {}", plan.refused.size()));
  document.table(refusal_groups_table(plan));
  if (!every) return;
  document.heading("Every refusal");
  document.table(refusals_table(plan));
}

std::vector<Column> options_columns(const Job& job) {
  const Align right = Align::kRight;
  const std::string wall = job.deadline_s ? "wall\n≤ " + format_duration(*job.deadline_s) : "wall";
  const std::string total = job.budget_usd ? "total\n≤ " + format_usd(*job.budget_usd) : "total";
  std::vector<Column> columns = {
      {"rank", "#", right},
      {"offer", "offer", Align::kLeft, Importance::kEssential, 26},
      {"gpu", "GPU", Align::kLeft, Importance::kUseful},
      {"gpus", "GPUs", right},
      {"parallelism", "parallelism", Align::kLeft, Importance::kExtra},
      {"step_time_s", "step", right, Importance::kImportant},
      {"mfu_ratio", "MFU", right, Importance::kImportant},
      {"tokens_per_s", "tokens/s", right, Importance::kUseful},
      {"wall_s", wall, right},
      {"gpu_hours", "GPU-hours", right, Importance::kExtra},
      {"total_usd", total, right},
      {"usd_per_million_tokens", "$/M tokens", right, Importance::kUseful},
      {"price_usd_per_gpu_h", "$/GPU-h", right, Importance::kImportant},
      {"price_date", "price of", Align::kLeft, Importance::kImportant},
      {"status", "", Align::kLeft, Importance::kEssential, 0, Audience::kPeople},
  };
  for (const char* id : {"chosen",
                         "provider",
                         "purchase",
                         "nodes",
                         "tp",
                         "pp",
                         "vpp",
                         "cp",
                         "ep",
                         "dp",
                         "zero_stage",
                         "micro_batch",
                         "recompute",
                         "sequence_parallel",
                         "hfu_ratio",
                         "memory_bytes",
                         "capacity_bytes",
                         "price_stale",
                         "meets_deadline",
                         "meets_budget",
                         "total_p10_usd",
                         "total_p50_usd",
                         "total_p90_usd",
                         "energy_kwh",
                         "co2e_kg",
                         "power_cap_ratio",
                         "checkpoint_every"}) {
    columns.push_back({id, "", Align::kLeft, Importance::kExtra, 0, Audience::kPrograms});
  }
  return columns;
}

Cell whole(double value) { return number_cell("", value); }
Cell maybe(const std::optional<double>& value) { return value ? whole(*value) : Cell("", ""); }
Cell truth(bool value) { return {"", value ? "true" : "false"}; }

// The digits of fresh prices stand under those of stale ones, which have a star behind them.
Cell price_cell(const PlanOption& option) {
  return {price_text(option) + (option.stale ? "" : " "),
          option.price_usd_per_gpu_h > 0 ? exact_number(option.price_usd_per_gpu_h) : "",
          option.stale ? Tone::kWarning : Tone::kPlain};
}

Row option_row(const PlanOption& option, const std::string& objective) {
  const Step& step = option.step;
  const Parallelism& p = option.parallelism;
  const std::string mark = option.fabric_assumed ? "~" : "";
  const Tone late = option.meets_deadline ? Tone::kPlain : Tone::kBad;
  const Tone dear = option.meets_budget ? Tone::kPlain : Tone::kBad;
  Row row;
  row.tone = option.chosen ? Tone::kGood : Tone::kPlain;
  row.cells = {
      number_cell(std::to_string(option.rank), option.rank),
      {option.offer.id + mark, option.offer.id},
      option.gpu,
      number_cell(size_text(option), option.gpus),
      to_text(p),
      number_cell(format_duration(step.step_time_s), step.step_time_s),
      number_cell(percent(step.mfu_ratio), step.mfu_ratio),
      number_cell(format_si(step.tokens_per_s), step.tokens_per_s),
      number_cell(wall_text(option.run), option.run.wall_s, late),
      number_cell(option.run.finishes ? format_count(option.run.gpu_hours) : "unknown", option.run.gpu_hours),
      number_cell(dollars(option.bill.total.usd), option.bill.total.usd, dear),
      number_cell(rate_text(option.bill.usd_per_million_tokens), option.bill.usd_per_million_tokens),
      price_cell(option),
      option.price_date,
      {status_text(option, objective), "", option.chosen ? Tone::kGood : Tone::kBad},
  };
  row.cells.insert(row.cells.end(), {truth(option.chosen),
                                     option.offer.provider,
                                     std::string(name_of(option.offer.purchase)),
                                     whole(option.nodes),
                                     whole(p.tp),
                                     whole(p.pp),
                                     whole(p.vpp),
                                     whole(p.cp),
                                     whole(p.ep),
                                     whole(p.dp),
                                     whole(p.zero_stage),
                                     whole(p.micro_batch),
                                     std::string(name_of(p.recompute)),
                                     truth(p.sequence_parallel),
                                     whole(step.hfu_ratio),
                                     whole(step.memory.total_bytes),
                                     whole(option.capacity_bytes),
                                     truth(option.stale),
                                     truth(option.meets_deadline),
                                     truth(option.meets_budget),
                                     maybe(option.bill.total.p10),
                                     maybe(option.bill.total.p50),
                                     maybe(option.bill.total.p90),
                                     maybe(option.bill.energy_kwh),
                                     maybe(option.bill.co2e_kg),
                                     whole(option.power_cap_ratio),
                                     to_text(option.checkpoint)});
  return row;
}

struct RefusalGroup {
  std::string reason;
  int count = 0;
  const Refusal* example = nullptr;
};

std::vector<RefusalGroup> group(const std::vector<Refusal>& refusals) {
  std::vector<RefusalGroup> groups;
  for (const Refusal& refusal : refusals) {
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const RefusalGroup& g) { return g.reason == refusal.reason; });
    if (found == groups.end()) found = groups.insert(groups.end(), {refusal.reason, 0, &refusal});
    ++found->count;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const RefusalGroup& a, const RefusalGroup& b) { return a.count > b.count; });
  return groups;
}

}  // namespace

const PlanOption* leading_option(const Plan& plan) {
  for (const PlanOption& option : plan.options) {
    if (option.chosen) return &option;
  }
  if (plan.options.empty()) return nullptr;
  return &plan.options[plan.closest_rank > 0 ? static_cast<std::size_t>(plan.closest_rank - 1) : 0];
}

std::string describe(const Job& job) {
  std::string text = fmt::format("{}: {} tokens of {}, {}, {}, {} × {} tokens a step", job.name,
                                 amount_text(job.tokens), job.model.id, name_of(job.method), name_of(job.precision),
                                 format_count(job.global_batch), format_count(job.sequence_length));
  if (job.deadline_s) text += fmt::format(", deadline {}", format_duration(*job.deadline_s));
  if (job.budget_usd) text += fmt::format(", budget {}", format_usd(*job.budget_usd));
  return text;
}

Table options_table(const Plan& plan, int top) {
  Table table;
  table.columns = options_columns(plan.job);
  for (const PlanOption& option : plan.options) {
    const bool beyond = top > 0 && table.rows.size() >= static_cast<std::size_t>(top);
    if (beyond && !option.chosen) continue;  // the chosen one may stand behind many that are too late
    table.rows.push_back(option_row(option, plan.objective));
  }
  return table;
}

Table refusal_groups_table(const Plan& plan) {
  Table table;
  table.columns = {{"reason", "reason"},
                   {"count", "count", Align::kRight},
                   {"meaning", "which means", Align::kLeft, Importance::kExtra, 20},
                   {"offer", "for example", Align::kLeft, Importance::kImportant, 20},
                   {"needed", "needed", Align::kLeft, Importance::kImportant, 14},
                   {"had", "had", Align::kLeft, Importance::kImportant, 10},
                   {"nearest", "nearest change", Align::kLeft, Importance::kEssential, 20}};
  for (const RefusalGroup& g : group(plan.refused)) {
    table.rows.push_back({{{g.reason, g.reason, Tone::kStrong},
                           number_cell(std::to_string(g.count), g.count),
                           std::string(meaning_of_refusal(g.reason)),
                           fmt::format("{} on {}", g.example->offer, g.example->gpus),
                           g.example->needed,
                           g.example->had,
                           g.example->nearest}});
  }
  return table;
}

Table refusals_table(const Plan& plan) {
  Table table;
  table.columns = {{"offer", "offer", Align::kLeft, Importance::kEssential, 26},
                   {"gpus", "GPUs", Align::kRight},
                   {"reason", "reason"},
                   {"needed", "needed", Align::kLeft, Importance::kEssential, 14},
                   {"had", "had", Align::kLeft, Importance::kEssential, 10},
                   {"nearest", "nearest change", Align::kLeft, Importance::kImportant, 20}};
  for (const Refusal& refusal : plan.refused) {
    table.rows.push_back({{refusal.offer, number_cell(std::to_string(refusal.gpus), refusal.gpus), refusal.reason,
                           refusal.needed, refusal.had, refusal.nearest}});
  }
  return table;
}

Document plan_document(const Plan& plan, const PlanView& view) {
  Document document;
  document.text(describe(plan.job), Tone::kStrong);
  if (!plan.options.empty()) {
    document.text("");
    Table options = options_table(plan, view.top);
    const std::size_t shown = options.rows.size();
    document.table(std::move(options));
    add_notes(document, plan, shown);
  }
  add_verdict(document, plan, view);
  add_refusals(document, plan, view.every_refusal);
  document.text("");
  document.text(searched_text(plan), Tone::kFaint);
  return document;
}

}  // namespace tare
