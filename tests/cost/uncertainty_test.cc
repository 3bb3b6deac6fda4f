// What must hold of draws of a bill.
#include "cost/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/bill_fixture.h"
#include "cost/bill_program.h"

namespace tare {
namespace {

constexpr int kDraws = 2000;

// A bill with its run, kept where BillToDraw can point at them.
struct Drawable {
  test::BillCase bill_case;
  Bill bill;
  BillToDraw draw;

  explicit Drawable(Purchase purchase) : bill_case(purchase) {}
  Drawable(const Drawable&) = delete;
  Drawable& operator=(const Drawable&) = delete;

  // The bill of the case as it stands, its run estimated anew.
  const BillToDraw& make(RunInput run) {
    run.purchase = bill_case.offer.purchase;
    run.node_power_w = bill_case.node_type.node_power_w;
    bill_case.input.run = estimate_run(run, bill_case.catalog);
    bill_case.input.tokens = run.tokens;
    bill_case.input.step_time_s = run.step_time_s;
    bill = bill_case.bill();
    draw = {bill_case.offer.id, &bill, &bill_case.input.run, "stack", "hopper", "configuration", {}, {}};
    return draw;
  }
  const BillToDraw& make() { return make(test::round_run()); }
  Catalog& catalog() { return bill_case.catalog; }
};

StepError step_error(const std::string& id, double sigma) {
  StepError error;
  error.id = id;
  error.sigma_log = sigma;
  return error;
}

void widen(Catalog& catalog, double by) {
  for (const char* id : {"gpu_failures_per_gpu_h", "eng_rate", "wacc", "pue_air_ai", "alloc_ratio", "detect_time",
                         "file_storage_usd_per_byte_month", "egress_other_usd_per_byte", "life_years"}) {
    const double base = parameter(catalog, id).base;
    test::set(catalog, id, base, base / (1 + by), base * (1 + by));
  }
}

DrawOptions drawn(int draws = kDraws) {
  DrawOptions options;
  options.draws = draws;
  return options;
}

DrawOptions nothing_varies() {
  DrawOptions options = drawn(300);
  options.inputs = options.step_error = options.failures = false;
  return options;
}

DrawnBill draw_one(const BillToDraw& bill, const Catalog& catalog, const DrawOptions& options) {
  const Result<Uncertainty> result = draw_bills({&bill, 1}, catalog, options);
  EXPECT_TRUE(result.has_value()) << render(result.error());
  return result.value().bills.at(0);
}

void expect_all(const Percentiles& p, double value, double within) {
  EXPECT_NEAR(p.p10, value, within);
  EXPECT_NEAR(p.p50, value, within);
  EXPECT_NEAR(p.p90, value, within);
}

double cent(double usd) { return 0.0101 + 1e-11 * usd; }

TEST(Uncertainty, WithoutRangesEveryPercentileIsTheBill) {
  for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned}) {
    Drawable d(purchase);
    widen(d.catalog(), 0.5);
    d.bill_case.input.step_time_after_removal_s = {{"data", 9}, {"bubble", 7}, {"kernel", 4}};
    const BillToDraw& bill = d.make();
    const DrawnBill found = draw_one(bill, d.catalog(), nothing_varies());
    expect_all(found.total_usd, d.bill.total.usd, cent(d.bill.total.usd));
    ASSERT_EQ(found.lines.size(), d.bill.lines.size());
    for (std::size_t i = 0; i < found.lines.size(); ++i) {
      EXPECT_EQ(found.lines[i].id, d.bill.lines[i].id);
      expect_all(found.lines[i].usd, d.bill.lines[i].amount.usd, cent(d.bill.total.usd));
    }
    ASSERT_EQ(found.waterfall.size(), d.bill.waterfall.size());
    for (std::size_t i = 0; i < found.waterfall.size(); ++i) {
      EXPECT_EQ(found.waterfall[i].id, d.bill.waterfall[i].id);
      expect_all(found.waterfall[i].usd, d.bill.waterfall[i].amount.usd, cent(d.bill.total.usd));
    }
    ASSERT_EQ(found.figures.size(), d.bill.formulas.size());
    for (std::size_t i = 0; i < found.figures.size(); ++i) {
      EXPECT_NEAR(found.figures[i].value.p50, d.bill.formulas[i].value, 1e-9 * std::fabs(d.bill.formulas[i].value));
    }
    const tare::Run& run = *bill.run;
    expect_all(found.wall_s, run.wall_s, 1e-9 * run.wall_s);
    expect_all(found.goodput_ratio, run.goodput_ratio, 1e-9);
    expect_all(found.failures, run.failures, 1e-9 * run.failures);
    ASSERT_TRUE(found.it_energy_j.has_value());
    expect_all(*found.it_energy_j, run.it_energy_j, 1e-9 * run.it_energy_j);
    EXPECT_EQ(found.finishes_probability, 1);
  }
}

