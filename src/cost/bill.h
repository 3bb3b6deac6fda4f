// The bill of one run: a closed ledger whose lines sum to the total to the cent, and the same money a second way.
//
// Rent xor own: a rented hour already pays for capital, power, cooling and the provider's operations; an owned one is
// depreciation to residual + capital cost + power through conversion and PUE + space + operations + spares. The two
// sets of lines are built by two functions, and a bill calls one of them: rent and power cannot stand on one bill.
// Cents are distributed by largest remainder, so sum(lines) == total == sum(waterfall) exactly.
//
// The waterfall: the money of the lines that are paid by the GPU-hour (rent; capital, power, space, spares) is laid
// over the billed GPU-hours: held but not used, start-up, failures, maintenance, checkpoints, and the steps' hours by
// what a step spends its time on. Every other line (storage, egress, operations) is a bar of its own. docs/bill.md has
// every equation.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/formula.h"
#include "run/run.h"

namespace tare {

struct Amount {
  double usd = 0;  // rounded to the cent
  std::optional<double> low_usd, high_usd;
  std::optional<double> p10 = {}, p50 = {},
                        p90 = {};  // USD over the draws, from add_uncertainty() of cost/uncertainty.h
};

struct BillLine {
  std::string id;  // rent, power, cooling, space, capital, operations, spares, storage, egress …
  Amount amount;
  bool gpu_time = false;  // paid by the GPU-hour: spread over the waterfall's GPU-hours
  Formula formula;        // its value is the unrounded amount
};

struct WaterfallBar {
  std::string id;        // unallocated, startup, failures, maintenance, checkpoint, data, bubble, comm_tp, …, useful
  double gpu_hours = 0;  // 0 for lines that are not GPU time
  Amount amount;
  Formula formula;  // its value is gpu_hours; empty for lines that are not GPU time
};

struct Bill {
  Amount total;
  double usd_per_million_tokens = 0;
  double billed_gpu_hours = 0;
  std::vector<BillLine> lines;
  std::vector<WaterfallBar> waterfall;  // in the fixed order of DESIGN §2, then bars for lines that are not GPU time
  double goodput_ratio = 0;             // of the run
  // Energy of the billed hours, rented or owned; nullopt when the power of a node is not known. Information, not money:
  // what an owned fleet pays for it is the line `power`, a rented hour contains it.
  std::optional<double> it_kwh;
  std::optional<double> energy_kwh;  // at the meter of the building: IT energy x PUE
  std::optional<double> co2e_kg;
  std::optional<double> joules_per_token;         // of IT energy over the run; never below the chip's floor
  std::optional<double> checkpoint_marginal_usd;  // one more checkpoint an hour, over the run
  std::vector<Formula>
      formulas;  // of the figures above: bill.billed_gpu_hours, bill.it_kwh, bill.energy_kwh, bill.co2e_kg, …
  // Why there is no bill (the run never ends, no price is known): then `total` is infinite and the lines are empty; or
  // which line is missing since an input is not known. Empty: the ledger is complete.
  std::vector<std::string> unknown;
};

// False when the total is not a number of money: to be refused, never ranked.
bool is_known(const Bill& bill);

struct BillInput {
  const Offer* offer = nullptr;         // never null
  const NodeType* node_type = nullptr;  // never null
  int nodes = 0;
  int gpus = 0;  // held: nodes × GPUs of a node
  int gpus_used = 0;
  double tokens = 0;
  bool certified = false;            // the job asks for certifications: its share of the audits is in the ledger
  double model_flops_per_token = 0;  // and
  double peak_flops = 0;             // the dense peak of a GPU in the job's precision; 0 = not known
  std::string data_at;  // provider/region in which the dataset lies before the run; empty: where the job runs
  Run run;
  // What is left of the step with causes removed one after the other in waterfall order, from remove_causes(). Empty:
  // the whole step counts as useful.
  std::vector<std::pair<std::string, double>> step_time_after_removal_s;  // (bar id, step time once it too is gone)
  double step_time_s = 0;                                                 // the full step
};

Bill make_bill(const BillInput& input, const Catalog& catalog);

// The catalog parameters a bill may ask for: a test checks that the shipped catalog has them all.
const std::vector<std::string>& bill_parameter_ids();

// The waterfall's removals for a step: bar ids with the step time left after each; what is left after the last is
// useful (model FLOPs ÷ dense peak).
std::vector<std::pair<std::string, double>> remove_causes(StepModel& model, const Parallelism& parallelism);

}  // namespace tare
