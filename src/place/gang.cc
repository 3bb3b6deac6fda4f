#include "place/gang.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

namespace tare {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostWork = 3e7;          // additions of one knapsack; some ten milliseconds
constexpr double kExactInDouble = 0x1p52;  // weights stay below: their sums are exact

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

void GangPlacer::start(const ClusterState& state, const GangRequest& request) {
  state_ = &state;
  request_ = request;
  depths_ = state.depths();
  block_ = std::max(request.block_units, 1);
  units_of_free_.resize(at(state.most_gpus()) + 1);
  for (int free = 0; free <= state.most_gpus(); ++free) units_of_free_[at(free)] = free / request.gpus_per_unit;
  counts_nodes_ = state.most_gpus() / request.gpus_per_unit > 1;
  children_.resize(at(depths_));
  depth_of_.resize(at(state.domains()));
  steps_of_.resize(at(state.domains()));
  capacity_.resize(at(state.domains()));
  for (int depth = 0; depth < depths_; ++depth) {
    std::fill(depth_of_.begin() + state.depth_begin(depth), depth_of_.begin() + state.depth_begin(depth + 1), depth);
  }
  set_capacities();
  count_preferred();
}

void GangPlacer::count_preferred() {
  preferred_.clear();
  if (state_->preferred_nodes() == 0) return;
  preferred_.resize(at(state_->domains()));
  for (int slot = 0; slot < state_->nodes(); ++slot) {
    if (!state_->preferred_at(slot) || !state_->usable_at(slot)) continue;
    if (state_->free_at(slot) < request_.gpus_per_unit) continue;
    for (int id = state_->innermost_of(state_->node_at(slot)); id >= 0; id = state_->domain(id).parent) {
      ++preferred_[at(id)];
    }
  }
}

void GangPlacer::set_capacities() {
  for (int id = state_->domains() - 1; id >= 0; --id) {
    const ClusterState::Domain& domain = state_->domain(id);
    int sum = 0;
    if (is_innermost(id)) {
      const auto counts = state_->free_counts(id);
      for (std::size_t free = at(request_.gpus_per_unit); free < counts.size(); ++free) {
        sum += counts[free] * units_of_free_[free];
      }
    } else {
      for (int child = domain.first_child; child < domain.last_child; ++child) sum += capacity(child);
    }
    capacity_[at(id)] = sum / ratio(depth_of(id));
  }
}

// Each depth outweighs all that deeper ones can add up to.
void GangPlacer::set_weights() {
  weights_.assign(at(depths_), 0);
  const auto most = [&](int count) { return double(std::min(count, request_.units)); };
  for (const bool with_nodes : {counts_nodes_, false}) {
    node_weight_ = with_nodes ? 1 : 0;
    double next = with_nodes ? most(state_->nodes()) + 1 : 1;
    for (int depth = depths_ - 1; depth >= 0; --depth) {
      weights_[at(depth)] = next;
      next *= most(state_->depth_begin(depth + 1) - state_->depth_begin(depth)) + 1;
    }
    if (next < kExactInDouble) return;
  }
}

int GangPlacer::most_fitting() const {
  if (request_.within_depth == 0) return capacity(0) * grain(0);
  const auto begin = capacity_.begin() + state_->depth_begin(request_.within_depth);
  const auto end = capacity_.begin() + state_->depth_begin(request_.within_depth + 1);
  return *std::max_element(begin, end) * grain(request_.within_depth);
}

// The deepest domains that hold all of it.
bool GangPlacer::find_candidates() {
  candidates_.clear();
  for (int depth = depths_ - 1; depth >= request_.within_depth && candidates_.empty(); --depth) {
    for (int id = state_->depth_begin(depth); id < state_->depth_begin(depth + 1); ++id) {
      if (capacity(id) >= needed(depth)) candidates_.push_back(id);
    }
  }
  order(candidates_);
  return !candidates_.empty();
}

void GangPlacer::order(std::vector<int>& domains) const {
  std::sort(domains.begin(), domains.end(), [&](int a, int b) {
    if (!preferred_.empty()) {
      const int of_a = std::min(preferred_[at(a)], request_.units), of_b = std::min(preferred_[at(b)], request_.units);
      if (of_a != of_b) return of_a > of_b;
    }
    return capacity(a) != capacity(b) ? capacity(a) < capacity(b) : a < b;
  });
}

double GangPlacer::cost_of(const std::vector<int>& spread, int nodes) const {
  double cost = node_weight_ * nodes;
  for (int depth = 1; depth < depths_; ++depth) cost += weights_[at(depth)] * spread[at(depth)];
  return cost;
}

int GangPlacer::fewest_nodes(int root) const {
  const auto counts = state_->free_counts(root);
  int left = request_.units, nodes = 0;
  for (std::size_t free = counts.size(); left > 0 && free-- > 0;) {
    const int units = units_of_free_[free];
    if (units == 0) break;
    const int used = std::min(counts[free], (left + units - 1) / units);
    nodes += used;
    left -= used * units;
  }
  return nodes;
}

int GangPlacer::fewest_domains(int root, int depth) {
  sorted_.clear();
  // Below `root` at `depth`: a run of ids, since depths are laid out parent by parent.
  int first = root, last = root + 1;
  for (int d = depth_of(root); d < depth; ++d) {
    first = state_->domain(first).first_child;
    last = state_->domain(last - 1).last_child;
  }
  for (int id = first; id < last; ++id) {
    if (capacity(id) > 0) sorted_.push_back(capacity(id));
  }
  std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
  int left = needed(depth), count = 0;
  while (left > 0) left -= sorted_[at(count++)];
  return count;
}

void GangPlacer::set_bound(int root) {
  trial_.bound.assign(at(depths_), 1);
  for (int depth = depth_of(root) + 1; depth < depths_; ++depth) trial_.bound[at(depth)] = fewest_domains(root, depth);
  trial_.nodes_bound = fewest_nodes(root);
}

void GangPlacer::take(int slot, int units) { taken_.push_back({slot, units}); }

// Fewest nodes: the largest first, the last one the tightest that suffices.
void GangPlacer::pick_nodes(int domain, int units) {
  slots_.clear();
  const ClusterState::Domain& range = state_->domain(domain);
  const auto units_at = [&](int slot) { return units_of_free_[at(state_->free_at(slot))]; };
  for (int slot = range.first_slot; slot < range.last_slot; ++slot) {
    if (state_->usable_at(slot) && units_at(slot) > 0) slots_.push_back(slot);
  }
  const auto before = [&](int a, int b) {
    if (units_at(a) != units_at(b)) return units_at(a) > units_at(b);
    if (state_->preferred_at(a) != state_->preferred_at(b)) return state_->preferred_at(a);
    return state_->free_at(a) != state_->free_at(b) ? state_->free_at(a) < state_->free_at(b) : a < b;
  };
  std::sort(slots_.begin(), slots_.end(), before);
  std::size_t next = 0;
  for (; units > units_at(slots_[next]); ++next) {
    take(slots_[next], units_at(slots_[next]));
    units -= units_at(slots_[next]);
  }
  // Slots are sorted by units, descending: the tightest that suffice stand side by side at the end of those that do.
  std::size_t best = next;
  for (std::size_t i = next; i < slots_.size() && units_at(slots_[i]) >= units; ++i) {
    const int slot = slots_[i], held = slots_[best];
    const bool more = state_->preferred_at(slot) != state_->preferred_at(held) ? state_->preferred_at(slot)
                                                                               : units_at(slot) < units_at(held);
    if (more) best = i;
  }
  take(slots_[best], units);
}

void GangPlacer::pick_greedily(int domain, int need) {
  const int below = need * ratio(depth_of(domain));
  if (is_innermost(domain)) return pick_nodes(domain, below);
  std::vector<int>& children = children_[at(depth_of(domain))];
  children.clear();
  const ClusterState::Domain& range = state_->domain(domain);
  for (int child = range.first_child; child < range.last_child; ++child) {
    if (capacity(child) > 0) children.push_back(child);
  }
  order(children);
  // Ascending without preferences; with them capacities stand in runs, so the choice looks at all.
  int left = below;
  while (left > 0) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < children.size(); ++i) {
      const int has = capacity(children[i]), had = capacity(children[best]);
      const bool suffices = has >= left, sufficed = had >= left;
      if (suffices != sufficed ? suffices : !suffices && has > had) best = i;
    }
    const int child = children[best];
    children.erase(children.begin() + static_cast<std::ptrdiff_t>(best));
    const int amount = std::min(left, capacity(child));
    left -= amount;
    pick_greedily(child, amount);
  }
}

