#include "run/run_rates.h"

#include <algorithm>

#include "perf/delivery.h"

namespace tare {
namespace {

bool is_unsourced(const CostParameter& parameter) { return parameter.source.evidence == "unsourced"; }

bool is_ampere_or_older(GpuGeneration generation) {
  return generation == GpuGeneration::kAmpere || generation == GpuGeneration::kVolta ||
         generation == GpuGeneration::kTuring || generation == GpuGeneration::kPascal;
}

void add(LoadedRates& rates, const Catalog& catalog, double RunRates::*rate, const char* id) {
  const CostParameter& p = parameter(catalog, id);
  rates.base.*rate = p.base;
  rates.parameters.push_back({rate, &p, p.low.value_or(p.base), p.high.value_or(p.base), is_unsourced(p)});
}

// A100 figures for Ampere and what came before, H100 figures for the rest: no later generation has published any. Only
// the H100 run published its interruptions by part: elsewhere the shares of the parts are borrowed from it.
void add_interruptions(LoadedRates& rates, const Catalog& catalog, GpuGeneration generation) {
  const bool ampere = is_ampere_or_older(generation);
  add(rates, catalog, ampere ? &RunRates::interruptions_per_node_h : &RunRates::interruptions_per_gpu_h,
      ampere ? "rsc1_failures" : "gpu_failures_per_gpu_h");
  if (generation != GpuGeneration::kHopper && generation != GpuGeneration::kAmpere) {
    rates.parameters.back().assumed = true;
  }
  add(rates, catalog, &RunRates::part_interrupt_gpu_h, "gpuh_per_interrupt_l3");
  add(rates, catalog, &RunRates::part_gpu_gpu_h, "gpuh_per_gpu_fault_l3");
  add(rates, catalog, &RunRates::part_hbm_gpu_h, "gpuh_per_hbm_fault_l3");
  add(rates, catalog, &RunRates::part_network_gpu_h, "gpuh_per_net_fault_l3");
  add(rates, catalog, &RunRates::nvlink_ratio, "nvlink_fault_share");
  for (std::size_t i = rates.parameters.size() - 5; i < rates.parameters.size(); ++i) {
    RatedParameter& p = rates.parameters[i];
    // One count behind several rows: their ranges belong to the total, which has its own.
    p.low = p.high = rates.base.*p.rate;
    p.assumed = p.assumed || generation != GpuGeneration::kHopper;
  }
}

void add_store(LoadedRates& rates, const RunInput& input, const Catalog& catalog) {
  add(rates, catalog, &RunRates::write_bytes_per_s, "ckpt_bw_shared");
  add(rates, catalog, &RunRates::read_bytes_per_s, "checkpoint_load_bytes_per_s");
  add(rates, catalog, &RunRates::store_bytes_per_s_per_gpu, "ckpt_bw_per_gpu");
  add(rates, catalog, &RunRates::node_bytes_per_s, "checkpoint_node_bytes_per_s");
  if (store_of(input) == CheckpointStore::kMemory) {
    add(rates, catalog, &RunRates::replica_bytes_per_s, "checkpoint_replica_bytes_per_s");
  }
  if (store_of(input) != CheckpointStore::kLocal) return;
  rates.base.disks = std::max(input.local_disks, 1);
  const auto disk = [&](double RunRates::*rate, const std::optional<double>& known, const char* id) {
    if (known) {
      rates.base.*rate = *known;
    } else {
      add(rates, catalog, rate, id);
    }
  };
  disk(&RunRates::disk_write_bytes_per_s, input.local_write_bytes_per_s, "local_nvme_write_bytes_per_s");
  disk(&RunRates::disk_read_bytes_per_s, input.local_read_bytes_per_s, "local_nvme_read_bytes_per_s");
}

// The step time holds the taxes at their base; here they have their ranges.
void add_delivery(LoadedRates& rates, const RunInput& input, const Catalog& catalog) {
  const auto tax = [&](double RunRates::*rate, const std::string& id) {
    if (!id.empty()) add(rates, catalog, rate, id.c_str());
  };
  if (!input.host.empty()) tax(&RunRates::host_tax, host_tax_parameter(input.host));
  tax(&RunRates::packaging_tax, packaging_tax_parameter(input.packaging));
  tax(&RunRates::gpu_share_tax, gpu_share_tax_parameter(input.gpu_share));
  rates.base.delivered_in_step = delivered_ratio(rates.base);
}

void add_metadata(LoadedRates& rates, const RunInput& input, const Catalog& catalog) {
  if (input.data_shards <= 0) return;
  add(rates, catalog, &RunRates::metadata_ops_per_shard, "metadata_ops_per_shard");
  add(rates, catalog, &RunRates::metadata_ops_per_s, "metadata_ops_per_s");
}

}  // namespace

double delivered_ratio(const RunRates& rates) {
  return (1 - rates.host_tax) * (1 - rates.packaging_tax) * (1 - rates.gpu_share_tax);
}

CheckpointStore store_of(const RunInput& input) {
  return input.nodes > 1 ? input.checkpoint.store : CheckpointStore::kShared;
}

LoadedRates load_rates(const RunInput& input, const Catalog& catalog) {
  LoadedRates rates;
  const bool nodes_come_fresh = input.purchase == Purchase::kOnDemand || input.purchase == Purchase::kSpot;
  if (nodes_come_fresh) {
    add(rates, catalog, &RunRates::provision_s,
        input.host == "bare_metal" ? "provision_bare_metal_s" : "provision_vm_s");
  }
  add(rates, catalog, &RunRates::image_bytes, "image_pull_bytes");
  add(rates, catalog, &RunRates::image_bytes_per_s, "image_pull_bytes_per_s");
  add(rates, catalog, &RunRates::driver_s, "driver_init_s");
  add(rates, catalog, &RunRates::process_s, "process_start_s");
  add(rates, catalog, &RunRates::nccl_s, "nccl_init_s");
  add(rates, catalog, &RunRates::nccl_s_per_doubling, "nccl_init_per_doubling_s");
  add(rates, catalog, &RunRates::warmup_s, "compile_warmup_s");
  if (input.host == "vm") add(rates, catalog, &RunRates::vm_s, "init_delta");
  add_delivery(rates, input, catalog);
  add_metadata(rates, input, catalog);
  add(rates, catalog, &RunRates::staging_bytes_per_s, "staging_bytes_per_s");
  add_store(rates, input, catalog);
  add(rates, catalog, &RunRates::snapshot_bytes_per_s, "checkpoint_d2h_bytes_per_s");
  add(rates, catalog, &RunRates::checkpoint_fixed_s, "checkpoint_fixed_s");
  if (input.checkpoint.async) add(rates, catalog, &RunRates::drain_ratio, "checkpoint_async_overhead_ratio");
  add(rates, catalog, &RunRates::detect_s, "detect_time");
  add(rates, catalog, &RunRates::requeue_s, nodes_come_fresh ? "requeue_rented_s" : "spare_swap_s");
  add_interruptions(rates, catalog, input.generation);
  if (input.purchase == Purchase::kSpot) {
    add(rates, catalog, &RunRates::spot_per_gpu_h, "spot_interruptions_per_gpu_h");
  }
  add(rates, catalog, &RunRates::planned_per_gpu_h, "planned_int_rate");
  // Rented nodes come fresh and go back before the next window.
  if (!nodes_come_fresh) add(rates, catalog, &RunRates::window_s_per_year, "fw_downtime");
  return rates;
}

const std::vector<std::string>& run_parameter_ids() {
  static const std::vector<std::string> ids = {"provision_vm_s",
                                               "provision_bare_metal_s",
                                               "image_pull_bytes",
                                               "image_pull_bytes_per_s",
                                               "driver_init_s",
                                               "process_start_s",
                                               "nccl_init_s",
                                               "nccl_init_per_doubling_s",
                                               "compile_warmup_s",
                                               "init_delta",
                                               "staging_bytes_per_s",
                                               "metadata_ops_per_shard",
                                               "metadata_ops_per_s",
                                               "virt_tax_vm",
                                               "virt_tax_unknown",
                                               "ct_tax",
                                               "mig_tax",
                                               "timeslice_tax",
                                               "mps_tax",
                                               "ckpt_bw_shared",
                                               "checkpoint_load_bytes_per_s",
                                               "checkpoint_node_bytes_per_s",
                                               "checkpoint_d2h_bytes_per_s",
                                               "checkpoint_fixed_s",
                                               "checkpoint_async_overhead_ratio",
                                               "ckpt_bw_per_gpu",
                                               "checkpoint_replica_bytes_per_s",
                                               "local_nvme_write_bytes_per_s",
                                               "local_nvme_read_bytes_per_s",
                                               "gpuh_per_interrupt_l3",
                                               "gpuh_per_gpu_fault_l3",
                                               "gpuh_per_hbm_fault_l3",
                                               "gpuh_per_net_fault_l3",
                                               "nvlink_fault_share",
                                               "planned_int_rate",
                                               "fw_downtime",
                                               "detect_time",
                                               "requeue_rented_s",
                                               "spare_swap_s",
                                               "rsc1_failures",
                                               "gpu_failures_per_gpu_h",
                                               "spot_interruptions_per_gpu_h",
                                               "server_tdp_fraction",
                                               "idle_node_frac",
                                               "server_power_per_tdp"};
  return ids;
}

FormulaInput parameter_input(std::string name, const CostParameter& parameter) {
  return {std::move(name),         parameter.base, parameter.unit, "parameter " + parameter.id,
          is_unsourced(parameter), parameter.low,  parameter.high};
}

FormulaInput LoadedRates::input(const char* name, const char* unit, double RunRates::*rate,
                                const char* why_zero) const {
  for (const RatedParameter& p : parameters) {
    if (p.rate != rate) continue;
    FormulaInput input{name, base.*rate, unit, "parameter " + p.parameter->id, p.assumed};
    if (p.low != base.*rate) input.low = p.low;
    if (p.high != base.*rate) input.high = p.high;
    return input;
  }
  return {name, base.*rate, unit, why_zero, false};
}

}  // namespace tare
