#include "cli/plan_view.h"

#include <gtest/gtest.h>

#include "fake_plan.h"

namespace tare {
namespace {

std::string shown(const Plan& plan, const PlanView& view, int width = 0) {
  Terminal terminal;
  terminal.width = width;
  return render_terminal(plan_document(plan, view), terminal);
}

TEST(PlanView, OnATerminal) {
  EXPECT_EQ(shown(test::fake_plan(), {}, 160),
            R"(fake: 20B tokens of llama-2-13b, pretrain, bf16, 512 × 4,096 tokens a step, deadline 72 h, budget $60,000

                                                                                                wall      total
#  offer                GPU                 GPUs  parallelism         step     MFU  tokens/s  ≤ 72 h  ≤ $60,000  $/M tokens  $/GPU-h  price of
─  ───────────────────  ──────────────  ────────  ──────────────────  ────  ──────  ────────  ──────  ─────────  ──────────  ───────  ──────────  ────────
1  cheap/a/*/spot       H100-SXM5-80GB  64 (8×8)  tp2 dp32 mb1 zero0   5 s  50.0 %      400k  4.17 d     $1,010     $0.0505   $1.00   2026-11-01  too late
2  good/b/*/on_demand   H100-SXM5-80GB  64 (8×8)  tp2 dp32 mb1 zero0   5 s  50.0 %      400k    50 h     $2,010      $0.101   $2.00*  2026-11-01  CHOSEN ✔
3  dear/c/*/on_demand~  H100-SXM5-80GB  64 (8×8)  tp2 dp32 mb1 zero0   5 s  50.0 %      400k    40 h     $3,010      $0.150   $3.00   2026-11-01
Not shown for want of width: GPU-hours
Shown 3 of 3
* price older than 180 days, or undated: 1 of 3; check it before renting
~ the network between its nodes is assumed (--assume-fabric)

CHOSEN ✔ good/b/*/on_demand
64 × H100-SXM5-80GB (8 nodes), tp2 dp32 mb1 zero0, 64 GiB of 80 GiB, $2.00* per GPU-hour of 2026-11-01
Assumed: stack = generic (none stated)

Bill: $2,010.00, $0.101 per million tokens
line of the bill     amount    share       low … high
────────────────  ─────────  ───────  ───────────────
rent              $2,000.00   99.5 %
storage              $10.00    0.5 %
────────────────  ─────────  ───────  ───────────────
total             $2,010.00  100.0 %  $1,005 … $4,020

The same money by cause
where the money goes  GPU-hours     amount    share
────────────────────  ─────────  ─────────  ───────  ────────────────────────────────────────
start-up                    100    $200.00   10.0 %  ████
kernels below peak          400    $800.00   39.8 %      ███████████████▉
useful at peak              500  $1,000.00   49.8 %                      ███████████████████▉
storage                             $10.00    0.5 %                                         ▎
────────────────────  ─────────  ─────────  ───────  ────────────────────────────────────────
total                     1,000  $2,010.00  100.0 %

Refused: 3
reason           count  which means                                    for example              needed     had      nearest change
───────────────  ─────  ─────────────────────────────────────────────  ───────────────────────  ─────────  ───────  ───────────────────────
no_known_fabric      2  nobody states the bandwidth between its nodes  y/two/*/on_demand on 64  bandwidth  unknown  --assume-fabric 400Gb/s
memory               1  no parallelism fits in the GPUs' memory        x/one/*/on_demand on 64  90 GiB     80 GiB   fits on 128 GPUs

12,345 configurations searched in 0.25 s, 2,345 of them ruled out by a bound; infeasible: memory 300
)");
}

TEST(PlanView, MarksStalePricesAndAssumedFabricsAndSaysWhatTheMarksMean) {
  const std::string text = shown(test::fake_plan(), {});
  EXPECT_NE(text.find("$2.00*"), std::string::npos);
  EXPECT_NE(text.find("* price older than 180 days, or undated: 1 of 3"), std::string::npos);
  EXPECT_NE(text.find("dear/c/*/on_demand~"), std::string::npos);
  EXPECT_NE(text.find("~ the network between its nodes is assumed"), std::string::npos);
}

TEST(PlanView, ShowsTheChosenOneEvenBeyondTheTop) {
  const std::string text = shown(test::fake_plan(), {1, false, {}});
  EXPECT_NE(text.find("Shown 2 of 3"), std::string::npos);
  EXPECT_NE(text.find("2  good/b/*/on_demand"), std::string::npos);
  EXPECT_EQ(text.find("3  dear/c/*/on_demand"), std::string::npos);
}

TEST(PlanView, TopZeroShowsAll) {
  EXPECT_NE(shown(test::fake_plan(), {0, false, {}}).find("Shown 3 of 3"), std::string::npos);
}

TEST(PlanView, SaysWhatIsClosestWhenNothingMeetsTheLimits) {
  const std::string text = shown(test::fake_plan_without_choice(), {});
  EXPECT_NE(text.find("Nothing meets the job's limits"), std::string::npos);
  EXPECT_NE(text.find("Closest is dear/c/*/on_demand on 64 GPUs: 80 h of 72 h"), std::string::npos);
  EXPECT_EQ(text.find("CHOSEN"), std::string::npos);
}

TEST(PlanView, GroupsRefusalsTheCommonestFirst) {
  const std::string text = render_csv(refusal_groups_table(test::fake_plan()));
  EXPECT_EQ(
      text,
      "reason,count,meaning,offer,needed,had,nearest\n"
      "no_known_fabric,2,nobody states the bandwidth between its nodes,y/two/*/on_demand on 64,bandwidth,unknown,"
      "--assume-fabric 400Gb/s\n"
      "memory,1,no parallelism fits in the GPUs' memory,x/one/*/on_demand on 64,90 GiB,80 GiB,fits on 128 GPUs\n");
}

TEST(PlanView, ListsEveryRefusalWhenAsked) {
  EXPECT_EQ(shown(test::fake_plan(), {}).find("z/three"), std::string::npos);
  EXPECT_NE(shown(test::fake_plan(), {10, true, {}}).find("z/three"), std::string::npos);
}

TEST(PlanView, SaysWhenTheGateIsPassed) {
  EXPECT_NE(
      shown(test::fake_plan(), {10, false, 500.0}).find("Over the gate: $2,010.00 is more than --fail-over $500.00"),
      std::string::npos);
  EXPECT_EQ(shown(test::fake_plan(), {10, false, 5000.0}).find("Over the gate"), std::string::npos);
}

TEST(PlanView, CsvHasEveryNumberInBaseUnits) {
  const std::string csv = render_csv(options_table(test::fake_plan(), 0));
  const std::string header = csv.substr(0, csv.find('\n'));
  for (const char* id : {"rank", "offer", "gpus", "step_time_s", "mfu_ratio", "wall_s", "total_usd",
                         "price_usd_per_gpu_h", "chosen", "tp", "meets_deadline", "memory_bytes"}) {
    EXPECT_NE((',' + header + ',').find(',' + std::string(id) + ','), std::string::npos) << id;
  }
  EXPECT_NE(csv.find("2,good/b/*/on_demand,H100-SXM5-80GB,64,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",180000,"), std::string::npos);  // 50 h
}

TEST(PlanView, NarrowTerminalsKeepWhatTheChoiceStandsOn) {
  const std::string text = shown(test::fake_plan(), {}, 80);
  for (const char* kept : {"good/b/*/on_demand", "64 (8×8)", "$2,010", "CHOSEN ✔", "Not shown for want of width"}) {
    EXPECT_NE(text.find(kept), std::string::npos) << kept << '\n' << text;
  }
}

TEST(PlanView, UnknownIsNotZero) {
  Plan plan = test::fake_plan();
  plan.options[1].bill = {};
  plan.options[1].bill.total.usd = std::numeric_limits<double>::infinity();
  plan.options[1].bill.usd_per_million_tokens = std::numeric_limits<double>::infinity();
  plan.options[1].bill.unknown = {"no price is known"};
  plan.options[1].price_usd_per_gpu_h = 0;
  const std::string text = shown(plan, {});
  EXPECT_NE(text.find("Bill: unknown"), std::string::npos);
  EXPECT_NE(text.find("Unknown: no price is known"), std::string::npos);
  EXPECT_EQ(text.find("inf"), text.find("infeasible")) << text;
}

}  // namespace
}  // namespace tare
