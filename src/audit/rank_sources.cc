#include "audit/rank_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::string_view kTrace = "PyTorch profiler trace";
constexpr std::string_view kFlight = "NCCL flight recorder";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string file_name(const Seen& seen) { return std::filesystem::path(seen.file->path).filename().string(); }

// The number behind `word`, perhaps after one of "_-.": "rank_3".
std::optional<int> number_after(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    std::size_t from = at + word.size();
    if (from < text.size() && (text[from] == '_' || text[from] == '-' || text[from] == '.')) ++from;
    std::size_t to = from;
    while (to < text.size() && is_digit(text[to]) && to - from < 7) ++to;
    if (to > from) return std::stoi(std::string(text.substr(from, to - from)));
  }
  return std::nullopt;
}

// "reduce_scatter_tensor_coalesced" -> "reduce-scatter"; empty for those that do not wait for all ranks.
std::string kind_of_collective(std::string_view name) {
  std::string letters;
  for (const char c : to_lower(std::string(name))) {
    if (c >= 'a' && c <= 'z') letters += c;
  }
  struct Kind {
    const char *letters, *name;
  };
  static constexpr Kind kKinds[] = {{"allreduce", "all-reduce"},
                                    {"allgather", "all-gather"},
                                    {"reducescatter", "reduce-scatter"},
                                    {"alltoall", "all-to-all"},
                                    {"barrier", "barrier"}};
  for (const Kind& kind : kKinds) {
    if (contains(letters, kind.letters)) return kind.name;
  }
  return {};
}

bool is_point_to_point(std::string_view name) {
  const std::string lower = to_lower(std::string(name));
  return contains(lower, "send") || contains(lower, "recv");
}

// One rank's part in one collective, before it is paired.
struct Entry {
  std::int64_t order = 0;
  std::int64_t sequence = -1;
  std::string kind, signature;
  RankSpan span;
};

struct Collected {
  double size = 0;
  std::map<int, std::vector<Entry>> entries;
};
using Groups = std::map<std::string, Collected>;

// The members of one collective: same sequence number, or same place in the order.
void pair_up(const Collected& collected, RankGroup& group) {
  bool numbered = true;
  std::size_t most = 0;
  int reference = 0;
  for (const auto& [rank, entries] : collected.entries) {
    for (const Entry& entry : entries) numbered = numbered && entry.sequence >= 0;
    if (entries.size() <= most) continue;
    most = entries.size();
    reference = rank;
  }
  const auto ordered = [](const std::vector<Entry>& entries) {
    std::vector<OrderedCollective> list;
    list.reserve(entries.size());
    for (const Entry& entry : entries) list.push_back({entry.order, entry.signature, entry.span.end_s});
    return list;
  };
  std::map<std::int64_t, std::pair<std::string, TimedCollective>> paired;
  std::vector<OrderedCollective> base;
  if (!numbered) base = ordered(collected.entries.at(reference));
  for (const auto& [rank, entries] : collected.entries) {
    std::optional<std::int64_t> shift = 0;
    if (!numbered && rank != reference) shift = shift_between(base, ordered(entries));
    if (!shift) continue;
    std::set<std::int64_t> taken;
    for (const Entry& entry : entries) {
      const std::int64_t key = numbered ? entry.sequence : entry.order + *shift;
      auto& [signature, collective] = paired[key];
      if (signature.empty()) signature = entry.signature;
      if (signature == entry.signature && taken.insert(key).second) collective.spans.push_back(entry.span);
    }
  }
  for (auto& [key, one] : paired) {
    if (one.second.spans.size() > 1) group.collectives.push_back(std::move(one.second));
  }
}

void describe(const Collected& collected, RankGroup& group) {
  std::set<std::string> kinds;
  for (const auto& [rank, entries] : collected.entries) {
    for (const Entry& entry : entries) kinds.insert(entry.kind);
  }
  group.what = kinds.size() == 1 ? *kinds.begin() : "collective";
  const std::vector<Entry>& first = collected.entries.begin()->second;
  for (std::size_t i = 0; i < std::min<std::size_t>(first.size(), 4); ++i) group.signature += first[i].signature + ';';
  group.size = std::max(collected.size, static_cast<double>(collected.entries.size()));
}

