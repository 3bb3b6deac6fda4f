#include "audit/rank_timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

namespace tare {
namespace {

constexpr double kMadToSigma = 1.4826;         // of a normal distribution
constexpr std::size_t kFewestCollectives = 3;  // below, a median says nothing
constexpr std::size_t kFewestForDrift = 16;
constexpr std::int64_t kFewestLast = 3;  // times last before it is a habit
constexpr double kSingleShare = 0.5;     // of what is caused, at most, by one collective
constexpr double kErrors = 3;            // lateness above so many clock errors counts
constexpr double kSure = 4;              // standard errors of a mean lateness: it is picked from many ranks
constexpr double kSureShare = 4;         // of a share
constexpr std::int64_t kMostShift = 512;

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
  if (values.size() % 2 == 1) return values[half];
  const double above = values[half];
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)) + above) / 2;
}

struct Clock {
  double offset = 0, drift = 0, middle = 0, error = 0;
  double at(double time) const { return offset + drift * (time - middle); }
};

// (time, how far the clock is ahead) of one rank, in the order of time.
using Ahead = std::vector<std::pair<double, double>>;

Clock clock_of(Ahead seen) {
  std::sort(seen.begin(), seen.end());
  Clock clock;
  std::vector<double> times, ahead;
  for (const auto& [time, difference] : seen) times.push_back(time);
  clock.middle = median(std::move(times));
  const std::size_t half = seen.size() / 2;
  if (seen.size() >= kFewestForDrift) {
    std::vector<double> slopes;
    for (std::size_t k = 0; k < half; ++k) {
      const double apart = seen[k + half].first - seen[k].first;
      if (apart > 0) slopes.push_back((seen[k + half].second - seen[k].second) / apart);
    }
    if (!slopes.empty()) clock.drift = median(std::move(slopes));
  }
  for (const auto& [time, difference] : seen) ahead.push_back(difference - clock.drift * (time - clock.middle));
  clock.offset = median(ahead);
  for (double& one : ahead) one = std::abs(one - clock.offset);
  clock.error = kMadToSigma * median(std::move(ahead));
  return clock;
}

struct Arrival {
  int rank = 0;
  double at = 0;
};

// One collective on the common clock.
struct Aligned {
  std::size_t index = 0;
  std::vector<Arrival> arrivals;  // by time
  double end = 0;
};

double median_end(const TimedCollective& one) {
  std::vector<double> ends;
  ends.reserve(one.spans.size());
  for (const RankSpan& span : one.spans) ends.push_back(span.end_s);
  return median(std::move(ends));
}

double median_arrival(const Aligned& one) {
  const std::size_t half = one.arrivals.size() / 2;
  if (one.arrivals.size() % 2 == 1) return one.arrivals[half].at;
  return (one.arrivals[half - 1].at + one.arrivals[half].at) / 2;
}

// Of all but the one at `place`: the list is sorted, so it is a matter of indices.
double median_of_others(const Aligned& one, std::size_t place) {
  const std::size_t left = one.arrivals.size() - 1;
  const auto other = [&](std::size_t i) { return one.arrivals[i < place ? i : i + 1].at; };
  return left % 2 == 1 ? other(left / 2) : (other(left / 2 - 1) + other(left / 2)) / 2;
}

class Timing {
 public:
  explicit Timing(const std::vector<TimedCollective>& collectives) : collectives_(collectives) {}

  std::optional<GroupTiming> time() {
    read_clocks();
    align();
    if (aligned_.size() < kFewestCollectives) return std::nullopt;
    add_ranks();
    add_group();
    find_late();
    return std::move(group_);
  }

 private:
  void read_clocks() {
    std::map<int, Ahead> ahead;
    for (const TimedCollective& one : collectives_) {
      if (one.spans.size() < 2) continue;
      const double middle = median_end(one);
      for (const RankSpan& span : one.spans) ahead[span.rank].emplace_back(middle, span.end_s - middle);
    }
    for (auto& [rank, seen] : ahead) clocks_[rank] = clock_of(std::move(seen));
  }

  void align() {
    for (std::size_t k = 0; k < collectives_.size(); ++k) {
      const TimedCollective& one = collectives_[k];
      if (one.spans.size() < 2) continue;
      Aligned aligned;
      aligned.index = k;
      const double middle = median_end(one);
      std::vector<double> ends;
      for (const RankSpan& span : one.spans) {
        const double offset = clocks_[span.rank].at(middle);
        aligned.arrivals.push_back({span.rank, span.start_s - offset});
        ends.push_back(span.end_s - offset);
      }
      aligned.end = median(std::move(ends));
      std::sort(aligned.arrivals.begin(), aligned.arrivals.end(),
                [](const Arrival& a, const Arrival& b) { return a.at != b.at ? a.at < b.at : a.rank < b.rank; });
      aligned_.push_back(std::move(aligned));
    }
  }

