#include "run/run_formulas.h"

#include <algorithm>
#include <utility>

namespace tare {
namespace {

class Formulas {
 public:
  Formulas(const RunInput& input, const LoadedRates& rates, const Timeline& timeline, const Run& run)
      : input_(input), rates_(rates), t_(timeline), run_(run) {}

  std::vector<Formula> all() {
    work();
    startup();
    checkpoint_times();
    interruptions();
    interval();
    losses();
    if (t_.finishes()) totals();
    return std::move(formulas_);
  }

 private:
  // A number of the job or the cluster.
  static FormulaInput given(const char* name, double value, const char* unit, const char* source = "job") {
    return {name, value, unit, source, false};
  }
  // A number that an earlier formula gives.
  static FormulaInput from(const char* name, double value, const char* unit = "s") {
    return {name, value, unit, std::string("run.") + name, false};
  }
  FormulaInput gpus() const { return given("gpus", input_.gpus, "GPU", "cluster"); }
  FormulaInput nodes() const { return given("nodes", input_.nodes, "node", "cluster"); }
  FormulaInput rate(const char* name, const char* unit, double RunRates::*member, const char* why_zero = "") const {
    return rates_.input(name, unit, member, why_zero);
  }

  void add(const char* id, double value, const char* unit, std::string expression, std::vector<FormulaInput> inputs,
           std::string note = {}) {
    formulas_.push_back({id, value, unit, std::move(expression), std::move(inputs), std::move(note)});
  }

  void work() {
    add("run.steps", t_.steps, "1", "ceil(tokens / tokens_per_step)",
        {given("tokens", input_.tokens, "token"), given("tokens_per_step", input_.tokens_per_step, "token")});
    std::string expression = "steps * step_time_s";
    std::vector<FormulaInput> inputs = {from("steps", t_.steps, "1"),
                                        given("step_time_s", input_.step_time_s, "s", "step model")};
    const std::string note = add_delivery(expression, inputs);
    add("run.productive_s", t_.productive_s, "s", std::move(expression), std::move(inputs), note);
  }

  // The taxes of the delivery, when it has any: the step time holds their base, a draw takes that out and its own in.
  std::string add_delivery(std::string& expression, std::vector<FormulaInput>& inputs) const {
    std::string left;
    const auto tax = [&](const char* name, double RunRates::*member) {
      const auto of = [member](const RatedParameter& p) { return p.rate == member; };
      if (std::none_of(rates_.parameters.begin(), rates_.parameters.end(), of)) return;
      left += std::string(left.empty() ? "" : " * ") + "(1 - " + name + ")";
      inputs.push_back(rate(name, "ratio", member));
    };
    tax("host_tax", &RunRates::host_tax);
    tax("packaging_tax", &RunRates::packaging_tax);
    tax("gpu_share_tax", &RunRates::gpu_share_tax);
    if (left.empty()) return {};
    expression += " * delivered_in_step / (" + left + ")";
    inputs.push_back(
        given("delivered_in_step", rates_.base.delivered_in_step, "1", "step model, at these taxes' base"));
    return "the step time holds the delivery at the base of its parameters";
  }

  static constexpr const char* kInit =
      "driver_s + process_s + max(0, nccl_s + nccl_s_per_doubling * log2(gpus / 64)) + warmup_s + vm_s";

  std::vector<FormulaInput> init_inputs() const {
    return {rate("driver_s", "s", &RunRates::driver_s),
            rate("process_s", "s", &RunRates::process_s),
            rate("nccl_s", "s", &RunRates::nccl_s),
            rate("nccl_s_per_doubling", "s", &RunRates::nccl_s_per_doubling),
            gpus(),
            rate("warmup_s", "s", &RunRates::warmup_s),
            rate("vm_s", "s", &RunRates::vm_s, "not a virtual machine")};
  }

