#include "audit/rank_hang.h"

#include <algorithm>

namespace tare {
namespace {

// All-reduce and broadcast need the same size everywhere; gathers and scatters may be uneven.
bool needs_same_size(const std::string& operation) {
  return operation.find("reduce") != std::string::npos && operation.find("scatter") == std::string::npos;
}

// Ranks by what they call; empty where all agree.
std::optional<GroupMismatch> disagreement(const std::map<std::string, std::vector<int>>& by_call) {
  if (by_call.size() < 2) return std::nullopt;
  GroupMismatch mismatch;
  for (const auto& [call, ranks] : by_call) {
    if (ranks.size() > mismatch.usual.size()) mismatch.usual = ranks;
  }
  for (const auto& [call, ranks] : by_call) {
    if (ranks != mismatch.usual) mismatch.odd.insert(mismatch.odd.end(), ranks.begin(), ranks.end());
  }
  std::sort(mismatch.odd.begin(), mismatch.odd.end());
  return mismatch;
}

}  // namespace

std::optional<GroupHang> find_hang(const std::map<int, RankProgress>& ranks, const std::vector<int>& members) {
  GroupHang hang;
  for (const auto& [rank, progress] : ranks) hang.number = std::max(hang.number, progress.done + 1);
  bool some_started = false;
  for (const auto& [rank, progress] : ranks) {
    if (progress.entered + 1 < hang.number) return std::nullopt;
    (progress.entered < hang.number ? hang.missing : hang.waiting).push_back(rank);
    some_started = some_started || progress.started >= hang.number;
  }
  if (hang.waiting.empty()) return std::nullopt;
  for (const int rank : hang.waiting) {
    if (some_started && ranks.at(rank).started < hang.number) hang.not_started.push_back(rank);
  }
  for (const int member : members) {
    if (!ranks.contains(member)) hang.no_dump.push_back(member);
  }
  return hang;
}

std::optional<GroupMismatch> find_mismatch(const std::map<int, RankProgress>& ranks) {
  std::map<std::int64_t, std::map<std::string, std::vector<int>>> operations, sizes;
  for (const auto& [rank, progress] : ranks) {
    for (const auto& [number, call] : progress.calls) {
      if (call.operation.empty()) continue;
      operations[number][call.operation].push_back(rank);
      if (needs_same_size(call.operation) && !call.size.empty()) sizes[number][call.size].push_back(rank);
    }
  }
  for (const auto& [number, by_call] : operations) {
    std::optional<GroupMismatch> mismatch = disagreement(by_call);
    if (!mismatch) {
      const auto found = sizes.find(number);
      if (found != sizes.end()) mismatch = disagreement(found->second);
      if (mismatch) mismatch->by_size = true;
    }
    if (!mismatch) continue;
    mismatch->number = number;
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace tare
