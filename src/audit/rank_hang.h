// Where ranks stand in a hang: dumps of their flight recorders side by side.
//
// Each collective of a process group has a number. With, of each rank that has a dump,
//
//   entered(r)  the last number that its program has come to
//   done(r)     the last number that is finished
//
// nobody can finish what not all have entered, so everything up to D = max over r of done(r) has been entered by all,
// and D + 1 is the first that is not finished. Ranks with entered(r) = D never came to it; the others wait for them.
// entered(r) < D contradicts: that dump was made earlier than the others, and nothing follows from the group.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tare {

// A rank's entry of one number.
struct RankCall {
  std::string operation, size, state;  // "nccl:all_reduce", "[4096, 1024]", "scheduled", "started", "completed"
  std::string called_from;
  std::int64_t line = 0;
};

struct RankProgress {
  std::int64_t entered = -1, started = -1, done = -1;  // -1: none yet
  std::map<std::int64_t, RankCall> calls;
};

struct GroupHang {
  std::int64_t number = 0;       // the first that is not finished
  std::vector<int> missing;      // never came to it
  std::vector<int> waiting;      // entered it
  std::vector<int> not_started;  // of these, with the GPU still at earlier work while that of others has begun
  std::vector<int> no_dump;      // members of which there is no dump
};
// `members`: all ranks of the group; empty where unknown. nullopt: nobody waits, or the dumps are of different moments.
std::optional<GroupHang> find_hang(const std::map<int, RankProgress>& ranks, const std::vector<int>& members);

// The first number of which ranks disagree what it is.
struct GroupMismatch {
  std::int64_t number = 0;
  std::vector<int> usual, odd;  // by what they call; `odd` are the fewer
  bool by_size = false;         // the same operation on different sizes
};
std::optional<GroupMismatch> find_mismatch(const std::map<int, RankProgress>& ranks);

}  // namespace tare
