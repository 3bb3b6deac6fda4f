#include "perf/collective.h"

#include <algorithm>
#include <cmath>

namespace tare {

GroupPlace place_group(const Machine& machine, int ranks, int stride) {
  GroupPlace place;
  place.ranks = ranks;
  const auto within = [&](int gpus) { return std::clamp(gpus / std::max(stride, 1), 1, ranks); };
  place.in_domain = within(machine.domain_gpus);
  place.in_node = within(std::max(machine.gpus_per_node, machine.domain_gpus));
  place.across_leaves = machine.gpus_per_leaf > 0 && static_cast<long long>(ranks) * stride > machine.gpus_per_leaf;
  return place;
}

GroupLink group_link(const Machine& machine, const GroupPlace& place, bool all_to_all) {
  GroupLink link{machine.in_domain.bytes_per_s, machine.in_domain.latency_s, machine.in_domain.latency_s};
  if (place.in_node > place.in_domain) {  // bridged pairs or bare PCIe inside one node
    const double out = machine.in_node.bytes_per_s * (all_to_all ? 1 : place.in_domain);
    link.bytes_per_s = std::min(link.bytes_per_s, out);
    link.latency_s = std::max(link.latency_s, machine.in_node.latency_s);
  }
  if (place.ranks > place.in_node) {
    double per_gpu = machine.between_nodes.bytes_per_s;
    if (place.across_leaves) per_gpu /= machine.oversubscription;
    const double out = per_gpu * (all_to_all ? 1 : place.in_node);
    // All-to-all: only the remote share crosses the network.
    const double remote = all_to_all ? double(place.ranks - place.in_node) / std::max(place.ranks - 1, 1) : 1;
    link.bytes_per_s = std::min(link.bytes_per_s, out / remote);
    link.latency_s = std::max(link.latency_s, machine.between_nodes.latency_s);
  }
  return link;
}

double collective_s(Collective kind, double bytes, const Machine& machine, const GroupPlace& place, double bus_share,
                    const StepConstants& constants) {
  if (place.ranks <= 1 || bytes <= 0) return 0;
  const bool all_to_all = kind == Collective::kAllToAll;
  const GroupLink link = group_link(machine, place, all_to_all);
  const double n = place.ranks;
  const double rounds = kind == Collective::kAllReduce ? 2 : 1;
  const double domains = std::ceil(n / place.in_node);
  // Rings pay every hop, trees the depth; the library takes the cheaper. Hops inside a domain cost the local latency.
  const double ring = (domains - 1) * link.latency_s + (n - domains) * link.local_latency_s;
  const double tree = std::log2(n) * link.latency_s;
  const double hops = all_to_all ? (place.ranks > place.in_node ? link.latency_s : link.local_latency_s)
                                 : std::min(ring, tree + link.latency_s);
  const double share = bus_share * bytes / (bytes + constants.half_size_bytes);
  return rounds * hops + rounds * bytes * (n - 1) / n / (link.bytes_per_s * share);
}

double point_to_point_s(double bytes, const Machine& machine, int stride, double bus_share,
                        const StepConstants& constants) {
  const bool local = stride < machine.domain_gpus;
  const Link& link = local                            ? machine.in_domain
                     : stride < machine.gpus_per_node ? machine.in_node
                                                      : machine.between_nodes;
  const double share = bus_share * bytes / (bytes + constants.half_size_bytes);
  const bool across_leaves = !local && machine.gpus_per_leaf > 0 && stride >= machine.gpus_per_leaf;
  const double rate = across_leaves ? link.bytes_per_s / machine.oversubscription : link.bytes_per_s;
  return link.latency_s + bytes / (rate * share);
}

}  // namespace tare