// An upper estimate of the knapsack's additions below `root`.
double GangPlacer::work(int root) const {
  const ClusterState::Domain& domain = state_->domain(root);
  const int own = std::min(capacity(root), needed(depth_of(root)));
  const double below = double(own) * ratio(depth_of(root));
  if (is_innermost(root)) return below;
  double sum = 0, steps = 0;
  for (int child = domain.first_child; child < domain.last_child; ++child) {
    sum += work(child);
    const bool single = depth_of(child) == depths_ - 1 && !counts_nodes_;
    steps += capacity(child) == 0 ? 0 : single ? 1 : std::min(capacity(child), needed(depth_of(child)));
  }
  return sum + steps * below;
}

void GangPlacer::fill_row_of_nodes(int domain, int need, std::size_t row) {
  const auto counts = state_->free_counts(domain);
  int reach = 0, nodes = 0;
  rows_[row] = 0;
  for (std::size_t free = counts.size(); free-- > 0 && reach < need;) {
    if (units_of_free_[free] == 0) break;
    for (int i = 0; i < counts[free] && reach < need; ++i) {
      ++nodes;
      const int end = std::min(need, reach + units_of_free_[free]);
      for (int j = reach + 1; j <= end; ++j) rows_[row + at(j)] = node_weight_ * nodes;
      reach = end;
    }
  }
}

