#include "place/shards.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace tare {
namespace {

constexpr double kUnlimited = 1e18;

double room(const ShardDisk& disk, double shard_bytes) {
  return disk.bytes > 0 ? std::floor(disk.bytes / shard_bytes) : kUnlimited;
}

// How many each disk gets; empty when there is no room.
std::vector<int> counts(int shards, double shard_bytes, const std::vector<ShardDisk>& disks) {
  using Ends = std::pair<double, std::size_t>;  // when the next shard would end there
  std::priority_queue<Ends, std::vector<Ends>, std::greater<>> next;
  std::vector<int> count(disks.size());
  const auto offer = [&](std::size_t i) {
    if (count[i] + 1 <= room(disks[i], shard_bytes)) {
      next.push({(count[i] + 1) * shard_bytes / disks[i].read_bytes_per_s, i});
    }
  };
  for (std::size_t i = 0; i < disks.size(); ++i) offer(i);
  for (int shard = 0; shard < shards; ++shard) {
    if (next.empty()) return {};
    const std::size_t i = next.top().second;
    next.pop();
    ++count[i];
    offer(i);
  }
  return count;
}

double slowest_s(const std::vector<int>& count, double shard_bytes, const std::vector<ShardDisk>& disks) {
  double slowest = 0;
  for (std::size_t i = 0; i < disks.size(); ++i) {
    slowest = std::max(slowest, count[i] * shard_bytes / disks[i].read_bytes_per_s);
  }
  return slowest;
}

// The linear program: disks fill in the order of the time at which they are full, m·s/r; the others share the rest.
double bound(int shards, double shard_bytes, const std::vector<ShardDisk>& disks) {
  std::vector<std::pair<double, double>> full;  // time when full, rate
  double rate = 0, left = shards * shard_bytes;
  for (const ShardDisk& disk : disks) {
    const double bytes = room(disk, shard_bytes) * shard_bytes;
    full.push_back({bytes / disk.read_bytes_per_s, disk.read_bytes_per_s});
    rate += disk.read_bytes_per_s;
  }
  std::sort(full.begin(), full.end());
  for (const auto& [time, of_disk] : full) {
    if (rate <= 0 || left / rate <= time) break;
    left -= time * of_disk;
    rate -= of_disk;
  }
  return left / rate;
}

double round_robin_s(int shards, double shard_bytes, const std::vector<ShardDisk>& disks) {
  const int each = shards / static_cast<int>(disks.size()), more = shards % static_cast<int>(disks.size());
  std::vector<int> count(disks.size(), each);
  for (int i = 0; i < more; ++i) ++count[static_cast<std::size_t>(i)];
  for (std::size_t i = 0; i < disks.size(); ++i) {
    if (count[i] > room(disks[i], shard_bytes)) return std::numeric_limits<double>::quiet_NaN();
  }
  return slowest_s(count, shard_bytes, disks);
}

// Of each node the disk that writes slowest: the fast ones have the shards.
std::vector<int> checkpoint_disks(const std::vector<ShardDisk>& disks) {
  std::vector<int> chosen;
  const auto rate = [](const ShardDisk& disk) {
    return disk.write_bytes_per_s > 0 ? disk.write_bytes_per_s : disk.read_bytes_per_s;
  };
  for (std::size_t i = 0; i < disks.size(); ++i) {
    const bool first = i == 0 || disks[i].node != disks[i - 1].node;
    if (first) chosen.push_back(static_cast<int>(i));
    if (rate(disks[i]) < rate(disks[static_cast<std::size_t>(chosen.back())])) chosen.back() = static_cast<int>(i);
  }
  return chosen;
}

double most_on_a_node(const ShardPlan& plan, const std::vector<ShardDisk>& disks) {
  std::vector<double> bytes(static_cast<std::size_t>(disks.back().node) + 1);
  for (std::size_t i = 0; i < disks.size(); ++i) {
    bytes[static_cast<std::size_t>(disks[i].node)] += plan.shards_of[i] * plan.shard_bytes;
  }
  return *std::max_element(bytes.begin(), bytes.end());
}

}  // namespace

ShardPlan place_shards(int shards, double shard_bytes, const std::vector<ShardDisk>& disks) {
  ShardPlan plan;
  plan.shard_bytes = shard_bytes;
  plan.checkpoint_disk = checkpoint_disks(disks);
  plan.shards_of = counts(shards, shard_bytes, disks);
  plan.round_robin_s = round_robin_s(shards, shard_bytes, disks);
  if (plan.shards_of.empty()) return plan;
  for (std::size_t i = 0; i < disks.size(); ++i) {
    plan.disk_of.insert(plan.disk_of.end(), static_cast<std::size_t>(plan.shards_of[i]), static_cast<int>(i));
  }
  plan.read_s = slowest_s(plan.shards_of, shard_bytes, disks);
  plan.bound_s = bound(shards, shard_bytes, disks);
  plan.failed_node_bytes = most_on_a_node(plan, disks);
  return plan;
}

}  // namespace tare
