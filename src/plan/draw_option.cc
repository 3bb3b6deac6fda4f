#include "plan/draw_option.h"

#include <fmt/format.h>

namespace tare {

BillToDraw bill_to_draw(const PlanOption& option, const Job& job, const Catalog& catalog) {
  BillToDraw draw;
  draw.name = option.offer.id;
  draw.bill = &option.bill;
  draw.run = &option.run;
  draw.stack = job.stack.empty() ? "generic" : job.stack;
  if (const Accelerator* const accelerator = find_accelerator(catalog, option.gpu)) {
    draw.generation = name_of(accelerator->generation);
  }
  draw.configuration = fmt::format("{} {} {}", option.node_type.id, option.gpus, to_text(option.parallelism));
  draw.deadline_s = job.deadline_s;
  draw.budget_usd = job.budget_usd;
  return draw;
}

}  // namespace tare
