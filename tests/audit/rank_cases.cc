#include "rank_recordings.h"
#include "rule_case.h"

namespace tare {
namespace {

template <typename... More>
std::vector<CaseFile> together(std::vector<CaseFile> files, const More&... more) {
  (files.insert(files.end(), more.begin(), more.end()), ...);
  return files;
}

// The logs of four ranks in one file: rank 2's communication is the shortest by 23 ms.
std::string log_by_rank(double shorter_ms) {
  std::string text;
  for (int step = 0; step < 20; ++step) {
    for (int rank = 0; rank < 4; ++rank) {
      text += "{\"rank\": " + std::to_string(rank) + ", \"step\": " + std::to_string(step) +
              ", \"step_time_ms\": 410.0, \"allreduce_ms\": " + std::to_string(rank == 2 ? 61.5 - shorter_ms : 61.5) +
              ", \"loss\": 2.5}\n";
    }
  }
  return text;
}

const char* const kTimers =
    "times across ranks (ms):\n"
    "  forward-backward:\n"
    "     rank  0: 300.10\n"
    "     rank  1: 300.20\n"
    "     rank  2: 340.10\n"
    "  all-grads-sync:\n"
    "     rank  0: 71.00\n"
    "     rank  1: 71.10\n"
    "     rank  2: 39.00\n";

std::string megatron_log() {
  std::string text;
  for (int i = 1; i <= 4; ++i) {
    text += " iteration " + std::to_string(i) +
            "0/ 500 | consumed samples: 640 | elapsed time per iteration (ms): 420.0 | learning rate: 1.0E-04 | global "
            "batch size: 64 | lm loss: 3.1E+00 |\n";
    text += kTimers;
  }
  return text;
}

std::vector<RuleCase> timing_cases() {
  std::vector<RuleCase> cases;
  const auto add = [&](const char* rule, const char* what, std::vector<CaseFile> files, bool speaks = false,
                       FindingSeverity severity = FindingSeverity::kInfo, const char* subject = "",
                       const char* title = "") {
    cases.push_back({rule, what, std::move(files), speaks, severity, subject, title});
  };
  const auto medium = FindingSeverity::kMedium, low = FindingSeverity::kLow, info = FindingSeverity::kInfo;
  const MadeJob late{.ranks = 8, .late_rank = 5, .late_us = 23'000, .ranks_per_node = 4};
  MadeJob little = late;
  little.late_us = 2'000;
  MadeJob none = late;
  none.late_us = 0;
  MadeJob other_clock = late;
  other_clock.clock_us = 140'000;
  MadeJob begins_later = late;
  begins_later.numbered = false;
  begins_later.first_seen = 2;
  MadeJob hiccup = late;
  hiccup.once = 4;
  MadeJob turns = late;
  turns.late_rank = -2;
  MadeJob two = late;
  two.ranks = 2;
  two.late_rank = 1;
  two.ranks_per_node = 0;
  add("rank.late", "TheOneThatLooksFast", traces_of(late), true, medium, "rank 5",
      "GPU1 on gpu-a1) is late by 23.0 ms");
  add("rank.late", "TwoNeighbours", traces_of(two), true, medium, "rank 1", "late by 23.0 ms per all-reduce");
  add("rank.late", "WithClocksApart", traces_of(other_clock), true, medium, "rank 5", "late by 23.0 ms");
  add("rank.late", "RecordedFromLaterOn", traces_of(begins_later), true, medium, "rank 5", "late by 23.0 ms");
  add("rank.late", "ByLittle", traces_of(little), true, low, "rank 5", "late by 2.0 ms");
  add("rank.late", "InALogOfAllRanks", {{"train.jsonl", log_by_rank(23)}}, true, low, "rank 2", "late by 23.0 ms");
  add("rank.late", "InMegatronsTimers", {{"train.log", megatron_log()}}, true, low, "rank 2", "late by 32.0 ms");
  add("rank.late", "NobodyIs", traces_of(none));
  add("rank.late", "OnceOnly", traces_of(hiccup));
  add("rank.late", "EachInTurn", traces_of(turns));
  add("rank.late", "ALogWithoutDifference", {{"train.jsonl", log_by_rank(0)}});
  add("rank.jitter", "EachInTurn", traces_of(turns), true, medium, "", "take turns");
  add("rank.jitter", "OneAlways", traces_of(late));
  add("rank.jitter", "OnceOnly", traces_of(hiccup));
  add("rank.clock-offset", "HalfOfTheRanks", traces_of(other_clock), true, info, "", "140.0 ms ahead");
  add("rank.clock-offset", "OneClock", traces_of(late));
  const auto group = [](int index, double transfer_us) {
    return traces_of({.ranks = 4,
                      .transfer_us = transfer_us,
                      .ranks_per_node = 4,
                      .first_rank = 4 * index,
                      .group = 1 + index,
                      .world = 16});
  };
  add("rank.slow-transfer", "OneGroupOfFour",
      together(group(0, 2'000), group(1, 2'050), group(2, 9'500), group(3, 1'980)), true, medium, "gpu-a2",
      "transfer takes 9.5 ms");
  add("rank.slow-transfer", "AllAlike", together(group(0, 2'000), group(1, 2'050), group(2, 2'400), group(3, 1'980)));
  return cases;
}

std::vector<RuleCase> hang_cases() {
  const auto high = FindingSeverity::kHigh, medium = FindingSeverity::kMedium, info = FindingSeverity::kInfo;
  const char* const four = "[0, 1, 2, 3]";
  const auto never = dumps_of({{.rank = 0, .entered = 91, .done = 90},
                               {.rank = 1, .entered = 91, .done = 90},
                               {.rank = 2, .entered = 90, .done = 90},
                               {.rank = 3, .entered = 91, .done = 90}},
                              four);
  const auto all = dumps_of({{.rank = 0, .entered = 55, .done = 54}, {.rank = 1, .entered = 55, .done = 54}}, "[0, 1]");
  const auto not_begun = dumps_of(
      {{.rank = 0, .entered = 55, .done = 54}, {.rank = 1, .entered = 55, .done = 54, .state = "scheduled"}}, "[0, 1]");
  const auto finished =
      dumps_of({{.rank = 0, .entered = 55, .done = 55}, {.rank = 1, .entered = 55, .done = 55}}, "[0, 1]");
  const auto other_moment =
      dumps_of({{.rank = 0, .entered = 80, .done = 78}, {.rank = 1, .entered = 70, .done = 69}}, "[0, 1]");
  const auto missing = dumps_of({{.rank = 0, .entered = 55, .done = 54},
                                 {.rank = 1, .entered = 55, .done = 54},
                                 {.rank = 3, .entered = 55, .done = 54}},
                                four);
  const auto differ = dumps_of({{.rank = 0, .entered = 55, .done = 54},
                                {.rank = 1, .entered = 55, .done = 54, .last_operation = "nccl:_all_gather_base"},
                                {.rank = 2, .entered = 55, .done = 54}},
                               "[0, 1, 2]");
  const auto sizes = dumps_of({{.rank = 0, .entered = 55, .done = 54},
                               {.rank = 1, .entered = 55, .done = 54},
                               {.rank = 2, .entered = 55, .done = 54, .last_elements = 8192}},
                              "[0, 1, 2]");
  const auto one = dumps_of({{.rank = 3, .entered = 12, .done = 11}}, four);
  return {
      {"rank.never-entered", "OneOfFour", never, true, high, "rank 2", "never entered collective 91"},
      {"rank.never-entered", "AllFinished", finished, false},
      {"rank.never-entered", "DumpsOfDifferentMoments", other_moment, false},
      {"rank.never-entered", "AllInIt", all, false},
      {"rank.all-waiting", "Both", all, true, medium, "process group 0", "all 2 ranks are in collective 55"},
      {"rank.all-waiting", "OneGpuHasNotBegun", not_begun, true, medium, "rank 1", "has not begun it"},
      {"rank.all-waiting", "AllFinished", finished, false},
      {"rank.all-waiting", "OneIsMissing", never, false},
      {"rank.no-dump", "OneOfFour", missing, true, medium, "rank 2", "no dump of rank 2"},
      {"rank.no-dump", "AllAreThere", all, false},
      {"rank.collective-mismatch", "AnotherOperation", differ, true, high, "rank 1", "_all_gather_base"},
      {"rank.collective-mismatch", "AnotherSize", sizes, true, high, "rank 2", "[8192] from"},
      {"rank.collective-mismatch", "AllAgree", all, false},
      {"rank.dump-alone", "OneOfFour", one, true, info, "rank 3", "does not say for whom"},
      {"rank.dump-alone", "AllAreThere", all, false},
  };
}

}  // namespace

std::span<const RuleCase> rank_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all = timing_cases();
    for (RuleCase& one : hang_cases()) all.push_back(std::move(one));
    return all;
  }();
  return cases;
}

}  // namespace tare
