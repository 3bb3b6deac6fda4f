// One optimiser step on one machine under one parallelism: the numbers every decision stands on.
//
// The parts are what is exposed on the critical path of the slowest rank, so they sum to the step time; compute_s holds
// forward and backward at their modelled efficiency. docs/step-model.md has the equations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/formula.h"
#include "perf/constants.h"
#include "perf/layer.h"
#include "perf/machine.h"
#include "workload/memory.h"

namespace tare {

// Axes from the innermost (neighbouring GPUs) outwards; Megatron's order by default. Data-parallel ranks include ep.
enum class Axis : std::uint8_t { kTp, kCp, kDp, kPp };
struct RankLayout {
  std::array<Axis, 4> order = {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp};
};

struct StepParts {
  double compute_s = 0;
  double recompute_s = 0;
  double tp_exposed_s = 0;
  double cp_exposed_s = 0;
  double ep_exposed_s = 0;
  double pp_bubble_s = 0;
  double pp_p2p_s = 0;
  double pp_imbalance_s = 0;
  double dp_exposed_s = 0;
  double optimizer_s = 0;
  double data_stall_s = 0;
  double straggler_s = 0;
  double delivery_s = 0;
};
// Name and value of each part in the order above: for tables, JSON and sums.
inline constexpr int kStepPartCount = 13;
std::array<std::pair<std::string_view, double>, kStepPartCount> named_parts(const StepParts& parts);
double sum(const StepParts& parts);

struct Step {
  double step_time_s = 0;
  StepParts parts;
  double tokens_per_s = 0;
  double tokens_per_s_per_gpu = 0;
  double model_flops_per_gpu = 0;     // of one step
  double hardware_flops_per_gpu = 0;  // with recomputation
  double peak_flops = 0;              // dense, of the precision named by `peak_precision`
  Precision peak_precision = Precision::kBf16;
  double mfu_ratio = 0;
  double hfu_ratio = 0;
  double kernel_busy_ratio = 0;  // share of the step in which the GPU runs a kernel
  Memory memory;
};

// What is taken out of a step for a waterfall bar: a set of these.
enum Without : unsigned {
  kWithoutNothing = 0,
  kWithoutData = 1u << 0,
  kWithoutBubble = 1u << 1,  // pp_bubble_s and pp_imbalance_s
  kWithoutTp = 1u << 2,
  kWithoutDp = 1u << 3,
  kWithoutPp = 1u << 4,  // p2p
  kWithoutEp = 1u << 5,
  kWithoutCp = 1u << 6,
  kWithoutStraggler = 1u << 7,
  kWithoutDelivery = 1u << 8,
  kWithoutRecompute = 1u << 9,
  kWithoutKernel = 1u << 10,  // kernels at peak: compute_s = model FLOPs ÷ dense peak
  kWithoutOptimizer = 1u << 11,
};

// Why a parallelism is not possible, as a refusal id ("divisibility", "memory"); empty = possible.
struct Infeasible {
  std::string reason;
  std::string needed, had;
};
std::optional<Infeasible> check_divisibility(const Workload& workload, const Machine& machine,
                                             const Parallelism& parallelism);

// Everything the parts are made of, named as in docs/step-model.md; explain() prints the parts in these terms.
struct StepTerms {
  double micro_batches = 0;      // per data-parallel rank
  double layers = 0;             // on a mean stage
  double layer_s = 0;            // forward + backward kernels of one layer, one micro-batch
  double edge_s = 0;             // embedding, head and loss, one micro-batch, spread over the stages
  double recomputed_layers = 0;  // on a mean stage
  double recompute_layer_s = 0;
  double tp_layer_s = 0, tp_recompute_s = 0, tp_edge_s = 0;
  double cp_layer_s = 0;
  double ep_layer_s = 0, ep_recompute_s = 0;
  double stage_s = 0;  // one micro-batch on a mean stage, forward + backward, with its communication
  double slowest_stage_s = 0;
  double bubble_slots = 0;     // micro-batches of one stage that the pipeline waits
  double p2p_s = 0;            // exposed, of one micro-batch
  double dp_overlap_norm = 2;  // q of the overlap, perf/constants.h
  double dp_work_s = 0;        // compute that gradient and weight traffic can hide behind
  double dp_traffic_s = 0;     // that traffic alone
  double dp_extra_s = 0;       // traffic that nothing hides
  double optimizer_s = 0;
  double data_read_s = 0;
  double straggler_ratio = 0;
  DeliveryEffect delivery;    // its ratios and host waits
  double delivery_ratio = 0;  // of the three axes together
  double hardware_flops = 0;  // per GPU and step
  double model_flops = 0;
  double peak_flops = 0;
};

// The parts at those terms, with some causes removed.
StepParts parts_of(const StepTerms& terms, unsigned without = kWithoutNothing);

// Evaluates many parallelisms of one workload on one machine. Layer times and collectives are kept by (tp, cp, ep,
// micro-batch, sequence parallel), so an evaluation costs well under a microsecond once these have been seen.
// Thread safety: one model per thread (it caches); copies are independent.
class StepModel {
 public:
  StepModel(Workload workload, Machine machine, RankLayout layout = {},
            const StepConstants& constants = default_constants());
  StepModel(const StepModel& other);
  StepModel& operator=(const StepModel&) = delete;

