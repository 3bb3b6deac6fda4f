// Clients that ask a few servers, wait for the answer, do something else for a while and ask again: a storm of stat()
// calls on the shards of a dataset is such a closed queue, and so is any store whose clients wait for it.
//
//   N clients, m servers, service time s, think time Z (both exponential), the machine repairman's problem:
//   p(n+1) ÷ p(n) = (N − n)/Z · s ÷ min(n + 1, m)      n clients at the servers
//   throughput X = Σ p(n) · min(n, m) ÷ s,   response R = N ÷ X − Z  (Little's law)
//   without thinking all N are always at the servers: X = min(N, m) ÷ s, R = N · s ÷ min(N, m)
// Asymptotes: X ≤ min(N ÷ (Z + s), m ÷ s), hence R ≥ max(s, N · s ÷ m − Z).
// Worked example: 2 ms of service, one server, no thinking: 42 clients wait 84 ms for what takes one client 2 ms.
// Sources: Feller I, XVII.7; Lazowska et al. 1984, Quantitative System Performance, ch. 5 and 6.
// Thread safety: pure functions.
#pragma once

namespace tare {

struct ClosedQueue {
  double clients = 1;  // N ≥ 1, taken down to a whole number, at most kMostQueueClients
  double servers = 1;  // m ≥ 1, taken down to a whole number
  double service_s = 0;
  double think_s = 0;
};

inline constexpr double kMostQueueClients = 1e7;

struct QueueState {
  double throughput_per_s = 0;  // of all clients together
  double response_s = 0;        // waiting and service
  double utilisation_ratio = 0;
};

// Exact to rounding, in O(min(N, Z·m/s)) steps. Precondition: service_s > 0, think_s ≥ 0.
QueueState solve(const ClosedQueue& queue);

// The upper asymptote, min(N ÷ (Z + s), m ÷ s): what a formula of a few terms can say.
double throughput_bound_per_s(const ClosedQueue& queue);

}  // namespace tare