  // The data, when the job states any: added to an expression and its inputs.
  void add_staging(std::string& expression, std::vector<FormulaInput>& inputs) const {
    if (input_.data_shards > 0) {
      expression += " + gpus * shards * metadata_ops_per_shard / metadata_ops_per_s";
      inputs.push_back(given("shards", input_.data_shards, "1"));
      inputs.push_back(rate("metadata_ops_per_shard", "count", &RunRates::metadata_ops_per_shard));
      inputs.push_back(rate("metadata_ops_per_s", "1/s", &RunRates::metadata_ops_per_s));
    }
    if (input_.data_bytes <= 0) return;
    const bool all = input_.data_local_ratio == 1;
    expression += all ? " + data_bytes / (nodes * staging_bytes_per_s)"
                      : " + data_bytes * local_ratio / (nodes * staging_bytes_per_s)";
    if (!all) inputs.push_back({"local_ratio", input_.data_local_ratio, "1", "data.local_ratio", false});
    inputs.push_back(given("data_bytes", input_.data_bytes, "bytes"));
    inputs.push_back(nodes());
    inputs.push_back(rate("staging_bytes_per_s", "bytes/s", &RunRates::staging_bytes_per_s));
  }

  void startup() {
    std::vector<FormulaInput> inputs = {rate("provision_s", "s", &RunRates::provision_s, "held already"),
                                        rate("image_bytes", "bytes", &RunRates::image_bytes),
                                        rate("image_bytes_per_s", "bytes/s", &RunRates::image_bytes_per_s)};
    for (FormulaInput& i : init_inputs()) inputs.push_back(std::move(i));
    std::string expression = std::string("provision_s + image_bytes / image_bytes_per_s + ") + kInit;
    add_staging(expression, inputs);
    add("run.startup_s", t_.startup_s, "s", std::move(expression), std::move(inputs),
        "the first start: nodes, image, driver, processes, communicators, warm-up, data");
  }

  // Of the shared store: it is as fast as its cluster is large.
  std::vector<FormulaInput> store_inputs(const char* name, double RunRates::*shared) const {
    return {given("checkpoint_bytes", input_.checkpoint_bytes, "bytes"),
            nodes(),
            rate("node_bytes_per_s", "bytes/s", &RunRates::node_bytes_per_s),
            rate(name, "bytes/s", shared),
            gpus(),
            rate("store_bytes_per_s_per_gpu", "bytes/s", &RunRates::store_bytes_per_s_per_gpu)};
  }
  static std::string store_rate(const char* name) {
    return std::string("min(nodes * node_bytes_per_s, max(") + name + ", gpus * store_bytes_per_s_per_gpu))";
  }
  FormulaInput disks() const {
    return input_.local_disks > 0 ? given("disks", rates_.base.disks, "disk", "node type")
                                  : FormulaInput{"disks", 1, "disk", "not known", true};
  }
  FormulaInput disk_rate(const char* name, double RunRates::*member, bool known) const {
    return known ? given(name, rates_.base.*member, "bytes/s", "node type") : rate(name, "bytes/s", member);
  }

  void shared_write(const char* id, double value, const char* note) {
    std::vector<FormulaInput> inputs = store_inputs("write_bytes_per_s", &RunRates::write_bytes_per_s);
    inputs.push_back(rate("checkpoint_fixed_s", "s", &RunRates::checkpoint_fixed_s));
    add(id, value, "s", "checkpoint_fixed_s + checkpoint_bytes / " + store_rate("write_bytes_per_s"), std::move(inputs),
        note);
  }

