#include "perf/delivery.h"

#include <algorithm>

#include "perf/machine.h"

namespace tare {
namespace {

class Values {
 public:
  Values(const Catalog& catalog, ParameterEnd end) : catalog_(catalog), end_(end) {}

  double operator()(const std::string& id) const {
    if (id.empty()) return 0;
    const CostParameter& p = parameter(catalog_, id);
    if (end_ == ParameterEnd::kLow) return p.low.value_or(p.base);
    return end_ == ParameterEnd::kHigh ? p.high.value_or(p.base) : p.base;
  }

 private:
  const Catalog& catalog_;
  ParameterEnd end_;
};

// A share of throughput lost, as what it adds to the time.
double added_time(double tax) { return tax / (1 - tax); }

bool takes_turns(const Delivery& delivery) { return delivery.gpu_share == "time_slice" || delivery.gpu_share == "mps"; }

void cut_to_slices(Machine& machine, const Values& value) {
  const double compute = value("mig_compute_share");
  const double memory = value("mig_memory_share");
  for (double* const peak : {&machine.peak_fp16_flops, &machine.peak_bf16_flops, &machine.peak_fp8_flops,
                             &machine.peak_fp4_flops, &machine.peak_fp32_flops, &machine.peak_tf32_flops}) {
    *peak *= compute;
  }
  machine.sm_count = std::max(1, static_cast<int>(machine.sm_count * compute));
  machine.memory_bytes *= memory;
  machine.memory_bytes_per_s *= memory;
  machine.host_bytes_per_s *= memory;
  // Slices have no link to each other: what they exchange goes through the host.
  machine.in_domain = machine.in_node = {LinkKind::kPcie, machine.host_bytes_per_s / 2, machine.in_node.latency_s};
}

}  // namespace

double slowdown_ratio(const DeliveryEffect& effect) {
  // Multiplied out, so that a single axis is not rounded.
  const double packaged = effect.host_ratio + effect.packaging_ratio * (1 + effect.host_ratio);
  return packaged + effect.gpu_share_ratio * (1 + packaged);
}

DeliveryEffect delivery_effect(const Catalog& catalog, const Delivery& delivery, ParameterEnd end) {
  const Values value(catalog, end);
  DeliveryEffect effect;
  effect.host_ratio = added_time(value(host_tax_parameter(delivery.host)));
  effect.packaging_ratio = added_time(value(packaging_tax_parameter(delivery.packaging)));
  const double sharers = takes_turns(delivery) ? value("gpu_sharers") : 1;
  effect.gpu_share_ratio = sharers / (1 - value(gpu_share_tax_parameter(delivery.gpu_share))) - 1;
  if (delivery.host == "vm") {
    effect.sync_s = value("host_syncs_per_step") * value("vm_sync_latency_s");
    effect.jitter_ratio = value("vm_jitter_ratio");
  }
  return effect;
}

void apply_delivery(Machine& machine, const Catalog& catalog, const Delivery& delivery, ParameterEnd end) {
  const Values value(catalog, end);
  machine.delivery = delivery_effect(catalog, delivery, end);
  if (delivery.tenancy == "shared") machine.host_bytes_per_s *= 1 - value("shared_host_contention");
  if (delivery.gpu_share == "mig") cut_to_slices(machine, value);
}

std::string host_tax_parameter(const std::string& host) {
  if (host == "vm") return "virt_tax_vm";
  return host == "bare_metal" ? "" : "virt_tax_unknown";
}

std::string packaging_tax_parameter(const std::string& packaging) { return packaging == "container" ? "ct_tax" : ""; }

std::string gpu_share_tax_parameter(const std::string& gpu_share) {
  if (gpu_share == "mig") return "mig_tax";
  if (gpu_share == "time_slice") return "timeslice_tax";
  return gpu_share == "mps" ? "mps_tax" : "";
}

const std::vector<std::string>& delivery_parameter_ids() {
  static const std::vector<std::string> ids = {"virt_tax_vm",
                                               "virt_tax_unknown",
                                               "ct_tax",
                                               "mig_tax",
                                               "timeslice_tax",
                                               "mps_tax",
                                               "gpu_sharers",
                                               "vm_jitter_ratio",
                                               "vm_sync_latency_s",
                                               "host_syncs_per_step",
                                               "mig_compute_share",
                                               "mig_memory_share",
                                               "shared_host_contention"};
  return ids;
}

}  // namespace tare
