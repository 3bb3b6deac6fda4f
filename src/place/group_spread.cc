#include "place/group_spread.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

namespace tare {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct Remainder {
  int domain = 0;
  int units = 0;
};

// What lies below one outer domain.
struct Pod {
  std::vector<std::vector<GroupPart>> whole;  // groups within one leaf
  std::vector<std::vector<GroupPart>> made;   // of remainders, in the order of their cost
  std::vector<Remainder> pool;                // what is left, ascending by units
};

int sum_of(const std::vector<Remainder>& pool) {
  return std::accumulate(pool.begin(), pool.end(), 0, [](int sum, const Remainder& r) { return sum + r.units; });
}

void insert(std::vector<Remainder>& pool, Remainder remainder) {
  if (remainder.units == 0) return;
  const auto where = std::upper_bound(pool.begin(), pool.end(), remainder,
                                      [](const Remainder& a, const Remainder& b) { return a.units < b.units; });
  pool.insert(where, remainder);
}

// How many of the largest remainders reach `units`; 0 when all together do not.
int fewest(const std::vector<Remainder>& pool, int units) {
  int count = 0;
  for (std::size_t i = pool.size(); i-- > 0 && units > 0; ++count) units -= pool[i].units;
  return units > 0 ? 0 : count;
}

// How often a whole placement is tried, each time with other choices, while it is above the bound.
constexpr unsigned kMostTries = 64;

// `count` remainders, ascending by position from `from` down, that sum to `units` exactly; false when there are none.
// At most `looks` are looked at.
bool find_exact(const std::vector<Remainder>& pool, std::size_t from, int count, int units, int& looks,
                std::vector<std::size_t>& chosen) {
  if (count == 0) return units == 0;
  for (std::size_t i = from; i-- > at(count - 1) && looks-- > 0;) {
    if (pool[i].units > units || (i + 1 < from && pool[i].units == pool[i + 1].units)) continue;
    if (pool[i].units * count < units) return false;  // all others are smaller
    chosen.push_back(i);
    if (find_exact(pool, i, count - 1, units - pool[i].units, looks, chosen)) return true;
    chosen.pop_back();
  }
  return false;
}

void use(std::vector<Remainder>& pool, std::size_t chosen, int& units, std::vector<GroupPart>& group) {
  const Remainder remainder = pool[chosen];
  pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(chosen));
  const int used = std::min(remainder.units, units);
  group.push_back({remainder.domain, used});
  units -= used;
  insert(pool, {remainder.domain, remainder.units - used});
}

// The smallest remainder that the count − 1 largest others can complete to `units`.
std::size_t smallest_that_helps(const std::vector<Remainder>& pool, int count, int units) {
  int others = 0;
  for (std::size_t i = pool.size(); i-- > pool.size() - at(count - 1);) others += pool[i].units;
  const auto found = std::lower_bound(pool.begin(), pool.end(), units - others,
                                      [](const Remainder& remainder, int value) { return remainder.units < value; });
  return std::min(static_cast<std::size_t>(found - pool.begin()), pool.size() - 1);
}

using Random = std::minstd_rand;

// Takes one group of `units` out of the pool, of the fewest remainders. Try 0 begins with the largest, try 1 looks for
// an exact sum first, later ones mix the two and begin anywhere.
std::vector<GroupPart> take_group(std::vector<Remainder>& pool, int units, unsigned attempt, Random& random) {
  std::vector<GroupPart> group;
  int count = fewest(pool, units);
  if (attempt == 1 || (attempt > 1 && random() % 2 == 0)) {
    int looks = 2000;
    std::vector<std::size_t> chosen;
    const std::size_t from = attempt == 1 ? pool.size() : at(count) + random() % (pool.size() - at(count) + 1);
    if (find_exact(pool, from, count, units, looks, chosen)) {
      for (const std::size_t i : chosen) use(pool, i, units, group);  // descending, used up whole: places stay valid
      return group;
    }
  }
  for (; count > 0; --count) {
    const std::size_t least = smallest_that_helps(pool, count, units);
    const bool anywhere = attempt > 1 && random() % 4 == 0;
    const std::size_t first = anywhere ? least + random() % (pool.size() - least) : pool.size() - 1;
    use(pool, group.empty() ? first : least, units, group);
  }
  return group;
}

Pod make_pod(const std::vector<Remainder>& leaves, int group_units, unsigned attempt, Random& random) {
  Pod pod;
  for (const Remainder& leaf : leaves) {
    for (int i = 0; i < leaf.units / group_units; ++i) pod.whole.push_back({{leaf.domain, group_units}});
    insert(pod.pool, {leaf.domain, leaf.units % group_units});
  }
  while (sum_of(pod.pool) >= group_units) pod.made.push_back(take_group(pod.pool, group_units, attempt, random));
  return pod;
}

std::vector<std::vector<Remainder>> leaves_by_pod(const ClusterState& state, int gpus_per_unit) {
  const int innermost = state.depths() - 1;
  std::vector<std::vector<Remainder>> pods;
  int parent = -2;
  for (int id = state.depth_begin(innermost); id < state.domains(); ++id) {
    if (state.domain(id).parent != parent) pods.emplace_back();
    parent = state.domain(id).parent;
    int units = 0;
    const auto counts = state.free_counts(id);
    for (std::size_t free = 0; free < counts.size(); ++free) {
      units += counts[free] * (static_cast<int>(free) / gpus_per_unit);
    }
    if (units > 0) pods.back().push_back({id, units});
  }
  return pods;
}

