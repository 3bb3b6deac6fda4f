#include "cost/bill_program.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace tare {
namespace {

using Value = FormulaGraph::Value;

constexpr double kLogAbove = 3;  // high ÷ low beyond which a range is drawn in its logarithm

// The causes and drawn numbers of all bills; equal ones are one.
class Causes {
 public:
  Causes(FormulaGraph& graph, BillProgram& program) : graph_(graph), program_(program) {}

  // An input between low and high.
  Value triangle(const std::string& key, const FormulaInput& input, double low, double high) {
    low = std::min(low, input.value);
    high = std::max(high, input.value);
    if (!(low < high)) return graph_.constant(input.value);
    DrawnNumber number;
    number.low = low;
    number.base = input.value;
    number.high = high;
    const bool logarithmic = low > 0 && high / low > kLogAbove;
    number.kind = logarithmic ? DrawnNumber::Kind::kLogTriangle : DrawnNumber::Kind::kTriangle;
    number.cause = cause({key, input.name, input.unit, low, input.value, high, input.assumed, 0});
    return graph_.external(place_of(number));
  }

  // A standard normal number; `sigma` only for what is shown of it.
  Value normal(const std::string& key, double sigma) {
    DrawnNumber number;
    number.kind = DrawnNumber::Kind::kNormal;
    constexpr double kP90 = 1.2815515655446004;  // of the standard normal distribution
    number.low = -kP90;
    number.high = kP90;
    number.cause = cause({key, key, "1", std::exp(-kP90 * sigma), 1, std::exp(kP90 * sigma), false, 0});
    return graph_.external(place_of(number));
  }

  Value poisson(Value mean) {
    DrawnNumber number;
    number.kind = DrawnNumber::Kind::kPoisson;
    number.cause = cause({kFailuresCause, "interruptions", "1", 0, 0, 0, false, 0});
    return graph_.external(place_of(number), mean);
  }

 private:
  std::size_t cause(Cause cause) {
    const auto [place, is_new] = causes_.emplace(cause.key, program_.causes.size());
    if (is_new) {
      cause.stream = stream_of(cause.key);
      program_.causes.push_back(std::move(cause));
    }
    return place->second;
  }

  int place_of(const DrawnNumber& number) {
    const auto key = std::make_tuple(number.kind, number.cause, number.low, number.base, number.high);
    const auto [place, is_new] = numbers_.emplace(key, static_cast<int>(program_.numbers.size()));
    if (is_new) program_.numbers.push_back(number);
    return place->second;
  }

  FormulaGraph& graph_;
  BillProgram& program_;
  std::map<std::string, std::size_t> causes_;
  std::map<std::tuple<DrawnNumber::Kind, std::size_t, double, double, double>, int> numbers_;
};

// One option's formulas as nodes.
class BillNodes {
 public:
  BillNodes(const BillToDraw& bill, const Catalog& catalog, const DrawOptions& options, FormulaGraph& graph,
            Causes& causes)
      : bill_(bill), catalog_(catalog), options_(options), graph_(graph), causes_(causes) {
    const auto know = [&](const Formula& formula) {
      if (!formula.expression.empty()) formulas_.emplace(formula.id, &formula);
    };
    for (const Formula& formula : bill.run->formulas) know(formula);
    for (const Formula& formula : bill.bill->formulas) know(formula);
    for (const BillLine& line : bill.bill->lines) know(line.formula);
    for (const WaterfallBar& bar : bill.bill->waterfall) know(bar.formula);
    add_run();
  }

  const std::optional<Diagnostics>& errors() const { return errors_; }

  // The formula's node, or `otherwise` as a constant where there is no such formula.
  Value of(const std::string& id, double otherwise) {
    return formulas_.contains(id) ? value_of(id) : graph_.constant(otherwise);
  }
  bool has(const std::string& id) const { return formulas_.contains(id); }
  Value line(const BillLine& line) {
    return line.formula.expression.empty() ? graph_.constant(line.amount.usd) : value_of(line.formula.id);
  }

 private:
  // The expected wall first, then the drawn count of failures and the wall that follows from it.
  void add_run() {
    step_factor_ = options_.step_error ? step_factor() : graph_.constant(1);
    if (!has("run.wall_s")) return;
    const Value expected = value_of("run.wall_s");
    if (has("run.failures") && has("run.loss_per_failure_s")) add_failures(expected);
    if (!has("run.loss_ratio")) return;
    // 0 while interruptions and maintenance leave something, beyond any amount once they do not.
    const Value lost = apply(FormulaOp::kAdd, value_of("run.loss_ratio"), of("run.maintenance_ratio", 0));
    const Value never = apply(FormulaOp::kFloor, apply(FormulaOp::kMin, lost, graph_.constant(1)));
    values_["run.wall_s"] =
        apply(FormulaOp::kAdd, values_["run.wall_s"], apply(FormulaOp::kMultiply, never, graph_.constant(1e300)));
  }