std::optional<double> median_step_s(const std::map<int, const Seen*>& recordings) {
  std::vector<double> steps;
  for (const auto& [rank, seen] : recordings) {
    for (const FactRecord* const step : records_of(*seen->facts, "profiler_steps")) {
      if (const auto duration = step->number("duration_us"); duration && *duration > 0) steps.push_back(*duration);
    }
  }
  if (steps.empty()) return std::nullopt;
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end());
  return steps[steps.size() / 2] / 1e6;
}

std::optional<std::int64_t> device_of(const FactRecord& facts) {
  for (const FactRecord* const one : records_of(facts, "collectives")) {
    if (const auto device = one->integer("device")) return device;
  }
  return std::nullopt;
}

RankSeen trace_rank(const Seen& seen) {
  RankSeen rank;
  rank.seen = &seen;
  rank.node = node_of_rank(seen);
  double most = 0;
  for (const FactRecord* const busy : records_of(*seen.facts, "busy")) {
    const double kernels = busy->number("kernels_us").value_or(0);
    if (kernels <= most) continue;
    most = kernels;
    rank.compute_s = busy->number("compute_us").value_or(0) / 1e6;
    rank.comm_alone_s = busy->number("nccl_alone_us").value_or(0) / 1e6;
  }
  if (const auto span = seen.facts->number("span_us")) rank.recorded_s = *span / 1e6;
  return rank;
}

// The GPU of each rank: its device number, unless every process of the node sees its own GPU as number 0; then the
// rank's place on its node, where the node's GPUs are counted.
void name_gpus(const Observed& observed, const std::map<int, const Seen*>& recordings, std::map<int, RankSeen>& ranks) {
  std::map<std::string, std::set<std::int64_t>> devices;
  std::map<std::string, int> count;
  for (const auto& [number, rank] : ranks) {
    ++count[rank.node];
    if (const auto device = device_of(*recordings.at(number)->facts)) devices[rank.node].insert(*device);
  }
  for (auto& [number, rank] : ranks) {
    const std::optional<std::int64_t> device = device_of(*recordings.at(number)->facts);
    const bool apart = devices[rank.node].size() > 1 || (device && *device > 0);
    const std::optional<double> gpus = rank.node.empty() ? std::nullopt : observed.gpus_beside(*rank.seen);
    if (device && apart) {
      rank.gpu = fmt::format("GPU{}", *device);
    } else if (gpus && *gpus >= 1 && *gpus <= 1024) {
      rank.gpu = fmt::format("GPU{}", number % static_cast<int>(*gpus));
    }
  }
}

// The group's key, the same on all of its ranks.
std::string group_key(const FactRecord& collective) {
  const std::string ranks(collective.text("group_ranks"));
  const std::string name(collective.text("group"));
  return (ranks.empty() ? name : ranks) + '\n' + name;
}

void collect_trace(int rank, const FactRecord& facts, double base_s, Groups& groups) {
  for (const FactRecord* const one : records_of(facts, "collectives")) {
    Entry entry;
    entry.kind = kind_of_collective(one->text("collective"));
    const std::optional<double> start = one->number("start_us"), duration = one->number("duration_us");
    if (entry.kind.empty() || !start || !duration) continue;
    entry.order = one->integer("order").value_or(0);
    entry.sequence = one->integer("sequence").value_or(-1);
    entry.signature = entry.kind;
    // What a rank sends in an all-to-all is its own; of the others all send the same.
    if (entry.kind != "all-to-all") {
      entry.signature += fmt::format(" {} {}", one->integer("elements").value_or(-1), one->text("type"));
    }
    entry.span = {rank, base_s + *start / 1e6, base_s + (*start + *duration) / 1e6, one->line};
    Collected& group = groups[group_key(*one)];
    if (const auto size = one->number("group_size")) group.size = std::max(group.size, *size);
    group.entries[rank].push_back(std::move(entry));
  }
}

