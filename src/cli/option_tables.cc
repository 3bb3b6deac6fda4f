#include "cli/option_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/labels.h"
#include "perf/step_json.h"

namespace tare {
namespace {

constexpr double kWholeDollarsFrom = 100;  // above, cents are noise in a table of options

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

Column text_column(std::string id, std::string title) { return {std::move(id), std::move(title)}; }

Column number_column(std::string id, std::string title, Importance importance = Importance::kEssential) {
  return {std::move(id), std::move(title), Align::kRight, importance};
}

Column bar_column() {
  Column column{"", "", Align::kLeft, Importance::kUseful};
  column.is_bar = true;
  return column;
}

Row pair_row(std::string label, std::string value, std::string note = {}) {
  return {{Cell(std::move(label)), Cell(std::move(value)), Cell(std::move(note))}};
}

bool is_drawn(const Bill& bill) { return bill.total.p10 && bill.total.p90; }

// P10 … P90 of an amount that was drawn, else its first-order range.
std::string range_text(const Amount& amount) {
  if (amount.p10 && amount.p90) return fmt::format("{} … {}", dollars(*amount.p10), dollars(*amount.p90));
  if (!amount.low_usd || !amount.high_usd) return {};
  return fmt::format("{} … {}", dollars(*amount.low_usd), dollars(*amount.high_usd));
}

}  // namespace

std::string percent(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string amount_text(double count) {
  std::string text = format_si(count);
  if (text.ends_with('G')) text.back() = 'B';
  return text;
}

std::string flops_text(double flops_per_s) {
  std::string text = format_si(flops_per_s);
  const std::size_t prefix = text.find_first_not_of("0123456789.");
  text.insert(prefix == std::string::npos ? text.size() : prefix, 1, ' ');
  return text + "FLOP/s";
}

std::string wall_text(const Run& run) { return run.finishes ? format_duration(run.wall_s) : "never"; }

std::string dollars(double usd) {
  if (!std::isfinite(usd)) return "unknown";
  if (usd == 0) return "$0";
  return format_usd(usd, std::fabs(usd) < kWholeDollarsFrom ? 2 : 0);
}

std::string rate_text(double usd) {
  if (!std::isfinite(usd)) return "unknown";
  const double magnitude = std::fabs(usd);
  int decimals = 2;
  for (double bound = 1; bound > 1e-6 && magnitude < bound && magnitude > 0; bound /= 10) ++decimals;
  return format_usd(usd, magnitude >= kWholeDollarsFrom ? 0 : decimals);
}

std::string size_text(const PlanOption& option) {
  if (option.nodes <= 1) return fmt::format("{}", option.gpus);
  return fmt::format("{} ({}×{})", option.gpus, option.nodes, option.node_type.gpus);
}

std::string price_text(const PlanOption& option) {
  const std::string text = option.price_usd_per_gpu_h > 0 ? rate_text(option.price_usd_per_gpu_h) : "unknown";
  return option.stale ? text + '*' : text;
}

std::string describe(const PlanOption& option) {
  const std::string nodes = option.nodes == 1 ? "1 node" : fmt::format("{} nodes", option.nodes);
  std::string text =
      fmt::format("{} × {} ({}), {}, {} of {}", option.gpus, option.gpu, nodes, to_text(option.parallelism),
                  format_gib(option.step.memory.total_bytes), format_gib(option.capacity_bytes));
  text += fmt::format(", {} per GPU-hour", price_text(option));
  return option.price_date.empty() ? text : text + " of " + option.price_date;
}

Table step_table(const Step& step) {
  Table table;
  table.columns = {text_column("part", "part of a step"), number_column("seconds", "time"),
                   number_column("share_ratio", "share"), bar_column()};
  double before = 0;
  for (const auto& [id, seconds] : named_parts(step.parts)) {
    if (seconds == 0) continue;
    const double ratio = share(seconds, step.step_time_s);
    table.rows.push_back({{{label_of(id), std::string(id)},
                           number_cell(format_duration(seconds), seconds),
                           number_cell(percent(ratio), ratio),
                           bar_cell(before, ratio, id == "compute_s" ? Tone::kGood : Tone::kAccent)}});
    before += ratio;
  }
  table.rows.push_back({{{"step", "step_time_s"},
                         number_cell(format_duration(step.step_time_s), step.step_time_s),
                         number_cell(percent(1), 1)},
                        RowKind::kTotal});
  return table;
}

Table memory_table(const Memory& memory, double capacity_bytes) {
  Table table;
  table.columns = {text_column("part", "memory of the fullest GPU"), number_column("bytes", "size"),
                   number_column("share_ratio", "of the GPU"), bar_column()};
  double before = 0;
  for (const auto& [id, bytes] : named_parts(memory)) {
    if (bytes == 0) continue;
    const double ratio = share(bytes, capacity_bytes);
    table.rows.push_back({{{label_of(id), std::string(id)},
                           number_cell(format_gib(bytes), bytes),
                           number_cell(percent(ratio), ratio),
                           bar_cell(before, ratio, Tone::kAccent)}});
    before += ratio;
  }
  const double ratio = share(memory.total_bytes, capacity_bytes);
  table.rows.push_back({{{"all", "total_bytes"},
                         number_cell(format_gib(memory.total_bytes), memory.total_bytes),
                         number_cell(percent(ratio), ratio)},
                        RowKind::kTotal});
  table.rows.push_back({{{"capacity", "capacity_bytes"}, number_cell(format_gib(capacity_bytes), capacity_bytes)}});
  if (memory.host_bytes > 0) {
    table.rows.push_back(
        {{{"in host memory", "host_bytes"}, number_cell(format_gib(memory.host_bytes), memory.host_bytes)}});
  }
  return table;
}

Table run_table(const PlanOption& option, const Job& job) {
  const Run& run = option.run;
  Table table;
  table.columns = {text_column("", ""), {"", "", Align::kRight}, text_column("", "")};
  auto& rows = table.rows;
  rows.push_back(pair_row("steps", format_count(run.steps), format_duration(option.step.step_time_s) + " each"));
  rows.push_back(pair_row("productive", format_duration(run.productive_s)));
  rows.push_back(pair_row("start-up", format_duration(run.startup_s)));
  rows.push_back(pair_row("checkpoint stalls", format_duration(run.checkpoint_stall_s),
                          fmt::format("{} checkpoints of {}, every {}", format_count(run.checkpoints),
                                      format_bytes(run.checkpoint_bytes), format_duration(run.checkpoint_interval_s))));
  rows.push_back(pair_row("failures", run.finishes ? format_duration(run.failure_lost_s) : "unknown",
                          fmt::format("{:.2g} expected, one every {}", run.failures, format_duration(run.mtti_s))));
  std::string limit;
  if (job.deadline_s) {
    limit = fmt::format("deadline {}: {}", format_duration(*job.deadline_s), option.meets_deadline ? "met" : "missed");
  }
  Row wall = pair_row("wall-clock", wall_text(run), limit);
  wall.kind = RowKind::kTotal;
  rows.push_back(std::move(wall));
  rows.push_back(pair_row("GPU-hours", run.finishes ? format_count(run.gpu_hours) : "unknown",
                          percent(run.goodput_ratio) + " of the wall-clock advances the model"));
  rows.push_back(pair_row("MFU", percent(option.step.mfu_ratio),
                          fmt::format("of {}, {}; HFU {}", flops_text(option.step.peak_flops),
                                      name_of(option.step.peak_precision), percent(option.step.hfu_ratio))));
  rows.push_back(pair_row("tokens/s", format_count(option.step.tokens_per_s),
                          format_count(option.step.tokens_per_s_per_gpu) + " per GPU"));
  if (run.it_energy_j > 0) {
    rows.push_back(pair_row("energy", fmt::format("{} kWh", format_count(run.it_energy_j / 3.6e6)), "IT side"));
  }
  return table;
}

Table bill_table(const Bill& bill) {
  bool has_range = bill.total.low_usd && bill.total.high_usd;
  for (const BillLine& line : bill.lines) has_range = has_range || (line.amount.low_usd && line.amount.high_usd);
  Table table;
  table.columns = {text_column("line", "line of the bill"), number_column("usd", "amount"),
                   number_column("share_ratio", "share")};
  if (has_range)
    table.columns.push_back(number_column("", is_drawn(bill) ? "P10 … P90" : "low … high", Importance::kUseful));
  for (const BillLine& line : bill.lines) {
    const double ratio = share(line.amount.usd, bill.total.usd);
    table.rows.push_back({{{label_of(line.id), line.id},
                           number_cell(format_usd(line.amount.usd, 2), line.amount.usd),
                           number_cell(percent(ratio), ratio),
                           range_text(line.amount)}});
  }
  table.rows.push_back({{{"total", "total"},
                         number_cell(format_usd(bill.total.usd, 2), bill.total.usd),
                         number_cell(percent(1), 1),
                         range_text(bill.total)},
                        RowKind::kTotal});
  return table;
}

Table waterfall_table(const Bill& bill) {
  Table table;
  table.columns = {text_column("bar", "where the money goes"), number_column("gpu_hours", "GPU-hours"),
                   number_column("usd", "amount"), number_column("share_ratio", "share"), bar_column()};
  if (is_drawn(bill)) table.columns.push_back(number_column("", "P10 … P90", Importance::kExtra));
  double before = 0;
  double hours = 0;
  for (const WaterfallBar& bar : bill.waterfall) {
    if (bar.amount.usd == 0 && bar.gpu_hours == 0) continue;
    const double ratio = share(bar.amount.usd, bill.total.usd);
    const bool useful = bar.id == "useful";
    Cell gpu_hours = bar.gpu_hours > 0 ? number_cell(format_count(bar.gpu_hours), bar.gpu_hours) : Cell("", "");
    table.rows.push_back({{{label_of(bar.id), bar.id},
                           std::move(gpu_hours),
                           number_cell(format_usd(bar.amount.usd, 2), bar.amount.usd),
                           number_cell(percent(ratio), ratio),
                           bar_cell(before, ratio, useful ? Tone::kGood : Tone::kAccent),
                           range_text(bar.amount)}});
    before += ratio;
    hours += bar.gpu_hours;
  }
  table.rows.push_back({{{"total", "total"},
                         number_cell(format_count(hours), hours),
                         number_cell(format_usd(bill.total.usd, 2), bill.total.usd),
                         number_cell(percent(1), 1)},
                        RowKind::kTotal});
  return table;
}

void add_doubts(Document& document, const PlanOption& option) {
  if (!option.offer.suspect.empty()) document.text("Suspect price: " + option.offer.suspect, Tone::kWarning);
  if (option.stale) document.text("* price older than 180 days, or undated: check it before renting", Tone::kWarning);
  if (option.fabric_assumed) {
    document.text("The network between its nodes is assumed (--assume-fabric)", Tone::kWarning);
  }
}

void add_bill(Document& document, const Bill& bill) {
  if (is_known(bill)) {
    document.heading(fmt::format("Bill: {}, {} per million tokens", format_usd(bill.total.usd, 2),
                                 rate_text(bill.usd_per_million_tokens)));
    document.table(bill_table(bill));
    if (is_drawn(bill)) {
      document.text("Amounts stand at the base of every input; most ranges lean upward, so a P10 can lie above one.",
                    Tone::kFaint);
    }
    if (!bill.waterfall.empty()) {
      document.heading("The same money by cause");
      document.table(waterfall_table(bill));
    }
  } else {
    document.heading("Bill: unknown");
  }
  for (const std::string& reason : bill.unknown) document.text("Unknown: " + reason, Tone::kWarning);
}

BarChart waterfall_chart(const PlanOption& option) {
  BarChart chart;
  chart.title = fmt::format("{}: {}", option.offer.id, format_usd(option.bill.total.usd, 2));
  chart.waterfall = true;
  chart.total_text = format_usd(option.bill.total.usd, 2);
  for (const WaterfallBar& bar : option.bill.waterfall) {
    if (bar.amount.usd == 0) continue;
    chart.bars.push_back({label_of(bar.id), bar.amount.usd, format_usd(bar.amount.usd, 2), bar.id == "useful"});
  }
  return chart;
}

}  // namespace tare