TEST(Uncertainty, TheSeedDecides) {
  Drawable d(Purchase::kOnDemand);
  widen(d.catalog(), 0.5);
  const BillToDraw& bill = d.make();
  DrawOptions options = drawn();
  const auto first = draw_totals({&bill, 1}, d.catalog(), options);
  EXPECT_EQ(*draw_totals({&bill, 1}, d.catalog(), options), *first);
  options.seed = 2;
  EXPECT_NE(*draw_totals({&bill, 1}, d.catalog(), options), *first);
}

TEST(Uncertainty, ThreadsAndTheNumberOfDrawsChangeNoDraw) {
  Drawable d(Purchase::kOwned);
  widen(d.catalog(), 0.5);
  const BillToDraw& bill = d.make();
  const auto all = draw_totals({&bill, 1}, d.catalog(), drawn(3000));
  DrawOptions threads = drawn(3000);
  threads.threads = 5;
  EXPECT_EQ(*draw_totals({&bill, 1}, d.catalog(), threads), *all);
  const auto few = draw_totals({&bill, 1}, d.catalog(), drawn(257));
  ASSERT_EQ(few->at(0).size(), 257u);
  EXPECT_TRUE(std::equal(few->at(0).begin(), few->at(0).end(), all->at(0).begin()));
}

// The same option twice, and beside it another: its draws are the same whoever is drawn with it.
TEST(Uncertainty, IdenticalOptionsDifferByNothing) {
  Drawable a(Purchase::kOnDemand), b(Purchase::kOnDemand), other(Purchase::kOwned);
  for (Drawable* d : {&a, &b, &other}) {
    widen(d->catalog(), 0.5);
    d->catalog().step_errors = {step_error("stack/all", 0.1), step_error("own/all", 0.2)};
  }
  const std::vector<BillToDraw> bills = {a.make(), other.make(), b.make()};
  const auto totals = draw_totals(bills, a.catalog(), drawn());
  EXPECT_EQ(totals->at(0), totals->at(2));
  EXPECT_NE(totals->at(0), totals->at(1));
  const auto alone = draw_totals({&bills[0], 1}, a.catalog(), drawn());
  EXPECT_EQ(alone->at(0), totals->at(0));
  const Result<Uncertainty> result = draw_bills(bills, a.catalog(), drawn());
  EXPECT_EQ(result->cheaper[0][2], 0.5);
  EXPECT_EQ(result->cheaper[2][0], 0.5);
}

// 10 % dearer per hour in every draw, whatever the parameters are: cheaper with certainty, since they share them.
TEST(Uncertainty, WhatIsSharedCancels) {
  Drawable cheap(Purchase::kOnDemand), dear(Purchase::kOnDemand);
  widen(cheap.catalog(), 1);
  widen(dear.catalog(), 1);
  *dear.bill_case.offer.price_usd_per_h *= 1.1;
  const std::vector<BillToDraw> bills = {dear.make(), cheap.make()};
  const Result<Uncertainty> result = draw_bills(bills, cheap.catalog(), drawn());
  EXPECT_EQ(result->cheaper[1][0], 1);
  EXPECT_EQ(result->cheaper[0][1], 0);
  EXPECT_EQ(result->bills[1].cheapest_probability, 1);
  EXPECT_EQ(result->bills[0].cheapest_probability, 0);
  EXPECT_EQ(result->same_order_probability, 1);
}

// Two offers whose price ranges overlap: neither is certain, and the chances are those of the pair.
TEST(Uncertainty, PricesOfTwoOffersAreTheirOwn) {
  Drawable a(Purchase::kOnDemand), b(Purchase::kOnDemand);
  b.bill_case.offer.id = "another/hgx/us-1/any";
  for (Drawable* d : {&a, &b}) {
    d->bill_case.offer.price_low_usd_per_h = 12;
    d->bill_case.offer.price_high_usd_per_h = 20;
  }
  const std::vector<BillToDraw> bills = {a.make(), b.make()};
  const Result<Uncertainty> result = draw_bills(bills, a.catalog(), drawn(20000));
  EXPECT_NEAR(result->cheaper[0][1], 0.5, 0.02);
  EXPECT_NEAR(result->cheaper[0][1] + result->cheaper[1][0], 1, 1e-12);
  EXPECT_NEAR(result->bills[0].cheapest_probability + result->bills[1].cheapest_probability, 1, 1e-12);
}

