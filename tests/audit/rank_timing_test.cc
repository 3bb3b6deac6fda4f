#include "audit/rank_timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "audit/rank_hang.h"
#include "rank_recordings.h"

namespace tare {
namespace {

// Three ranks come at 10, 10 and 33 ms and end at 35; one clock is 5 ms ahead. Twenty times, 100 ms apart.
TEST(RankTiming, SplitsACollectiveIntoWaitAndTransfer) {
  std::vector<TimedCollective> collectives;
  for (int k = 0; k < 20; ++k) {
    const double at = 0.1 * k;
    collectives.push_back({{{0, at + 0.010, at + 0.035}, {1, at + 0.015, at + 0.040}, {2, at + 0.033, at + 0.035}}});
  }
  const std::optional<GroupTiming> timing = time_ranks(collectives);
  ASSERT_TRUE(timing && timing->late);
  EXPECT_NEAR(timing->ranks[1].clock_offset_s, 0.005, 1e-9);
  EXPECT_NEAR(timing->ranks[1].clock_error_s, 0, 1e-9);
  EXPECT_NEAR(timing->median_transfer_s, 0.002, 1e-9);
  EXPECT_NEAR(timing->ranks[0].mean_wait_s, 0.023, 1e-9);
  EXPECT_EQ(timing->late->ranks, std::vector<int>{2});
  EXPECT_NEAR(timing->late->lateness_s, 0.023, 1e-9);
  // From the first arrival at 10 ms to the last end at 1,935 ms; 23 ms of each of 20.
  EXPECT_NEAR(timing->late->share, 20 * 0.023 / 1.925, 1e-9);
  EXPECT_TRUE(timing->late->consistent);
  EXPECT_NEAR(timing->late->example.waiting_duration_s, 0.025, 1e-9);
}

// Whatever the clocks, drifts, transfers and noise: the late rank, its lateness and the transfer come out.
TEST(RankTiming, RecoversWhatWasMade) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto uniform = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
    const int ranks = static_cast<int>(uniform(2, 17)), count = static_cast<int>(uniform(20, 200));
    const int late_rank = static_cast<int>(uniform(0, ranks));
    const double lateness = uniform(2e-3, 50e-3), transfer = uniform(1e-4, 1e-2), noise = lateness / 20;
    std::vector<double> offset, drift;
    for (int r = 0; r < ranks; ++r) {
      offset.push_back(uniform(-2, 2));
      drift.push_back(uniform(-2e-5, 2e-5));
    }
    std::vector<TimedCollective> collectives;
    double now = 5;
    double caused = 0;
    for (int k = 0; k < count; ++k) {
      std::vector<double> arrivals;
      for (int r = 0; r < ranks; ++r) arrivals.push_back(now + uniform(0, noise) + (r == late_rank ? lateness : 0));
      double last = 0, second = 0;
      for (const double arrival : arrivals) {
        second = std::max(second, std::min(last, arrival));
        last = std::max(last, arrival);
      }
      caused += last - second;
      TimedCollective one;
      for (int r = 0; r < ranks; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const auto clock = [&](double time) { return time + offset[at] + drift[at] * time; };
        one.spans.push_back({r, clock(arrivals[at]), clock(last + transfer + uniform(-5e-6, 5e-6))});
      }
      collectives.push_back(std::move(one));
      now = last + transfer + uniform(0.01, 0.1);
    }
    SCOPED_TRACE(seed);
    const std::optional<GroupTiming> timing = time_ranks(collectives);
    ASSERT_TRUE(timing && timing->late);
    EXPECT_EQ(timing->late->ranks, std::vector<int>{late_rank});
    EXPECT_TRUE(timing->late->consistent);
    EXPECT_NEAR(timing->late->lateness_s, lateness, 0.05 * lateness);
    EXPECT_NEAR(timing->late->caused_s, caused, 0.03 * caused);
    EXPECT_NEAR(timing->median_transfer_s, transfer, 3e-5);
    EXPECT_LT(timing->clock_error_s, 3e-5);
    for (const RankTiming& a : timing->ranks) {
      // Offsets are against the median clock: differences between ranks are what is known.
      const RankTiming& b = timing->ranks.front();
      const auto i = static_cast<std::size_t>(a.rank), j = static_cast<std::size_t>(b.rank);
      const double middle = collectives[collectives.size() / 2].spans[0].end_s - offset[0];
      EXPECT_NEAR(a.clock_offset_s - b.clock_offset_s, offset[i] - offset[j] + (drift[i] - drift[j]) * middle, 1e-4);
    }
  }
}

TEST(RankTiming, NamesNobodyWhereNoiseIsAllThereIs) {
  int named = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> late(1 / 2e-3);
    std::vector<TimedCollective> collectives;
    for (int k = 0; k < 60; ++k) {
      TimedCollective one;
      double last = 0;
      for (int r = 0; r < 8; ++r) {
        one.spans.push_back({r, k * 0.1 + late(random), 0});
        last = std::max(last, one.spans.back().start_s);
      }
      for (RankSpan& span : one.spans) span.end_s = last + 1e-3;
      collectives.push_back(std::move(one));
    }
    const std::optional<GroupTiming> timing = time_ranks(collectives);
    ASSERT_TRUE(timing);
    named += timing->late && timing->late->consistent && timing->late->caused_share >= 0.5 ? 1 : 0;
    EXPECT_GT(timing->jitter_share, 0.01);
  }
  EXPECT_EQ(named, 0);
}