  void checkpoint_durable() {
    const FormulaInput bytes = given("checkpoint_bytes", input_.checkpoint_bytes, "bytes");
    switch (store_of(input_)) {
      case CheckpointStore::kShared:
        shared_write("run.checkpoint_durable_s", t_.durable_s, "until it can be restarted from");
        return;
      case CheckpointStore::kLocal:
        add("run.checkpoint_durable_s", t_.durable_s, "s",
            "checkpoint_fixed_s + copies * checkpoint_bytes / (nodes * disks * disk_write_bytes_per_s)",
            {rate("checkpoint_fixed_s", "s", &RunRates::checkpoint_fixed_s),
             given("copies", kLocalCopies, "1", "each part on its own node and on a partner"), bytes, nodes(), disks(),
             disk_rate("disk_write_bytes_per_s", &RunRates::disk_write_bytes_per_s,
                       input_.local_write_bytes_per_s.has_value())},
            "until it survives the loss of a node");
        break;
      case CheckpointStore::kMemory:
        add("run.checkpoint_durable_s", t_.durable_s, "s",
            "checkpoint_bytes / (gpus * snapshot_bytes_per_s) + checkpoint_bytes / (nodes * replica_bytes_per_s)",
            {bytes, gpus(), rate("snapshot_bytes_per_s", "bytes/s", &RunRates::snapshot_bytes_per_s), nodes(),
             rate("replica_bytes_per_s", "bytes/s", &RunRates::replica_bytes_per_s)},
            "to host memory, and from there to a peer: until it survives the loss of a node");
        break;
    }
    shared_write("run.checkpoint_final_s", t_.final_s, "the last one, which outlives the job");
  }

  void checkpoint_times() {
    checkpoint_durable();
    if (!input_.checkpoint.async) {
      add("run.checkpoint_block_s", t_.block_s, "s", "checkpoint_durable_s",
          {from("checkpoint_durable_s", t_.durable_s)}, "training waits for the write");
      return;
    }
    const bool on_files = store_of(input_) != CheckpointStore::kMemory;
    std::vector<FormulaInput> inputs = {given("checkpoint_bytes", input_.checkpoint_bytes, "bytes"), gpus(),
                                        rate("snapshot_bytes_per_s", "bytes/s", &RunRates::snapshot_bytes_per_s),
                                        rate("drain_ratio", "ratio", &RunRates::drain_ratio),
                                        from("checkpoint_durable_s", t_.durable_s)};
    if (on_files) inputs.insert(inputs.begin(), rate("checkpoint_fixed_s", "s", &RunRates::checkpoint_fixed_s));
    add("run.checkpoint_block_s", t_.block_s, "s",
        std::string(on_files ? "checkpoint_fixed_s + " : "") +
            "checkpoint_bytes / (gpus * snapshot_bytes_per_s) + drain_ratio * checkpoint_durable_s",
        std::move(inputs),
        "copied to host memory, every GPU its own part; training is a little slower while it drains");
  }

  FormulaInput all_failures() const { return from("all_failures_per_gpu_h", t_.failures.all_per_gpu_h, "1/GPU-h"); }
  FormulaInput failures() const { return from("failures_per_gpu_h", t_.failures.sum_per_gpu_h, "1/GPU-h"); }

