// How sure a bill is: its run and its lines evaluated again and again with drawn inputs.
//
// What is drawn. Every input of a formula that has a range (FormulaInput::low, high; or "parameter ID" as its source at
// the catalog's base value) belongs to a cause, which is its source. A cause has one uniform number per draw, over all
// lines and all options: draw i of cause c is Philox4x32-10 with the seed as key and (i, hash of c) as counter. Two
// options that share a parameter share its draws (common random numbers), and what they have alike cancels exactly in
// their difference. Results depend on the seed and the number of draws, never on threads or on how draws are grouped.
//
//   input        triangular: low, base as the mode, high; in the logarithm where low > 0 and high / low > 3; an end
//                that is missing is the base itself, so that the draws are one-sided
//   step time    predicted · exp(s_stack z₁ + s_generation z₂ + s_own z₃), z standard normal, shared by all options on
//                the stack, on the GPU generation and of the configuration; sigmas from data/catalog/step_error.csv,
//                which `validation` writes
//   failures     N Poisson around the run's expected λ, by inversion of one uniform number, the same over all options;
//                wall = (productive + startup + stalls + N · loss) ÷ (1 − share of maintenance)
//
// A run whose interruptions take more than they leave in a draw never ends in it: its wall and total are infinite
// there, and so is a percentile that falls among such draws. Below P10 stands a tenth of the draws; a percentile is the
// smallest draw with at least that share of the draws at or below it.
//
// Errors: a formula that cannot be read. Thread safety: reads only; draw_bills starts `threads` threads itself.
// Sources: Salmon et al. 2011 (Philox); docs/bill.md has every equation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/bill.h"
#include "cost/percentiles.h"

namespace tare {

struct DrawOptions {
  int draws = 10000;
  std::uint64_t seed = 1;
  int threads = 1;
  // What may vary. All off: every draw is the bill.
  bool inputs = true;
  bool step_error = true;
  bool failures = true;
};

// An option as it is drawn. `bill` and `run` are those of one make_bill(); never null.
struct BillToDraw {
  std::string name;
  const Bill* bill = nullptr;
  const Run* run = nullptr;
  std::string stack;          // of software: an id of stacks.csv
  std::string generation;     // of GPU: name_of(GpuGeneration)
  std::string configuration;  // what else the step model saw: options that agree in it have one step error
  std::optional<double> deadline_s, budget_usd;
};

struct DrawnAmount {
  std::string id;  // of a line or a bar
  Percentiles usd;
};

struct DrawnFigure {
  std::string id;  // of a formula of Bill::formulas: bill.energy_kwh
  Percentiles value;
};

struct DrawnBill {
  std::string name;
  Percentiles total_usd;
  std::vector<DrawnAmount> lines, waterfall;  // as in the bill
  Percentiles wall_s, goodput_ratio, failures;
  std::optional<Percentiles> it_energy_j;  // where the run has run.it_energy_j
  std::vector<DrawnFigure> figures;        // one for each of Bill::formulas
  double finishes_probability = 1;
  std::optional<double> deadline_probability, budget_probability;  // of keeping it; where one is given
  double cheapest_probability = 1;  // among the options drawn; a tie counts for the first
};

struct Uncertainty {
  int draws = 0;
  std::uint64_t seed = 0;
  std::vector<DrawnBill> bills;              // as given
  std::vector<std::vector<double>> cheaper;  // [a][b]: the share of draws in which a is cheaper than b; a tie is half
  double same_order_probability = 1;         // share of draws in which the options rank by total as the bills do
  int causes = 0;                            // drawn
};

// Precondition: every bill is_known(), draws ≥ 1.
Result<Uncertainty> draw_bills(std::span<const BillToDraw> bills, const Catalog& catalog, const DrawOptions& options);

// p10, p50, p90 of the total, the lines and the bars of a bill; an infinite percentile is left out.
void add_uncertainty(Bill& bill, const DrawnBill& drawn);

// The totals themselves, [bill][draw]: for a chart or a further question.
Result<std::vector<std::vector<double>>> draw_totals(std::span<const BillToDraw> bills, const Catalog& catalog,
                                                     const DrawOptions& options);

// One cause moved to either end while the others stay at their base, failures at their expectation.
struct TornadoBar {
  std::string cause;  // "parameter wacc", "offer …", "step time, stack …", "failures"
  std::string name;   // of the input, or what it is
  std::string unit;
  double low = 0, base = 0, high = 0;      // of the input; step time: factors at P10 and P90; failures: P10 and P90
  double usd_at_low = 0, usd_at_high = 0;  // of the total; of a pair total(b) − total(a). Infinite: never ends there
  bool assumed = false;
};

struct Tornado {
  double usd = 0;                // at the base
  std::vector<TornadoBar> bars;  // the largest mover first; causes that move nothing are left out
};

Result<Tornado> tornado(const BillToDraw& bill, const Catalog& catalog);
Result<Tornado> tornado(const BillToDraw& a, const BillToDraw& b, const Catalog& catalog);

}  // namespace tare