int bound_of(const std::vector<std::vector<Remainder>>& pods, int groups, int group_units) {
  std::vector<Remainder> pool;
  int whole = 0;
  for (const auto& leaves : pods) {
    for (const Remainder& leaf : leaves) {
      whole += leaf.units / group_units;
      insert(pool, {leaf.domain, leaf.units % group_units});
    }
  }
  const int made = groups - whole;
  return made <= 0 ? groups : groups + std::max(fewest(pool, made * group_units) - made, 0);
}

// Pods from the fullest on: whole groups first, from the pods that hold the most of them, so that few pods are used.
void choose_groups(std::vector<Pod>& pods, int groups, int group_units, GroupPlacement& placement, Random& random) {
  std::stable_sort(pods.begin(), pods.end(),
                   [](const Pod& a, const Pod& b) { return a.whole.size() > b.whole.size(); });
  const auto add = [&](std::vector<GroupPart> group) { placement.groups.push_back(std::move(group)); };
  const auto is_full = [&] { return static_cast<int>(placement.groups.size()) == groups; };
  for (Pod& pod : pods) {
    for (auto& group : pod.whole) {
      if (is_full()) return;
      add(std::move(group));
    }
  }
  std::vector<std::vector<GroupPart>> made;
  std::vector<Remainder> pool;
  for (Pod& pod : pods) {
    made.insert(made.end(), pod.made.begin(), pod.made.end());
    for (const Remainder& remainder : pod.pool) insert(pool, remainder);
  }
  std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (auto& group : made) {
    if (is_full()) return;
    add(std::move(group));
  }
  while (!is_full()) add(take_group(pool, group_units, 0, random));  // across pods, since nothing else is left
}

void count_spread(const ClusterState& state, GroupPlacement& placement) {
  placement.spread = placement.crossing = 0;
  for (const auto& group : placement.groups) {
    placement.spread += static_cast<int>(group.size());
    const int first = state.domain(group.front().domain).parent;
    placement.crossing += std::any_of(group.begin(), group.end(),
                                      [&](const GroupPart& part) { return state.domain(part.domain).parent != first; });
  }
}

// Nodes for the parts: of each leaf the preferred ones first, then the fullest.
class NodeTaker {
 public:
  NodeTaker(const ClusterState& state, int gpus_per_unit)
      : state_(state), size_(gpus_per_unit), nodes_(at(state.domains())) {}

  void take(const GroupPart& part, std::vector<GangShare>& shares) {
    std::vector<GangShare>& nodes = nodes_[at(part.domain)];
    if (nodes.empty()) fill(part.domain, nodes);
    for (int left = part.units; left > 0;) {
      GangShare& node = nodes.back();
      const int used = std::min(left, node.units);
      shares.push_back({node.node, used});
      left -= used;
      node.units -= used;
      if (node.units == 0) nodes.pop_back();
    }
  }

 private:
  // The first to take last.
  void fill(int domain, std::vector<GangShare>& nodes) const {
    const ClusterState::Domain& range = state_.domain(domain);
    for (int slot = range.last_slot; slot-- > range.first_slot;) {
      const int units = state_.free_at(slot) / size_;
      if (state_.usable_at(slot) && units > 0) nodes.push_back({state_.node_at(slot), units});
    }
    std::stable_sort(nodes.begin(), nodes.end(), [this](const GangShare& a, const GangShare& b) {
      if (state_.is_preferred(a.node) != state_.is_preferred(b.node)) return state_.is_preferred(b.node);
      return a.units < b.units;
    });
  }

  const ClusterState& state_;
  int size_;
  std::vector<std::vector<GangShare>> nodes_;
};

}  // namespace

bool place_groups(const ClusterState& state, int groups, int group_units, int gpus_per_unit,
                  GroupPlacement& placement) {
  const std::vector<std::vector<Remainder>> leaves = leaves_by_pod(state, gpus_per_unit);
  long long free = 0;
  for (const auto& pod : leaves) free += sum_of(pod);
  if (free < static_cast<long long>(groups) * group_units) return false;
  const int bound = bound_of(leaves, groups, group_units);
  Random random(1);
  for (unsigned attempt = 0; attempt < kMostTries; ++attempt) {
    GroupPlacement tried;
    std::vector<Pod> pods;
    pods.reserve(leaves.size());
    for (const auto& pod : leaves) pods.push_back(make_pod(pod, group_units, attempt, random));
    choose_groups(pods, groups, group_units, tried, random);
    count_spread(state, tried);
    const bool better = std::pair(tried.crossing, tried.spread) < std::pair(placement.crossing, placement.spread);
    if (attempt == 0 || better) placement = std::move(tried);
    if (placement.crossing == 0 && placement.spread == bound) break;
  }
  placement.bound = bound;
  // Groups of one domain side by side, and so the nodes of a leaf.
  std::stable_sort(placement.groups.begin(), placement.groups.end(),
                   [](const auto& a, const auto& b) { return a.front().domain < b.front().domain; });
  NodeTaker taker(state, gpus_per_unit);
  for (const auto& group : placement.groups) {
    placement.shares.emplace_back();
    for (const GroupPart& part : group) taker.take(part, placement.shares.back());
  }
  return true;
}

int spread_in_order(const ClusterState& state, const std::vector<GangShare>& shares, int group_units) {
  int spread = 0, filled = 0;
  std::set<int> domains;
  for (const GangShare& share : shares) {
    for (int unit = 0; unit < share.units; ++unit) {
      domains.insert(state.innermost_of(share.node));
      if (++filled < group_units) continue;
      spread += static_cast<int>(domains.size());
      domains.clear();
      filled = 0;
    }
  }
  return spread + static_cast<int>(domains.size());
}

}  // namespace tare
