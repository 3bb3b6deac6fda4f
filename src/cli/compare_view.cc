#include "cli/compare_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/json.h"
#include "base/quantity.h"
#include "cli/labels.h"
#include "cli/option_tables.h"
#include "cli/plan_view.h"
#include "cost/break_even.h"
#include "perf/step_json.h"
#include "plan/plan_json.h"
#include "report/svg.h"
#include "workload/job_json.h"

namespace tare {
namespace {

enum class Unit { kSeconds, kBytes, kRatio, kCount, kUsd };

// One number of every option.
struct Measure {
  std::string section;  // "step", "memory", "run", "bill", "waterfall"
  std::string id;
  Unit unit = Unit::kCount;
  bool more_is_better = false;
  bool is_total = false;
  std::vector<double> values;
};

std::string show(Unit unit, double value) {
  if (!std::isfinite(value)) return "unknown";
  switch (unit) {
    case Unit::kSeconds:
      return format_duration(value);
    case Unit::kBytes:
      return format_gib(value);
    case Unit::kRatio:
      return percent(value);
    case Unit::kCount:
      return format_count(value);
    case Unit::kUsd:
      return dollars(value);
  }
  return {};
}

// Numbers that each option has under an id of its own (lines, bars): the ids of all, in the order they first stand in.
template <typename List, typename Value>
void add_listed(std::vector<Measure>& measures, const std::string& section, const std::vector<PlanOption>& options,
                const List& list_of, const Value& value_of) {
  const std::size_t first = measures.size();
  for (std::size_t o = 0; o < options.size(); ++o) {
    for (const auto& item : list_of(options[o])) {
      auto found = std::find_if(measures.begin() + static_cast<std::ptrdiff_t>(first), measures.end(),
                                [&](const Measure& measure) { return measure.id == item.id; });
      if (found == measures.end()) {
        Measure measure{section, item.id, Unit::kUsd, false, false, std::vector<double>(options.size(), 0.0)};
        found = measures.insert(measures.end(), std::move(measure));
      }
      found->values[o] += value_of(item);
    }
  }
}

template <typename Value>
void add_one(std::vector<Measure>& measures, const std::vector<PlanOption>& options, Measure measure,
             const Value& value_of) {
  for (const PlanOption& option : options) measure.values.push_back(value_of(option));
  measures.push_back(std::move(measure));
}

void add_step(std::vector<Measure>& measures, const std::vector<PlanOption>& options) {
  for (std::size_t part = 0; part < kStepPartCount; ++part) {
    const std::string id(named_parts(options.front().step.parts)[part].first);
    add_one(measures, options, {"step", id, Unit::kSeconds, false, false, {}},
            [&](const PlanOption& option) { return named_parts(option.step.parts)[part].second; });
  }
  add_one(measures, options, {"step", "step_time_s", Unit::kSeconds, false, true, {}},
          [](const PlanOption& option) { return option.step.step_time_s; });
  add_one(measures, options, {"step", "mfu_ratio", Unit::kRatio, true, false, {}},
          [](const PlanOption& option) { return option.step.mfu_ratio; });
  add_one(measures, options, {"step", "tokens_per_s", Unit::kCount, true, false, {}},
          [](const PlanOption& option) { return option.step.tokens_per_s; });
  add_one(measures, options, {"step", "memory_bytes", Unit::kBytes, false, false, {}},
          [](const PlanOption& option) { return option.step.memory.total_bytes; });
}

void add_run(std::vector<Measure>& measures, const std::vector<PlanOption>& options) {
  const std::pair<const char*, double Run::*> fields[] = {{"productive_s", &Run::productive_s},
                                                          {"startup_s", &Run::startup_s},
                                                          {"checkpoint_stall_s", &Run::checkpoint_stall_s},
                                                          {"failure_lost_s", &Run::failure_lost_s}};
  for (const auto& [id, field] : fields) {
    add_one(measures, options, {"run", id, Unit::kSeconds, false, false, {}},
            [member = field](const PlanOption& option) { return option.run.*member; });
  }
  add_one(measures, options, {"run", "wall_s", Unit::kSeconds, false, true, {}},
          [](const PlanOption& option) { return option.run.wall_s; });
  add_one(measures, options, {"run", "gpu_hours", Unit::kCount, false, false, {}},
          [](const PlanOption& option) { return option.run.gpu_hours; });
}

// A bill that is not known has no lines: unknown is not zero.
void mark_unknown(std::vector<Measure>& measures, const std::vector<PlanOption>& options) {
  for (Measure& measure : measures) {
    if (measure.section != "bill" && measure.section != "waterfall") continue;
    for (std::size_t o = 0; o < options.size(); ++o) {
      if (!is_known(options[o].bill)) measure.values[o] = std::numeric_limits<double>::infinity();
    }
  }
}

std::vector<Measure> measures_of(const std::vector<PlanOption>& options) {
  std::vector<Measure> measures;
  add_step(measures, options);
  add_run(measures, options);
  add_listed(
      measures, "bill", options, [](const PlanOption& option) -> const auto& { return option.bill.lines; },
      [](const BillLine& line) { return line.amount.usd; });
  add_one(measures, options, {"bill", "total", Unit::kUsd, false, true, {}},
          [](const PlanOption& option) { return option.bill.total.usd; });
  add_listed(
      measures, "waterfall", options, [](const PlanOption& option) -> const auto& { return option.bill.waterfall; },
      [](const WaterfallBar& bar) { return bar.amount.usd; });
  add_one(measures, options, {"waterfall", "total", Unit::kUsd, false, true, {}},
          [](const PlanOption& option) { return option.bill.total.usd; });
  mark_unknown(measures, options);
  return measures;
}

std::string title_of_section(const std::string& section) {
  if (section == "step") return "Step";
  if (section == "run") return "Run";
  return section == "bill" ? "Bill" : "The same money by cause";
}

std::string label_of_measure(const std::string& id) {
  if (id == "step_time_s") return "step";
  if (id == "mfu_ratio") return "MFU";
  if (id == "tokens_per_s") return "tokens/s";
  if (id == "memory_bytes") return "memory of the fullest GPU";
  if (id == "productive_s") return "productive";
  if (id == "startup_s") return "start-up";
  if (id == "checkpoint_stall_s") return "checkpoint stalls";
  if (id == "failure_lost_s") return "failures and restarts";
  if (id == "wall_s") return "wall-clock";
  if (id == "gpu_hours") return "GPU-hours";
  return label_of(id);
}

Cell difference_cell(const Measure& measure, std::size_t option) {
  const double from = measure.values.front();
  const double to = measure.values[option];
  std::string text = difference_text(from, to, [&](double value) { return show(measure.unit, value); });
  if (measure.unit == Unit::kRatio && text != "=") {
    // The difference of two percentages is in points of a percent.
    text = fmt::format("{}{:.1f} points ({} → {})", to > from ? "+" : "−", std::fabs(to - from) * 100,
                       show(measure.unit, from), show(measure.unit, to));
  }
  Tone tone = Tone::kFaint;
  if (text != "=" && std::isfinite(from) && std::isfinite(to)) {
    tone = (to > from) == measure.more_is_better ? Tone::kGood : Tone::kBad;
  }
  return {text, exact_number(to - from), tone};
}

bool is_all_zero(const Measure& measure) {
  return std::all_of(measure.values.begin(), measure.values.end(), [](double value) { return value == 0; });
}

// How the rows begin: what each choice is.
void add_identity(Table& table, const std::vector<PlanOption>& options) {
  const auto add = [&](const char* label, const auto& text_of) {
    Row row;
    row.cells.emplace_back(label);
    for (const PlanOption& option : options) row.cells.emplace_back(text_of(option));
    table.rows.push_back(std::move(row));
  };
  add("GPU", [](const PlanOption& option) { return option.gpu; });
  add("GPUs", [](const PlanOption& option) { return size_text(option); });
  add("parallelism", [](const PlanOption& option) { return to_text(option.parallelism); });
  add("$/GPU-h", [](const PlanOption& option) { return price_text(option); });
  add("price of", [](const PlanOption& option) { return option.price_date; });
}

Table side_by_side(const std::vector<PlanOption>& options, const std::vector<Measure>& measures) {
  Table table;
  table.columns.push_back({"what", ""});
  for (const PlanOption& option : options) {
    table.columns.push_back({"", option.offer.id, Align::kRight, Importance::kEssential, 22});
  }
  add_identity(table, options);
  std::string section;
  for (const Measure& measure : measures) {
    if (is_all_zero(measure)) continue;
    if (measure.section != section)
      table.rows.push_back({{Cell(title_of_section(measure.section))}, RowKind::kSection});
    section = measure.section;
    Row row;
    row.kind = measure.is_total ? RowKind::kTotal : RowKind::kPlain;
    row.cells = {label_of_measure(measure.id), show(measure.unit, measure.values.front())};
    for (std::size_t o = 1; o < options.size(); ++o) row.cells.push_back(difference_cell(measure, o));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json item_json(const Measure& measure, std::size_t option) {
  const double from = measure.values.front();
  const double to = measure.values[option];
  Json json = {{"id", measure.id}};
  const auto put = [&](const char* key, double value) {
    if (measure.unit == Unit::kUsd) {
      json[key] = {{"usd", finite_or_null(value)}};
    } else {
      json[key] = finite_or_null(value);
    }
  };
  put("from", from);
  put("to", to);
  put("difference", to - from);
  return json;
}

Json difference_json(const std::vector<PlanOption>& options, const std::vector<Measure>& measures, std::size_t option) {
  Json step = Json::array(), run = Json::array(), lines = Json::array(), waterfall = Json::array(), total;
  for (const Measure& measure : measures) {
    Json item = item_json(measure, option);
    if (measure.section == "step") {
      step.push_back(std::move(item));
    } else if (measure.section == "run") {
      run.push_back(std::move(item));
    } else if (measure.is_total) {
      total = std::move(item);
      total.erase("id");
    } else {
      (measure.section == "bill" ? lines : waterfall).push_back(std::move(item));
    }
  }
  return {{"offer", options[option].offer.id},
          {"against", options.front().offer.id},
          {"step", std::move(step)},
          {"run", std::move(run)},
          {"bill", {{"total", std::move(total)}, {"lines", std::move(lines)}, {"waterfall", std::move(waterfall)}}}};
}

}  // namespace

std::string difference_text(double from, double to, const std::function<std::string(double)>& show_value) {
  const std::string before = show_value(from);
  const std::string after = show_value(to);
  if (before == after) return "=";
  if (!std::isfinite(from) || !std::isfinite(to)) return fmt::format("{} → {}", before, after);
  return fmt::format("{}{} ({} → {})", to > from ? "+" : "−", show_value(std::fabs(to - from)), before, after);
}

Document compare_document(const std::vector<PlanOption>& options, const Job& job) {
  Document document;
  document.text(describe(job), Tone::kStrong);
  document.text("");
  document.table(side_by_side(options, measures_of(options)));
  const bool stale = std::any_of(options.begin(), options.end(), [](const PlanOption& option) { return option.stale; });
  if (stale) document.text("* price older than 180 days, or undated: check it before renting", Tone::kWarning);
  const auto cheapest = std::min_element(options.begin(), options.end(), [](const PlanOption& a, const PlanOption& b) {
    return a.bill.total.usd < b.bill.total.usd;
  });
  if (is_known(cheapest->bill)) {
    document.text(fmt::format("Cheapest: {}, {}", cheapest->offer.id, dollars(cheapest->bill.total.usd)), Tone::kGood);
  }
  return document;
}

Table compare_csv(const std::vector<PlanOption>& options) {
  Table table;
  table.columns = {{"section", ""}, {"id", ""}, {"offer", ""}, {"value", ""}, {"difference", ""}};
  for (const Measure& measure : measures_of(options)) {
    for (std::size_t o = 0; o < options.size(); ++o) {
      table.rows.push_back({{measure.section, measure.id, options[o].offer.id, number_cell("", measure.values[o]),
                             number_cell("", measure.values[o] - measure.values.front())}});
    }
  }
  return table;
}

Json compare_json(const std::vector<PlanOption>& options, const Job& job) {
  Json shown = Json::array();
  for (const PlanOption& option : options) shown.push_back(to_json(option));
  Json differences = Json::array();
  const std::vector<Measure> measures = measures_of(options);
  for (std::size_t o = 1; o < options.size(); ++o) differences.push_back(difference_json(options, measures, o));
  return {{"format_version", "1.0"},
          {"job", to_json(job)},
          {"options", std::move(shown)},
          {"differences", std::move(differences)}};
}

namespace {

constexpr std::size_t kShownMovers = 12;

std::string short_number(double value) {
  return std::fabs(value) >= 1000 ? format_count(value) : fmt::format("{:.3g}", value);
}

std::string input_text(double value, const std::string& unit) {
  if (unit == "USD") return dollars(value);
  if (unit == "s") return format_duration(value);
  const bool plain = unit.empty() || unit == "1" || unit == "ratio" || unit == "count";
  return plain ? short_number(value) : fmt::format("{} {}", short_number(value), unit);
}

std::string signed_dollars(double usd) {
  if (!std::isfinite(usd)) return "never ends";
  return usd < 0 ? "−" + dollars(-usd) : "+" + dollars(usd);
}

// A parameter by the name of its input, anything else by what it is.
std::string mover_name(const TornadoBar& bar) {
  return bar.cause.starts_with("parameter ") || bar.cause.empty() ? bar.name : bar.cause;
}

TornadoChart chart_of(const Tornado& tornado, const std::string& title) {
  TornadoChart chart{title, tornado.usd, signed_dollars(tornado.usd), {}};
  for (std::size_t i = 0; i < tornado.bars.size() && i < kShownMovers; ++i) {
    const TornadoBar& bar = tornado.bars[i];
    chart.bars.push_back({mover_name(bar), bar.usd_at_low, bar.usd_at_high, input_text(bar.low, bar.unit),
                          input_text(bar.high, bar.unit)});
  }
  return chart;
}

std::string against_text(const PlanOption& option, const PlanOption& first) {
  return fmt::format("What moves {} against {}", option.offer.id, first.offer.id);
}

}  // namespace

void add_chances(Document& document, const std::vector<PlanOption>& options, const Uncertainty& uncertainty) {
  for (std::size_t o = 1; o < options.size() && o < uncertainty.cheaper.size(); ++o) {
    document.text(fmt::format("{} is cheaper than {} in {} of {} draws", options[o].offer.id, options.front().offer.id,
                              percent(uncertainty.cheaper[o][0]), format_count(uncertainty.draws)),
                  Tone::kStrong);
  }
  if (options.size() > 2) {
    document.text(
        fmt::format("The order by total is the same in {} of them", percent(uncertainty.same_order_probability)));
  }
}

void add_tornados(Document& document, const std::vector<PlanOption>& options, const std::vector<Tornado>& tornados) {
  for (std::size_t t = 0; t < tornados.size(); ++t) {
    document.heading(against_text(options[t + 1], options.front()));
    Table table;
    table.columns = {{"cause", "input"},
                     {"low", "low … high", Align::kRight},
                     {"usd_at_low", "difference at low", Align::kRight},
                     {"usd_at_high", "at high", Align::kRight}};
    for (std::size_t i = 0; i < tornados[t].bars.size() && i < kShownMovers; ++i) {
      const TornadoBar& bar = tornados[t].bars[i];
      Row row;
      row.cells = {mover_name(bar) + (bar.assumed ? " (assumed)" : ""),
                   fmt::format("{} … {}", input_text(bar.low, bar.unit), input_text(bar.high, bar.unit)),
                   signed_dollars(bar.usd_at_low), signed_dollars(bar.usd_at_high)};
      table.rows.push_back(std::move(row));
    }
    document.table(std::move(table));
    document.text(fmt::format("At the base of all: {}", signed_dollars(tornados[t].usd)));
  }
}

void add_deliveries(Document& document, const std::vector<DeliveryRow>& rows) {
  document.heading("The same nodes, delivered otherwise");
  Table table;
  table.columns = {{"delivery", "delivery"},
                   {"step_ratio", "step", Align::kRight},
                   {"step_range", "low … high", Align::kRight},
                   {"startup_s", "start-up", Align::kRight},
                   {"usd", "bill", Align::kRight},
                   {"usd_range", "low … high", Align::kRight}};
  for (const DeliveryRow& row : rows) {
    Row cells;
    cells.cells = {row.name, "+" + percent(row.step_ratio.base),
                   fmt::format("{} … {}", percent(row.step_ratio.low), percent(row.step_ratio.high)),
                   fmt::format("{:+.0f} s", row.run.startup_s - rows.front().run.startup_s)};
    if (is_known(row.bill)) {
      cells.cells.push_back(signed_dollars(row.usd.base));
      cells.cells.push_back(fmt::format("{} … {}", signed_dollars(row.usd.low), signed_dollars(row.usd.high)));
    }
    table.rows.push_back(std::move(cells));
  }
  document.table(std::move(table));
  document.text(
      "Against bare metal, at the same price and billed by the second: whole hours can hide the difference or blow it "
      "up. A seller's own surcharge is in the offers.",
      Tone::kFaint);
}

Json deliveries_json(const std::vector<DeliveryRow>& rows) {
  const auto range = [](const DifferenceRange& difference) {
    return Json{{"low", difference.low}, {"base", difference.base}, {"high", difference.high}};
  };
  Json json = Json::array();
  for (const DeliveryRow& row : rows) {
    Json one = {{"name", row.name},
                {"delivery",
                 {{"host", row.delivery.host},
                  {"packaging", row.delivery.packaging},
                  {"gpu_share", row.delivery.gpu_share},
                  {"tenancy", row.delivery.tenancy}}},
                {"step_time_s", row.step.step_time_s},
                {"step_ratio", range(row.step_ratio)}};
    if (is_known(row.bill)) one["usd"] = range(row.usd);
    one["axes"] = Json::array();
    for (const Formula& axis : row.axes) one["axes"].push_back({{"id", axis.id}, {"s", axis.value}});
    json.push_back(std::move(one));
  }
  return json;
}

void add_break_even(Document& document, const std::vector<PlanOption>& options) {
  for (const PlanOption& node : options) {
    for (const PlanOption& card : options) {
      const bool pair = node.gpu == card.gpu && node.offer.billing_period == "month" && node.offer.price_usd_per_h &&
                        card.offer.billing_period != "month" && card.offer.price_usd_per_h &&
                        card.offer.purchase != Purchase::kOwned && node.offer.gpus > 1;
      if (!pair || node.step.mfu_ratio <= 0 || card.step.mfu_ratio <= 0) continue;
      BreakEvenInput input;
      input.node_rent_per_month = *node.offer.price_usd_per_h * input.hours_per_month;
      input.node_gpus = node.offer.gpus;
      input.card_rent_per_h = price_usd_per_gpu_h(card.offer);
      input.node_mfu_ratio = node.step.mfu_ratio;
      input.card_mfu_ratio = card.step.mfu_ratio;
      if (!(input.card_rent_per_h > 0)) continue;
      document.text(fmt::format("{} pays from {:.2f} of its {} GPUs in use on, against {} by the hour", node.offer.id,
                                break_even_gpus(input).value, node.offer.gpus, card.offer.id));
    }
  }
}

std::string compare_svg(const std::vector<PlanOption>& options, const std::vector<Tornado>& tornados) {
  GroupedBars bars;
  bars.title = "Where the money goes";
  for (const PlanOption& option : options) {
    bars.series.push_back(fmt::format("{}: {}", option.offer.id, dollars(option.bill.total.usd)));
  }
  for (const Measure& measure : measures_of(options)) {
    if (measure.section != "waterfall" || measure.is_total) continue;
    GroupedBars::Group group{label_of_measure(measure.id), measure.values, {}};
    for (const double value : measure.values) group.texts.push_back(dollars(value));
    if (std::any_of(measure.values.begin(), measure.values.end(), [](double value) { return value != 0; })) {
      bars.groups.push_back(std::move(group));
    }
  }
  std::vector<std::string> charts = {to_svg(bars)};
  for (std::size_t t = 0; t < tornados.size(); ++t) {
    charts.push_back(to_svg(chart_of(tornados[t], against_text(options[t + 1], options.front()))));
  }
  return stack_svg(charts);
}

}  // namespace tare