// to[j] = min(from[j], min over the child's steps of step.cost + from[j − step.reach]).
void GangPlacer::add_child(int need, int child, std::size_t from, std::size_t to) {
  const double* const old = rows_.data() + from;
  double* const row = rows_.data() + to;
  std::copy(old, old + need + 1, row);
  const Stairs steps = steps_of_[at(child)];
  for (int i = steps.first; i < steps.last; ++i) {
    const Stair step = steps_[at(i)];
    const int reach = std::min(step.reach, need);
    for (int j = 1; j <= reach; ++j) row[j] = std::min(row[j], step.cost);
    for (int j = reach + 1; j <= need; ++j) row[j] = std::min(row[j], step.cost + old[j - reach]);
  }
}

bool GangPlacer::has_equal_children(int domain) const {
  const ClusterState::Domain& range = state_->domain(domain);
  double cost = -1;
  for (int child = range.first_child; child < range.last_child; ++child) {
    const Stairs steps = steps_of_[at(child)];
    if (steps.first == steps.last) continue;
    if (steps.last - steps.first > 1) return false;
    if (cost >= 0 && steps_[at(steps.first)].cost != cost) return false;
    cost = steps_[at(steps.first)].cost;
  }
  return true;
}

// The least cost of 0 … need grains of the children (or of nodes) at rows_[row, row + need].
void GangPlacer::fill_row(int domain, int need, std::size_t row) {
  if (is_innermost(domain)) return fill_row_of_nodes(domain, need, row);
  std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>(row), need + 1, kNever);
  rows_[row] = 0;
  const ClusterState::Domain& range = state_->domain(domain);
  if (has_equal_children(domain)) {
    sorted_.clear();
    double cost = 0;
    for (int child = range.first_child; child < range.last_child; ++child) {
      const Stairs steps = steps_of_[at(child)];
      if (steps.first == steps.last) continue;
      sorted_.push_back(steps_[at(steps.first)].reach);
      cost = steps_[at(steps.first)].cost;
    }
    std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
    for (int j = 1, used = 0, reach = 0; j <= need; ++j) {
      while (reach < j) reach += sorted_[at(used++)];
      rows_[row + at(j)] = cost * used;
    }
    return;
  }
  const std::size_t spare = rows_top_;
  if (rows_.size() < spare + at(need) + 1) rows_.resize(spare + at(need) + 1);
  for (int child = range.first_child; child < range.last_child; ++child) {
    const Stairs steps = steps_of_[at(child)];
    if (steps.first == steps.last) continue;
    add_child(need, child, row, spare);
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(spare), need + 1,
                rows_.begin() + static_cast<std::ptrdiff_t>(row));
  }
}

