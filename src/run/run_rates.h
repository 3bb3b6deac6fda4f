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
  double drain_ratio = 0;  // slow-down of training while a checkpoint is written behind it
  double detect_s = 0;
  double requeue_s = 0;
  double hardware_per_gpu_h = 0;  // interruptions
  double spot_per_gpu_h = 0;      // reclaims; 0 unless spot
};

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

LoadedRates load_rates(const RunInput& input, const Catalog& catalog);

// A catalog parameter as an input of a formula; marked as assumed when nothing backs it.
FormulaInput parameter_input(std::string name, const CostParameter& parameter);

}  // namespace tare
