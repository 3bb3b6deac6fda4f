// What Slurm's outputs say, gathered: jobs, nodes, rows of sinfo, partitions, and their sums.
//
//   jobs[]        one per allocation: of sacct, squeue, scontrol show job, --json; steps[] of sacct stand apart
//   nodes[]       of scontrol show node, NodeName= lines, sinfo -N, --json; `source` says which
//   groups[]      rows of sinfo: a partition's nodes of one state
//   partitions[]  of sinfo (summed over its rows) or of scontrol and slurm.conf
// Sums: job_count, jobs_by_state, gpus_by_job_state, gpu_h; node_count and nodes_by_state, each node counted once
// though several partitions hold it. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ingest/kept_rows.h"

namespace tare {

class SlurmFacts {
 public:
  void add_output(std::string_view output, std::string_view command, std::int64_t line);
  void add_job(FactRecord job);
  void add_step(FactRecord step);
  void add_node(FactRecord node);
  void add_group(FactRecord row);
  void add_partition(const FactRecord& partition);
  void add_event(FactRecord event);
  // To a list of another name ("switches"), up to some ten thousand.
  void append(std::string_view list, FactRecord record);
  // Anything else goes here; it comes out behind the sums.
  FactRecord& more() { return more_; }
  void give(Reading& reading);

 private:
  struct Partition {
    FactRecord record;
    std::map<std::string, std::int64_t> nodes_by_state;
    std::int64_t node_count = 0;
  };
  void count_states(std::string_view hosts, std::int64_t node_count, const std::string& state);
  Partition& partition_of(const FactRecord& row);
  void give_jobs(Reading& reading);
  void give_nodes(Reading& reading);
  void give_partitions(Reading& reading);

  KeptRows outputs_{200};
  KeptRows jobs_, steps_, nodes_, groups_, events_;
  std::map<std::string, std::int64_t> jobs_by_state_, gpus_by_state_, events_by_type_;
  double gpu_h_ = 0;
  bool has_gpu_h_ = false;
  std::unordered_map<std::string, std::string> state_of_host_;
  std::map<std::string, std::int64_t> nodes_without_name_;
  std::unordered_set<std::string> lists_seen_;
  std::int64_t names_made_ = 0;
  bool too_many_hosts_ = false;
  std::vector<Partition> partitions_;
  std::unordered_map<std::string, std::size_t> partition_index_;
  FactRecord more_;
};

}  // namespace tare