  void failure_parts() {
    const FailureRates& f = t_.failures;
    const FormulaInput all_gpu_h = rate("interrupt_gpu_h", "GPU-h", &RunRates::part_interrupt_gpu_h);
    const FormulaInput gpu_gpu_h = rate("gpu_fault_gpu_h", "GPU-h", &RunRates::part_gpu_gpu_h);
    const FormulaInput hbm_gpu_h = rate("memory_fault_gpu_h", "GPU-h", &RunRates::part_hbm_gpu_h);
    const FormulaInput network_gpu_h = rate("network_fault_gpu_h", "GPU-h", &RunRates::part_network_gpu_h);
    const FormulaInput nvlink = rate("nvlink_ratio", "ratio", &RunRates::nvlink_ratio);
    if (rates_.base.interruptions_per_node_h > 0) {
      add("run.all_failures_per_gpu_h", f.all_per_gpu_h, "1/GPU-h", "failures_per_node_h / gpus_per_reported_node",
          {rate("failures_per_node_h", "1/node-h", &RunRates::interruptions_per_node_h),
           given("gpus_per_reported_node", kGpusPerReportedNode, "GPU", "the nodes that it was counted on")},
          "A100 research cluster");
    } else {
      add("run.all_failures_per_gpu_h", f.all_per_gpu_h, "1/GPU-h", "published_failures_per_gpu_h",
          {rate("published_failures_per_gpu_h", "1/GPU-h", &RunRates::interruptions_per_gpu_h)},
          "unexpected interruptions of Llama 3 on 16,384 H100");
    }
    add("run.gpu_failures_per_gpu_h", f.gpu_per_gpu_h, "1/GPU-h",
        "all_failures_per_gpu_h * interrupt_gpu_h * ((1 - nvlink_ratio) / gpu_fault_gpu_h + 1 / memory_fault_gpu_h)",
        {all_failures(), all_gpu_h, nvlink, gpu_gpu_h, hbm_gpu_h}, "GPUs and their memory");
    if (input_.linked_gpus) {
      add("run.nvlink_failures_per_gpu_h", f.nvlink_per_gpu_h, "1/GPU-h",
          "all_failures_per_gpu_h * interrupt_gpu_h * nvlink_ratio / gpu_fault_gpu_h",
          {all_failures(), all_gpu_h, nvlink, gpu_gpu_h});
    }
    if (input_.nodes > 1) {
      add("run.nic_failures_per_gpu_h", f.nic_per_gpu_h, "1/GPU-h",
          "all_failures_per_gpu_h * interrupt_gpu_h / network_fault_gpu_h", {all_failures(), all_gpu_h, network_gpu_h},
          "NICs, cables and switches between nodes");
    }
    add("run.node_failures_per_gpu_h", f.node_per_gpu_h, "1/GPU-h",
        "all_failures_per_gpu_h * (1 - interrupt_gpu_h * (1 / gpu_fault_gpu_h + 1 / memory_fault_gpu_h"
        " + 1 / network_fault_gpu_h))",
        {all_failures(), all_gpu_h, gpu_gpu_h, hbm_gpu_h, network_gpu_h},
        "the rest: host, power supply, software, unknown");
  }

  void interruptions() {
    const double spot_per_gpu_h = rates_.base.spot_per_gpu_h;
    if (t_.failures.all_per_gpu_h <= 0 && spot_per_gpu_h <= 0) return;  // never
    failure_parts();
    const FailureRates& f = t_.failures;
    std::string sum = "gpu_failures_per_gpu_h";
    std::vector<FormulaInput> parts = {from("gpu_failures_per_gpu_h", f.gpu_per_gpu_h, "1/GPU-h")};
    if (input_.linked_gpus) {
      sum += " + nvlink_failures_per_gpu_h";
      parts.push_back(from("nvlink_failures_per_gpu_h", f.nvlink_per_gpu_h, "1/GPU-h"));
    }
    if (input_.nodes > 1) {
      sum += " + nic_failures_per_gpu_h";
      parts.push_back(from("nic_failures_per_gpu_h", f.nic_per_gpu_h, "1/GPU-h"));
    }
    parts.push_back(from("node_failures_per_gpu_h", f.node_per_gpu_h, "1/GPU-h"));
    add("run.failures_per_gpu_h", f.sum_per_gpu_h, "1/GPU-h", sum + " + node_failures_per_gpu_h", std::move(parts),
        input_.nodes > 1 ? "" : "one node: no NIC, cable or switch stops it");
    add("run.mtti_s", t_.mtti_s, "s", "3600 / (gpus * (failures_per_gpu_h + spot_per_gpu_h))",
        {gpus(), failures(), rate("spot_per_gpu_h", "1/GPU-h", &RunRates::spot_per_gpu_h, "not spot")});
  }

