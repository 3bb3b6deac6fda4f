// A catalog of round numbers, so that the algebra of a test can be done in the head. Nothing in it is a fact.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "catalog/catalog.h"
#include "run/run.h"

namespace tare::test {

inline void set(Catalog& catalog, const std::string& id, double base, std::optional<double> low = {},
                std::optional<double> high = {}) {
  for (CostParameter& known : catalog.parameters) {
    if (known.id != id) continue;
    known.base = base;
    known.low = low;
    known.high = high;
    return;
  }
  CostParameter parameter;
  parameter.id = id;
  parameter.unit = "1";
  parameter.base = base;
  parameter.low = low;
  parameter.high = high;
  parameter.source.evidence = "read";
  catalog.parameters.push_back(std::move(parameter));
}

inline void set_run_parameters(Catalog& c) {
  set(c, "provision_vm_s", 100);
  set(c, "provision_bare_metal_s", 200);
  set(c, "image_pull_bytes", 10e9);
  set(c, "image_pull_bytes_per_s", 1e9);
  set(c, "driver_init_s", 10);
  set(c, "process_start_s", 20);
  set(c, "nccl_init_s", 10);
  set(c, "nccl_init_per_doubling_s", 2);
  set(c, "compile_warmup_s", 30);
  set(c, "init_delta", 47);
  set(c, "staging_bytes_per_s", 1e9);
  set(c, "metadata_ops_per_shard", 2);
  set(c, "metadata_ops_per_s", 1e5);
  set(c, "virt_tax_vm", 0);
  set(c, "virt_tax_unknown", 0);
  set(c, "ckpt_bw_shared", 10e9);
  set(c, "checkpoint_load_bytes_per_s", 20e9);
  set(c, "checkpoint_node_bytes_per_s", 5e9);
  set(c, "checkpoint_d2h_bytes_per_s", 10e9);
  set(c, "checkpoint_fixed_s", 1);
  set(c, "checkpoint_async_overhead_ratio", 0);
  set(c, "ckpt_bw_per_gpu", 1e6);
  set(c, "checkpoint_replica_bytes_per_s", 5e9);
  set(c, "local_nvme_write_bytes_per_s", 5e9);
  set(c, "local_nvme_read_bytes_per_s", 10e9);
  set(c, "gpuh_per_interrupt_l3", 50);
  set(c, "gpuh_per_gpu_fault_l3", 100);
  set(c, "gpuh_per_hbm_fault_l3", 200);
  set(c, "gpuh_per_net_fault_l3", 500);
  set(c, "nvlink_fault_share", 0.2);
  set(c, "planned_int_rate", 0);
  set(c, "fw_downtime", 0);
  set(c, "detect_time", 300);
  set(c, "requeue_rented_s", 600);
  set(c, "spare_swap_s", 300);
  set(c, "rsc1_failures", 8e-4);
  set(c, "gpu_failures_per_gpu_h", 1e-4);
  set(c, "spot_interruptions_per_gpu_h", 9e-4);
  set(c, "server_tdp_fraction", 0.75, 0.6, 0.8);
  set(c, "idle_node_frac", 0.2);
  set(c, "server_power_per_tdp", 2);
}

inline void set_bill_parameters(Catalog& c) {
  set(c, "alloc_ratio", 0.8);
  set(c, "checkpoints_kept", 3);
  set(c, "file_storage_usd_per_byte_month", 1e-10);
  set(c, "egress_large_cloud_usd_per_byte", 9e-11);
  set(c, "egress_other_usd_per_byte", 0);
  set(c, "mttr", 1800);
  set(c, "incident_people", 2);
  set(c, "eng_rate", 100);
  set(c, "server_overhead", 1.6);
  set(c, "install_ratio", 0);
  set(c, "net_share_small", 0.04);
  set(c, "net_share_2tier", 0.08);
  set(c, "net_share_3tier", 0.12);
  set(c, "hw_progress", 0.2);
  set(c, "life_years", 5);
  set(c, "wacc", 0.1);
  set(c, "spare_nodes", 0.05);
  set(c, "elec_china_ind", 0.08);
  set(c, "elec_us_ind", 0.1);
  set(c, "network_power_per_gpu_w", 50);
  set(c, "pue_air_ai", 1.5);
  set(c, "facility_capex", 10);
  set(c, "facility_life_years", 20);
  set(c, "fs_overprov", 0.25);
  set(c, "storage_price", 2e-10);
  set(c, "gpus_per_fte", 400);
  set(c, "frag_waste", 0.1);
  set(c, "spares_ratio_per_year", 0.02);
  set(c, "sw_support", 0.05);
  set(c, "colo_kw", 0.146);
  set(c, "log_volume", 1e6);
  set(c, "log_retention", 10);
  set(c, "archive_price", 1e-11);
  set(c, "audit_cost", 87600);
  set(c, "pue_liquid", 1.1);
  set(c, "liquid_it_saving", 0.1);
  set(c, "air_rack_limit_w", 50000);
  set(c, "energy_floor_ratio", 0.5);
  set(c, "usd_per_eur", 1.1);
  for (const char* row : {"elec_germany", "elec_france", "elec_ireland", "elec_finland_sweden", "elec_eu_avg"}) {
    set(c, row, 0.2);
    c.parameters.back().unit = "EUR/kWh";
  }
  set(c, "elec_world_business", 0.16);
  for (const char* country : {"usa", "chn", "deu", "fra", "irl", "swe", "gbr", "nor", "isl", "ind", "jpn", "sgp", "aus",
                              "can", "kor", "twn"}) {
    set(c, std::string("co2_") + country, 400);
  }
  set(c, "value_decline_per_year", 0.25);
  set(c, "resid_36_table_a100", 0.28);
  set(c, "resid_36_table_h100", 0.41);
  set(c, "resid_36_table_l40s", 0.53);
  set(c, "resid_36_a100", 0.25);
  set(c, "resid_36_h100", 0.3);
  set(c, "resid_36_l40s", 0.35);
}

inline Catalog round_catalog() {
  Catalog catalog;
  set_run_parameters(catalog);
  set_bill_parameters(catalog);
  return catalog;
}

// 64 H100 in 8 nodes, 10,000 steps of 10 s, a checkpoint of 200 GB: with the round catalog
//   W = 1 + 200e9 / min(8 · 5e9, 10e9) = 21 s, δ = 1 + 200e9 / (64 · 10e9) = 1.3125 s
//   M = 3600 / (64 · 1e-4) = 562,500 s
inline RunInput round_run() {
  RunInput input;
  input.tokens = 1e10;
  input.tokens_per_step = 1e6;
  input.step_time_s = 10;
  input.gpus = 64;
  input.nodes = 8;
  input.parameters = 13e9;
  input.checkpoint_bytes = 200e9;
  input.purchase = Purchase::kOnDemand;
  input.generation = GpuGeneration::kHopper;
  input.host = "vm";
  return input;
}

}  // namespace tare::test