// A wider range of every parameter, a wider bill; and each is sorted.
TEST(Uncertainty, MoreRangeIsWider) {
  double before = 0;
  for (const double by : {0.0, 0.1, 0.3, 0.9, 2.0}) {
    Drawable d(Purchase::kOwned);
    widen(d.catalog(), by);
    const DrawnBill found = draw_one(d.make(), d.catalog(), drawn());
    EXPECT_LE(found.total_usd.p10, found.total_usd.p50);
    EXPECT_LE(found.total_usd.p50, found.total_usd.p90);
    const double width = found.total_usd.p90 - found.total_usd.p10;
    EXPECT_GT(width, before) << by;
    before = width;
  }
}

// A symmetric triangle has its P10 at low + √(0.1 · width · width / 2): 100 between 50 and 150 gives 72.36.
TEST(Uncertainty, AOneInputLineIsItsTriangle) {
  Drawable d(Purchase::kOnDemand);
  d.bill_case.offer.price_low_usd_per_h = 8;
  d.bill_case.offer.price_high_usd_per_h = 24;
  DrawOptions options = drawn(100000);
  options.failures = false;
  const DrawnBill found = draw_one(d.make(), d.catalog(), options);
  const double base = test::line_usd(d.bill, "rent");
  EXPECT_NEAR(found.lines[0].usd.p10 / base, 0.5 + std::sqrt(0.05), 0.005);
  EXPECT_NEAR(found.lines[0].usd.p50 / base, 1, 0.005);
  EXPECT_NEAR(found.lines[0].usd.p90 / base, 1.5 - std::sqrt(0.05), 0.005);
}

// Between a tenth and ten times: drawn in the logarithm, so that half lies below the base and half above.
TEST(Uncertainty, AWideRangeIsDrawnInItsLogarithm) {
  Drawable d(Purchase::kOnDemand);
  test::set(d.catalog(), "eng_rate", 100, 10, 1000);
  DrawOptions options = drawn(100000);
  options.failures = false;
  const DrawnBill found = draw_one(d.make(), d.catalog(), options);
  const auto line =
      std::find_if(found.lines.begin(), found.lines.end(), [](const DrawnAmount& l) { return l.id == "operations"; });
  const double base = test::line_usd(d.bill, "operations");
  EXPECT_NEAR(line->usd.p50 / base, 1, 0.02);
  EXPECT_NEAR(std::log10(line->usd.p90 / base), 1 - std::sqrt(0.2), 0.02);
}

TEST(Uncertainty, OneEndMissingIsOneSided) {
  Drawable d(Purchase::kOnDemand);
  test::set(d.catalog(), "eng_rate", 100, std::nullopt, 200);
  DrawOptions options = drawn();
  options.failures = false;
  const auto totals = draw_totals({&d.make(), 1}, d.catalog(), options);
  EXPECT_GE(*std::min_element(totals->at(0).begin(), totals->at(0).end()), d.bill.total.usd - 0.02);
  EXPECT_GT(*std::max_element(totals->at(0).begin(), totals->at(0).end()), d.bill.total.usd + 1);
}

// The step's own error: a sigma of 0.2 puts P90 of the productive time at e^(1.2816 · 0.2), and the parts add up as
// squares do.
TEST(Uncertainty, TheStepTimesErrorIsLogNormal) {
  Drawable d(Purchase::kReserved);
  test::set(d.catalog(), "gpu_failures_per_gpu_h", 1e-9);
  d.catalog().step_errors = {step_error("stack/stack", 0.12), step_error("generation/hopper", 0.16),
                             step_error("own/all", 0.15)};
  RunInput run = test::round_run();
  run.tokens = 1e12;  // so long that nothing but the steps counts
  const DrawnBill found = draw_one(d.make(run), d.catalog(), drawn(100000));
  EXPECT_NEAR(found.wall_s.p90 / found.wall_s.p50, std::exp(1.2816 * 0.25), 0.01);
  EXPECT_NEAR(found.wall_s.p10 / found.wall_s.p50, std::exp(-1.2816 * 0.25), 0.01);
}

// Of two options on one stack only what they do not share tells them apart.
TEST(Uncertainty, TheStepTimesErrorIsSharedWithinAStack) {
  Drawable a(Purchase::kReserved), b(Purchase::kReserved);
  a.catalog().step_errors = {step_error("stack/all", 0.3)};
  RunInput slower = test::round_run();
  slower.step_time_s *= 1.05;
  std::vector<BillToDraw> bills = {a.make(), b.make(slower)};
  bills[1].generation = "blackwell";
  bills[1].configuration = "another";
  EXPECT_GT(draw_bills(bills, a.catalog(), drawn())->cheaper[0][1], 0.99);
  a.catalog().step_errors = {step_error("own/all", 0.3)};
  EXPECT_LT(draw_bills(bills, a.catalog(), drawn())->cheaper[0][1], 0.7);
}

