#include "place/rank_map.h"

#include <algorithm>
#include <numeric>

namespace tare {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int size_of(Axis axis, const Parallelism& p) {
  switch (axis) {
    case Axis::kTp:
      return p.tp;
    case Axis::kCp:
      return p.cp;
    case Axis::kDp:
      return p.dp;
    case Axis::kPp:
      return p.pp;
  }
  return 1;
}

// A coordinate on each axis, by its number.
using Coordinates = std::array<int, 4>;

Coordinates coordinates_of(int seat, const Parallelism& p, const RankLayout& layout) {
  Coordinates found{};
  for (const Axis axis : layout.order) {
    found[static_cast<std::size_t>(axis)] = seat % size_of(axis, p);
    seat /= size_of(axis, p);
  }
  return found;
}

int coordinate(const Coordinates& of, Axis axis) { return of[static_cast<std::size_t>(axis)]; }

using Kind = unsigned;  // a set of axes
constexpr Kind bit(Axis axis) { return 1u << static_cast<unsigned>(axis); }

// The number of the group that a seat belongs to: the coordinates on all other axes.
int group_of(const Coordinates& of, Kind kind, const Parallelism& p) {
  int group = 0;
  for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp}) {
    if ((kind & bit(axis)) == 0) group = group * size_of(axis, p) + coordinate(of, axis);
  }
  return group;
}

// Experts lie over the ranks of tp, cp and dp, from the innermost of the three (perf/step.h): their linear index.
int expert_index(const Coordinates& of, const Parallelism& p, const RankLayout& layout) {
  int index = 0, stride = 1;
  for (const Axis axis : layout.order) {
    if (axis == Axis::kPp) continue;
    index += coordinate(of, axis) * stride;
    stride *= size_of(axis, p);
  }
  return index;
}

class Flows {
 public:
  Flows(const SeatOrder& seats, const Parallelism& p, const RankLayout& layout) : seats_(seats), p_(p) {
    for (int seat = 0; seat < count(); ++seat) of_.push_back(coordinates_of(seat, p, layout));
    for (const Coordinates& of : of_) expert_.push_back(expert_index(of, p, layout));
  }

  // The most that any leaf is asked for, over what its uplink carries, with `rate` per GPU: by tp, cp and experts; by
  // gradients and weights; by activations between stages.
  double inner(double rate) const {
    double most = 1;
    if (p_.tp > 1) most = std::max(most, worst(rings(bit(Axis::kTp), true), rate));
    if (p_.cp > 1) most = std::max(most, worst(rings(bit(Axis::kCp), true), rate));
    if (p_.ep > 1) most = std::max(most, worst(all_to_all(), rate));
    return most;
  }
  double data(double rate) const {
    return p_.dp * p_.cp > 1 ? worst(rings(bit(Axis::kDp) | bit(Axis::kCp), true), rate) : 1;
  }
  double pipeline(double rate) const { return p_.pp > 1 ? worst(rings(bit(Axis::kPp), p_.vpp > 1), rate) : 1; }

 private:
  struct Ring {
    int first = -1, last = -1;
    int on_node = 0;  // ranks on the last one's node
  };

  int count() const { return static_cast<int>(seats_.node.size()); }

  double worst(const std::vector<double>& flows, double rate) const {
    double most = 1;
    for (std::size_t leaf = 0; leaf < flows.size(); ++leaf) {
      const double uplink = seats_.uplinks[leaf];
      if (uplink > 0) most = std::max(most, flows[leaf] * rate / uplink);
    }
    return most;
  }

  std::vector<double> rings(Kind kind, bool closed) const {
    std::vector<double> flows(seats_.uplinks.size());
    std::vector<Ring> ring(of_.size());  // by group, of which there are no more than seats
    const auto edge = [&](int from, int to, int links) {
      if (seats_.leaf[at(from)] != seats_.leaf[at(to)]) flows[at(seats_.leaf[at(from)])] += links;
    };
    for (int seat = 0; seat < count(); ++seat) {
      Ring& of = ring[at(group_of(of_[at(seat)], kind, p_))];
      const bool same_node = of.last >= 0 && seats_.node[at(of.last)] == seats_.node[at(seat)];
      if (of.last >= 0) edge(of.last, seat, of.on_node);
      if (of.first < 0) of.first = seat;
      of.on_node = same_node ? of.on_node + 1 : 1;
      of.last = seat;
    }
    for (const Ring& of : ring) {
      if (closed && of.first != of.last) edge(of.last, of.first, of.on_node);
    }
    return flows;
  }

  std::vector<double> all_to_all() const {
    const std::size_t leaves = seats_.uplinks.size();
    const int groups = count() / p_.ep, per_stage = groups / p_.pp;
    std::vector<double> flows(leaves);
    std::vector<int> members(at(groups) * leaves);
    for (int seat = 0; seat < count(); ++seat) {
      const int group = coordinate(of_[at(seat)], Axis::kPp) * per_stage + expert_[at(seat)] / p_.ep;
      ++members[at(group) * leaves + at(seats_.leaf[at(seat)])];
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      flows[i % leaves] += double(members[i]) * (p_.ep - members[i]) / (p_.ep - 1);
    }
    return flows;
  }