TEST(RankTiming, FindsHowFarRecordingsAreApart) {
  std::vector<OrderedCollective> reference, other;
  std::mt19937 random(7);
  for (int k = 0; k < 40; ++k) {
    reference.push_back(
        {k, k % 4 == 0 ? "all-gather" : "all-reduce", 0.1 * k + std::uniform_real_distribution(0.0, 0.01)(random)});
  }
  for (int k = 5; k < 40; ++k) {
    other.push_back(
        {k - 5, reference[static_cast<std::size_t>(k)].signature, reference[static_cast<std::size_t>(k)].end_s + 3});
  }
  EXPECT_EQ(shift_between(reference, other), 5);
  EXPECT_EQ(shift_between(other, reference), -5);
  for (OrderedCollective& one : other) one.signature = "barrier";
  EXPECT_EQ(shift_between(reference, other), std::nullopt);
}

// Eight ranks, 12 steps of 50 ms until the ranks on time arrive, the late one's 23 ms and 1.5 ms of transfer. The share
// is of first arrival to last end, 12 * 74.5 - 50 ms; noise of up to 39 µs moves the arrivals.
TEST(RankRules, CostIsTheShareOfAllGpusOfTheGroup) {
  const AuditReport report = audit_files(traces_of({.ranks = 8, .late_rank = 5, .late_us = 23'000}));
  const std::vector<const Finding*> found = findings_of(report, "rank.late");
  ASSERT_EQ(found.size(), 1u);
  ASSERT_TRUE(found[0]->loss);
  EXPECT_NEAR(found[0]->loss->value, 12 * 23.0 / (12 * 74.5 - 50) * 8 * 24, 0.5);
  ASSERT_TRUE(found[0]->cost_usd_per_day.base_usd);
  EXPECT_NE(found[0]->cause.find("computes slower"), std::string::npos);
}

TEST(RankRules, AGpuThatIsIdleBeforeItIsLateWaitsForItsHost) {
  const AuditReport report =
      audit_files(traces_of({.ranks = 4, .late_rank = 1, .late_us = 20'000, .computes_longer = false}));
  const std::vector<const Finding*> found = findings_of(report, "rank.late");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0]->cause.find("waits for its host"), std::string::npos);
}

// A hang holds all GPUs of the group: 4 * 24 GPU-hours a day.
TEST(RankRules, AHangTakesAllGpusOfTheGroup) {
  const AuditReport report = audit_files(dumps_of({{.rank = 0, .entered = 9, .done = 8},
                                                   {.rank = 1, .entered = 8, .done = 8},
                                                   {.rank = 2, .entered = 9, .done = 8},
                                                   {.rank = 3, .entered = 9, .done = 8}},
                                                  "[0, 1, 2, 3]"));
  const std::vector<const Finding*> found = findings_of(report, "rank.never-entered");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0]->loss->value, 96, 1e-9);
}

// GPU1 of gpu-a1 is hot, and rank 5 runs on it: its lateness stands under that fault, and so does what was measured.
TEST(RankRules, AFaultOfTheLateGpuBecomesTheCause) {
  std::vector<CaseFile> files = traces_of({.ranks = 8, .late_rank = 5, .late_us = 23'000, .ranks_per_node = 4});
  files.push_back({"gpu-a1/smi.csv",
                   "index, name, clocks_throttle_reasons.hw_thermal_slowdown, temperature.gpu, clocks.sm [MHz], "
                   "clocks.max.sm [MHz]\n"
                   "0, NVIDIA H100 80GB HBM3, Not Active, 52, 1980 MHz, 1980 MHz\n"
                   "1, NVIDIA H100 80GB HBM3, Active, 91, 1140 MHz, 1980 MHz\n"});
  files.push_back(
      {"gpu-a1/dmesg.txt", "[ 4711.25] NVRM: Xid (PCI:0000:1b:00): 63, pid=77, name=python, row remapped\n"});
  const AuditReport report = audit_files(files);
  const std::vector<const Finding*> found = findings_of(report, "rank.late");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->subject.node, "gpu-a1");
  ASSERT_GE(found[0]->caused_by, 0) << found[0]->cause;
  const Finding& cause = report.findings[static_cast<std::size_t>(found[0]->caused_by)];
  EXPECT_EQ(cause.subject.name, "GPU1");
  ASSERT_TRUE(cause.loss);
  EXPECT_GE(cause.loss->value, found[0]->loss->value);
}

TEST(RankHang, TheFirstUnfinishedIsBehindWhatAnyHasFinished) {
  const auto at = [](std::int64_t entered, std::int64_t done) { return RankProgress{entered, entered, done, {}}; };
  const auto hang = find_hang({{0, at(7, 5)}, {1, at(6, 6)}, {2, at(7, 6)}}, {0, 1, 2, 3});
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->number, 7);
  EXPECT_EQ(hang->missing, std::vector<int>{1});
  EXPECT_EQ(hang->waiting, (std::vector<int>{0, 2}));
  EXPECT_EQ(hang->no_dump, std::vector<int>{3});
  EXPECT_FALSE(find_hang({{0, at(7, 6)}, {1, at(4, 3)}}, {})) << "rank 1's dump is older";
  EXPECT_FALSE(find_hang({{0, at(7, 7)}, {1, at(7, 7)}}, {}));
}

}  // namespace
}  // namespace tare
