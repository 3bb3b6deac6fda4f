// What Kubernetes' outputs say, gathered: nodes, pods, workloads, events, lines of device-plugin logs, and their sums.
//
//   nodes[]      capacity, allocatable, allocated {requests, limits}, labels; of the GPU resources gpu_capacity,
//                gpu_allocatable, gpu_requested and gpu_free = allocatable - requested (allocatable does not fall with
//                use; it is below the capacity where GPUs are unhealthy)
//   pods[]       with the GPUs that their containers ask for
//   workloads[]  MPIJob, PyTorchJob, Job …: roles with replicas and GPUs per pod
//   events[]     scheduling failures cut into their parts
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ingest/kept_rows.h"

namespace tare {

// "nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi" … : whole accelerators; MIG slices and shares are none.
bool is_gpu_resource(std::string_view resource);
// "1g.10gb" of "nvidia.com/mig-1g.10gb"; empty for any other.
std::string_view mig_profile(std::string_view resource);
// A resource quantity: a number where it is a whole one ("8"), else the text as printed ("31850m", "263412492Ki").
Fact quantity_fact(const Fact& value);
Fact quantity_fact(std::string_view text, std::int64_t line);
// Sum of the GPU resources of {resource: quantity}; nullopt when it names none.
std::optional<std::int64_t> gpus_in(const FactRecord& resources);

// "0/8 nodes are available: 7 Insufficient nvidia.com/gpu, …" -> nodes_available, nodes_total, shortfalls[].
void explain_scheduling(FactRecord& event, std::string_view message, std::int64_t line);

class KubeFacts {
 public:
  // The node that lines without a name belong to; made when there is none.
  FactRecord& current_node(std::int64_t line);
  void new_node(std::int64_t line);
  void end_node();
  void add_pod(FactRecord pod);
  void add_workload(FactRecord workload) { workloads_.push_back(Fact::of(std::move(workload))); }
  void add_event(FactRecord event);
  // A line of a device plugin's log; false when it is none.
  bool take_log(std::string_view line, std::int64_t number);
  void count_object(std::string_view kind);
  FactRecord& more() { return more_; }
  void give(Reading& reading);

 private:
  void finish_node(FactRecord& node);
  void give_nodes(Reading& reading);

  FactRecord node_{0};
  bool node_open_ = false;
  KeptRows nodes_, pods_, events_, logs_;
  std::vector<Fact> workloads_;
  std::map<std::string, std::int64_t> objects_, phases_, sums_, gpus_on_node_;
  std::optional<std::int64_t> pod_gpus_;
  std::set<std::string> unhealthy_;
  std::int64_t log_lines_ = 0;
  FactRecord more_;
};

}  // namespace tare
