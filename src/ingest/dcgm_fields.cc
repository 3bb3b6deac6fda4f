#include "ingest/dcgm_fields.h"

#include <unordered_map>

#include "ingest/measured.h"

namespace tare {
namespace {

using Names = std::unordered_map<std::string_view, std::string_view>;

// Without DCGM_FI_DEV_, DCGM_FI_PROF_, DCGM_FI_ or DCGM_EXP_, where the unit is not in the name.
const Names& field_names() {
  static const Names names = {
      {"SM_CLOCK", "sm_clock_mhz"},
      {"MEM_CLOCK", "mem_clock_mhz"},
      {"VIDEO_CLOCK", "video_clock_mhz"},
      {"APP_SM_CLOCK", "app_sm_clock_mhz"},
      {"APP_MEM_CLOCK", "app_mem_clock_mhz"},
      {"MAX_SM_CLOCK", "max_sm_clock_mhz"},
      {"MAX_MEM_CLOCK", "max_mem_clock_mhz"},
      {"GPU_TEMP", "gpu_temp_c"},
      {"MEMORY_TEMP", "memory_temp_c"},
      {"GPU_MAX_OP_TEMP", "gpu_max_op_temp_c"},
      {"SLOWDOWN_TEMP", "slowdown_temp_c"},
      {"SHUTDOWN_TEMP", "shutdown_temp_c"},
      {"POWER_USAGE", "power_usage_w"},
      {"POWER_USAGE_INSTANT", "power_usage_instant_w"},
      {"POWER_MGMT_LIMIT", "power_limit_w"},
      {"ENFORCED_POWER_LIMIT", "enforced_power_limit_w"},
      {"TOTAL_ENERGY_CONSUMPTION", "total_energy_mj"},
      {"GPU_UTIL", "gpu_util_pct"},
      {"MEM_COPY_UTIL", "mem_copy_util_pct"},
      {"ENC_UTIL", "enc_util_pct"},
      {"DEC_UTIL", "dec_util_pct"},
      {"FAN_SPEED", "fan_speed_pct"},
      {"FB_TOTAL", "fb_total_mib"},
      {"FB_FREE", "fb_free_mib"},
      {"FB_USED", "fb_used_mib"},
      {"FB_RESERVED", "fb_reserved_mib"},
      {"FB_USED_PERCENT", "fb_used_ratio"},
      {"BAR1_TOTAL", "bar1_total_mib"},
      {"BAR1_USED", "bar1_used_mib"},
      {"BAR1_FREE", "bar1_free_mib"},
      {"PCIE_TX_THROUGHPUT", "pcie_tx_kb_per_s"},
      {"PCIE_RX_THROUGHPUT", "pcie_rx_kb_per_s"},
      {"PCIE_TX_BYTES", "pcie_tx_bytes_per_s"},
      {"PCIE_RX_BYTES", "pcie_rx_bytes_per_s"},
      {"NVLINK_TX_BYTES", "nvlink_tx_bytes_per_s"},
      {"NVLINK_RX_BYTES", "nvlink_rx_bytes_per_s"},
      {"PCIE_LINK_GEN", "pcie_gen_current"},
      {"PCIE_MAX_LINK_GEN", "pcie_gen_max"},
      {"PCIE_LINK_WIDTH", "pcie_lanes_current"},
      {"PCIE_MAX_LINK_WIDTH", "pcie_lanes_max"},
      {"POWER_VIOLATION", "power_violation_us"},
      {"THERMAL_VIOLATION", "thermal_violation_us"},
      {"SYNC_BOOST_VIOLATION", "sync_boost_violation_us"},
      {"BOARD_LIMIT_VIOLATION", "board_limit_violation_us"},
      {"LOW_UTIL_VIOLATION", "low_util_violation_us"},
      {"RELIABILITY_VIOLATION", "reliability_violation_us"},
  };
  return names;
}

// Headings of dcgmi dmon, as dcgm_fields.cc of DCGM has them.
const Names& headings() {
  static const Names names = {
      {"DRVER", "driver"},
      {"NVVER", "nvml_version"},
      {"DVNAM", "name"},
      {"DVBRN", "brand"},
      {"NVIDX", "nvml_index"},
      {"SRNUM", "serial"},
      {"UUID#", "uuid"},
      {"MNNUM", "minor_number"},
      {"PCBID", "bus_id"},
      {"GPUTL", "gpu_util_pct"},
      {"MCUTL", "mem_copy_util_pct"},
      {"ENCTL", "enc_util_pct"},
      {"DECTL", "dec_util_pct"},
      {"POWER", "power_usage_w"},
      {"TOTEC", "total_energy_mj"},
      {"TMPTR", "gpu_temp_c"},
      {"MMTMP", "memory_temp_c"},
      {"SMCLK", "sm_clock_mhz"},
      {"MMCLK", "mem_clock_mhz"},
      {"VICLK", "video_clock_mhz"},
      {"SACLK", "app_sm_clock_mhz"},
      {"MACLK", "app_mem_clock_mhz"},
      {"FBTTL", "fb_total_mib"},
      {"FBFRE", "fb_free_mib"},
      {"FBUSD", "fb_used_mib"},
      {"B1TTL", "bar1_total_mib"},
      {"B1USE", "bar1_used_mib"},
      {"B1FRE", "bar1_free_mib"},
      {"PSTAT", "pstate"},
      {"FANSP", "fan_speed_pct"},
      {"GRACT", "gr_engine_active"},
      {"SMACT", "sm_active"},
      {"SMOCC", "sm_occupancy"},
      {"TENSO", "pipe_tensor_active"},
      {"DRAMA", "dram_active"},
      {"FP64A", "pipe_fp64_active"},
      {"FP32A", "pipe_fp32_active"},
      {"FP16A", "pipe_fp16_active"},
      {"PCITX", "pcie_tx_bytes_per_s"},
      {"PCIRX", "pcie_rx_bytes_per_s"},
      {"NVLTX", "nvlink_tx_bytes_per_s"},
      {"NVLRX", "nvlink_rx_bytes_per_s"},
      {"TXTPT", "pcie_tx_kb_per_s"},
      {"RXTPT", "pcie_rx_kb_per_s"},
      {"RPCTR", "pcie_replay_counter"},
      {"XIDER", "xid_errors"},
      {"PVIOL", "power_violation_us"},
      {"TVIOL", "thermal_violation_us"},
      {"SBVIO", "sync_boost_violation_us"},
      {"BLVIO", "board_limit_violation_us"},
      {"LUVIO", "low_util_violation_us"},
      {"RLVIO", "reliability_violation_us"},
      {"PMLMT", "power_limit_w"},
      {"DVCCL", "clocks_event_reasons"},
      {"DVCCTR", "clocks_event_reasons"},
      {"TIMMA", "pipe_tensor_imma_active"},
      {"THMMA", "pipe_tensor_hmma_active"},
      {"TDFMA", "pipe_tensor_dfma_active"},
      {"INTAC", "pipe_int_active"},
      {"PCILG", "pcie_gen_current"},
      {"PCILW", "pcie_lanes_current"},
      {"SRMPU", "retired_pages_single_bit"},
      {"DRMPU", "retired_pages_double_bit"},
  };
  return names;
}

}  // namespace

std::string dcgm_fact_name(std::string_view field) {
  for (const std::string_view start : {"DCGM_FI_DEV_", "DCGM_FI_PROF_", "DCGM_EXP_", "DCGM_FI_"}) {
    if (!field.starts_with(start)) continue;
    field.remove_prefix(start.size());
    break;
  }
  const auto found = field_names().find(field);
  return found == field_names().end() ? snake_name(field) : std::string(found->second);
}

std::string dcgmi_column_name(std::string_view heading) {
  const auto found = headings().find(heading);
  return found == headings().end() ? snake_name(heading) : std::string(found->second);
}

bool is_dcgm_blank(double value) {
  return (value >= 2147483632.0 && value <= 2147483647.0) || value >= 9.2233720368547e18 ||
         (value >= 140737488355328.0 && value <= 140737488355340.0);
}

}  // namespace tare
