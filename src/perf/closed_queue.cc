#include "perf/closed_queue.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

// Sums of the unnormalised weights of k clients thinking, kept in range by scaling them down together.
struct Weights {
  double all = 0;   // Σ w(k)
  double busy = 0;  // Σ w(k) · min(N − k, m)
};

// From k = 0 on: w(k+1) ÷ w(k) = min(N − k, m)/s · Z ÷ (k + 1) only falls, so past the peak the rest is a geometric
// series at most, and a busy store (few of very many clients think) takes few terms.
Weights sum_weights(double clients, double servers, double service_s, double think_s) {
  constexpr double kLarge = 1e200, kNothing = 1e-18;
  Weights sum;
  double weight = 1;
  for (double k = 0; k <= clients; ++k) {
    const double busy = std::min(clients - k, servers);
    sum.all += weight;
    sum.busy += weight * busy;
    const double ratio = busy / service_s * think_s / (k + 1);
    weight *= ratio;
    if (ratio < 0.5 && weight < kNothing * sum.all) break;
    if (weight > kLarge) {
      weight /= kLarge;
      sum.all /= kLarge;
      sum.busy /= kLarge;
    }
  }
  return sum;
}

}  // namespace

QueueState solve(const ClosedQueue& queue) {
  const double clients = std::clamp(std::floor(queue.clients), 1.0, kMostQueueClients);
  const double servers = std::max(1.0, std::floor(queue.servers));
  double busy = std::min(clients, servers);
  if (queue.think_s > 0) {
    const Weights sum = sum_weights(clients, servers, queue.service_s, queue.think_s);
    busy = sum.busy / sum.all;
  }
  QueueState state;
  state.throughput_per_s = busy / queue.service_s;
  state.response_s = std::max(queue.service_s, clients / state.throughput_per_s - queue.think_s);
  state.utilisation_ratio = busy / servers;
  return state;
}

double throughput_bound_per_s(const ClosedQueue& queue) {
  return std::min(queue.clients / (queue.think_s + queue.service_s), queue.servers / queue.service_s);
}

}  // namespace tare
