// Ten thousand bills of every kind: to the cent in both views, each bar a difference, each cause a cost, every number
// explained.
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "cost/bill_fixture.h"
#include "cost/waterfall.h"
#include "run/node_power.h"

namespace tare {
namespace {

using test::cents;

constexpr int kBills = 10000;

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform(0, 1)); }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool coin() { return number(0, 1) == 1; }
  template <typename T, std::size_t N>
  const T& one_of(const T (&all)[N]) {
    return all[static_cast<std::size_t>(number(0, static_cast<int>(N) - 1))];
  }

 private:
  std::mt19937 engine_;
};

struct RandomBill {
  test::BillCase bill_case;
  RunInput run;

  explicit RandomBill(Dice& dice) : bill_case(purchase(dice)), run(test::round_run()) {
    offer(dice);
    job(dice);
    failures(dice);
  }

  Bill bill() {
    bill_case.input.run = estimate_run(run, bill_case.catalog);
    return bill_case.bill();
  }

 private:
  static Purchase purchase(Dice& dice) {
    static constexpr Purchase kAll[] = {Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned};
    return dice.one_of(kAll);
  }

  void offer(Dice& dice) {
    static const std::string kProviders[] = {"aws", "gcp", "lab"};
    static const std::string kRegions[] = {"*", "us-1", "cn-1", "eu-central-1", "ap-northeast-1"};
    static const std::string kPeriods[] = {"", "second", "minute", "hour", "month"};
    static const std::string kCooling[] = {"auto", "air", "liquid"};
    static const std::string kResiduals[] = {"progress", "decline", "table", "resale"};
    Offer& o = bill_case.offer;
    o.provider = dice.one_of(kProviders);
    o.region = dice.one_of(kRegions);
    o.billing_period = dice.one_of(kPeriods);
    o.ownership = {dice.coin(), dice.one_of(kCooling), dice.one_of(kResiduals)};
    if (o.purchase != Purchase::kOwned) o.price_usd_per_h = dice.log_uniform(0.1, 1000);
    bill_case.node_type.capex_base_usd = dice.log_uniform(1e3, 1e6);
    bill_case.node_type.node_power_w = dice.log_uniform(500, 2e4);
    if (dice.coin()) bill_case.node_type.nvlink_domain = 72;
  }

  void job(Dice& dice) {
    static constexpr CheckpointStore kStores[] = {CheckpointStore::kShared, CheckpointStore::kLocal,
                                                  CheckpointStore::kMemory};
    run.purchase = bill_case.offer.purchase;
    run.nodes = dice.number(1, 3000);
    run.gpus = dice.number(8 * (run.nodes - 1) + 1, 8 * run.nodes);
    run.tokens = dice.log_uniform(1e7, 1e13);
    run.step_time_s = dice.log_uniform(0.01, 100);
    run.node_power_w = bill_case.node_type.node_power_w;
    run.checkpoint.async = dice.coin();
    run.checkpoint.store = dice.one_of(kStores);
    run.data_bytes = dice.coin() ? dice.log_uniform(1e9, 1e14) : 0;
    BillInput& input = bill_case.input;
    input.nodes = run.nodes;
    input.gpus = 8 * run.nodes;
    input.gpus_used = run.gpus;
    input.tokens = run.tokens;
    input.step_time_s = run.step_time_s;
    input.certified = dice.coin();
    double left_s = run.step_time_s;
    for (const char* id : {"data", "bubble", "comm_tp", "comm_dp", "kernel", "optimizer"}) {
      left_s *= dice.uniform(0.5, 1);
      input.step_time_after_removal_s.emplace_back(id, left_s);
    }
  }

  void failures(Dice& dice) {
    Catalog& c = bill_case.catalog;
    test::set(c, "gpu_failures_per_gpu_h", dice.log_uniform(1e-8, 1e-4));
    test::set(c, "spot_interruptions_per_gpu_h", dice.log_uniform(1e-7, 1e-4));
    test::set(c, "planned_int_rate", dice.log_uniform(1e-8, 1e-6));
    test::set(c, "fw_downtime", dice.log_uniform(1e3, 1e6));
  }
};

TEST(ManyBills, SumToTheCentInBothViews) {
  Dice dice(1);
  int known = 0;
  for (int i = 0; i < kBills; ++i) {
    RandomBill random(dice);
    const Bill bill = random.bill();
    if (!is_known(bill)) continue;
    ++known;
    std::int64_t lines = 0;
    std::int64_t bars = 0;
    double gpu_hours = 0;
    std::set<std::string> ids;
    for (const BillLine& line : bill.lines) {
      lines += cents(line.amount.usd);
      EXPECT_TRUE(ids.insert(line.id).second) << "twice: " << line.id;
    }
    for (const WaterfallBar& bar : bill.waterfall) {
      bars += cents(bar.amount.usd);
      gpu_hours += bar.gpu_hours;
    }
    ASSERT_EQ(lines, cents(bill.total.usd)) << i;
    ASSERT_EQ(bars, cents(bill.total.usd)) << i;
    ASSERT_NEAR(gpu_hours, bill.billed_gpu_hours, 1e-9 * bill.billed_gpu_hours) << i;
  }
  EXPECT_GT(known, kBills / 2);
}