// The staircase of a domain, up to `need` of its grains, with what opening it costs.
void GangPlacer::fold(int domain, int need) {
  need = std::min(need, capacity(domain));
  const int depth = depth_of(domain), times = ratio(depth);
  const ClusterState::Domain& range = state_->domain(domain);
  if (need > 0) {
    for (int child = range.first_child; child < range.last_child; ++child) fold(child, need * times);
  }
  const std::size_t row = rows_top_;
  const int below = need * times;
  rows_top_ += at(below) + 1;
  if (rows_.size() < rows_top_) rows_.resize(rows_top_);
  Stairs steps{static_cast<int>(steps_.size()), 0};
  if (need > 0) fill_row(domain, below, row);
  for (int j = 1; j <= need; ++j) {
    const double cost = weights_[at(depth)] + rows_[row + at(j * times)];
    const bool same = static_cast<int>(steps_.size()) > steps.first && steps_.back().cost == cost;
    if (same) {
      steps_.back().reach = j;
    } else {
      steps_.push_back({j, cost});
    }
  }
  steps.last = static_cast<int>(steps_.size());
  steps_of_[at(domain)] = steps;
  rows_top_ = row;
}

// Children that each cost the same whatever they hold: the largest first, the last the smallest that suffices.
void GangPlacer::pick_equal_children(int domain, int need) {
  std::vector<int>& children = children_[at(depth_of(domain))];
  children.clear();
  const ClusterState::Domain& range = state_->domain(domain);
  for (int child = range.first_child; child < range.last_child; ++child) {
    if (capacity(child) > 0) children.push_back(child);
  }
  std::stable_sort(children.begin(), children.end(), [&](int a, int b) { return capacity(a) > capacity(b); });
  std::size_t next = 0;
  for (; need > capacity(children[next]); ++next) {
    need -= capacity(children[next]);
    pick_exactly(children[next], capacity(children[next]));
  }
  while (next + 1 < children.size() && capacity(children[next + 1]) >= need) ++next;
  pick_exactly(children[next], need);
}

void GangPlacer::pick_exactly(int domain, int need) {
  const int below = need * ratio(depth_of(domain));
  if (is_innermost(domain)) return pick_nodes(domain, below);
  if (has_equal_children(domain)) return pick_equal_children(domain, below);
  std::vector<int>& children = children_[at(depth_of(domain))];
  children.clear();
  const ClusterState::Domain& range = state_->domain(domain);
  for (int child = range.first_child; child < range.last_child; ++child) {
    if (capacity(child) > 0) children.push_back(child);
  }
  order(children);
  const std::size_t first_row = rows_top_, length = at(below) + 1;
  rows_top_ += length * (children.size() + 1);
  if (rows_.size() < rows_top_) rows_.resize(rows_top_);
  std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>(first_row), length, kNever);
  rows_[first_row] = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    add_child(below, children[i], first_row + i * length, first_row + (i + 1) * length);
  }
  // Back from the last: a child is left out where that costs nothing, so the first in order are taken.
  int left = below;
  for (std::size_t i = children.size(); i-- > 0 && left > 0;) {
    const double* const old = rows_.data() + first_row + i * length;
    const double cost = rows_[first_row + (i + 1) * length + at(left)];
    if (old[left] == cost) continue;
    const Stairs steps = steps_of_[at(children[i])];
    int amount = 0;
    for (int s = steps.first; s < steps.last && amount == 0; ++s) {
      const Stair step = steps_[at(s)];
      if (step.cost + old[std::max(0, left - step.reach)] == cost) amount = std::min(step.reach, left);
    }
    pick_exactly(children[i], amount);
    left -= amount;
  }
  rows_top_ = first_row;
}