  void interval() {
    const FormulaInput durable = from("checkpoint_durable_s", t_.durable_s);
    const FormulaInput step = given("step_time_s", input_.step_time_s, "s", "step model");
    const CheckpointPolicy& policy = input_.checkpoint;
    std::string wanted;
    std::vector<FormulaInput> inputs = {step};
    std::string note;
    if (policy.every == CheckpointPolicy::Every::kSteps) {
      wanted = "max(1, every_steps) * step_time_s";
      inputs.push_back(given("every_steps", policy.value, "1"));
    } else if (policy.every == CheckpointPolicy::Every::kSeconds) {
      wanted = "max(every_s, step_time_s)";
      inputs.push_back(given("every_s", policy.value, "s"));
    } else {
      inputs.push_back(from("mtti_s", t_.mtti_s));
      note = "Daly 2006; sqrt(2 * checkpoint_block_s * mtti_s) of Young 1974 is its limit";
      if (t_.block_s >= 2 * t_.mtti_s) {
        wanted = "max(step_time_s, mtti_s)";
      } else {
        wanted =
            "max(step_time_s, sqrt(2 * checkpoint_block_s * mtti_s) * (1 + sqrt(checkpoint_block_s / (2 * mtti_s))"
            " / 3 + checkpoint_block_s / (2 * mtti_s) / 9) - checkpoint_block_s)";
        inputs.push_back(from("checkpoint_block_s", t_.block_s));
      }
    }
    if (policy.async || policy.every == CheckpointPolicy::Every::kAuto) {
      wanted = "max(checkpoint_durable_s, " + wanted + ")";
      inputs.push_back(durable);
      if (note.empty()) note = "a background write ends before the next one begins";
    }
    add("run.checkpoint_interval_s", t_.interval_s, "s", std::move(wanted), std::move(inputs), std::move(note));
    const bool whole = policy.every == CheckpointPolicy::Every::kSteps && t_.interval_steps == policy.value;
    add("run.checkpoints", t_.checkpoints, "1",
        whole ? "max(1, ceil(steps / every_steps))" : "max(1, ceil(steps / (checkpoint_interval_s / step_time_s)))",
        whole ? std::vector<FormulaInput>{from("steps", t_.steps, "1"), given("every_steps", policy.value, "1")}
              : std::vector<FormulaInput>{from("steps", t_.steps, "1"), step,
                                          from("checkpoint_interval_s", t_.interval_s)},
        "the last one ends the run");
    const bool shared = store_of(input_) == CheckpointStore::kShared;
    const bool last_waits = policy.async || !shared;
    std::vector<FormulaInput> stall = {from("checkpoints", t_.checkpoints, "1"),
                                       from("checkpoint_block_s", t_.block_s)};
    if (last_waits) stall.push_back(shared ? durable : from("checkpoint_final_s", t_.final_s));
    add("run.checkpoint_stall_s", t_.checkpoint_stall_s, "s",
        !last_waits ? "checkpoints * checkpoint_block_s"
        : shared    ? "checkpoints * checkpoint_block_s + checkpoint_durable_s"
                    : "checkpoints * checkpoint_block_s + checkpoint_final_s",
        std::move(stall), last_waits ? "behind the last checkpoint there is no training left to hide its write" : "");
  }

  // The checkpoint read back from the nearest place: an expression and its inputs.
  std::string load(std::vector<FormulaInput>& inputs) const {
    switch (store_of(input_)) {
      case CheckpointStore::kShared:
        for (FormulaInput& i : store_inputs("read_bytes_per_s", &RunRates::read_bytes_per_s)) {
          if (i.name != "gpus") inputs.push_back(std::move(i));
        }
        return "checkpoint_bytes / " + store_rate("read_bytes_per_s");
      case CheckpointStore::kLocal:
        inputs.push_back(given("checkpoint_bytes", input_.checkpoint_bytes, "bytes"));
        inputs.push_back(nodes());
        inputs.push_back(disks());
        inputs.push_back(disk_rate("disk_read_bytes_per_s", &RunRates::disk_read_bytes_per_s,
                                   input_.local_read_bytes_per_s.has_value()));
        return "checkpoint_bytes / (nodes * disks * disk_read_bytes_per_s)";
      case CheckpointStore::kMemory:
        break;
    }
    inputs.push_back(given("checkpoint_bytes", input_.checkpoint_bytes, "bytes"));
    inputs.push_back(nodes());
    inputs.push_back(rate("replica_bytes_per_s", "bytes/s", &RunRates::replica_bytes_per_s));
    return "checkpoint_bytes / (nodes * replica_bytes_per_s)";
  }