// Rented and owned exclude each other, and so do a building and a colocation rate.
TEST(ManyBills, WhatExcludesEachOtherNeverMeets) {
  Dice dice(2);
  for (int i = 0; i < 1000; ++i) {
    const Bill bill = RandomBill(dice).bill();
    std::set<std::string> ids;
    for (const BillLine& line : bill.lines) ids.insert(line.id);
    for (const char* owning : {"capital", "power", "space", "colocation", "spares", "parts", "support"}) {
      EXPECT_FALSE(ids.contains("rent") && ids.contains(owning)) << owning;
    }
    EXPECT_FALSE(ids.contains("space") && ids.contains("colocation"));
  }
}

double hours_of(const BillInput& input, const std::string& without) {
  double sum = 0;
  for (const Formula& bar : waterfall_hours(input, 0)) {
    if (bar.id != "waterfall." + without) sum += bar.value;
  }
  return sum;
}

// A bar is what the GPU-hours fall by when its cause is taken out: of the run, its time; of the step, what the step
// model says is left.
TEST(ManyBills, EachBarIsTheDifferenceOfTwoEvaluations) {
  Dice dice(3);
  for (int i = 0; i < 1000; ++i) {
    RandomBill random(dice);
    const Bill bill = random.bill();
    if (!is_known(bill)) continue;
    const BillInput& input = random.bill_case.input;
    const double all = hours_of(input, "");
    const std::pair<const char*, double Run::*> causes[] = {{"startup", &Run::startup_s},
                                                            {"failures", &Run::failure_lost_s},
                                                            {"maintenance", &Run::maintenance_s},
                                                            {"checkpoint", &Run::checkpoint_stall_s}};
    for (const auto& [id, seconds] : causes) {
      BillInput without = input;
      without.run.wall_s -= without.run.*seconds;
      without.run.*seconds = 0;
      EXPECT_NEAR(test::find_bar(bill, id)->gpu_hours, all - hours_of(without, ""), 1e-9 * all) << id;
    }
    double before_s = input.step_time_s;
    for (const auto& [id, after_s] : input.step_time_after_removal_s) {
      BillInput first = input;
      BillInput second = input;
      first.run.productive_s *= before_s / input.step_time_s;
      second.run.productive_s *= after_s / input.step_time_s;
      EXPECT_NEAR(test::find_bar(bill, id)->gpu_hours, hours_of(first, "") - hours_of(second, ""), 1e-9 * all) << id;
      before_s = after_s;
    }
  }
}

TEST(ManyBills, RemovingACauseNeverRaisesTheBill) {
  Dice dice(4);
  static const char* const kCauses[] = {"gpu_failures_per_gpu_h",
                                        "spot_interruptions_per_gpu_h",
                                        "planned_int_rate",
                                        "fw_downtime",
                                        "provision_vm_s",
                                        "image_pull_bytes",
                                        "driver_init_s",
                                        "process_start_s",
                                        "compile_warmup_s",
                                        "detect_time",
                                        "requeue_rented_s",
                                        "spare_swap_s",
                                        "init_delta"};
  for (int i = 0; i < 2000; ++i) {
    RandomBill random(dice);
    const Bill before = random.bill();
    if (!is_known(before)) continue;
    for (const char* cause : kCauses) {
      RandomBill without = random;
      test::set(without.bill_case.catalog, cause, 0);
      const Bill after = without.bill();
      ASSERT_LE(after.total.usd, before.total.usd * (1 + 1e-12) + 0.01) << cause << " " << i;
    }
  }
}

// With the shipped catalog: every input of every formula names where it is from; what no source backs is marked; what
// an earlier formula gives has its value.
TEST(ManyBills, EveryNumberIsExplainedDownToSourcedOrMarkedInputs) {
  const Result<Catalog> shipped = load_catalog();
  ASSERT_TRUE(shipped.has_value());
  Dice dice(5);
  for (int i = 0; i < 300; ++i) {
    RandomBill random(dice);
    random.bill_case.catalog = *shipped;
    const Bill bill = random.bill();
    std::vector<Formula> formulas = random.bill_case.input.run.formulas;
    formulas.insert(formulas.end(), bill.formulas.begin(), bill.formulas.end());
    for (const BillLine& line : bill.lines) formulas.push_back(line.formula);
    for (const WaterfallBar& bar : bill.waterfall) {
      if (!bar.formula.id.empty()) formulas.push_back(bar.formula);
    }
    for (const Formula& formula : formulas) {
      const Result<double> value = evaluate(formula);
      ASSERT_TRUE(value.has_value()) << formula.id;
      EXPECT_NEAR(*value, formula.value, 1e-12 * std::fabs(formula.value)) << formula.id;
      for (const FormulaInput& input : formula.inputs) {
        EXPECT_TRUE(input.assumed || !input.source.empty()) << formula.id << " " << input.name;
        if (input.source.starts_with("parameter ")) {
          const CostParameter* const parameter = find_parameter(*shipped, input.source.substr(10));
          ASSERT_NE(parameter, nullptr) << input.source;
          EXPECT_TRUE(input.assumed || parameter->source.evidence != "unsourced") << formula.id << " " << input.name;
        }
        for (const Formula& earlier : formulas) {
          if (input.source != earlier.id) continue;
          EXPECT_EQ(input.value, earlier.value) << formula.id << " " << input.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tare