  void add_ranks() {
    std::map<int, RankTiming> ranks;
    for (const Aligned& one : aligned_) {
      const double last = one.arrivals.back().at;
      for (std::size_t place = 0; place < one.arrivals.size(); ++place) {
        RankTiming& rank = ranks[one.arrivals[place].rank];
        ++rank.collectives;
        const double lateness = one.arrivals[place].at - median_of_others(one, place);
        rank.mean_lateness_s += lateness;
        rank.lateness_error_s += lateness * lateness;
        rank.total_wait_s += last - one.arrivals[place].at;
      }
      ++ranks[one.arrivals.back().rank].times_last;
      for (const RankSpan& span : collectives_[one.index].spans) {
        ranks[span.rank].mean_duration_s += span.end_s - span.start_s;
      }
    }
    std::vector<double> errors;
    for (auto& [number, rank] : ranks) {
      const Clock& clock = clocks_[number];
      const auto count = static_cast<double>(rank.collectives);
      rank.rank = number;
      rank.clock_offset_s = clock.offset;
      rank.clock_drift = clock.drift;
      rank.clock_error_s = clock.error;
      rank.mean_lateness_s /= count;
      const double variance = rank.lateness_error_s / count - rank.mean_lateness_s * rank.mean_lateness_s;
      rank.lateness_error_s = std::sqrt(std::max(0.0, variance) / count);
      rank.mean_duration_s /= count;
      rank.mean_wait_s = rank.total_wait_s / count;
      errors.push_back(clock.error);
      group_.ranks.push_back(rank);
    }
    group_.clock_error_s = median(std::move(errors));
  }

  void add_group() {
    double first = std::numeric_limits<double>::infinity(), last = -first;
    double busy = 0, largest = 0;
    std::vector<double> transfers;
    for (const Aligned& one : aligned_) {
      first = std::min(first, one.arrivals.front().at);
      last = std::max(last, one.end);
      busy += one.end - one.arrivals.front().at;
      transfers.push_back(one.end - one.arrivals.back().at);
      group_.mean_transfer_s += transfers.back() / static_cast<double>(aligned_.size());
      const double last_wait = one.arrivals.back().at - median_arrival(one);
      group_.mean_last_wait_s += last_wait;
      largest = std::max(largest, last_wait);
    }
    group_.collectives = static_cast<std::int64_t>(aligned_.size());
    group_.span_s = std::max(last - first, busy / static_cast<double>(aligned_.size()));
    group_.median_transfer_s = median(std::move(transfers));
    if (group_.span_s > 0) group_.jitter_share = (group_.mean_last_wait_s - largest) / group_.span_s;
    group_.mean_last_wait_s /= static_cast<double>(aligned_.size());
  }

  // The ranks that come late as a rule: those near the latest.
  std::vector<int> late_candidates() const {
    double most = 0;
    for (const RankTiming& rank : group_.ranks) most = std::max(most, rank.mean_lateness_s);
    std::vector<int> late;
    for (const RankTiming& rank : group_.ranks) {
      if (most > 0 && rank.mean_lateness_s > most / 2) late.push_back(rank.rank);
    }
    return late.size() * 2 > group_.ranks.size() ? std::vector<int>() : late;
  }