  const SeatOrder& seats_;
  const Parallelism& p_;
  std::vector<Coordinates> of_;
  std::vector<int> expert_;
};

// Every block of `span` neighbouring seats lies in one leaf.
bool lies_within(const SeatOrder& seats, int span) {
  for (std::size_t seat = 0; seat < seats.leaf.size(); ++seat) {
    if (seats.leaf[seat] != seats.leaf[seat - seat % at(span)]) return false;
  }
  return true;
}

}  // namespace

SeatOrder seats_of(const Cluster& cluster, const std::vector<int>& nodes, int gpus) {
  std::vector<int> leaf_of(cluster.nodes.size());
  SeatOrder seats;
  for (std::size_t leaf = 0; leaf < cluster.leaves.size(); ++leaf) {
    seats.uplinks.push_back(cluster.leaves[leaf].uplink_bytes_per_s.value_or(0));
    for (const int node : cluster.leaves[leaf].nodes) leaf_of[at(node)] = static_cast<int>(leaf);
  }
  for (const int node : nodes) {
    const int has = cluster.node_types[at(cluster.nodes[at(node)].type)].type.gpus;
    for (int gpu = 0; gpu < has && static_cast<int>(seats.node.size()) < gpus; ++gpu) {
      seats.node.push_back(node);
      seats.gpu.push_back(gpu);
      seats.leaf.push_back(leaf_of[at(node)]);
    }
  }
  return seats;
}

std::vector<RankLayout> layouts_of(const Parallelism& p) {
  std::array<Axis, 3> outer = {Axis::kCp, Axis::kDp, Axis::kPp};
  std::vector<RankLayout> layouts;
  std::vector<std::vector<Axis>> seen;
  do {
    std::vector<Axis> telling;
    for (const Axis axis : outer) {
      if (size_of(axis, p) > 1) telling.push_back(axis);
    }
    if (std::find(seen.begin(), seen.end(), telling) != seen.end()) continue;
    seen.push_back(telling);
    layouts.push_back({{Axis::kTp, outer[0], outer[1], outer[2]}});
  } while (std::next_permutation(outer.begin(), outer.end()));
  return layouts;
}

std::string to_text(const RankLayout& layout) {
  static constexpr const char* kNames[] = {"tp", "cp", "dp", "pp"};
  std::string text;
  for (const Axis axis : layout.order) {
    if (!text.empty()) text += '-';
    text += kNames[static_cast<std::size_t>(axis)];
  }
  return text;
}

std::vector<RankSeat> rank_seats(const Parallelism& p, const RankLayout& layout) {
  std::vector<RankSeat> ranks(at(gpus(p)));
  for (int seat = 0; seat < gpus(p); ++seat) {
    const Coordinates of = coordinates_of(seat, p, layout);
    RankSeat rank;
    rank.tp = coordinate(of, Axis::kTp);
    rank.cp = coordinate(of, Axis::kCp);
    rank.dp = coordinate(of, Axis::kDp);
    rank.pp = coordinate(of, Axis::kPp);
    rank.ep = expert_index(of, p, layout) % p.ep;
    rank.rank = rank.tp + p.tp * (rank.cp + p.cp * (rank.dp + p.dp * rank.pp));
    rank.seat = seat;
    ranks[at(rank.rank)] = rank;
  }
  return ranks;
}

Machine in_order(Machine machine, const SeatOrder& seats, const Parallelism& p, const RankLayout& layout) {
  machine = without_leaves(std::move(machine));
  const bool one_leaf = std::all_of(seats.leaf.begin(), seats.leaf.end(), [&](int l) { return l == seats.leaf[0]; });
  if (one_leaf) return machine;
  const Flows flows(seats, p, layout);
  const double rate = machine.between_nodes.bytes_per_s;
  machine.oversubscription = flows.inner(rate);
  machine.dp_oversubscription = flows.data(rate);
  machine.pp_oversubscription = flows.pipeline(rate);
  std::vector<int> spans = {p.ep};
  int span = 1;
  for (const Axis axis : layout.order) spans.push_back(span *= size_of(axis, p));
  machine.gpus_per_leaf = 1;
  for (const int block : spans) {
    if (block > machine.gpus_per_leaf && lies_within(seats, block)) machine.gpus_per_leaf = block;
  }
  return machine;
}

Machine without_leaves(Machine machine) {
  machine.oversubscription = 1;
  machine.dp_oversubscription = machine.pp_oversubscription = 0;
  machine.gpus_per_leaf = 0;
  return machine;
}

double most_asked(const Machine& machine) {
  return std::max({machine.oversubscription, machine.dp_oversubscription, machine.pp_oversubscription});
}

}  // namespace tare
