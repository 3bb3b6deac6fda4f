#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/loss.h"
#include "audit/rank_hang.h"
#include "audit/rank_rules.h"

namespace tare {
namespace {

// A process group over the dumps of its ranks.
struct DumpedGroup {
  std::string name;
  std::vector<int> members;  // empty: not said
  std::map<int, RankProgress> progress;
  std::map<int, RankSeen> ranks;

  double size() const { return static_cast<double>(std::max(members.size(), progress.size())); }
};

std::string text_of(const FactRecord& record, std::string_view name) {
  const Fact* const fact = record.find(name);
  if (fact == nullptr) return {};
  const std::optional<double> number = fact->number();
  return number ? fmt::format("{:.0f}", *number) : std::string(fact->text());
}

std::vector<int> members_of(const FactRecord& group) {
  std::vector<int> members = ranks_in_text(group.text("ranks"));
  const std::vector<Fact>* const list = group.find_list("ranks");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (const auto rank = (*list)[i].number()) members.push_back(static_cast<int>(*rank));
  }
  return members;
}

void read_calls(const FactRecord& facts, std::map<std::string, RankProgress>& groups) {
  for (const FactRecord* const entry : records_of(facts, "entries")) {
    const auto number = entry->integer(entry->has("collective_seq_id") ? "collective_seq_id" : "seq_id");
    if (!number || is_true(*entry, "is_p2p")) continue;
    RankProgress& progress = groups[text_of(*entry, "process_group")];
    const std::string state(entry->text("state"));
    progress.entered = std::max(progress.entered, *number);
    if (state == "completed") progress.done = std::max(progress.done, *number);
    if (state == "completed" || state == "started") progress.started = std::max(progress.started, *number);
    progress.calls[*number] = {std::string(entry->text("profiling_name")), std::string(entry->text("input_sizes")),
                               state, std::string(entry->text("called_from")), entry->line};
  }
}

void read_dump(int rank, const Seen& seen, std::map<std::string, DumpedGroup>& groups) {
  std::map<std::string, RankProgress> progress;
  read_calls(*seen.facts, progress);
  for (const FactRecord* const group : records_of(*seen.facts, "process_groups")) {
    const std::string name = group->has("name") ? text_of(*group, "name") : text_of(*group, "id");
    const bool used = progress.contains(name) || group->has("last_enqueued_collective");
    std::vector<int> members = members_of(*group);
    if (!used || std::find(members.begin(), members.end(), rank) == members.end()) {
      if (!members.empty()) continue;
    }
    RankProgress& one = progress[name];
    // The status outlives entries that have been overwritten.
    one.entered = std::max(one.entered, group->integer("last_enqueued_collective").value_or(-1));
    one.started = std::max(one.started, group->integer("last_started_collective").value_or(-1));
    one.done = std::max(one.done, group->integer("last_completed_collective").value_or(-1));
    groups[name].members = std::move(members);
  }
  for (auto& [name, one] : progress) {
    DumpedGroup& group = groups[name];
    group.name = name;
    group.progress[rank] = std::move(one);
    group.ranks[rank].seen = &seen;
    group.ranks[rank].node = node_of_rank(seen);
  }
}

std::vector<DumpedGroup> dumped_groups(const Observed& observed) {
  std::vector<DumpedGroup> all;
  for (const std::map<int, const Seen*>& recordings : recordings_of(observed, "NCCL flight recorder")) {
    std::map<std::string, DumpedGroup> groups;
    for (const auto& [rank, seen] : recordings) read_dump(rank, *seen, groups);
    for (auto& [name, group] : groups) {
      for (auto& [rank, seen] : group.ranks) {
        const std::optional<double> gpus = seen.node.empty() ? std::nullopt : observed.gpus_beside(*seen.seen);
        if (gpus && *gpus >= 1 && *gpus < 1024) seen.gpu = fmt::format("GPU{}", rank % static_cast<int>(*gpus));
      }
      if (!group.progress.empty()) all.push_back(std::move(group));
    }
  }
  return all;
}

std::string name_of(const DumpedGroup& group) { return group.name.empty() ? "the job" : "process group " + group.name; }

const RankCall* call_of(const DumpedGroup& group, int rank, std::int64_t number) {
  const RankProgress& progress = group.progress.at(rank);
  const auto found = progress.calls.find(number);
  return found == progress.calls.end() ? nullptr : &found->second;
}

std::string say_call(const RankCall* call) {
  if (call == nullptr) return {};
  std::string text = " " + call->operation;
  if (!call->size.empty()) text += " of " + call->size;
  if (!call->called_from.empty()) text += " from " + call->called_from;
  return text;
}

Evidence evidence_at(const DumpedGroup& group, int rank, std::int64_t number, std::string text) {
  const RankCall* const call = call_of(group, rank, number);
  return evidence_of(*group.ranks.at(rank).seen, call == nullptr ? 0 : call->line, std::move(text));
}

// Groups hang in one another's wake: the ones in which somebody is missing say who.
std::vector<std::pair<DumpedGroup, GroupHang>> hangs(const Observed& observed) {
  std::vector<std::pair<DumpedGroup, GroupHang>> found;
  for (DumpedGroup& group : dumped_groups(observed)) {
    if (group.size() < 2) continue;
    std::optional<GroupHang> hang = find_hang(group.progress, group.members);
    if (hang) found.emplace_back(std::move(group), std::move(*hang));
  }
  return found;
}

void add_waiting(const DumpedGroup& group, const GroupHang& hang, Finding& finding) {
  const int rank = hang.waiting.front();
  finding.evidence.push_back(
      evidence_at(group, rank, hang.number,
                  fmt::format("rank {} is in {}{}", rank, hang.number, say_call(call_of(group, rank, hang.number)))));
}

// Ranks that never came to the collective in which the others wait.
void never_entered(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::set<std::vector<int>> said;
  for (const auto& [group, hang] : hangs(observed)) {
    if (hang.missing.empty() || !said.insert(hang.missing).second) continue;
    Finding finding = make_finding(rule, FindingSeverity::kHigh, subject_of_ranks(hang.missing, group.ranks), "");
    finding.title = fmt::format("{} never entered collective {} of {}, in which {} wait{}",
                                name_of_ranks(hang.missing, group.ranks), hang.number, name_of(group),
                                hang.waiting.size() == 1 ? name_of_ranks(hang.waiting, group.ranks)
                                                         : fmt::format("{} ranks", hang.waiting.size()),
                                hang.waiting.size() == 1 ? "s" : "");
    finding.cause =
        "A collective ends when all ranks have entered it. Those that did not are at fault - a crash, another "
        "branch of the program, a data loader or a checkpoint that does not return - not those that time out.";
    for (const int rank : hang.missing) {
      if (finding.evidence.size() >= 3) break;
      const std::int64_t last = group.progress.at(rank).entered;
      finding.evidence.push_back(
          evidence_at(group, rank, last,
                      fmt::format("rank {}: its last is {}{}", rank, last, say_call(call_of(group, rank, last)))));
    }
    add_waiting(group, hang, finding);
    finding.expected = fmt::format("collective {} on all {:.0f} ranks", hang.number, group.size());
    finding.measured = fmt::format("on {} of them", hang.waiting.size());
    finding.confidence = 0.85;
    finding.loss = whole_gpus_lost(group.size(), "ranks of the process group: all wait");
    finding.fix = {"see where these ranks are: py-spy dump --pid PID on their nodes; their logs' last lines",
                   "check their GPUs and nodes: dmesg | grep -i xid, nvidia-smi",
                   "end the job: it will not go on by itself"};
    look_for_cause(finding, hang.missing, group.ranks, findings);
    findings.push_back(std::move(finding));
  }
}

bool somebody_missing(const Observed& observed) {
  const auto all = hangs(observed);
  return std::any_of(all.begin(), all.end(), [](const auto& one) { return !one.second.missing.empty(); });
}

// All are in it and nobody gets out.
void all_waiting(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  if (somebody_missing(observed)) return;
  for (const auto& [group, hang] : hangs(observed)) {
    if (group.progress.size() < 2 || !hang.no_dump.empty() || find_mismatch(group.progress)) continue;
    const bool late = !hang.not_started.empty() && hang.not_started.size() < hang.waiting.size();
    const std::vector<int>& who = late ? hang.not_started : hang.waiting;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, {"job", name_of(group), ""}, "");
    if (late) finding.subject = subject_of_ranks(who, group.ranks);
    finding.title = late ? fmt::format("{} {} entered collective {} of {}, but the GPU has not begun it",
                                       name_of_ranks(who, group.ranks), who.size() == 1 ? "has" : "have", hang.number,
                                       name_of(group))
                         : fmt::format("all {} ranks are in collective {} of {}, and none has finished it", who.size(),
                                       hang.number, name_of(group));
    finding.cause = late
                        ? "Its GPU is still at earlier work, or stuck in it, while the others are in the collective."
                        : "Nobody is missing. If it hangs, it is the network or a GPU and not the program: a link that "
                          "is down, a NIC that lost its route. If the dump was made while the job ran, it is no fault.";
    for (const int rank : who) {
      if (finding.evidence.size() >= 2) break;
      const RankCall* const call = call_of(group, rank, hang.number);
      finding.evidence.push_back(evidence_at(
          group, rank, hang.number,
          fmt::format("rank {}: {}{}", rank, call == nullptr ? "unfinished" : call->state, say_call(call))));
    }
    finding.confidence = 0.5;
    finding.loss_unknown = "whether the job hangs is not in the dump";
    finding.fix = {"look for errors of links and GPUs: dmesg | grep -i -e xid -e mlx5, ibstat, nvidia-smi nvlink -e",
                   "run nccl-tests on the same nodes"};
    if (late) look_for_cause(finding, who, group.ranks, findings);
    findings.push_back(std::move(finding));
    return;  // the other groups wait for this one
  }
}