// Turns the slots taken into shares and counts their domains.
void GangPlacer::measure(GangPlacement& placement) {
  std::sort(taken_.begin(), taken_.end(), [](const GangShare& a, const GangShare& b) { return a.node < b.node; });
  placement.shares.clear();
  placement.spread.assign(at(depths_), 0);
  slots_.assign(at(depths_), -1);  // the last domain seen, by depth
  for (const GangShare& share : taken_) {
    const int node = state_->node_at(share.node);
    placement.shares.push_back({node, share.units});
    int id = state_->innermost_of(node);
    for (int depth = depths_ - 1; depth >= 0 && slots_[at(depth)] != id; --depth) {
      slots_[at(depth)] = id;
      ++placement.spread[at(depth)];
      id = state_->domain(id).parent;
    }
  }
  placement.nodes = static_cast<int>(taken_.size());
}

// Makes the candidate's placement in trial_; true when it is of least spread there.
bool GangPlacer::improve(int domain, double bound) {
  const int need = needed(depth_of(domain));
  taken_.clear();
  pick_greedily(domain, need);
  measure(trial_);
  if (cost_of(trial_.spread, trial_.nodes) <= bound) return true;
  if (work(domain) > kMostWork) return false;
  steps_.clear();
  fold(domain, need);
  taken_.clear();
  pick_exactly(domain, need);
  measure(trial_);
  return true;
}

void GangPlacer::try_candidate(int domain, GangPlacement& best) {
  set_bound(domain);
  const double bound = cost_of(trial_.bound, trial_.nodes_bound);
  if (bound < least_bound_) {
    least_bound_ = bound;
    bound_ = trial_.bound;
    nodes_bound_ = trial_.nodes_bound;
  }
  if (bound >= best_cost_) return;
  if (!improve(domain, bound)) open_cost_ = std::min(open_cost_, bound);
  const double cost = cost_of(trial_.spread, trial_.nodes);
  if (cost >= best_cost_) return;
  std::swap(best, trial_);
  best_cost_ = cost;
}

// Down the tree: the fewest free GPUs that suffice, in the domains that hold least.
int GangPlacer::tightest_node() const {
  const auto counts = state_->free_counts(0);
  std::size_t free = at(request_.units) * at(request_.gpus_per_unit);
  while (free < counts.size() && counts[free] == 0) ++free;
  if (free >= counts.size()) return -1;
  int id = 0;
  for (int depth = 0; depth < depths_ - 1; ++depth) {
    const ClusterState::Domain& range = state_->domain(id);
    int best = -1;
    for (int child = range.first_child; child < range.last_child; ++child) {
      const bool has = state_->free_counts(child)[free] > 0;
      if (has && (best < 0 || capacity(child) < capacity(best))) best = child;
    }
    id = best;
  }
  int slot = state_->domain(id).first_slot;
  while (!state_->usable_at(slot) || state_->free_at(slot) != static_cast<int>(free)) ++slot;
  return slot;
}

// With preferred nodes about, these come first (a look at every node).
bool GangPlacer::place_on_one_node(GangPlacement& placement) {
  int best = tightest_node();
  if (best < 0) return false;
  const int need = request_.units * request_.gpus_per_unit;
  for (int slot = 0; !preferred_.empty() && slot < state_->nodes(); ++slot) {
    if (!state_->preferred_at(slot) || !state_->usable_at(slot) || state_->free_at(slot) < need) continue;
    if (!state_->preferred_at(best) || state_->free_at(slot) < state_->free_at(best)) best = slot;
  }
  taken_.clear();
  take(best, request_.units);
  measure(placement);
  placement.exact = true;
  placement.bound = placement.spread;
  placement.nodes_bound = placement.nodes;
  return true;
}

