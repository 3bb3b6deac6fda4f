// One node under several deliveries: what each does to a step, in % and by axis, and to the bill, in dollars.
//
// The same hardware, job, parallelism and price stand in every row: what differs is the delivery alone, so a row's
// difference is what the delivery costs, not what a seller asks for it. Each end of the range takes every parameter of
// the delivery at that end (perf/delivery.h); a bill's other ranges are not part of a difference.
// Dollars are those of whole bills: a virtual machine is provisioned sooner than metal (both without a source) and
// takes longer to initialise, so its start-up differs as well as its steps. Worked example: 64 H100, a step of 10 s on
// metal: a VM adds 10 · 0.015/0.985 = 0.152 s, 1.5 % (0 to 5.9), about 1.5 % of the rent. Thread safety: pure function.
#pragma once

#include <string>
#include <vector>

#include "cost/bill.h"

namespace tare {

struct DeliveryCase {
  std::string name;  // "bare metal", "VM", "container"
  Delivery delivery;
  int pcie_generation = 0, pcie_lanes = 0;  // 0 = the node's own: a VM does not retrain the link
};

// Bare metal, a container on it, a VM, and a container in a VM; whole GPUs, a node of one's own.
std::vector<DeliveryCase> usual_deliveries();

struct DeliveryCompareInput {
  const Workload* workload = nullptr;  // never null
  Machine machine;                     // of the GPUs the job uses, without a delivery: bare_machine()
  Parallelism parallelism;
  RunInput run;    // its step time, kernel-busy share and delivery are set for each row
  BillInput bill;  // its run and steps likewise
  StepConstants constants = default_constants();
};

struct DifferenceRange {
  double low = 0, base = 0, high = 0;
};

struct DeliveryRow {
  std::string name;
  Delivery delivery;
  Step step;
  Run run;
  Bill bill;
  // Each axis that takes something on its own (step.delivery_host_s, …_packaging_s, …_gpu_share_s, …_sync_s), then
  // their sum step.delivery_s.
  std::vector<Formula> axes;
  // Against the first row.
  DifferenceRange step_ratio;  // 0.015 = a step 1.5 % longer
  DifferenceRange usd;
};

// A row for each case, in their order. A bill that is not known leaves `usd` at zero: see is_known(row.bill).
std::vector<DeliveryRow> compare_deliveries(const DeliveryCompareInput& input, const std::vector<DeliveryCase>& cases,
                                            const Catalog& catalog);

}  // namespace tare