// Ranks that do different things under one number.
void mismatch(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const DumpedGroup& group : dumped_groups(observed)) {
    const std::optional<GroupMismatch> found = find_mismatch(group.progress);
    if (!found) continue;
    const int usual = found->usual.front(), odd = found->odd.front();
    Finding finding = make_finding(rule, FindingSeverity::kHigh, subject_of_ranks(found->odd, group.ranks), "");
    finding.title =
        fmt::format("collective {} of {} is{} on {}, but{} on {}", found->number, name_of(group),
                    say_call(call_of(group, odd, found->number)), name_of_ranks(found->odd, group.ranks),
                    say_call(call_of(group, usual, found->number)), name_of_ranks(found->usual, group.ranks));
    finding.cause = found->by_size
                        ? "Ranks reduce tensors of different sizes: the job hangs or computes nonsense."
                        : "Ranks call different collectives: their programs took different branches. The job "
                          "hangs or computes nonsense.";
    for (const int rank : {odd, usual}) {
      finding.evidence.push_back(evidence_at(
          group, rank, found->number, fmt::format("rank {}:{}", rank, say_call(call_of(group, rank, found->number)))));
    }
    finding.confidence = 0.85;
    finding.loss = whole_gpus_lost(group.size(), "ranks of the process group");
    finding.fix = {"find what makes these ranks branch: a condition on the rank, on data or on a local error",
                   "run once with TORCH_DISTRIBUTED_DEBUG=DETAIL, which compares collectives across ranks"};
    findings.push_back(std::move(finding));
  }
}

