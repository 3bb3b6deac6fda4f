#include "plan/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/quantity.h"
#include "cost/effective_price.h"
#include "perf/storage.h"
#include "run/node_power.h"
#include "workload/workload.h"

namespace tare {
namespace {

const SoftwareStack& stack_of(const Job& job, const Catalog& catalog) {
  const SoftwareStack* stack = find_stack(catalog, job.stack.empty() ? "generic" : job.stack);
  return stack != nullptr ? *stack : catalog.stacks.back();
}

Workload workload_of(const Job& job, const Catalog& catalog, std::vector<std::string>& assumed) {
  const SoftwareStack& stack = stack_of(job, catalog);
  if (job.stack.empty()) assumed.push_back("stack = " + stack.id + " (none stated)");
  return make_workload(job, stack, &assumed);
}

// How a step's data come, where the job says what they are (perf/storage.h).
std::optional<DataLoading> data_of(const Job& job, const Catalog& catalog, const Cluster& cluster, int gpus) {
  if (!job.data.bytes || *job.data.bytes <= 0 || job.tokens <= 0) return std::nullopt;
  return load_data(data_input(job, cluster.node_types.front().type, static_cast<int>(cluster.nodes.size()), gpus),
                   catalog);
}

void set_data(const std::optional<DataLoading>& data, Workload& workload, Machine& machine) {
  if (!data) return;
  workload.data_bytes_per_step = data->bytes_per_step;
  machine.storage_bytes_per_s = data->bytes_per_step / data->read_s;
}

// The machine of the GPUs the job uses: the cluster's, cut down where not all of it is needed.
Machine machine_of(const Catalog& catalog, const Cluster& cluster, int gpus) {
  Machine machine = make_machine(catalog, cluster);
  machine.gpus = gpus;
  machine.gpus_per_node = std::min(machine.gpus_per_node, gpus);
  return machine;
}

Refusal memory_refusal(const Candidate& candidate, const SearchResult& found, double capacity, std::string nearest) {
  Refusal refusal;
  refusal.offer = candidate.offer.id;
  refusal.gpus = candidate.gpus;
  refusal.reason = "memory";
  refusal.needed = format_gib(found.least_memory_bytes) + " (" + to_text(found.least_memory) + ")";
  refusal.had = format_gib(usable_memory_bytes(capacity)) + " usable of " + format_gib(capacity) + " per " +
                candidate.node_type.gpu;
  refusal.nearest = std::move(nearest);
  return refusal;
}

// Up to eight times the GPUs, the first size at which some configuration fits.
std::string nearest_size_that_fits(const PlanRequest& request, const Workload& workload, const Machine& machine) {
  Machine larger = machine;
  for (int times = 2; times <= 8; times *= 2) {
    larger.gpus = machine.gpus * times;
    StepModel model(workload, larger);
    const Space space = make_space(workload, larger, request.space);
    if (search(model, space, usable_memory_bytes(machine.memory_bytes)).best)
      return "fits on " + std::to_string(larger.gpus) + " GPUs";
  }
  return "no size up to " + std::to_string(machine.gpus * 8) +
         " GPUs fits: a GPU with more memory, LoRA or a smaller sequence";
}

double checkpoint_bytes_of(const Workload& workload, const Catalog& catalog) {
  return parameter(catalog, "ckpt_bytes_param").base * trainable_parameters(workload);
}

// Under load a GPU draws the share of its rating that its server does of its own.
double load_ratio_of(const Step& step, const Catalog& catalog) {
  const CostParameter& busy = parameter(catalog, "server_tdp_fraction");
  const double low = busy.low.value_or(busy.base);
  return low + (busy.high.value_or(busy.base) - low) * step.kernel_busy_ratio;
}

// Measured on A100 SXM, whose rated power is 400 W.
double idle_ratio_of(const Catalog& catalog) {
  constexpr double kRated_w = 400;
  return parameter(catalog, "idle_gpu_a100").base / kRated_w;
}

}  // namespace

RunInput run_input(const PlanRequest& request, const Catalog& catalog, const Candidate& candidate,
                   const Workload& workload, const Machine& machine, const Step& step, const Choices& how) {
  RunInput input;
  input.tokens = request.job.tokens;
  input.tokens_per_step = tokens_per_step(workload);
  input.step_time_s = step.step_time_s;
  input.gpus = candidate.gpus;
  input.nodes = static_cast<int>(candidate.cluster.nodes.size());
  input.parameters = trainable_parameters(workload);
  input.checkpoint_bytes = checkpoint_bytes_of(workload, catalog);
  input.checkpoint = how.checkpoint;
  input.data_bytes = request.job.data.bytes.value_or(0);
  input.purchase = candidate.offer.purchase;
  input.generation = machine.generation;
  input.data_shards = request.job.data.shards.value_or(0);
  input.host = candidate.cluster.delivery.host;
  input.packaging = candidate.cluster.delivery.packaging;
  input.gpu_share = candidate.cluster.delivery.gpu_share;
  input.linked_gpus = machine.in_domain.kind != LinkKind::kPcie && machine.domain_gpus > 1;
  input.local_disks = candidate.node_type.local_nvme_count.value_or(0);
  input.local_write_bytes_per_s = candidate.node_type.local_nvme_write_bytes_per_s;
  input.local_read_bytes_per_s = candidate.node_type.local_nvme_read_bytes_per_s;
  input.kernel_busy_ratio = step.kernel_busy_ratio;
  if (const auto power = node_power(candidate.node_type, catalog)) {
    // What the cap takes off the GPUs' draw comes off the node; the run scales its rating by the same share of load.
    const double gpus_w = candidate.node_type.gpus * machine.tdp_w;
    const double capped_w = gpus_w * (how.load_ratio - how.cap.draw_ratio) / how.load_ratio;
    input.node_power_w = power->w - capped_w;
  }
  return input;
}

namespace {

// Says which degree does not divide what: of the degrees that the person asked for, else of the size itself.
Refusal nothing_divides(const PlanRequest& request, const Candidate& candidate, const Workload& workload,
                        const Machine& machine) {
  const SpaceLimits& limits = request.space;
  const auto first = [](const std::vector<int>& values) { return values.empty() ? 1 : values.front(); };
  Parallelism p;
  p.tp = first(limits.tp);
  p.pp = first(limits.pp);
  p.vpp = first(limits.vpp);
  p.cp = first(limits.cp);
  p.ep = first(limits.ep);
  p.micro_batch = first(limits.micro_batch);
  const double split = double(p.tp) * p.pp * p.cp;
  p.dp = std::max(1, static_cast<int>(machine.gpus / split));
  const bool narrowed = split > 1 || p.vpp > 1 || p.ep > 1 || p.micro_batch > 1;
  const std::string nearest =
      narrowed ? "other degrees than those asked for" : "a global batch that is a multiple of the GPUs";
  const std::string size = std::to_string(machine.gpus);
  if (split * p.dp != machine.gpus) {
    return {candidate.offer.id, candidate.gpus, "divisibility", "tp*pp*cp*dp = " + size + " GPUs", to_text(p), nearest};
  }
  if (const std::optional<Infeasible> no = check_divisibility(workload, machine, p)) {
    return {candidate.offer.id, candidate.gpus, no->reason, no->needed, no->had, nearest};
  }
  return {candidate.offer.id,
          candidate.gpus,
          "divisibility",
          "degrees that divide " + size + " GPUs, the batch and the layers",
          "none",
          nearest};
}

}  // namespace

StepModel step_model(const Job& job, const Catalog& catalog, const Cluster& cluster, int gpus) {
  std::vector<std::string> assumed;
  Workload workload = workload_of(job, catalog, assumed);
  Machine machine = machine_of(catalog, cluster, gpus);
  set_data(data_of(job, catalog, cluster, gpus), workload, machine);
  return {std::move(workload), std::move(machine)};
}

std::optional<Cluster> uniform_nodes(const Cluster& cluster, int gpus) {
  for (std::size_t type = 0; type < cluster.node_types.size(); ++type) {
    const int per_node = std::max(cluster.node_types[type].type.gpus, 1);
    const std::size_t needed = static_cast<std::size_t>((gpus + per_node - 1) / per_node);
    // Where each node of the cluster stands among those taken; -1: not taken.
    std::vector<int> place(cluster.nodes.size(), -1);
    Cluster taken = cluster;
    taken.nodes.clear();
    for (std::size_t i = 0; i < cluster.nodes.size() && taken.nodes.size() < needed; ++i) {
      if (cluster.nodes[i].type != static_cast<int>(type)) continue;
      place[i] = static_cast<int>(taken.nodes.size());
      taken.nodes.push_back(cluster.nodes[i]);
      taken.nodes.back().type = 0;
    }
    if (taken.nodes.size() < needed) continue;
    taken.node_types = {cluster.node_types[type]};
    const auto keep = [&place](std::vector<int>& nodes) {
      for (int& node : nodes) node = place[static_cast<std::size_t>(node)];
      std::erase(nodes, -1);
    };
    for (Leaf& leaf : taken.leaves) keep(leaf.nodes);
    std::erase_if(taken.leaves, [](const Leaf& leaf) { return leaf.nodes.empty(); });
    // Domains keep their number: nodes refer to them by it.
    for (std::vector<int>& domain : taken.nvlink_domains) keep(domain);
    return taken;
  }
  return std::nullopt;
}

BillInput bill_input(const PlanOption& option, const Candidate& candidate, const Job& job) {
  BillInput bill;
  bill.offer = &option.offer;
  bill.node_type = &option.node_type;
  bill.nodes = option.nodes;
  bill.gpus = option.nodes * std::max(option.offer.gpus, 1);
  bill.gpus_used = candidate.gpus;
  bill.tokens = job.tokens;
  bill.data_at = job.data.at;
  bill.certified = !job.require.certifications.empty();
  bill.model_flops_per_token = option.step.model_flops_per_gpu * candidate.gpus / tokens_per_step(job);
  bill.peak_flops = option.step.peak_flops;
  bill.run = option.run;
  bill.step_time_s = option.step.step_time_s;
  return bill;
}

PlanOption price_option(const PlanRequest& request, const Catalog& catalog, const Candidate& candidate,
                        StepModel& model, const Parallelism& parallelism, const Choices& how,
                        std::vector<std::string> assumed) {
  const Machine& machine = model.machine();
  PlanOption option;
  option.checkpoint = how.checkpoint;
  option.power_cap_ratio = how.cap.ratio;
  if (how.cap.clock_ratio < 1)
    assumed.push_back(
        fmt::format("clock = {:.3f} of full under a power cap of {:.0f} %", how.cap.clock_ratio, how.cap.ratio * 100));
  option.offer = candidate.offer;
  option.node_type = candidate.node_type;
  option.gpu = machine.gpu;
  option.gpus = candidate.gpus;
  option.nodes = static_cast<int>(candidate.cluster.nodes.size());
  option.stale = candidate.offer.purchase != Purchase::kOwned &&
                 is_stale(candidate.offer, request.as_of, request.stale_after_days);
  option.fabric_assumed = candidate.cluster.fabric_assumed;
  option.parallelism = parallelism;
  option.stack = stack_of(request.job, catalog).id;
  option.generation = name_of(machine.generation);
  option.step = model.evaluate(parallelism);
  option.data = data_of(request.job, catalog, candidate.cluster, candidate.gpus);
  option.capacity_bytes = machine.memory_bytes;
  RunInput run = run_input(request, catalog, candidate, model.workload(), machine, option.step, how);
  if (option.data) run.data_local_ratio = option.data->local_ratio;
  option.run = estimate_run(run, catalog);
  option.price_date = candidate.offer.purchase == Purchase::kOwned ? "" : price_date_text(candidate.offer);
  BillInput bill = bill_input(option, candidate, request.job);
  bill.step_time_after_removal_s = remove_causes(model, parallelism);
  option.bill = make_bill(bill, catalog);
  const double flops_per_s = option.step.model_flops_per_gpu * candidate.gpus / option.step.step_time_s;
  if (is_known(option.bill) && flops_per_s > 0) {
    option.effective_price = effective_price(option.bill, option.run, flops_per_s);
  }
  const bool hourly = option.offer.purchase != Purchase::kOwned && option.offer.price_usd_per_h.has_value();
  option.price_usd_per_gpu_h = hourly                             ? price_usd_per_gpu_h(option.offer)
                               : option.bill.billed_gpu_hours > 0 ? option.bill.total.usd / option.bill.billed_gpu_hours
                                                                  : 0;
  option.meets_deadline =
      option.run.finishes && (!request.job.deadline_s || option.run.wall_s <= *request.job.deadline_s);
  option.meets_budget =
      is_known(option.bill) && (!request.job.budget_usd || option.bill.total.usd <= *request.job.budget_usd);
  if (option.fabric_assumed) assumed.push_back("fabric between nodes (--assume-fabric)");
  option.assumed = std::move(assumed);
  return option;
}

namespace {

// The parallelism priced under every checkpoint interval and power cap that may be chosen; the best by the objective,
// deadline and budget first.
std::variant<PlanOption, Refusal> best_choice(const PlanRequest& request, const Catalog& catalog,
                                              const Candidate& candidate, StepModel& model,
                                              const Parallelism& parallelism, const std::vector<std::string>& assumed) {
  const std::vector<CheckpointPolicy> own = {request.job.checkpoint};
  const std::vector<double> uncapped = {1};
  const auto& checkpoints = request.checkpoints.empty() ? own : request.checkpoints;
  const auto& caps = request.power_caps.empty() ? uncapped : request.power_caps;
  const double load_ratio = load_ratio_of(model.evaluate(parallelism), catalog);
  const auto order = [&request](const PlanOption& option) {
    return std::tuple(!option.meets_deadline, !option.meets_budget, objective_value(option, request.objective));
  };
  std::optional<PlanOption> best;
  for (const double ratio : caps) {
    const PowerCap cap = power_cap(ratio, load_ratio, std::min(idle_ratio_of(catalog), load_ratio / 2));
    if (!(cap.clock_ratio > 0)) continue;  // nothing runs under such a cap
    StepModel capped(model.workload(), at_clock(model.machine(), cap.clock_ratio));
    for (const CheckpointPolicy& checkpoint : checkpoints) {
      const Choices how{checkpoint, cap, load_ratio};
      PlanOption option =
          price_option(request, catalog, candidate, cap.clock_ratio < 1 ? capped : model, parallelism, how, assumed);
      if (!best || order(option) < order(*best)) best = std::move(option);
    }
  }
  if (best) return std::move(*best);
  const double idle_ratio = idle_ratio_of(catalog);
  Refusal refusal;
  refusal.offer = candidate.offer.id;
  refusal.gpus = candidate.gpus;
  refusal.reason = "power_cap";
  refusal.needed = fmt::format("a cap above the idle draw, {:.0f} % of the rated power", idle_ratio * 100);
  refusal.had = fmt::format("{:.0f} %", *std::max_element(caps.begin(), caps.end()) * 100);
  refusal.nearest = "--power-cap 40%";
  return refusal;
}

}  // namespace

CandidateResult evaluate_candidate(const PlanRequest& request, const Catalog& catalog, const Candidate& candidate) {
  CandidateResult result;
  std::vector<std::string> assumed;
  Workload workload = workload_of(request.job, catalog, assumed);
  Machine machine = machine_of(catalog, candidate.cluster, candidate.gpus);
  set_data(data_of(request.job, catalog, candidate.cluster, candidate.gpus), workload, machine);
  const Precision runs_in = effective_precision(machine, workload.precision);
  if (runs_in != workload.precision) {
    assumed.push_back("precision = " + std::string(name_of(runs_in)) + " (" + machine.gpu + " has no " +
                      std::string(name_of(workload.precision)) + ")");
  }
  StepModel model(workload, machine);
  const double capacity = usable_memory_bytes(machine.memory_bytes);
  if (request.job.parallelism) {
    Parallelism pinned = *request.job.parallelism;
    if (const auto no = check_divisibility(workload, machine, pinned)) {
      result.outcome =
          Refusal{candidate.offer.id, candidate.gpus, no->reason, no->needed, no->had, "another [parallelism]"};
      return result;
    }
    result.searched.evaluated = 1;
    const double bytes = model.memory(pinned).total_bytes;
    result.searched.least_memory_bytes = bytes;
    result.searched.least_memory = pinned;
    if (bytes <= capacity) result.searched.best = pinned;
  } else {
    const Space space = make_space(workload, machine, request.space);
    result.indivisible = space.indivisible;
    if (space.size == 0) {
      result.outcome = nothing_divides(request, candidate, workload, machine);
      return result;
    }
    result.searched = search(model, space, capacity);
  }
  if (!result.searched.best) {
    const std::string nearest =
        request.job.parallelism ? "another [parallelism]" : nearest_size_that_fits(request, workload, machine);
    result.outcome = memory_refusal(candidate, result.searched, machine.memory_bytes, nearest);
    return result;
  }
  result.outcome = best_choice(request, catalog, candidate, model, *result.searched.best, assumed);
  return result;
}

}  // namespace tare