  void add_failures(Value expected_wall) {
    const Value mean = value_of("run.failures");
    const bool random = options_.failures && bill_.run->failures > 0;
    const Value count = random ? causes_.poisson(mean) : mean;
    if (random && has("run.hardware_failures")) {
      values_["run.hardware_failures"] =
          apply(FormulaOp::kMultiply, apply(FormulaOp::kDivide, value_of("run.hardware_failures"), mean), count);
    }
    values_["run.failures"] = count;
    if (!random) return;
    // Maintenance takes its share of what failures add to the wall, too.
    const Value longer = apply(FormulaOp::kDivide, value_of("run.loss_per_failure_s"),
                               apply(FormulaOp::kSubtract, graph_.constant(1), of("run.maintenance_ratio", 0)));
    const Value more = apply(FormulaOp::kMultiply, apply(FormulaOp::kSubtract, count, mean), longer);
    values_["run.wall_s"] = apply(FormulaOp::kAdd, expected_wall, more);
  }

  Value step_factor() {
    Value sum = graph_.constant(0);
    const auto add = [&](const char* kind, const std::string& what, const std::string& key) {
      const double sigma = step_error_sigma(catalog_.step_errors, kind, what);
      if (sigma <= 0) return;
      sum = apply(FormulaOp::kAdd, sum,
                  apply(FormulaOp::kMultiply, causes_.normal("step time, " + key, sigma), graph_.constant(sigma)));
    };
    add("stack", bill_.stack, "stack " + bill_.stack);
    add("generation", bill_.generation, "generation " + bill_.generation);
    add("own", bill_.stack, "configuration " + bill_.configuration);
    return graph_.apply(FormulaOp::kExp, sum);
  }

  Value value_of(const std::string& id) {
    const auto known = values_.find(id);
    if (known != values_.end()) return known->second;
    const Formula& formula = *formulas_.at(id);
    open_.insert(id);
    const Result<Value> value = graph_.add(formula, [&](const FormulaInput& input) { return bind(input); });
    open_.erase(id);
    if (!value && !errors_) errors_ = value.error();
    return values_[id] = value.value_or(0);
  }

  Value bind(const FormulaInput& input) {
    for (const std::string* id : {&input.source, &input.name}) {
      if (formulas_.contains(*id) && !open_.contains(*id)) return scaled(*id, input.value);
    }
    if (input.source == "step model" && input.unit == "s") {
      return apply(FormulaOp::kMultiply, step_factor_, graph_.constant(input.value));
    }
    if (!options_.inputs) return graph_.constant(input.value);
    if (input.low || input.high) {
      return causes_.triangle(cause_of(input), input, input.low.value_or(input.value),
                              input.high.value_or(input.value));
    }
    const CostParameter* const parameter = parameter_of(input);
    if (parameter == nullptr || parameter->base != input.value) return graph_.constant(input.value);
    return causes_.triangle(cause_of(input), input, parameter->low.value_or(input.value),
                            parameter->high.value_or(input.value));
  }

  // An input that is another formula's value in other units keeps their ratio.
  Value scaled(const std::string& id, double value) {
    const double base = formulas_.at(id)->value;
    const Value found = value_of(id);
    if (value == base || std::fabs(value - base) <= 1e-9 * std::fabs(base)) return found;
    if (base == 0 || !std::isfinite(value / base)) return graph_.constant(value);
    return apply(FormulaOp::kMultiply, found, graph_.constant(value / base));
  }

  const CostParameter* parameter_of(const FormulaInput& input) const {
    constexpr std::string_view kPrefix = "parameter ";
    if (!input.source.starts_with(kPrefix)) return nullptr;
    return find_parameter(catalog_, std::string_view(input.source).substr(kPrefix.size()));
  }

  static std::string cause_of(const FormulaInput& input) { return input.source.empty() ? input.name : input.source; }

  Value apply(FormulaOp op, Value a) { return graph_.apply(op, a); }
  Value apply(FormulaOp op, Value a, Value b) { return graph_.apply(op, a, b); }

  const BillToDraw& bill_;
  const Catalog& catalog_;
  const DrawOptions& options_;
  FormulaGraph& graph_;
  Causes& causes_;
  Value step_factor_ = 0;
  std::map<std::string, const Formula*> formulas_;
  std::map<std::string, Value> values_;
  std::set<std::string> open_;
  std::optional<Diagnostics> errors_;
};

// The figures of all bills as columns: what differs by a number alone shares one.
class Columns {
 public:
  explicit Columns(FormulaGraph& graph) : graph_(graph) {}