  void restart() {
    std::vector<FormulaInput> inputs = init_inputs();
    inputs.push_back(rate("requeue_s", "s", &RunRates::requeue_s));
    std::string expression = std::string("requeue_s + ") + kInit + " + " + load(inputs);
    add_staging(expression, inputs);
    add("run.restart_s", t_.restart_s, "s", std::move(expression), std::move(inputs),
        "the parts of a start that recur, the checkpoint read back, a new node's share of the data");
  }

  void rework() {
    const bool short_interval = std::min(t_.interval_s, t_.productive_s) < kShortInterval * t_.mtti_s;
    const std::string since = "min(checkpoint_interval_s, productive_s)";
    std::string expression =
        short_interval ? since + " / 2" : "mtti_s - " + since + " / (exp(" + since + " / mtti_s) - 1)";
    std::vector<FormulaInput> inputs = {from("checkpoint_interval_s", t_.interval_s),
                                        from("productive_s", t_.productive_s)};
    if (!short_interval) inputs.push_back(from("mtti_s", t_.mtti_s));
    if (input_.checkpoint.async) {
      expression += " + checkpoint_durable_s";
      inputs.push_back(from("checkpoint_durable_s", t_.durable_s));
    }
    add("run.rework_per_failure_s", t_.rework_s, "s", std::move(expression), std::move(inputs),
        "work since the last checkpoint at a random moment, half an interval when it is short, and what was not"
        " durable yet");
  }

  void losses() {
    restart();
    rework();
    add("run.loss_per_failure_s", t_.loss_s, "s", "rework_per_failure_s + detect_s + restart_s",
        {from("rework_per_failure_s", t_.rework_s), rate("detect_s", "s", &RunRates::detect_s),
         from("restart_s", t_.restart_s)});
    add("run.loss_ratio", t_.loss_ratio, "1", "loss_per_failure_s / mtti_s",
        {from("loss_per_failure_s", t_.loss_s), from("mtti_s", t_.mtti_s)},
        t_.finishes() ? "share of the wall time that interruptions take"
                      : "interruptions and maintenance take more than they leave, the run never ends");
    add("run.loss_per_maintenance_s", t_.planned_loss_s, "s", "checkpoint_durable_s + restart_s",
        {from("checkpoint_durable_s", t_.durable_s), from("restart_s", t_.restart_s)},
        "a planned stop writes a checkpoint first, and nothing has to be found out");
    add("run.maintenance_ratio", t_.maintenance_ratio, "1",
        "gpus * planned_per_gpu_h / 3600 * loss_per_maintenance_s + window_s_per_year / 31536000",
        {gpus(), planned(), from("loss_per_maintenance_s", t_.planned_loss_s),
         rate("window_s_per_year", "s/node-year", &RunRates::window_s_per_year,
              "rented nodes come fresh and go back before the next window")},
        "planned stops, and the share of a year that held nodes are in a firmware or driver window");
  }
  FormulaInput planned() const { return rate("planned_per_gpu_h", "1/GPU-h", &RunRates::planned_per_gpu_h); }