// wall = P + S + K + N · L, N Poisson: its mean is the expected wall, its deviation √λ · L.
TEST(Uncertainty, FailuresArePoissonAndTheWallFollows) {
  Drawable d(Purchase::kOnDemand);
  test::set(d.catalog(), "gpu_failures_per_gpu_h", 2e-3);
  const BillToDraw& bill = d.make();
  const tare::Run& run = *bill.run;
  ASSERT_GT(run.failures, 2);
  const Result<BillProgram> program = make_bill_program({&bill, 1}, d.catalog(), drawn());
  const DrawnBill found = draw_one(bill, d.catalog(), drawn(100000));
  EXPECT_EQ(found.failures.p50, std::floor(found.failures.p50));
  EXPECT_LE(found.failures.p10, run.failures);
  EXPECT_GE(found.failures.p90, run.failures);
  const double without = run.wall_s - run.failure_lost_s;
  EXPECT_NEAR(found.wall_s.p10, without + found.failures.p10 * run.loss_per_failure_s, 1e-6 * run.wall_s);
  EXPECT_NEAR(found.wall_s.p90, without + found.failures.p90 * run.loss_per_failure_s, 1e-6 * run.wall_s);
}

TEST(Uncertainty, ADrawThatNeverEndsCostsEverything) {
  Drawable d(Purchase::kOnDemand);
  // At the base a failure loses a part of the time between two of them; at the high end more than all of it.
  test::set(d.catalog(), "gpu_failures_per_gpu_h", 2e-3, 1e-3, 30);
  const BillToDraw& bill = d.make();
  BillToDraw asked = bill;
  asked.deadline_s = 1e12;
  asked.budget_usd = 1e12;
  const DrawnBill found = draw_one(asked, d.catalog(), drawn());
  EXPECT_LT(found.finishes_probability, 1);
  EXPECT_GT(found.finishes_probability, 0.1);
  EXPECT_EQ(*found.deadline_probability, found.finishes_probability);
  EXPECT_EQ(*found.budget_probability, found.finishes_probability);
  EXPECT_TRUE(std::isinf(found.total_usd.p90));
  add_uncertainty(d.bill, found);
  EXPECT_TRUE(d.bill.total.p10.has_value());
  EXPECT_FALSE(d.bill.total.p90.has_value());
}

TEST(Uncertainty, TheChanceToKeepABudget) {
  Drawable d(Purchase::kOnDemand);
  widen(d.catalog(), 0.5);
  const BillToDraw plain = d.make();
  const DrawnBill found = draw_one(plain, d.catalog(), drawn(10000));
  BillToDraw asked = plain;
  asked.budget_usd = found.total_usd.p90;
  asked.deadline_s = found.wall_s.p10;
  const DrawnBill again = draw_one(asked, d.catalog(), drawn(10000));
  EXPECT_NEAR(*again.budget_probability, 0.9, 0.001);
  EXPECT_GE(*again.deadline_probability, 0.1 - 0.001);
  EXPECT_FALSE(found.budget_probability.has_value());
}

// In each draw, not only on average.
RC_GTEST_PROP(UncertaintyProperties, LinesAndBarsSumToTheTotalInEveryDraw, ()) {
  Drawable d(*rc::gen::element(Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned));
  widen(d.catalog(), *rc::gen::inRange(1, 30) / 10.0);
  d.catalog().step_errors = {step_error("stack/all", 0.1), step_error("own/all", 0.2)};
  d.bill_case.input.step_time_after_removal_s = {{"bubble", 7}, {"kernel", 4}};
  RunInput run = test::round_run();
  run.tokens = 1e9 * *rc::gen::inRange(1, 1000);
  const BillToDraw& bill = d.make(run);
  const BillProgram program = make_bill_program({&bill, 1}, d.catalog(), {}).value();
  std::vector<DrawBlock> columns(static_cast<std::size_t>(program.columns));
  std::vector<double*> outputs;
  for (DrawBlock& column : columns) outputs.push_back(column.at);
  DrawSource source(program, 7);
  FormulaProgram::Workspace workspace = program.program->workspace();
  program.program->run(workspace, source, outputs.data());
  const auto at = [&](const FigurePlace& place, int i) {
    return place.column < 0 ? place.factor : columns[static_cast<std::size_t>(place.column)].at[i] * place.factor;
  };
  const BillPlaces& places = program.bills[0];
  for (int i = 0; i < kBlock; ++i) {
    double lines = 0, bars = 0;
    for (const FigurePlace& line : places.lines) lines += at(line, i);
    for (const FigurePlace& bar : places.bars) bars += at(bar, i);
    const double total = at(places.total, i);
    RC_ASSERT(lines == total);
    RC_ASSERT(std::fabs(bars - total) <= 1e-11 * total);
  }
}

