// Which rank keeps the others waiting: a collective's time on each rank, split into waiting and transfer.
//
// A collective begins on rank r when r has come to it, and ends on all ranks together, once the last has come and the
// data has moved. By rank r's own clock it runs from s(k,r) to e(k,r), for the k-th collective; r's clock is o(r)
// ahead.
//
//   clocks     d(k,r) = e(k,r) - median over r of e(k,r)         ends are together: what differs is the clocks
//              o(r)   = median over k of d(k,r) + drift(r) * (t(k) - median t)
//              drift(r) = median over k of (d(k + n/2, r) - d(k, r)) / (t(k + n/2) - t(k)), of 16 collectives and more
//              error(r) = 1.4826 * median over k of |d(k,r) - o(r)|    what is left of d: how well the clocks are known
//   arrival    a(k,r) = s(k,r) - o(r)
//   wait       w(k,r) = max over q of a(k,q) - a(k,r)            waiting for the last
//   transfer   x(k)   = median over r of (e(k,r) - o(r)) - max over q of a(k,q)
//   lateness   l(k,r) = a(k,r) - median over the other ranks of a(k,q)
//
// So a rank whose collectives take long is one that waits; the late one's are the shortest. Where only durations are
// known (logs' timers), e = 0 and s = -duration: the ends are together by definition, and no clock is needed.
//
// Late ranks are those whose mean lateness is more than half of the largest; more than half of a group cannot be late.
// What they take from the group is what would be gained were they as fast as the slowest of the rest:
//
//   caused     c(k)   = max(0, max over late q of a(k,q) - max over other q of a(k,q))
//   share      = sum over k of c(k) / (from the first arrival to the last end)
//
// It counts only where it is above the clocks' error. It is `consistent` where no single collective is half of it, and
// it is not chance: the mean lateness of each late rank is above four of its standard errors; or the late ranks' part
// of all that anybody causes is above f + 4 sqrt(f (1 - f) / n), f being their part of the group and n = (sum c)^2 /
// sum c^2 the number of waits that matter.
//
// Worked example: ranks 0, 1 and 2 come at 10, 10 and 33 ms, and all end at 35 ms. Rank 2 is late by 23 ms; ranks 0 and
// 1 take 25 ms, of which they wait 23; the transfer takes 2 ms. Rank 1's clock 5 ms ahead prints 15 and 40: the end
// says 5, and the arrival is 10 again.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare {

struct RankSpan {
  int rank = 0;
  double start_s = 0, end_s = 0;  // by the rank's own clock
  std::int64_t line = 0;          // where it was seen
};

// The same collective on every rank that is known of.
struct TimedCollective {
  std::vector<RankSpan> spans;  // one a rank, of at least two ranks
};

struct RankTiming {
  int rank = 0;
  double clock_offset_s = 0, clock_drift = 0, clock_error_s = 0;
  std::int64_t collectives = 0;
  std::int64_t times_last = 0;
  double mean_lateness_s = 0;   // of all its collectives, against the median of the other ranks
  double lateness_error_s = 0;  // of that mean: the standard deviation over the root of the count
  double mean_wait_s = 0, mean_duration_s = 0;
  double total_wait_s = 0;
};

// One collective as an example: the most typical of those in which the late ranks keep the others waiting.
struct RankExample {
  std::size_t collective = 0;  // index
  int late_rank = 0, waiting_rank = 0;
  double late_duration_s = 0, waiting_duration_s = 0, wait_s = 0, transfer_s = 0;
  std::int64_t late_line = 0, waiting_line = 0;
};

struct LateRanks {
  std::vector<int> ranks;
  std::int64_t times_last = 0;  // collectives that they came to last, by more than the clocks' error
  double lateness_s = 0;        // mean over these collectives, against the median of the other ranks
  double caused_s = 0;          // over all collectives
  double share = 0;             // of the time
  double caused_share = 0;      // of all waiting that a single rank or group of late ranks causes
  bool consistent = false;      // in many collectives, not in a few, and not by chance
  RankExample example;
};

struct GroupTiming {
  std::vector<RankTiming> ranks;  // by rank
  std::int64_t collectives = 0;
  double span_s = 0;
  double mean_transfer_s = 0, median_transfer_s = 0;
  double mean_last_wait_s = 0;  // from the median rank's arrival to the last one's
  double jitter_share = 0;      // sum of (last arrival - median arrival), but for the largest, over the span
  double clock_error_s = 0;     // the median of the ranks'
  std::optional<LateRanks> late;
};

// nullopt with fewer than 3 collectives of two ranks or more.
std::optional<GroupTiming> time_ranks(const std::vector<TimedCollective>& collectives);

// One rank's collectives in their order, to be paired with another's.
struct OrderedCollective {
  std::int64_t order = 0;  // within its process group
  std::string signature;   // what and how much: "allreduce 1048576 BFloat16"
  double end_s = 0;
};
// Recordings begin at different moments: how many places `other` is behind `reference`, so that its order + shift is
// the reference's. Of the shifts at which signatures agree throughout, the one whose ends differ by the most constant
// amount; nullopt where none agrees on at least half of the shorter one.
std::optional<std::int64_t> shift_between(const std::vector<OrderedCollective>& reference,
                                          const std::vector<OrderedCollective>& other);

}  // namespace tare
