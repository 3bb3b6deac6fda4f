#include "cli/estimate_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/option_tables.h"
#include "cli/plan_view.h"
#include "perf/step_json.h"

namespace tare {
namespace {

class Rows {
 public:
  explicit Rows(Table& table) : table_(table) {}

  void add(std::string_view section, std::string_view id, double value, std::string_view unit) {
    table_.rows.push_back({{std::string(section), std::string(id), number_cell("", value), std::string(unit)}});
  }

 private:
  Table& table_;
};

void add_parallelism(Rows& rows, const Parallelism& p) {
  const std::pair<const char*, int> sizes[] = {{"tp", p.tp},
                                               {"pp", p.pp},
                                               {"vpp", p.vpp},
                                               {"cp", p.cp},
                                               {"ep", p.ep},
                                               {"dp", p.dp},
                                               {"zero_stage", p.zero_stage},
                                               {"micro_batch", p.micro_batch}};
  for (const auto& [id, value] : sizes) rows.add("parallelism", id, value, "1");
}

void add_run(Rows& rows, const Run& run) {
  rows.add("run", "steps", run.steps, "1");
  rows.add("run", "productive_s", run.productive_s, "s");
  rows.add("run", "startup_s", run.startup_s, "s");
  rows.add("run", "checkpoint_stall_s", run.checkpoint_stall_s, "s");
  rows.add("run", "failure_lost_s", run.failure_lost_s, "s");
  rows.add("run", "wall_s", run.wall_s, "s");
  rows.add("run", "gpu_hours", run.gpu_hours, "GPU-h");
  rows.add("run", "goodput_ratio", run.goodput_ratio, "1");
}

}  // namespace

Document estimate_document(const PlanOption& option, const Job& job) {
  Document document;
  document.text(describe(job), Tone::kStrong);
  document.heading(option.offer.id);
  document.text(describe(option));
  add_doubts(document, option);
  document.heading("Step");
  document.table(step_table(option.step));
  document.heading("Memory");
  document.table(memory_table(option.step.memory, option.capacity_bytes));
  document.heading("Run");
  document.table(run_table(option, job));
  add_bill(document, option.bill);
  if (!option.assumed.empty()) {
    document.heading("Assumed");
    document.text(join(option.assumed, "\n"), Tone::kFaint);
  }
  return document;
}

Table estimate_table(const PlanOption& option) {
  Table table;
  table.columns = {{"section", ""}, {"id", ""}, {"value", ""}, {"unit", ""}};
  Rows rows(table);
  rows.add("cluster", "gpus", option.gpus, "1");
  rows.add("cluster", "nodes", option.nodes, "1");
  rows.add("cluster", "price_usd_per_gpu_h", option.price_usd_per_gpu_h, "USD/GPU-h");
  add_parallelism(rows, option.parallelism);
  for (const auto& [id, seconds] : named_parts(option.step.parts)) rows.add("step", id, seconds, "s");
  rows.add("step", "step_time_s", option.step.step_time_s, "s");
  rows.add("step", "tokens_per_s", option.step.tokens_per_s, "1/s");
  rows.add("step", "tokens_per_s_per_gpu", option.step.tokens_per_s_per_gpu, "1/s");
  rows.add("step", "mfu_ratio", option.step.mfu_ratio, "1");
  rows.add("step", "hfu_ratio", option.step.hfu_ratio, "1");
  for (const auto& [id, bytes] : named_parts(option.step.memory)) rows.add("memory", id, bytes, "bytes");
  rows.add("memory", "total_bytes", option.step.memory.total_bytes, "bytes");
  rows.add("memory", "capacity_bytes", option.capacity_bytes, "bytes");
  add_run(rows, option.run);
  for (const BillLine& line : option.bill.lines) rows.add("bill", line.id, line.amount.usd, "USD");
  rows.add("bill", "total", option.bill.total.usd, "USD");
  rows.add("bill", "usd_per_million_tokens", option.bill.usd_per_million_tokens, "USD");
  for (const WaterfallBar& bar : option.bill.waterfall) {
    rows.add("waterfall", bar.id, bar.amount.usd, "USD");
    if (bar.gpu_hours > 0) rows.add("waterfall_gpu_hours", bar.id, bar.gpu_hours, "GPU-h");
  }
  return table;
}

}  // namespace tare