// Percentiles are in order and, with every range collapsed again, the bill.
RC_GTEST_PROP(UncertaintyProperties, PercentilesAreInOrder, ()) {
  Drawable d(*rc::gen::element(Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned));
  widen(d.catalog(), *rc::gen::inRange(0, 30) / 10.0);
  RunInput run = test::round_run();
  run.step_time_s = *rc::gen::inRange(1, 100) / 10.0;
  const DrawnBill found = draw_one(d.make(run), d.catalog(), drawn(400));
  const auto ordered = [](const Percentiles& p) { return p.p10 <= p.p50 && p.p50 <= p.p90; };
  RC_ASSERT(ordered(found.total_usd) && ordered(found.wall_s) && ordered(found.goodput_ratio));
  for (const DrawnAmount& line : found.lines) RC_ASSERT(ordered(line.usd));
  for (const DrawnAmount& bar : found.waterfall) RC_ASSERT(ordered(bar.usd));
}

TEST(Tornado, EachCauseIsAnotherBill) {
  Drawable d(Purchase::kOwned);
  widen(d.catalog(), 0.5);
  const Tornado found = tornado(d.make(), d.catalog()).value();
  EXPECT_NEAR(found.usd, d.bill.total.usd, cent(d.bill.total.usd));
  ASSERT_GT(found.bars.size(), 4u);
  const auto wacc = std::find_if(found.bars.begin(), found.bars.end(),
                                 [](const TornadoBar& b) { return b.cause == "parameter wacc"; });
  ASSERT_NE(wacc, found.bars.end());
  // The same bill made with the parameter at its end.
  for (const bool high : {false, true}) {
    Drawable moved(Purchase::kOwned);
    widen(moved.catalog(), 0.5);
    test::set(moved.catalog(), "wacc", high ? wacc->high : wacc->low);
    moved.make();
    EXPECT_NEAR(high ? wacc->usd_at_high : wacc->usd_at_low, moved.bill.total.usd, cent(moved.bill.total.usd));
  }
  for (std::size_t i = 1; i < found.bars.size(); ++i) {
    const auto reach = [&](const TornadoBar& b) {
      return std::max(std::fabs(b.usd_at_low - found.usd), std::fabs(b.usd_at_high - found.usd));
    };
    EXPECT_GE(reach(found.bars[i - 1]), reach(found.bars[i]));
  }
}

// What two options share alike does not move their difference.
TEST(Tornado, OfAPairIsOfTheDifference) {
  Drawable a(Purchase::kOnDemand), b(Purchase::kOnDemand);
  for (Drawable* d : {&a, &b}) {
    widen(d->catalog(), 0.5);
    d->bill_case.offer.price_low_usd_per_h = 12;
    d->bill_case.offer.price_high_usd_per_h = 20;
  }
  b.bill_case.offer.id = "another/hgx/us-1/any";
  const BillToDraw first = a.make(), second = b.make();
  const Tornado found = tornado(first, second, a.catalog()).value();
  EXPECT_NEAR(found.usd, 0, 0.02);
  ASSERT_EQ(found.bars.size(), 2u);  // the two prices
  EXPECT_LT(found.bars[0].usd_at_low * found.bars[0].usd_at_high, 0);
}

TEST(Tornado, HasTheStepAndTheFailures) {
  Drawable d(Purchase::kOnDemand);
  test::set(d.catalog(), "gpu_failures_per_gpu_h", 2e-3);
  d.catalog().step_errors = {step_error("stack/all", 0.1)};
  const Tornado found = tornado(d.make(), d.catalog()).value();
  std::vector<std::string> causes;
  for (const TornadoBar& bar : found.bars) causes.push_back(bar.cause);
  EXPECT_EQ(causes, (std::vector<std::string>{"step time, stack stack", "failures"}));
  EXPECT_NEAR(found.bars[0].high, std::exp(0.128155), 1e-4);
  EXPECT_NEAR(found.bars[1].base, d.bill_case.input.run.failures, 1e-9);
  EXPECT_LT(found.bars[1].low, found.bars[1].base);
}

}  // namespace
}  // namespace tare