std::string name_of_group(const std::string& key) {
  const std::string ranks = key.substr(0, key.find('\n')), name = key.substr(key.find('\n') + 1);
  if (name.empty()) return {};
  return "process group " + name + (ranks != name && ranks.size() < 40 ? " " + ranks : "");
}

void add_traces(const Observed& observed, std::vector<RankGroup>& all) {
  for (const std::map<int, const Seen*>& recordings : recordings_of(observed, kTrace)) {
    if (recordings.size() < 2) continue;
    RankGroup common;
    common.step_s = median_step_s(recordings);
    common.common_time = true;
    double earliest = 0;
    for (const auto& [rank, seen] : recordings) {
      const std::optional<double> base = seen->facts->number("base_time_ns");
      common.common_time = common.common_time && base;
      if (base && (earliest == 0 || *base < earliest)) earliest = *base;
      for (const FactRecord* const total : records_of(*seen->facts, "collective_totals")) {
        common.pipeline = common.pipeline || is_point_to_point(total->text("collective"));
      }
      common.ranks[rank] = trace_rank(*seen);
    }
    name_gpus(observed, recordings, common.ranks);
    Groups groups;
    for (const auto& [rank, seen] : recordings) {
      const double base_s = common.common_time ? (*seen->facts->number("base_time_ns") - earliest) / 1e9 : 0;
      collect_trace(rank, *seen->facts, base_s, groups);
    }
    for (const auto& [key, collected] : groups) {
      // More ranks under one name than it has members: the name is not one group's.
      const auto seen = static_cast<double>(collected.entries.size());
      if (seen < 2 || (collected.size > 0 && seen > collected.size)) continue;
      RankGroup group = common;
      std::erase_if(group.ranks,
                    [&entries = collected.entries](const auto& one) { return !entries.contains(one.first); });
      group.name = name_of_group(key);
      describe(collected, group);
      pair_up(collected, group);
      all.push_back(std::move(group));
    }
  }
}

// What only its durations are known of: the end of the k-th is the same on all ranks by definition.
void lay_out(std::map<int, std::vector<std::pair<double, std::int64_t>>> durations_by_rank, double period_s,
             RankGroup& group) {
  std::size_t fewest = durations_by_rank.begin()->second.size();
  for (const auto& [rank, durations] : durations_by_rank) fewest = std::min(fewest, durations.size());
  for (std::size_t k = 0; k < fewest; ++k) {
    const double end = static_cast<double>(k + 1) * period_s;
    TimedCollective one;
    for (const auto& [rank, durations] : durations_by_rank) {
      one.spans.push_back({rank, end - durations[k].first, end, durations[k].second});
    }
    group.collectives.push_back(std::move(one));
  }
  group.size = std::max(group.size, static_cast<double>(durations_by_rank.size()));
}

std::string name_of_process_group(const FactRecord& entry) {
  const Fact* const fact = entry.find("process_group");
  if (fact == nullptr) return {};
  const std::optional<double> number = fact->number();
  return number ? fmt::format("{:.0f}", *number) : std::string(fact->text());
}