  const Workload& workload() const { return workload_; }
  const Machine& machine() const { return machine_; }

  // Time and memory. Precondition: check_divisibility says nothing. Allocates nothing once its layer is cached.
  Step evaluate(const Parallelism& parallelism);
  Memory memory(const Parallelism& parallelism) const { return memory_.peak(parallelism); }
  double step_time_s(const Parallelism& parallelism, unsigned without = kWithoutNothing);
  StepTerms terms(const Parallelism& parallelism);

  // The formulas behind a step, one for each part, the memory's and the rates: each evaluates to the printed value.
  std::vector<Formula> explain(const Parallelism& parallelism);

  const StepConstants& constants() const { return constants_; }
  const KernelRates& rates() const { return layers_.rates(); }

  // The cost of one layer and of the ends, for tables.
  const RankCost& rank_cost(const Parallelism& parallelism);

 private:
  void dp_terms(const Parallelism& p, StepTerms& terms);
  // One reduction of the gradients and one gather of the weights between the data-parallel ranks.
  struct DpTraffic {
    double reduce_s = 0, gather_s = 0;
  };
  DpTraffic dp_traffic(const Parallelism& p) const;
  const DpTraffic& cached_dp_traffic(const Parallelism& p);
  double optimizer_s(const Parallelism& p) const;
  int stride_of(Axis axis, const Parallelism& p) const;
  GroupStrides strides_of(const Parallelism& p) const;

  // What a layer's cost depends on: degrees, and where the layout puts their groups.
  struct Key {
    std::uint64_t degrees = 0;  // 0 = free
    std::uint64_t strides = 0;
    bool operator==(const Key&) const = default;
  };
  static Key key_of(const Parallelism& p, const GroupStrides& strides);
  struct Entry {
    Key key;
    RankCost cost;
  };
  struct DpEntry {
    std::array<int, 5> degrees = {};
    DpTraffic traffic;
  };
  std::size_t slot_of(const Key& key) const;  // of that entry, or of the free one where it would stand

  Workload workload_;
  Machine machine_;
  Machine dp_machine_, pp_machine_;  // as data-parallel and pipeline traffic meet it
  RankLayout layout_;
  StepConstants constants_;
  LayerModel layers_;  // refers to the three above
  MemoryModel memory_;
  ParameterCount parameters_;
  double model_flops_per_token_ = 0;
  double trainable_ = 0;
  double peak_flops_ = 0;
  Precision peak_precision_ = Precision::kBf16;
  double straggler_ratio_ = 0;
  std::vector<Entry> cache_;  // open addressing, a power of two
  std::size_t cached_ = 0;
  std::array<DpEntry, 4> dp_cache_;  // the last degrees seen, by ZeRO stage
};

}  // namespace tare
