#include "plan/search.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tare {
namespace {

// The time of a step that no configuration of a group beats: layers and ends spread evenly over all GPUs, no bubble, no
// data-parallel traffic, no recompute.
double group_bound_s(StepModel& model, const Space& space, const SpaceGroup& group) {
  Parallelism p;
  p.tp = group.tp;
  p.cp = group.cp;
  p.ep = group.ep;
  p.micro_batch = group.micro_batch;
  p.sequence_parallel = group.sequence_parallel;
  const RankCost& cost = model.rank_cost(p);
  const LayerCost& layer = cost.layer;
  const double per_layer = layer.forward_s + layer.backward_s + layer.tp_forward_s + layer.tp_backward_s + layer.cp_s +
                           layer.ep_forward_s + layer.ep_backward_s;
  const double ends = cost.edge.head_s + cost.edge.embedding_s + cost.edge.tp_s;
  // micro-batches ÷ pp is the same for every pp: dp·pp = GPUs ÷ (tp·cp).
  const double share = double(space.global_batch) * group.tp * group.cp / (double(group.micro_batch) * space.gpus);
  return share * (space.layers * per_layer + ends);
}

struct Best {
  double time_s = std::numeric_limits<double>::infinity();
  std::size_t group = 0;
  long long index = 0;  // within the group
  bool better(double time, std::size_t g, long long i) const {
    if (time != time_s) return time < time_s;
    return g != group ? g < group : i < index;
  }
};

// What is offloaded has to fit in the host, where its memory is known.
bool fits(const Memory& memory, double capacity_bytes, const Machine& machine) {
  return memory.total_bytes <= capacity_bytes &&
         (machine.host_memory_bytes <= 0 || memory.host_bytes <= machine.host_memory_bytes);
}

void note_memory(SearchResult& result, const Parallelism& p, double bytes) {
  if (result.least_memory_bytes > 0 && bytes >= result.least_memory_bytes) return;
  result.least_memory_bytes = bytes;
  result.least_memory = p;
}

}  // namespace

SearchResult search(StepModel& model, const Space& space, double capacity_bytes) {
  SearchResult result;
  std::vector<double> bound(space.groups.size());
  for (std::size_t g = 0; g < bound.size(); ++g) bound[g] = group_bound_s(model, space, space.groups[g]);
  std::vector<std::size_t> order(bound.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return bound[a] != bound[b] ? bound[a] < bound[b] : a < b; });
  Best best;
  for (const std::size_t g : order) {
    const SpaceGroup& group = space.groups[g];
    // Up to rounding: the bound adds the same terms in another order. What follows is bounded by no less.
    if (bound[g] * (1 - 1e-12) > best.time_s) break;
    long long index = 0;
    for_each_in_group(space, group, [&](const Parallelism& p) {
      const long long here = index++;
      const double time = model.step_time_s(p);
      ++result.evaluated;
      if (!best.better(time, g, here)) return;
      const Memory memory = model.memory(p);
      note_memory(result, p, memory.total_bytes);
      if (!fits(memory, capacity_bytes, model.machine())) {
        ++result.out_of_memory;
        return;
      }
      best = {time, g, here};
      result.best = p;
    });
  }
  result.pruned = space.size - result.evaluated;
  if (result.best) result.step_time_s = best.time_s;
  return result;
}

SearchResult search_exhaustively(StepModel& model, const Space& space, double capacity_bytes) {
  SearchResult result;
  Best best;
  for (std::size_t g = 0; g < space.groups.size(); ++g) {
    long long index = 0;
    for_each_in_group(space, space.groups[g], [&](const Parallelism& p) {
      const long long here = index++;
      const Step step = model.evaluate(p);
      ++result.evaluated;
      note_memory(result, p, step.memory.total_bytes);
      if (!fits(step.memory, capacity_bytes, model.machine())) {
        ++result.out_of_memory;
        return;
      }
      if (!best.better(step.step_time_s, g, here)) return;
      best = {step.step_time_s, g, here};
      result.best = p;
    });
  }
  if (result.best) result.step_time_s = best.time_s;
  return result;
}

}  // namespace tare
