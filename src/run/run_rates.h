// The catalog's parameters as a run uses them: plain numbers, and which of them have a range.
#pragma once

#include <string>
#include <vector>

#include "base/formula.h"
#include "run/run.h"

namespace tare {

struct RunRates {
  double provision_s = 0;  // 0 where the nodes are held already
  double image_bytes = 0;
  double image_bytes_per_s = 1;  // of a node
  double driver_s = 0;
  double process_s = 0;  // interpreter, imports, model construction
  double nccl_s = 0;     // communicators of 64 GPUs
  double nccl_s_per_doubling = 0;
  double warmup_s = 0;  // compilation, autotuning
  double vm_s = 0;      // what a virtual machine adds to each start
  // Shares of throughput that the delivery takes, and the product of what they leave in the given step time.
  double host_tax = 0, packaging_tax = 0, gpu_share_tax = 0;
  double delivered_in_step = 1;
  double metadata_ops_per_shard = 0;  // of each rank, before it reads
  double metadata_ops_per_s = 1;      // of the shared store
  double staging_bytes_per_s = 1;     // data to one node
  double write_bytes_per_s = 1;       // to the shared store, all nodes together
  double read_bytes_per_s = 1;        // likewise
  double node_bytes_per_s = 1;        // between one node and the shared store
  double snapshot_bytes_per_s = 1;    // of one GPU to host memory
  double checkpoint_fixed_s = 0;
  double drain_ratio = 0;                // slow-down of training while a checkpoint is written behind it
  double store_bytes_per_s_per_gpu = 0;  // a larger cluster has a faster store
  double disks = 1;                      // of a node
  double disk_write_bytes_per_s = 1, disk_read_bytes_per_s = 1;
  double replica_bytes_per_s = 1;  // from a node's memory to a peer's
  double detect_s = 0;
  double requeue_s = 0;
  // Unexpected interruptions, all causes: per GPU-hour, or per hour of a node of `gpus_per_reported_node`.
  double interruptions_per_gpu_h = 0;
  double interruptions_per_node_h = 0;
  // Of those, GPU-hours between two of one kind in the run that published them by part.
  double part_interrupt_gpu_h = 1, part_gpu_gpu_h = 1, part_hbm_gpu_h = 1, part_network_gpu_h = 1;
  double nvlink_ratio = 0;       // of the GPU faults
  double spot_per_gpu_h = 0;     // reclaims; 0 unless spot
  double planned_per_gpu_h = 0;  // planned interruptions
  double window_s_per_year = 0;  // of a node in maintenance; 0 unless it is held over the year
};

// The clusters behind the failure figures have eight GPUs in a node.
inline constexpr double kGpusPerReportedNode = 8;
inline constexpr double kYear_s = 8760.0 * 3600;
// Copies of each part of a checkpoint that lies on the nodes' own disks: its own and its partner's.
inline constexpr double kLocalCopies = 2;

// One parameter behind a rate; `low` and `high` are those of the rate, in no particular order of size.
struct RatedParameter {
  double RunRates::*rate;
  const CostParameter* parameter;
  double low = 0, high = 0;
  bool assumed = false;  // unsourced, or borrowed from another generation
};

struct LoadedRates {
  RunRates base;
  std::vector<RatedParameter> parameters;

  // As an input of a formula. A rate that no parameter stands behind is zero, for the reason given.
  FormulaInput input(const char* name, const char* unit, double RunRates::*rate, const char* why_zero = "") const;
};

// What the delivery's taxes leave of the throughput.
double delivered_ratio(const RunRates& rates);
// Where the checkpoints of this run can lie: one node has no partner to leave a copy with.
CheckpointStore store_of(const RunInput& input);

LoadedRates load_rates(const RunInput& input, const Catalog& catalog);

// A catalog parameter as an input of a formula; marked as assumed when nothing backs it.
FormulaInput parameter_input(std::string name, const CostParameter& parameter);

}  // namespace tare
