#include "ingest/slurm_facts.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

constexpr std::size_t kHostsKnown = 200'000;     // names that are told apart
constexpr std::int64_t kNamesMade = 2'000'000;   // of all lists together: rows may name the same nodes without end
constexpr std::size_t kListsKnown = 20'000;      // lists that need not be made again
constexpr std::size_t kPartitionsKnown = 2'000;  // and partitions
constexpr std::size_t kListed = 20'000;          // switches, blocks, lines of gres.conf
constexpr std::size_t kStatesKnown = 200;        // and states: a wrong column must not fill the memory

void count_in(std::map<std::string, std::int64_t>& counts, const std::string& key, std::int64_t by = 1) {
  if (counts.size() >= kStatesKnown && counts.find(key) == counts.end()) {
    counts["(others)"] += by;
  } else {
    counts[key] += by;
  }
}

void give_counts(FactRecord& facts, std::string_view name, const std::map<std::string, std::int64_t>& counts) {
  if (counts.empty()) return;
  FactRecord& record = facts.record(name);
  for (const auto& [key, count] : counts) record.add(key, Fact::of(count));
}

}  // namespace

void SlurmFacts::add_output(std::string_view output, std::string_view command, std::int64_t line) {
  if (!outputs_.wants_next()) return;
  FactRecord record(line);
  record.set("output", output);
  if (!command.empty()) record.set("command", as_text(command));
  outputs_.add(std::move(record));
}

void SlurmFacts::add_job(FactRecord job) {
  const std::string state = job_state_name(job.text("state"));
  if (!state.empty() && state != job.text("state")) job.set("state_name", state, job.find("state")->line);
  if (!state.empty()) count_in(jobs_by_state_, state);
  if (const std::optional<std::int64_t> gpus = job.integer("gpus")) {
    count_in(gpus_by_state_, state.empty() ? "(no state)" : state, *gpus);
    const std::optional<double> seconds = job.number("elapsed_s");
    if (seconds) {
      gpu_h_ += *seconds / 3600 * static_cast<double>(*gpus);
      has_gpu_h_ = true;
    }
  }
  if (jobs_.wants_next()) jobs_.add(std::move(job));
}

void SlurmFacts::add_step(FactRecord step) {
  if (steps_.wants_next()) steps_.add(std::move(step));
}

void SlurmFacts::add_event(FactRecord event) {
  count_in(events_by_type_, std::string(event.text("event")));
  if (events_.wants_next()) events_.add(std::move(event));
}

void SlurmFacts::append(std::string_view list, FactRecord record) {
  std::vector<Fact>& into = more_.list(list);
  if (into.size() < kListed) {
    into.push_back(Fact::of(std::move(record)));
  } else {
    const std::string left_out = std::string(list) + "_left_out";
    more_.set(left_out, more_.integer(left_out).value_or(0) + 1);
  }
}

