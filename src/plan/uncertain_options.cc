#include "plan/uncertain_options.h"

#include <fmt/format.h>

namespace tare {

BillToDraw to_draw(const PlanOption& option, const Job& job) {
  BillToDraw drawn;
  drawn.name = option.offer.id;
  drawn.bill = &option.bill;
  drawn.run = &option.run;
  drawn.stack = option.stack;
  drawn.generation = option.generation;
  drawn.configuration = fmt::format("{} {} {}", option.gpu, option.gpus, to_text(option.parallelism));
  drawn.deadline_s = job.deadline_s;
  drawn.budget_usd = job.budget_usd;
  return drawn;
}

Result<Uncertainty> draw_options(std::vector<PlanOption>& options, const PlanRequest& request, const Catalog& catalog) {
  std::vector<BillToDraw> bills;
  std::vector<PlanOption*> drawn;
  for (PlanOption& option : options) {
    if (!is_known(option.bill)) continue;
    bills.push_back(to_draw(option, request.job));
    drawn.push_back(&option);
  }
  if (bills.empty() || request.draws <= 0) return Uncertainty{};
  DrawOptions draw;
  draw.draws = request.draws;
  draw.seed = request.seed;
  draw.threads = request.threads;
  Result<Uncertainty> result = draw_bills(bills, catalog, draw);
  if (!result) return result;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    PlanOption& option = *drawn[i];
    option.uncertainty = result->bills[i];
    add_uncertainty(option.bill, *option.uncertainty);
    if (!request.confidence) continue;
    option.meets_deadline = option.uncertainty->deadline_probability.value_or(1) >= *request.confidence;
    option.meets_budget = option.uncertainty->budget_probability.value_or(1) >= *request.confidence;
  }
  return result;
}

}  // namespace tare