  FigurePlace place(Value value) {
    if (graph_.is_constant(value)) return {-1, graph_.node(value).value};
    const auto [base, factor] = split(value);
    const bool whole = factor <= 0;  // a negative factor would turn percentiles round
    const auto [column, is_new] = columns_.emplace(whole ? value : base, static_cast<int>(outputs_.size()));
    if (is_new) outputs_.push_back(whole ? value : base);
    return {column->second, whole ? 1 : factor};
  }

  // value = base · factor
  std::pair<Value, double> split(Value value) const {
    const FormulaGraph::Node& node = graph_.node(value);
    const bool product = node.kind == FormulaGraph::Node::Kind::kBinary && node.op == FormulaOp::kMultiply;
    if (!product || !graph_.is_constant(node.b)) return {value, 1};
    return {node.a, graph_.node(node.b).value};
  }

  // A sum that takes what differs by a number alone at once.
  Value sum(const std::vector<Value>& values) {
    std::vector<std::pair<Value, double>> terms;
    for (const Value value : values) {
      const auto [base, factor] = split(value);
      const auto known = std::find_if(terms.begin(), terms.end(), [b = base](const auto& t) { return t.first == b; });
      if (known == terms.end()) {
        terms.emplace_back(base, factor);
      } else {
        known->second += factor;
      }
    }
    Value total = graph_.constant(0);
    for (const auto& [base, factor] : terms) {
      total = graph_.apply(FormulaOp::kAdd, total, graph_.apply(FormulaOp::kMultiply, base, graph_.constant(factor)));
    }
    return total;
  }

  const std::vector<Value>& outputs() const { return outputs_; }

 private:
  FormulaGraph& graph_;
  std::map<Value, int> columns_;
  std::vector<Value> outputs_;
};

// The money of GPU time over the GPU-hours of each bar; every other line is a bar of its own.
std::vector<Value> bar_values(const Bill& bill, BillNodes& nodes, FormulaGraph& graph, Columns& columns) {
  std::vector<Value> money, hours;
  for (const BillLine& line : bill.lines) {
    if (line.gpu_time) money.push_back(nodes.line(line));
  }
  const auto own_line = [&](const WaterfallBar& bar) {
    return std::find_if(bill.lines.begin(), bill.lines.end(),
                        [&](const BillLine& line) { return !line.gpu_time && line.id == bar.id; });
  };
  for (const WaterfallBar& bar : bill.waterfall) {
    if (own_line(bar) == bill.lines.end()) hours.push_back(nodes.of(bar.formula.id, bar.gpu_hours));
  }
  const Value usd_per_hour = graph.apply(FormulaOp::kDivide, columns.sum(money), columns.sum(hours));
  std::vector<Value> bars;
  std::size_t next = 0;
  for (const WaterfallBar& bar : bill.waterfall) {
    const auto line = own_line(bar);
    bars.push_back(line != bill.lines.end() ? nodes.line(*line)
                                            : graph.apply(FormulaOp::kMultiply, usd_per_hour, hours[next++]));
  }
  return bars;
}

BillPlaces places_of(const BillToDraw& bill, BillNodes& nodes, FormulaGraph& graph, Columns& columns) {
  BillPlaces places;
  Value total = graph.constant(0);
  for (const BillLine& line : bill.bill->lines) {
    const Value value = nodes.line(line);
    total = graph.apply(FormulaOp::kAdd, total, value);
    places.lines.push_back(columns.place(value));
  }
  places.total = columns.place(total);
  for (const Value bar : bar_values(*bill.bill, nodes, graph, columns)) places.bars.push_back(columns.place(bar));
  places.wall_s = columns.place(nodes.of("run.wall_s", bill.run->wall_s));
  places.goodput_ratio = columns.place(nodes.of("run.goodput_ratio", bill.run->goodput_ratio));
  places.failures = columns.place(nodes.of("run.failures", bill.run->failures));
  if (nodes.has("run.it_energy_j")) places.it_energy_j = columns.place(nodes.of("run.it_energy_j", 0));
  for (const Formula& figure : bill.bill->formulas) {
    places.figures.push_back(columns.place(nodes.of(figure.id, figure.value)));
  }
  return places;
}

}  // namespace

Result<BillProgram> make_bill_program(std::span<const BillToDraw> bills, const Catalog& catalog,
                                      const DrawOptions& options) {
  BillProgram result;
  FormulaGraph graph;
  Causes causes(graph, result);
  Columns columns(graph);
  for (const BillToDraw& bill : bills) {
    BillNodes nodes(bill, catalog, options, graph, causes);
    result.bills.push_back(places_of(bill, nodes, graph, columns));
    if (nodes.errors()) return tl::unexpected(*nodes.errors());
  }
  result.columns = static_cast<int>(columns.outputs().size());
  result.program.emplace(graph, columns.outputs());
  return result;
}

}  // namespace tare
