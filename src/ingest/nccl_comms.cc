#include "ingest/nccl_comms.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostCommunicators = 20'000;
constexpr std::size_t kCommunicatorsListed = 200;

}  // namespace

std::string_view nccl_value(std::string_view message, std::string_view name) {
  std::size_t at = 0;
  while ((at = message.find(name, at)) != std::string_view::npos) {
    const bool begins = at == 0 || message[at - 1] == ' ';
    const std::size_t end = at + name.size();
    if (begins && end < message.size() && message[end] == ' ') {
      const std::string_view rest = trim(message.substr(end));
      const std::string_view word = rest.substr(0, rest.find_first_of(" ,;"));
      return word;
    }
    at = end;
  }
  return {};
}

// "comm 0x… rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 5d000 commId 0x… - Init COMPLETE".
bool NcclComms::take_life(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  const bool start = contains(message, "Init START"), complete = contains(message, "Init COMPLETE");
  const bool abort = contains(message, "- Abort"), destroy = contains(message, "- Destroy");
  if (!start && !complete && !abort && !destroy) return false;
  const std::optional<std::int64_t> ranks = to_integer(nccl_value(message, "nranks"));
  const std::string_view id = nccl_value(message, "commId");
  started_ += start ? 1 : 0;
  complete_ += complete ? 1 : 0;
  aborted_ += abort && contains(message, "COMPLETE") ? 1 : 0;
  destroyed_ += destroy && contains(message, "COMPLETE") ? 1 : 0;
  if (ranks && *ranks > most_ranks_) {
    most_ranks_ = *ranks;
    ranks_line_ = number;
  }
  if (communicators_.size() < kMostCommunicators || communicators_.contains(id)) {
    const auto found = communicators_.find(id);
    Communicator& one = found != communicators_.end() ? found->second : communicators_[std::string(id.substr(0, 64))];
    if (one.line == 0) one.line = number;
    if (ranks) one.ranks = std::max(one.ranks, *ranks);
    one.started += start ? 1 : 0;
    one.complete += complete ? 1 : 0;
    one.ended += abort || destroy ? 1 : 0;
  }
  if (!rows_.wants_next()) return true;
  FactRecord row(number);
  row.set("event", start ? "init_start" : complete ? "init_complete" : abort ? "abort" : "destroy");
  if (!line.host.empty()) row.set("host", line.host);
  for (const std::string_view name : {"rank", "nranks", "cudaDev", "nvmlDev"}) {
    const std::string_view value = nccl_value(message, name);
    if (!value.empty()) row.set_parsed(to_lower(name), value);
  }
  if (const std::string_view bus = nccl_value(message, "busId"); !bus.empty()) row.set("bus_id", bus);
  if (!id.empty()) row.set("comm_id", id);
  if (const std::string_view parent = nccl_value(message, "parent"); !parent.empty()) row.set("parent", parent);
  rows_.add(std::move(row));
  return true;
}

// "comm 0x… rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0".
bool NcclComms::take_size(std::string_view message, std::int64_t number) {
  const std::optional<std::int64_t> nodes = to_integer(nccl_value(message, "nNodes"));
  if (!nodes) return false;
  const std::optional<std::int64_t> ranks = to_integer(nccl_value(message, "nRanks"));
  const std::optional<std::int64_t> local = to_integer(nccl_value(message, "localRanks"));
  if (ranks && *ranks > most_ranks_) {
    most_ranks_ = *ranks;
    ranks_line_ = number;
  }
  if (*nodes > most_nodes_) {
    most_nodes_ = *nodes;
    nodes_line_ = number;
  }
  if (local) most_local_ = std::max(most_local_, *local);
  if (const std::optional<std::int64_t> mnnvl = to_integer(nccl_value(message, "MNNVL"))) {
    mnnvl_ = std::max(mnnvl_, *mnnvl);
  }
  return true;
}

// "Init timings - ncclCommInitRank: rank 3 nranks 8 total 1.15 (kernels 0.12, …)".
bool NcclComms::take_timing(std::string_view message, std::int64_t number) {
  if (!message.starts_with("Init timings")) return false;
  const std::optional<double> total = to_number(nccl_value(message, "total"));
  if (!total) return true;
  init_most_s_ = timings_ == 0 ? *total : std::max(init_most_s_, *total);
  init_least_s_ = timings_ == 0 ? *total : std::min(init_least_s_, *total);
  if (timings_++ == 0) timing_line_ = number;
  return true;
}

bool NcclComms::take(const NcclLine& line, std::int64_t number) {
  return take_life(line, number) || take_timing(line.message, number) || take_size(line.message, number);
}

void NcclComms::finish(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (most_nodes_ >= 0) facts.set("node_count", most_nodes_, nodes_line_);
  if (most_local_ >= 0) facts.set("local_ranks", most_local_, nodes_line_);
  if (mnnvl_ >= 0) facts.set("mnnvl", mnnvl_ > 0, nodes_line_);
  if (timings_ > 0) {
    facts.set("init_time_least_s", init_least_s_, timing_line_);
    facts.set("init_time_most_s", init_most_s_, timing_line_);
  }
  if (started_ + complete_ + aborted_ + destroyed_ == 0) return;
  facts.set("inits_started", started_);
  facts.set("inits_complete", complete_);
  if (aborted_ > 0) facts.set("aborts", aborted_);
  if (destroyed_ > 0) facts.set("destroys", destroyed_);
  facts.set("communicator_count", static_cast<std::int64_t>(communicators_.size()));
  std::size_t listed = 0;
  for (const auto& [id, one] : communicators_) {
    if (++listed > kCommunicatorsListed) break;
    FactRecord& record = facts.append("communicators", one.line);
    if (!id.empty()) record.set("comm_id", id);
    if (one.ranks >= 0) record.set("nranks", one.ranks);
    record.set("started", one.started);
    record.set("complete", one.complete);
    record.set("ended", one.ended);
  }
  rows_.give(facts, "comm_events", reading);
}

}  // namespace tare
