#include "cost/waterfall.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cost/line_draft.h"

namespace tare {

namespace {

FormulaInput from(const char* name, double value, const char* unit, const char* of = "run.") {
  return {name, value, unit, std::string(of) + name};
}

class Bars {
 public:
  explicit Bars(const BillInput& input) : input_(input) {}

  void add(const std::string& id, double gpu_hours, std::string expression, std::vector<FormulaInput> inputs) {
    inputs.push_back({"gpus_used", static_cast<double>(input_.gpus_used), "GPU", "job"});
    bars_.push_back({"waterfall." + id, gpu_hours, "GPU-h", std::move(expression), std::move(inputs), ""});
  }
  // A share of the run's wall time.
  void add_time(const std::string& id, const char* name, double seconds) {
    add(id, seconds * (input_.gpus_used / 3600.0), std::string(name) + " * (gpus_used / 3600)",
        {from(name, seconds, "s")});
  }
  // What the step loses when it goes from `before_s` to `after_s`.
  void add_step(const std::string& id, double before_s, double after_s) {
    const double productive = input_.run.productive_s * (input_.gpus_used / 3600.0);
    add(id, productive * ((before_s - after_s) / input_.step_time_s),
        "productive_s * (gpus_used / 3600) * ((before_s - after_s) / full_s)",
        {from("productive_s", input_.run.productive_s, "s"),
         {"before_s", before_s, "s", "step model without the causes above"},
         {"after_s", after_s, "s", "step model without this cause too"},
         {"full_s", input_.step_time_s, "s", "step model with all causes"}});
  }
  // What is billed beyond the run; in a fleet, what no job fits into apart.
  void add_idle(double billed, const CostParameter* frag_waste) {
    const double idle = std::max(0.0, billed - input_.run.wall_s * (input_.gpus_used / 3600.0));
    const std::string expression = "max(0, billed_gpu_hours - wall_s * (gpus_used / 3600))";
    const std::vector<FormulaInput> inputs = {from("billed_gpu_hours", billed, "GPU-h", "bill."),
                                              from("wall_s", input_.run.wall_s, "s")};
    if (frag_waste == nullptr) {
      add("unallocated", idle, expression, inputs);
      return;
    }
    const double scattered = std::min(idle, frag_waste->base * billed);
    std::vector<FormulaInput> with_waste = inputs;
    with_waste.push_back(formula_input(parameter_range("frag_waste", *frag_waste)));
    add("unallocated", idle - scattered, expression + " - min(" + expression + ", frag_waste * billed_gpu_hours)",
        with_waste);
    add("fragmentation", scattered, "min(" + expression + ", frag_waste * billed_gpu_hours)", with_waste);
  }
  std::vector<Formula> take() { return std::move(bars_); }

 private:
  const BillInput& input_;
  std::vector<Formula> bars_;
};

}  // namespace

std::vector<Formula> waterfall_hours(const BillInput& input, double billed_gpu_hours, const CostParameter* frag_waste) {
  const Run& run = input.run;
  Bars bars(input);
  bars.add_idle(billed_gpu_hours, frag_waste);
  bars.add_time("startup", "startup_s", run.startup_s);
  bars.add_time("failures", "failure_lost_s", run.failure_lost_s);
  bars.add_time("maintenance", "maintenance_s", run.maintenance_s);
  bars.add_time("checkpoint", "checkpoint_stall_s", run.checkpoint_stall_s);
  double left_s = input.step_time_s;
  for (const auto& [id, step_s] : input.step_time_after_removal_s) {
    const double after_s = std::clamp(step_s, 0.0, left_s);
    bars.add_step(id, left_s, after_s);
    left_s = after_s;
  }
  bars.add_step("useful", left_s, 0);
  return bars.take();
}

}  // namespace tare