// Members without a dump, while all others wait.
void no_dump(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  if (somebody_missing(observed)) return;
  std::set<std::vector<int>> said;
  for (const auto& [group, hang] : hangs(observed)) {
    const bool most_there = group.progress.size() >= 2 && hang.no_dump.size() < group.progress.size();
    if (hang.no_dump.empty() || !most_there || !said.insert(hang.no_dump).second) continue;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, subject_of_ranks(hang.no_dump, group.ranks), "");
    finding.title =
        fmt::format("no dump of {}, while {} wait in collective {} of {}", name_of_ranks(hang.no_dump, group.ranks),
                    name_of_ranks(hang.waiting, group.ranks), hang.number, name_of(group));
    finding.cause = "All ranks of which there is a dump have entered it. One whose process has died writes none.";
    add_waiting(group, hang, finding);
    finding.confidence = 0.5;
    finding.loss_unknown = "whether the job hangs is not in the dumps";
    finding.fix = {"look for the ranks' processes and the end of their logs",
                   "or collect their dumps: TORCH_NCCL_DUMP_ON_TIMEOUT=1, and a path that all nodes share"};
    findings.push_back(std::move(finding));
  }
}

// One rank's dump says that it waits, not for whom.
void dump_alone(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  if (somebody_missing(observed)) return;
  for (const auto& [group, hang] : hangs(observed)) {
    if (group.progress.size() != 1 || group.members.size() == 1) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, subject_of_ranks(hang.waiting, group.ranks), "");
    finding.title = fmt::format("{} waits in collective {} of {}: one dump does not say for whom",
                                name_of_ranks(hang.waiting, group.ranks), hang.number, name_of(group));
    finding.cause =
        "The rank that times out is the one that waits. Who never came is seen in the dumps of all ranks side "
        "by side.";
    add_waiting(group, hang, finding);
    finding.confidence = 0.9;
    finding.fix = {"give the dumps of all ranks: tare audit nccl_trace_rank_*"};
    findings.push_back(std::move(finding));
    return;
  }
}

constexpr Rule kRules[] = {
    {"rank.never-entered", "Ranks that never came to a collective",
     "The others wait until they time out, and report the timeout; the rank at fault reports nothing.",
     "pytorch docs: Flight Recorder", never_entered},
    {"rank.collective-mismatch", "Ranks that call different collectives",
     "Under the same number ranks do different things or reduce different sizes: a hang, or wrong numbers.",
     "pytorch docs: Flight Recorder", mismatch},
    {"rank.all-waiting", "A collective that all entered and none finished",
     "Nobody is missing: the network or a GPU, not the program.", "pytorch docs: Flight Recorder", all_waiting},
    {"rank.no-dump", "Ranks without a dump in a hang", "A process that has died writes no dump.",
     "pytorch docs: Flight Recorder", no_dump},
    {"rank.dump-alone", "One dump of many", "The dump of one rank says that it waits, not for whom.",
     "pytorch docs: Flight Recorder", dump_alone},
};

}  // namespace

std::span<const Rule> rank_hang_rules() { return kRules; }

}  // namespace tare