void SlurmFacts::count_states(std::string_view hosts, std::int64_t node_count, const std::string& state) {
  if (!hosts.empty() && !too_many_hosts_) {
    if (lists_seen_.count(std::string(hosts)) > 0) return;
    const std::int64_t names = count_hosts(hosts);
    names_made_ += names;
    if (names_made_ > kNamesMade) {
      too_many_hosts_ = true;
    } else if (names > 0 && static_cast<std::size_t>(names) + state_of_host_.size() <= kHostsKnown) {
      const std::vector<std::string> expanded = expand_range(hosts, kHostsKnown);
      if (!expanded.empty()) {
        if (lists_seen_.size() < kListsKnown) lists_seen_.emplace(hosts);
        for (const std::string& host : expanded) {
          std::string& known = state_of_host_[host];
          if (known.empty()) known = state;
        }
        return;
      }
    } else {
      too_many_hosts_ = too_many_hosts_ || names > 0;
    }
  }
  count_in(nodes_without_name_, state, std::clamp<std::int64_t>(node_count, 0, 1'000'000'000));
}

void SlurmFacts::add_node(FactRecord node) {
  const std::string_view name = node.text("name");
  const std::string state = node_state_name(node.text("state"));
  if (node.text("source") != "slurm.conf" && node.text("source") != "gres.conf") count_states(name, 1, state);
  if (nodes_.wants_next()) nodes_.add(std::move(node));
}

SlurmFacts::Partition& SlurmFacts::partition_of(const FactRecord& row) {
  const std::string name(row.text("partition"));
  if (const auto found = partition_index_.find(name); found != partition_index_.end())
    return partitions_[found->second];
  if (partitions_.size() < kPartitionsKnown) {
    partition_index_.emplace(name, partitions_.size());
    partitions_.emplace_back();
    partitions_.back().record = FactRecord(row.line);
    partitions_.back().record.set("name", name);
  }
  return partitions_.back();
}

void SlurmFacts::add_group(FactRecord row) {
  const std::string state = node_state_name(row.text("state"));
  const std::int64_t listed = count_hosts(row.text("node_list"));
  const std::int64_t nodes = row.integer("node_count").value_or(row.integer("nodes_total").value_or(listed));
  if (!row.text("partition").empty()) {
    Partition& partition = partition_of(row);
    for (const std::string_view name : {"default", "avail", "time_limit", "time_limit_s"}) {
      if (const Fact* const fact = row.find(name)) partition.record.set_once(name, *fact);
    }
    const std::int64_t more = std::clamp<std::int64_t>(nodes, 0, 1'000'000'000);
    partition.node_count += more;
    if (!state.empty()) count_in(partition.nodes_by_state, state, more);
  }
  if (nodes > 0) count_states(row.text("node_list"), nodes, state);
  if (groups_.wants_next()) groups_.add(std::move(row));
}

void SlurmFacts::add_partition(const FactRecord& record) {
  FactRecord key(record.line);
  key.set("partition", record.text("name"));
  if (partitions_.size() >= kPartitionsKnown) return;
  FactRecord& into = partition_of(key).record;
  for (const auto& [name, fact] : record.members()) {
    if (into.members().size() < 200) into.set_once(name, fact);
  }
}

void SlurmFacts::give_jobs(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (jobs_.seen() == 0 && steps_.seen() == 0) return;
  facts.set("job_count", jobs_.seen());
  give_counts(facts, "jobs_by_state", jobs_by_state_);
  give_counts(facts, "gpus_by_job_state", gpus_by_state_);
  if (has_gpu_h_) facts.set("gpu_h", gpu_h_);
  jobs_.give(facts, "jobs", reading);
  if (steps_.seen() > 0) facts.set("step_count", steps_.seen());
  steps_.give(facts, "steps", reading);
}

void SlurmFacts::give_nodes(Reading& reading) {
  FactRecord& facts = reading.facts;
  std::map<std::string, std::int64_t> by_state = nodes_without_name_;
  for (const auto& [host, state] : state_of_host_) count_in(by_state, state);
  std::int64_t sum = 0;
  for (const auto& [state, count] : by_state) sum += count;
  if (sum > 0) facts.set("node_count", sum);
  if (!nodes_without_name_.empty() && nodes_without_name_.size() != by_state.size()) {
    reading.note("some rows name no nodes: nodes of theirs that other rows name too are counted twice");
  }
  if (too_many_hosts_) reading.note("more nodes than are told apart: some may be counted once per partition");
  by_state.erase("");
  give_counts(facts, "nodes_by_state", by_state);
  nodes_.give(facts, "nodes", reading);
}

void SlurmFacts::give_partitions(Reading& reading) {
  if (partitions_.empty()) return;
  std::vector<Fact>& list = reading.facts.list("partitions");
  for (Partition& one : partitions_) {
    if (one.node_count > 0 || !one.nodes_by_state.empty()) one.record.set("node_count", one.node_count);
    give_counts(one.record, "nodes_by_state", one.nodes_by_state);
    list.push_back(Fact::of(std::move(one.record)));
  }
  partitions_.clear();
}

void SlurmFacts::give(Reading& reading) {
  outputs_.give(reading.facts, "outputs", reading);
  if (const Fact* const version = more_.find("slurm_version")) reading.facts.set("slurm_version", *version);
  give_jobs(reading);
  give_nodes(reading);
  give_partitions(reading);
  groups_.give(reading.facts, "groups", reading);
  for (const auto& [name, fact] : more_.members()) reading.facts.set(name, fact);
  give_counts(reading.facts, "events_by_type", events_by_type_);
  events_.give(reading.facts, "events", reading);
}

}  // namespace tare