// A flight recorder's durations; there are some where the job ran with TORCH_NCCL_ENABLE_TIMING.
void add_flights(const Observed& observed, std::vector<RankGroup>& all) {
  for (const std::map<int, const Seen*>& recordings : recordings_of(observed, kFlight)) {
    if (recordings.size() < 2) continue;
    RankGroup common;
    for (const auto& [rank, seen] : recordings) {
      common.ranks[rank].seen = seen;
      common.ranks[rank].node = node_of_rank(*seen);
    }
    name_gpus(observed, recordings, common.ranks);
    Groups groups;
    std::map<std::pair<std::string, std::int64_t>, double> ends;
    for (const auto& [rank, seen] : recordings) {
      for (const FactRecord* const one : records_of(*seen->facts, "entries")) {
        Entry entry;
        entry.kind = kind_of_collective(one->text("profiling_name"));
        common.pipeline = common.pipeline || is_point_to_point(one->text("profiling_name"));
        const std::optional<double> duration = one->number("duration_ms"), made = one->number("time_created_ns");
        entry.sequence = one->integer(one->has("collective_seq_id") ? "collective_seq_id" : "seq_id").value_or(-1);
        if (entry.kind.empty() || !duration || !made || entry.sequence < 0 || is_true(*one, "is_p2p")) continue;
        entry.signature = entry.kind;
        const std::string name = name_of_process_group(*one);
        const double end = ends.emplace(std::pair(name, entry.sequence), *made / 1e9).first->second;
        entry.span = {rank, end - *duration / 1e3, end, one->line};
        groups[name].entries[rank].push_back(std::move(entry));
      }
    }
    for (const auto& [name, collected] : groups) {
      if (collected.entries.size() < 2) continue;
      RankGroup group = common;
      std::erase_if(group.ranks,
                    [&entries = collected.entries](const auto& one) { return !entries.contains(one.first); });
      group.name = name.empty() ? "" : "process group " + name;
      describe(collected, group);
      pair_up(collected, group);
      all.push_back(std::move(group));
    }
  }
}

bool waits_for_all(std::string_view timer) {
  return !kind_of_collective(timer).empty() || contains(timer, "grads_sync") || contains(timer, "grad_sync");
}

std::optional<double> step_s_of(const FactRecord& facts) {
  const FactRecord* const summary = facts.find_record("summary");
  if (summary == nullptr) return std::nullopt;
  for (const auto& [name, per_second] : {std::pair("step_time_ms", 1e3), std::pair("step_time_s", 1.0)}) {
    const FactRecord* const time = summary->find_record(name);
    if (time != nullptr && time->number("median")) return *time->number("median") / per_second;
  }
  return std::nullopt;
}

using Durations = std::map<int, std::vector<std::pair<double, std::int64_t>>>;

void add_log_group(const std::map<int, const Seen*>& logs, const std::string& what, Durations durations,
                   std::optional<double> step_s, std::vector<RankGroup>& all) {
  if (durations.size() < 2 || !step_s || !(*step_s > 0)) return;
  RankGroup group;
  group.what = what;
  group.step_s = step_s;
  for (const auto& [rank, values] : durations) {
    group.ranks[rank].seen = logs.at(rank);
    group.ranks[rank].node = logs.at(rank)->node;
  }
  if (const auto gpus = logs.begin()->second->facts->number("gpus")) group.size = *gpus;
  lay_out(std::move(durations), *step_s, group);
  all.push_back(std::move(group));
}

// Timers of every rank in one log: Megatron's "times across ranks", and steps that each rank logs.
void add_log(const Seen& seen, std::vector<RankGroup>& all) {
  std::map<std::string, Durations> timers;
  std::map<int, const Seen*> logs;
  const auto add = [&](const FactRecord& record, const std::string& name, const char* list) {
    const std::optional<std::int64_t> rank = record.integer("rank");
    const std::vector<Fact>* const values = record.find_list(list);
    if (!rank || values == nullptr) return;
    logs[static_cast<int>(*rank)] = &seen;
    for (const Fact& value : *values) {
      timers[name][static_cast<int>(*rank)].emplace_back(value.number().value_or(0) / 1e3, record.line);
    }
  };
  for (const FactRecord* const timer : records_of(*seen.facts, "rank_timers")) {
    const std::string name(timer->text("name"));
    if (waits_for_all(name)) add(*timer, name, "values_ms");
  }
  for (const FactRecord* const rank : records_of(*seen.facts, "ranks")) add(*rank, "communication", "comm_times_ms");
  for (auto& [name, durations] : timers) {
    std::string what = kind_of_collective(name);
    if (what.empty()) what = name == "communication" ? "communication phase" : "gradient sync";
    add_log_group(logs, what, std::move(durations), step_s_of(*seen.facts), all);
  }
}