bool GangPlacer::place(const ClusterState& state, const GangRequest& request, GangPlacement& placement) {
  start(state, request);
  if (place_on_one_node(placement)) return true;
  if (!find_candidates()) return false;
  set_weights();
  best_cost_ = open_cost_ = least_bound_ = kNever;
  for (const int candidate : candidates_) try_candidate(candidate, placement);
  placement.exact = best_cost_ <= open_cost_ && (node_weight_ > 0 || !counts_nodes_);
  placement.bound = placement.exact ? placement.spread : bound_;
  placement.nodes_bound = placement.exact ? placement.nodes : nodes_bound_;
  return true;
}

namespace {

std::string units_text(const GangRequest& request, int units) {
  return fmt::format("{} unit{} of {} GPU{}", units, units == 1 ? "" : "s", request.gpus_per_unit,
                     request.gpus_per_unit == 1 ? "" : "s");
}

}  // namespace

void GangPlacer::count_reasons(CannotFit& reasons) const {
  const int size = request_.gpus_per_unit;
  for (int slot = 0; slot < state_->nodes(); ++slot) {
    const int node = state_->node_at(slot), free = state_->free_at(slot), all = state_->gpus(node);
    if (all < size) {
      ++reasons.nodes_too_small;
    } else if (state_->use(node) == NodeUse::kForbidden) {
      ++reasons.nodes_forbidden;
      reasons.forbidden += free / size;
    } else if (state_->use(node) == NodeUse::kUnhealthy) {
      ++reasons.nodes_unhealthy;
      reasons.unhealthy += free / size;
    } else if (const int busy = all / size - free / size; busy > 0) {
      ++reasons.nodes_busy;
      reasons.busy += busy;
    }
    if (state_->usable_at(slot)) reasons.stranded_gpus += free % size;
  }
}

// The smallest change first: of the constraints, of the size, of the cluster.
void GangPlacer::name_changes(CannotFit& reasons) const {
  const int missing = reasons.units - reasons.anywhere;
  if (missing <= 0 && request_.within_depth > 0) {
    reasons.nearest.push_back(fmt::format("let it span several domains of level {}: {} fit in the cluster",
                                          state_->level_name(request_.within_depth),
                                          units_text(request_, reasons.anywhere)));
  }
  if (missing <= 0 && request_.block_units > 0) {
    reasons.nearest.push_back(fmt::format("smaller blocks than {} per {}: without any {} fit", request_.block_units,
                                          state_->level_name(request_.block_depth),
                                          units_text(request_, reasons.anywhere)));
  }
  if (missing > 0 && reasons.forbidden >= missing) {
    reasons.nearest.push_back(
        fmt::format("allow forbidden nodes: {} more would do, they hold {}", missing, reasons.forbidden));
  }
  if (missing > 0 && reasons.busy >= missing) {
    reasons.nearest.push_back(
        fmt::format("wait for {} to be freed (busy: {})", units_text(request_, missing), reasons.busy));
  }
  if (missing > 0 && reasons.unhealthy >= missing) {
    reasons.nearest.push_back(
        fmt::format("repair unhealthy nodes: they hold {}", units_text(request_, reasons.unhealthy)));
  }
  if (reasons.fitting > 0) reasons.nearest.push_back(fmt::format("ask for {}", units_text(request_, reasons.fitting)));
}

CannotFit GangPlacer::why_not(const ClusterState& state, const GangRequest& request) {
  CannotFit reasons;
  start(state, request);
  reasons.units = request.units;
  reasons.gpus_per_unit = request.gpus_per_unit;
  reasons.fitting = most_fitting();
  GangRequest free = request;
  free.within_depth = free.block_units = 0;
  start(state, free);
  reasons.anywhere = capacity(0);
  start(state, request);
  count_reasons(reasons);
  name_changes(reasons);
  return reasons;
}

}  // namespace tare
