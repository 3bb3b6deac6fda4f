// The closed queue against a Markov chain of single clients, its asymptotes and the article's figures.
#include "perf/closed_queue.h"

#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

// Brute force: a state is the set of clients that are at the servers (2^N of them). A thinking client comes at rate
// 1/Z; k clients at the servers share them, each leaves at rate min(k, m) / (k · s). The stationary distribution by
// power iteration of the uniformised chain.
double brute_force_throughput(int clients, int servers, double service_s, double think_s) {
  const std::size_t states = std::size_t{1} << clients;
  const double arrive = 1 / think_s;
  const double scale = clients * arrive + servers / service_s;
  std::vector<double> p(states, 1.0 / static_cast<double>(states));
  for (int round = 0; round < 20000; ++round) {
    std::vector<double> next(states, 0);
    for (std::size_t s = 0; s < states; ++s) {
      const int k = std::popcount(s);
      double stays = 1;
      for (int c = 0; c < clients; ++c) {
        const std::size_t bit = std::size_t{1} << c;
        const double rate = (s & bit) ? std::min(k, servers) / (k * service_s) : arrive;
        next[s ^ bit] += p[s] * rate / scale;
        stays -= rate / scale;
      }
      next[s] += p[s] * stays;
    }
    p.swap(next);
  }
  double throughput = 0;
  for (std::size_t s = 0; s < states; ++s) throughput += p[s] * std::min(std::popcount(s), servers) / service_s;
  return throughput;
}

TEST(ClosedQueue, IsTheMarkovChainOfItsClients) {
  for (const int clients : {1, 2, 3, 5}) {
    for (const int servers : {1, 2, 7}) {
      for (const double think : {0.5, 2.0, 20.0}) {
        const QueueState state = solve({double(clients), double(servers), 1.5, think});
        const double exact = brute_force_throughput(clients, servers, 1.5, think);
        EXPECT_NEAR(state.throughput_per_s, exact, 1e-9) << clients << " " << servers << " " << think;
        EXPECT_NEAR(state.response_s, clients / exact - think, 1e-7);
      }
    }
  }
}

// One client never waits: X = 1/(Z + s), R = s.
TEST(ClosedQueue, OneClientIsAlone) {
  const QueueState state = solve({1, 1, 0.002, 0.5});
  EXPECT_DOUBLE_EQ(state.throughput_per_s, 1 / 0.502);
  EXPECT_NEAR(state.response_s, 0.002, 1e-12);
}

// The article: stat() goes from 2 to 83 ms. Without thinking R = N · s: 41.5 clients before one server of 2 ms.
TEST(ClosedQueue, AStormOnOneServer) {
  EXPECT_DOUBLE_EQ(solve({41, 1, 0.002, 0}).response_s, 0.082);
  EXPECT_DOUBLE_EQ(solve({42, 1, 0.002, 0}).response_s, 0.084);
  EXPECT_DOUBLE_EQ(solve({512, 4, 0.002, 0}).response_s, 0.256);
  EXPECT_DOUBLE_EQ(solve({3, 4, 0.002, 0}).response_s, 0.002);
  EXPECT_DOUBLE_EQ(solve({42, 1, 0.002, 0}).throughput_per_s, 500);
}

TEST(ClosedQueue, ManyClientsDoNotOverflow) {
  const QueueState state = solve({1e6, 1, 1e-5, 1});
  EXPECT_NEAR(state.throughput_per_s, 1e5, 1e-3);
  EXPECT_NEAR(state.response_s, 9, 1e-6);
}

RC_GTEST_PROP(ClosedQueue, KeepsToItsAsymptotes, ()) {
  ClosedQueue queue;
  queue.clients = *rc::gen::inRange(1, 2000);
  queue.servers = *rc::gen::inRange(1, 64);
  queue.service_s = *rc::gen::inRange(1, 10000) * 1e-6;
  queue.think_s = *rc::gen::inRange(0, 10000) * 1e-6;
  const QueueState state = solve(queue);
  RC_ASSERT(state.throughput_per_s <= throughput_bound_per_s(queue) * (1 + 1e-12));
  RC_ASSERT(state.response_s >= queue.service_s);
  RC_ASSERT(state.utilisation_ratio <= 1 + 1e-12);
  // Little's law, and one more client never lowers what all get done.
  RC_ASSERT(std::abs(state.throughput_per_s * (state.response_s + queue.think_s) / queue.clients - 1) < 1e-9);
  ClosedQueue more = queue;
  ++more.clients;
  RC_ASSERT(solve(more).throughput_per_s >= state.throughput_per_s * (1 - 1e-12));
  // The lower asymptote of balanced jobs: nobody waits longer than for all the others.
  RC_ASSERT(state.throughput_per_s >= queue.clients / (queue.think_s + queue.service_s * queue.clients) * (1 - 1e-12));
}

}  // namespace
}  // namespace tare
