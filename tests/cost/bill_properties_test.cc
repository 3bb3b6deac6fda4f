// What holds for every bill, whatever the numbers.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/bill_fixture.h"

namespace tare {
namespace {

using test::cents;

double log_uniform(double low, double high) { return low * std::pow(high / low, *rc::gen::inRange(0, 100001) / 1e5); }

Purchase any_purchase() {
  return *rc::gen::element(Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned);
}

struct AnyBill {
  test::BillCase bill_case;
  RunInput run;

  AnyBill() : bill_case(any_purchase()), run(test::round_run()) {
    Offer& offer = bill_case.offer;
    run.purchase = offer.purchase;
    run.nodes = *rc::gen::inRange(1, 3000);
    run.gpus = *rc::gen::inRange(8 * (run.nodes - 1) + 1, 8 * run.nodes + 1);
    run.tokens = log_uniform(1e7, 1e13);
    run.step_time_s = log_uniform(0.01, 100);
    run.node_power_w = log_uniform(500, 2e4);
    run.checkpoint.async = *rc::gen::arbitrary<bool>();
    offer.provider = *rc::gen::element("aws", "lab");
    offer.region = *rc::gen::element("*", "us-1", "cn-1");
    offer.billing_period = *rc::gen::element("", "second", "minute", "hour", "month");
    if (offer.purchase != Purchase::kOwned) {
      offer.price_usd_per_h = log_uniform(0.1, 1000);
      offer.price_low_usd_per_h = *offer.price_usd_per_h * 0.7;
      offer.price_high_usd_per_h = *offer.price_usd_per_h * 1.5;
    }
    bill_case.node_type.node_power_w = run.node_power_w;
    bill_case.node_type.capex_base_usd = log_uniform(1e3, 1e6);
    bill_case.input.nodes = run.nodes;
    bill_case.input.gpus = 8 * run.nodes;
    bill_case.input.gpus_used = run.gpus;
    bill_case.input.tokens = run.tokens;
    bill_case.input.step_time_s = run.step_time_s;
    // Mostly falling, sometimes rising again: what a model gives, and what it should not.
    double left_s = run.step_time_s;
    for (const char* id : {"data", "bubble", "comm_tp", "comm_dp", "kernel", "optimizer"}) {
      left_s *= *rc::gen::inRange(500, 1050) / 1000.0;
      bill_case.input.step_time_after_removal_s.emplace_back(id, left_s);
    }
    test::set(bill_case.catalog, "gpu_failures_per_gpu_h", log_uniform(1e-8, 1e-4));
    test::set(bill_case.catalog, "spot_interruptions_per_gpu_h", log_uniform(1e-7, 1e-4));
    test::set(bill_case.catalog, "wacc", 0.1, 0.05, 0.2);
    test::set(bill_case.catalog, "eng_rate", 100, 50, 200);
  }

  Bill bill() {
    bill_case.input.run = estimate_run(run, bill_case.catalog);
    return bill_case.bill();
  }
};

RC_GTEST_PROP(BillProperties, BothViewsSumToTheTotalToTheCent, ()) {
  AnyBill any;
  const Bill bill = any.bill();
  if (!is_known(bill)) {
    RC_ASSERT(!any.bill_case.input.run.finishes);
    return;
  }
  std::int64_t lines = 0;
  for (const BillLine& line : bill.lines) {
    RC_ASSERT(line.amount.usd >= 0);
    lines += cents(line.amount.usd);
  }
  std::int64_t bars = 0;
  double gpu_hours = 0;
  for (const WaterfallBar& bar : bill.waterfall) {
    RC_ASSERT(bar.amount.usd >= 0);
    RC_ASSERT(bar.gpu_hours >= 0);
    bars += cents(bar.amount.usd);
    gpu_hours += bar.gpu_hours;
  }
  RC_ASSERT(lines == cents(bill.total.usd));
  RC_ASSERT(bars == cents(bill.total.usd));
  RC_ASSERT(std::fabs(gpu_hours - bill.billed_gpu_hours) <= 1e-9 * bill.billed_gpu_hours);
  RC_ASSERT(bill.billed_gpu_hours >= any.bill_case.input.run.gpu_hours * (1 - 1e-12));
}

// Every line's formula gives its value, which is its amount before rounding; the range holds the amount.
RC_GTEST_PROP(BillProperties, EveryLineIsItsFormula, ()) {
  AnyBill any;
  const Bill bill = any.bill();
  for (const BillLine& line : bill.lines) {
    const Result<double> value = evaluate(line.formula);
    RC_ASSERT(value.has_value());
    RC_ASSERT(*value == line.formula.value);
    RC_ASSERT(std::fabs(line.amount.usd - *value) <= 0.01 + 1e-12 * bill.total.usd);
    RC_ASSERT(line.amount.low_usd.value() <= line.amount.usd + 0.02);
    if (line.amount.high_usd) RC_ASSERT(*line.amount.high_usd >= line.amount.usd - 0.02);
  }
}

RC_GTEST_PROP(BillProperties, RentExcludesOwning, ()) {
  AnyBill any;
  const Bill bill = any.bill();
  bool rent = false;
  bool owning = false;
  for (const BillLine& line : bill.lines) {
    rent = rent || line.id == "rent";
    owning = owning || line.id == "capital" || line.id == "power" || line.id == "space" || line.id == "spares";
  }
  RC_ASSERT(!(rent && owning));
  if (is_known(bill)) RC_ASSERT(owning == (any.bill_case.offer.purchase == Purchase::kOwned));
}

RC_GTEST_PROP(BillProperties, MoreFailuresAreNeverCheaper, ()) {
  AnyBill any;
  const Bill before = any.bill();
  const double factor = 1 + *rc::gen::inRange(0, 1000) / 100.0;
  const double rate = parameter(any.bill_case.catalog, "gpu_failures_per_gpu_h").base;
  test::set(any.bill_case.catalog, "gpu_failures_per_gpu_h", factor * rate);
  // The wall never falls; storage keeps at most as many checkpoints as before or more. A cent for rounding.
  RC_ASSERT(any.bill().total.usd >= before.total.usd - 0.01 - 1e-12 * before.total.usd);
}

RC_GTEST_PROP(BillProperties, AHigherPriceIsNeverCheaper, ()) {
  AnyBill any;
  const Bill before = any.bill();
  const double factor = 1 + *rc::gen::inRange(0, 1000) / 100.0;
  Offer& offer = any.bill_case.offer;
  if (offer.price_usd_per_h) *offer.price_usd_per_h *= factor;
  *any.bill_case.node_type.capex_base_usd *= factor;
  RC_ASSERT(any.bill().total.usd >= before.total.usd - 0.01);
}

RC_GTEST_PROP(BillProperties, ALongerRunIsNeverCheaper, ()) {
  AnyBill any;
  const Bill before = any.bill();
  any.run.tokens *= 1 + *rc::gen::inRange(0, 1000) / 100.0;
  RC_ASSERT(any.bill().total.usd >= before.total.usd - 0.01 - 1e-12 * before.total.usd);
}

}  // namespace
}  // namespace tare