  void find_late() {
    LateRanks late;
    late.ranks = late_candidates();
    if (late.ranks.empty()) return;
    const double error = kErrors * group_.clock_error_s;
    double most = 0, others = 0, squares = 0;
    std::vector<std::pair<double, const Aligned*>> caused;
    for (const Aligned& one : aligned_) {
      const auto is_late = [&](const Arrival& arrival) {
        return std::find(late.ranks.begin(), late.ranks.end(), arrival.rank) != late.ranks.end();
      };
      const auto rest = std::find_if_not(one.arrivals.rbegin(), one.arrivals.rend(), is_late);
      if (rest == one.arrivals.rbegin()) {
        const double wait = one.arrivals.back().at - one.arrivals[one.arrivals.size() - 2].at;
        others += wait;
        squares += wait * wait;
      }
      if (rest == one.arrivals.rbegin() || rest == one.arrivals.rend()) continue;
      const double wait = one.arrivals.back().at - rest->at;
      if (wait <= error) continue;
      caused.emplace_back(wait, &one);
      late.caused_s += wait;
      squares += wait * wait;
      late.lateness_s += one.arrivals.back().at - median_arrival_of_rest(one, late.ranks);
      most = std::max(most, wait);
    }
    late.times_last = static_cast<std::int64_t>(caused.size());
    if (late.times_last == 0) return;
    late.lateness_s /= static_cast<double>(late.times_last);
    late.share = group_.span_s > 0 ? late.caused_s / group_.span_s : 0;
    late.caused_share = late.caused_s / (late.caused_s + others);
    const double sum = late.caused_s + others;
    late.consistent = late.times_last >= kFewestLast && most <= kSingleShare * late.caused_s &&
                      (are_surely_late(late.ranks) || is_more_than_fair(late, sum * sum / squares));
    std::sort(caused.begin(), caused.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    late.example = example_of(*typical_of(caused, late.caused_s));
    group_.late = std::move(late);
  }

  bool are_surely_late(const std::vector<int>& late) const {
    return std::all_of(group_.ranks.begin(), group_.ranks.end(), [&](const RankTiming& rank) {
      const bool is_late = std::find(late.begin(), late.end(), rank.rank) != late.end();
      return !is_late || rank.mean_lateness_s > kSure * rank.lateness_error_s;
    });
  }

  bool is_more_than_fair(const LateRanks& late, double waits) const {
    const double fair = static_cast<double>(late.ranks.size()) / static_cast<double>(group_.ranks.size());
    return late.caused_share > fair + kSureShare * std::sqrt(fair * (1 - fair) / waits);
  }

  static double median_arrival_of_rest(const Aligned& one, const std::vector<int>& late) {
    std::vector<double> rest;
    for (const Arrival& arrival : one.arrivals) {
      if (std::find(late.begin(), late.end(), arrival.rank) == late.end()) rest.push_back(arrival.at);
    }
    return median(std::move(rest));
  }

  // The one at which half of what is caused is reached: neither the many small ones nor the largest.
  static const Aligned* typical_of(const std::vector<std::pair<double, const Aligned*>>& caused, double sum) {
    double reached = 0;
    for (const auto& [wait, one] : caused) {
      reached += wait;
      if (reached * 2 >= sum) return one;
    }
    return caused.back().second;
  }

  RankExample example_of(const Aligned& one) const {
    RankExample example;
    example.collective = one.index;
    example.late_rank = one.arrivals.back().rank;
    example.waiting_rank = one.arrivals.front().rank;
    example.wait_s = one.arrivals.back().at - one.arrivals.front().at;
    example.transfer_s = one.end - one.arrivals.back().at;
    for (const RankSpan& span : collectives_[one.index].spans) {
      if (span.rank == example.late_rank) {
        example.late_duration_s = span.end_s - span.start_s;
        example.late_line = span.line;
      } else if (span.rank == example.waiting_rank) {
        example.waiting_duration_s = span.end_s - span.start_s;
        example.waiting_line = span.line;
      }
    }
    return example;
  }

  const std::vector<TimedCollective>& collectives_;
  std::map<int, Clock> clocks_;
  std::vector<Aligned> aligned_;
  GroupTiming group_;
};

// Spread of the ends' differences at one shift; nullopt where signatures differ or too few places are shared.
std::optional<double> spread_at(const std::unordered_map<std::int64_t, const OrderedCollective*>& reference,
                                const std::vector<OrderedCollective>& other, std::int64_t shift, std::size_t least) {
  std::vector<double> differences;
  for (const OrderedCollective& one : other) {
    const auto found = reference.find(one.order + shift);
    if (found == reference.end()) continue;
    if (found->second->signature != one.signature) return std::nullopt;
    differences.push_back(one.end_s - found->second->end_s);
  }
  if (differences.size() < least) return std::nullopt;
  const double middle = median(differences);
  for (double& difference : differences) difference = std::abs(difference - middle);
  return median(std::move(differences));
}

}  // namespace

std::optional<GroupTiming> time_ranks(const std::vector<TimedCollective>& collectives) {
  return Timing(collectives).time();
}

std::optional<std::int64_t> shift_between(const std::vector<OrderedCollective>& reference,
                                          const std::vector<OrderedCollective>& other) {
  std::unordered_map<std::int64_t, const OrderedCollective*> by_order;
  for (const OrderedCollective& one : reference) by_order.emplace(one.order, &one);
  const std::size_t least = std::max<std::size_t>(kFewestCollectives, std::min(reference.size(), other.size()) / 2);
  std::optional<std::int64_t> best;
  double best_spread = std::numeric_limits<double>::infinity();
  for (std::int64_t distance = 0; distance <= kMostShift; ++distance) {
    for (const std::int64_t shift : {distance, -distance}) {
      const std::optional<double> spread = spread_at(by_order, other, shift, least);
      // A shift has to earn its place: by half, for steps repeat and any whole number of them fits.
      if (!spread || *spread >= (best ? best_spread / 2 : best_spread)) continue;
      best = shift;
      best_spread = *spread;
    }
  }
  return best;
}

}  // namespace tare
