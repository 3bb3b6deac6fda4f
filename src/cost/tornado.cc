// Each cause at its ends: scenarios side by side in the blocks of a bill's program.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cost/bill_program.h"

namespace tare {
namespace {

// Scenario 0 is the base; scenarios 2c + 1 and 2c + 2 have cause c at its low and its high end.
class Ends : public FormulaExternals {
 public:
  explicit Ends(const BillProgram& program) : program_(program) {}

  void next(std::size_t first) { first_ = first; }

  void fill(int id, const DrawBlock* argument, DrawBlock& values) override {
    const DrawnNumber& number = program_.numbers[static_cast<std::size_t>(id)];
    const std::size_t low_end = 2 * number.cause + 1;
    if (number.kind == DrawnNumber::Kind::kPoisson) return fill_counts(*argument, low_end, values);
    std::fill_n(values.at, kBlock, number.base);
    set(values, low_end, number.low);
    set(values, low_end + 1, number.high);
  }

  const Percentiles& failures() const { return failures_; }

 private:
  bool here(std::size_t scenario) const { return scenario >= first_ && scenario < first_ + kBlock; }
  void set(DrawBlock& values, std::size_t scenario, double value) const {
    if (here(scenario)) values.at[scenario - first_] = value;
  }

  // The expectation; at the ends P10 and P90.
  void fill_counts(const DrawBlock& mean, std::size_t low_end, DrawBlock& values) {
    values = mean;
    for (const bool high : {false, true}) {
      const std::size_t scenario = low_end + (high ? 1 : 0);
      if (!here(scenario)) continue;
      DrawBlock count;
      std::fill_n(count.at, kBlock, high ? 0.9 : 0.1);
      to_poisson(count, mean);
      const std::size_t lane = scenario - first_;
      values.at[lane] = count.at[lane];
      (high ? failures_.p90 : failures_.p10) = count.at[lane];
      failures_.p50 = mean.at[lane];
    }
  }

  const BillProgram& program_;
  std::size_t first_ = 0;
  Percentiles failures_;
};

// The total of each scenario and bill.
std::vector<std::vector<double>> totals_at_ends(const BillProgram& program, Ends& ends) {
  const std::size_t scenarios = 2 * program.causes.size() + 1;
  std::vector<DrawBlock> columns(static_cast<std::size_t>(program.columns));
  std::vector<double*> outputs;
  outputs.reserve(columns.size());
  for (DrawBlock& column : columns) outputs.push_back(column.at);
  FormulaProgram::Workspace workspace = program.program->workspace();
  std::vector<std::vector<double>> totals(program.bills.size());
  for (std::size_t first = 0; first < scenarios; first += kBlock) {
    ends.next(first);
    program.program->run(workspace, ends, outputs.data());
    for (std::size_t b = 0; b < totals.size(); ++b) {
      const FigurePlace& place = program.bills[b].total;
      for (std::size_t i = 0; i < kBlock && first + i < scenarios; ++i) {
        const double usd =
            place.column < 0 ? place.factor : columns[static_cast<std::size_t>(place.column)].at[i] * place.factor;
        totals[b].push_back(usd < kNeverEnds ? usd : std::numeric_limits<double>::infinity());
      }
    }
  }
  return totals;
}

double reach(const TornadoBar& bar, double usd) {
  return std::max(std::fabs(bar.usd_at_low - usd), std::fabs(bar.usd_at_high - usd));
}

Result<Tornado> make_tornado(std::span<const BillToDraw> bills, const Catalog& catalog) {
  const Result<BillProgram> program = make_bill_program(bills, catalog, {});
  if (!program) return tl::unexpected(program.error());
  Ends ends(*program);
  const std::vector<std::vector<double>> totals = totals_at_ends(*program, ends);
  const auto usd = [&](std::size_t scenario) {
    return bills.size() == 1 ? totals[0][scenario] : totals[1][scenario] - totals[0][scenario];
  };
  Tornado result;
  result.usd = usd(0);
  const double least = 0.005 + 1e-12 * std::fabs(totals[0][0]);  // half a cent, and what rounding may be
  for (std::size_t c = 0; c < program->causes.size(); ++c) {
    const Cause& cause = program->causes[c];
    TornadoBar bar{cause.key,  cause.name,     cause.unit,     cause.low,    cause.base,
                   cause.high, usd(2 * c + 1), usd(2 * c + 2), cause.assumed};
    if (cause.key == kFailuresCause) {
      bar.low = ends.failures().p10;
      bar.base = ends.failures().p50;
      bar.high = ends.failures().p90;
    }
    if (!(reach(bar, result.usd) < least)) result.bars.push_back(std::move(bar));
  }
  std::stable_sort(result.bars.begin(), result.bars.end(), [&](const TornadoBar& a, const TornadoBar& b) {
    return reach(a, result.usd) > reach(b, result.usd);
  });
  return result;
}

}  // namespace

Result<Tornado> tornado(const BillToDraw& bill, const Catalog& catalog) { return make_tornado({&bill, 1}, catalog); }

Result<Tornado> tornado(const BillToDraw& a, const BillToDraw& b, const Catalog& catalog) {
  const BillToDraw both[] = {a, b};
  return make_tornado(both, catalog);
}

}  // namespace tare