  void totals() {
    const FormulaInput wall = from("wall_s", run_.wall_s);
    add("run.wall_s", run_.wall_s, "s",
        "(productive_s + startup_s + checkpoint_stall_s) / (1 - loss_ratio - maintenance_ratio)",
        {from("productive_s", t_.productive_s), from("startup_s", t_.startup_s),
         from("checkpoint_stall_s", t_.checkpoint_stall_s), from("loss_ratio", t_.loss_ratio, "1"),
         from("maintenance_ratio", t_.maintenance_ratio, "1")},
        "interruptions happen in wall time: wall = productive + startup + stalls + wall * (loss + maintenance ratio)");
    add("run.failures", run_.failures, "1", "wall_s / mtti_s", {wall, from("mtti_s", t_.mtti_s)});
    add("run.hardware_failures", run_.hardware_failures, "1", "wall_s * gpus * failures_per_gpu_h / 3600",
        {wall, gpus(), failures()});
    add("run.failure_lost_s", run_.failure_lost_s, "s", "failures * loss_per_failure_s",
        {from("failures", run_.failures, "1"), from("loss_per_failure_s", t_.loss_s)});
    add("run.rework_s", run_.failures * t_.rework_s, "s", "failures * rework_per_failure_s",
        {from("failures", run_.failures, "1"), from("rework_per_failure_s", t_.rework_s)}, "work done again");
    add("run.planned_interruptions", run_.planned_interruptions, "1", "wall_s * gpus * planned_per_gpu_h / 3600",
        {wall, gpus(), planned()});
    add("run.maintenance_s", run_.maintenance_s, "s", "wall_s * maintenance_ratio",
        {wall, from("maintenance_ratio", t_.maintenance_ratio, "1")});
    add("run.gpu_hours", run_.gpu_hours, "GPU-h", "wall_s * gpus / 3600", {wall, gpus()});
    add("run.goodput_ratio", run_.goodput_ratio, "1", "productive_s / wall_s",
        {from("productive_s", t_.productive_s), wall});
  }

  const RunInput& input_;
  const LoadedRates& rates_;
  const Timeline& t_;
  const Run& run_;
  std::vector<Formula> formulas_;
};

}  // namespace

std::vector<Formula> run_formulas(const RunInput& input, const LoadedRates& rates, const Timeline& timeline,
                                  const Run& run) {
  return Formulas(input, rates, timeline, run).all();
}

Formula it_energy_formula(const RunInput& input, const Catalog& catalog, const Timeline& timeline, const Run& run) {
  const CostParameter& busy = parameter(catalog, "server_tdp_fraction");
  const CostParameter& idle = parameter(catalog, "idle_node_frac");
  const double busy_low = busy.low.value_or(busy.base);
  const double busy_high = busy.high.value_or(busy.base);
  const double rework_s = run.failures * timeline.rework_s;
  const double power_w = input.node_power_w.value_or(0);
  const double busy_s = run.productive_s + rework_s;
  const double fraction = busy_low + (busy_high - busy_low) * input.kernel_busy_ratio;

  // Both ends of one range: neither is the parameter itself.
  const FormulaInput low = {"busy_low", busy_low, busy.unit, "low end of server_tdp_fraction", false};
  const FormulaInput high = {"busy_high", busy_high, busy.unit, "high end of server_tdp_fraction", false};
  return {"run.it_energy_j",
          input.nodes * power_w * (fraction * busy_s + idle.base * (run.wall_s - busy_s)),
          "J",
          "nodes * node_power_w * ((busy_low + (busy_high - busy_low) * kernel_busy_ratio) * (productive_s + rework_s)"
          " + idle_fraction * (wall_s - (productive_s + rework_s)))",
          {{"nodes", static_cast<double>(input.nodes), "node", "cluster", false},
           {"node_power_w", power_w, "W", "node type", false},
           low,
           high,
           {"kernel_busy_ratio", input.kernel_busy_ratio, "1", "step model", false},
           {"productive_s", run.productive_s, "s", "run.productive_s", false},
           {"rework_s", rework_s, "s", "run.rework_s", false},
           parameter_input("idle_fraction", idle),
           {"wall_s", run.wall_s, "s", "run.wall_s", false}},
          "power follows the share of time in which a kernel runs, not MFU; power supply loss is inside the rating"};
}

}  // namespace tare