// A log of each rank, in a file of its own.
void add_logs_by_rank(const Observed& observed, std::vector<RankGroup>& all) {
  std::map<std::string_view, int> formats;
  for (const Seen& seen : observed.of_kind("training-log")) ++formats[seen.format->name];
  for (const auto& [format, count] : formats) {
    if (count < 2) continue;
    for (const std::map<int, const Seen*>& recordings : recordings_of(observed, format)) {
      Durations durations;
      std::optional<double> step_s;
      for (const auto& [rank, seen] : recordings) {
        for (const FactRecord* const step : records_of(*seen->facts, "steps")) {
          const std::optional<double> ms = step->number("comm_time_ms"), s = step->number("comm_time_s");
          if (ms || s) durations[rank].emplace_back(ms ? *ms / 1e3 : *s, step->line);
        }
        if (!step_s) step_s = step_s_of(*seen->facts);
      }
      add_log_group(recordings, "communication phase", std::move(durations), step_s, all);
    }
  }
}

}  // namespace

std::optional<int> rank_of(const Seen& seen) {
  const std::optional<std::int64_t> stated = seen.facts->integer("rank");
  if (stated && *stated >= 0 && *stated < (1 << 24)) return static_cast<int>(*stated);
  const std::string name = to_lower(file_name(seen));
  if (const std::optional<int> rank = number_after(name, "rank")) return rank;
  if (seen.format->name == kFlight) {  // TORCH_NCCL_DEBUG_INFO_TEMP_FILE + the rank
    for (const std::string_view word : {"trace", "dump"}) {
      if (const std::optional<int> rank = number_after(name, word)) return rank;
    }
  }
  return std::nullopt;
}

std::string node_of_rank(const Seen& seen) {
  const bool is_rank = number_after(seen.node, "rank").has_value();
  if (!seen.node.empty() && !is_rank) return seen.node;
  // tensorboard_trace_handler: HOST_PID.TIME.pt.trace.json
  const std::string name = file_name(seen);
  const std::size_t end = name.find(".pt.trace.json");
  const std::size_t dot = name.find('.');
  if (end == std::string::npos || dot == std::string::npos) return {};
  const std::string worker = name.substr(0, dot);
  const std::size_t bar = worker.rfind('_');
  if (bar == std::string::npos || bar == 0 || bar + 1 == worker.size()) return {};
  const bool process = std::all_of(worker.begin() + static_cast<std::ptrdiff_t>(bar) + 1, worker.end(), is_digit);
  const std::string host = worker.substr(0, bar);
  return process && !number_after(to_lower(host), "rank") ? host : std::string();
}

std::vector<int> ranks_in_text(std::string_view text) {
  std::vector<int> ranks;
  if (contains(text, "...")) return ranks;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at])) continue;
    std::size_t to = at;
    while (to < text.size() && is_digit(text[to]) && to - at < 8) ++to;
    ranks.push_back(std::stoi(std::string(text.substr(at, to - at))));
    at = to;
  }
  return ranks;
}

std::vector<std::map<int, const Seen*>> recordings_of(const Observed& observed, std::string_view format) {
  std::map<std::int64_t, std::map<int, std::vector<const Seen*>>> by_world;
  for (const Seen& seen : observed.of_format(format)) {
    const std::optional<int> rank = rank_of(seen);
    if (rank) by_world[seen.facts->integer("world_size").value_or(0)][*rank].push_back(&seen);
  }
  std::vector<std::map<int, const Seen*>> recordings;
  for (auto& [world, ranks] : by_world) {
    const std::size_t first = recordings.size();
    for (auto& [rank, list] : ranks) {
      std::sort(list.begin(), list.end(), [](const Seen* a, const Seen* b) { return a->file->path < b->file->path; });
      if (recordings.size() < first + list.size()) recordings.resize(first + list.size());
      for (std::size_t i = 0; i < list.size(); ++i) recordings[first + i][rank] = list[i];
    }
  }
  return recordings;
}

std::vector<RankGroup> rank_groups(const Observed& observed) {
  std::vector<RankGroup> all;
  add_traces(observed, all);
  add_flights(observed, all);
  for (const Seen& seen : observed.of_kind("training-log")) add_log(seen, all);
  add_logs_by_rank(observed, all);
  return all;
}

}  // namespace tare
