#include "cost/delivery_compare.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tare {
namespace {

struct Evaluated {
  Step step;
  Run run;
  Bill bill;
  std::vector<Formula> axes;
};

// A narrower or slower link to the host, and to the GPUs that are reached over it.
void set_pcie(Machine& machine, const DeliveryCase& which) {
  if (which.pcie_generation <= 0 || machine.host_bytes_per_s <= 0) return;
  const double rate = pcie_bytes_per_s(which.pcie_generation, which.pcie_lanes);
  const double factor = rate / machine.host_bytes_per_s;
  machine.host_bytes_per_s = rate;
  machine.in_node.bytes_per_s *= factor;
  if (machine.in_domain.kind == LinkKind::kPcie) machine.in_domain.bytes_per_s *= factor;
}

Evaluated evaluate_at(const DeliveryCompareInput& input, const DeliveryCase& which, const Catalog& catalog,
                      ParameterEnd end) {
  Machine machine = input.machine;
  set_pcie(machine, which);
  apply_delivery(machine, catalog, which.delivery, end);
  StepModel model(*input.workload, std::move(machine), {}, input.constants);

  Evaluated result;
  result.step = model.evaluate(input.parallelism);
  RunInput run = input.run;
  run.step_time_s = result.step.step_time_s;
  run.kernel_busy_ratio = result.step.kernel_busy_ratio;
  run.host = which.delivery.host;
  run.packaging = which.delivery.packaging;
  run.gpu_share = which.delivery.gpu_share;
  result.run = estimate_run(run, catalog);
  BillInput bill = input.bill;
  bill.run = result.run;
  bill.step_time_s = result.step.step_time_s;
  bill.step_time_after_removal_s = remove_causes(model, input.parallelism);
  result.bill = make_bill(bill, catalog);
  for (Formula& f : model.explain(input.parallelism)) {
    if (f.id.starts_with("step.delivery_")) result.axes.push_back(std::move(f));
  }
  return result;
}

// The lesser and the greater of the two ends, the base between them.
DifferenceRange ordered(double at_low, double base, double at_high) {
  return {std::min({at_low, base, at_high}), base, std::max({at_low, base, at_high})};
}

}  // namespace

std::vector<DeliveryCase> usual_deliveries() {
  return {{"bare metal", {"bare_metal", "none", "whole", "dedicated"}},
          {"container", {"bare_metal", "container", "whole", "dedicated"}},
          {"VM", {"vm", "none", "whole", "dedicated"}},
          {"container in a VM", {"vm", "container", "whole", "dedicated"}}};
}

std::vector<DeliveryRow> compare_deliveries(const DeliveryCompareInput& input, const std::vector<DeliveryCase>& cases,
                                            const Catalog& catalog) {
  static constexpr std::array<ParameterEnd, 3> kEnds = {ParameterEnd::kLow, ParameterEnd::kBase, ParameterEnd::kHigh};
  std::vector<DeliveryRow> rows;
  double first_step_s = 0, first_usd = 0;
  for (const DeliveryCase& which : cases) {
    std::array<double, 3> step_s{}, usd{};
    DeliveryRow row;
    row.name = which.name;
    row.delivery = which.delivery;
    for (std::size_t end = 0; end < kEnds.size(); ++end) {
      Evaluated at = evaluate_at(input, which, catalog, kEnds[end]);
      step_s[end] = at.step.step_time_s;
      usd[end] = is_known(at.bill) ? at.bill.total.usd : 0;
      if (kEnds[end] != ParameterEnd::kBase) continue;
      row.step = at.step;
      row.run = std::move(at.run);
      row.bill = std::move(at.bill);
      row.axes = std::move(at.axes);
    }
    if (rows.empty()) {
      first_step_s = step_s[1];
      first_usd = usd[1];
    }
    const auto slower = [first_step_s](double s) { return s / first_step_s - 1; };
    row.step_ratio = ordered(slower(step_s[0]), slower(step_s[1]), slower(step_s[2]));
    row.usd = ordered(usd[0] - first_usd, usd[1] - first_usd, usd[2] - first_usd);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tare
