#include "ingest/gpu_fields.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ingest/measured.h"
#include "ingest/scan.h"

namespace tare {
namespace {

using Names = std::unordered_map<std::string_view, std::string_view>;

// Paths of the text and of the XML.
const Names& path_names() {
  static const Names names = {
      {"product_name", "name"},
      {"product_brand", "brand"},
      {"product_architecture", "architecture"},
      {"display_active", "display_active"},
      {"persistence_mode", "persistence"},
      {"addressing_mode", "addressing_mode"},
      {"mig_mode.current", "mig"},
      {"mig_mode.current_mig", "mig"},
      {"mig_mode.pending", "mig_pending"},
      {"mig_mode.pending_mig", "mig_pending"},
      {"driver_model.current", "driver_model"},
      {"driver_model.current_dm", "driver_model"},
      {"serial_number", "serial"},
      {"serial", "serial"},
      {"gpu_uuid", "uuid"},
      {"uuid", "uuid"},
      {"minor_number", "minor_number"},
      {"vbios_version", "vbios"},
      {"board_part_number", "board_part_number"},
      {"gpu_part_number", "gpu_part_number"},
      {"module_id", "module_id"},
      {"gpu_module_id", "module_id"},
      {"platform_info.module_id", "module_id"},
      {"inforom_version.image_version", "inforom_image"},
      {"inforom_version.img_version", "inforom_image"},
      {"gsp_firmware_version", "gsp_firmware"},
      {"gpu_virtualization_mode.virtualization_mode", "virtualization"},
      {"virtualization_mode.virtualization_mode", "virtualization"},
      {"gpu_recovery_action", "recovery_action"},
      {"gpu_reset_status.reset_required", "reset_required"},
      {"gpu_reset_status.drain_and_reset_recommended", "drain_and_reset_recommended"},
      {"pci.bus_id", "bus_id"},
      {"pci.pci_bus_id", "bus_id"},
      {"pci.device_id", "device_id"},
      {"pci.pci_device_id", "device_id"},
      {"pci.sub_system_id", "sub_system_id"},
      {"pci.pci_sub_system_id", "sub_system_id"},
      {"pci.gpu_link_info.pcie_generation.max", "pcie_gen_max"},
      {"pci.gpu_link_info.pcie_generation.current", "pcie_gen_current"},
      {"pci.gpu_link_info.pcie_generation.device_current", "pcie_gen_device_current"},
      {"pci.gpu_link_info.pcie_generation.device_max", "pcie_gen_device_max"},
      {"pci.gpu_link_info.pcie_generation.host_max", "pcie_gen_host_max"},
      {"pci.gpu_link_info.link_width.max", "pcie_width_max"},
      {"pci.gpu_link_info.link_width.current", "pcie_width"},
      {"pci.pci_gpu_link_info.pcie_gen.max_link_gen", "pcie_gen_max"},
      {"pci.pci_gpu_link_info.pcie_gen.current_link_gen", "pcie_gen_current"},
      {"pci.pci_gpu_link_info.pcie_gen.device_current_link_gen", "pcie_gen_device_current"},
      {"pci.pci_gpu_link_info.pcie_gen.max_device_link_gen", "pcie_gen_device_max"},
      {"pci.pci_gpu_link_info.pcie_gen.max_host_link_gen", "pcie_gen_host_max"},
      {"pci.pci_gpu_link_info.link_widths.max_link_width", "pcie_width_max"},
      {"pci.pci_gpu_link_info.link_widths.current_link_width", "pcie_width"},
      {"pci.replays_since_reset", "pcie_replays"},
      {"pci.replay_counter", "pcie_replays"},
      {"pci.replay_number_rollovers", "pcie_replay_rollovers"},
      {"pci.replay_rollover_counter", "pcie_replay_rollovers"},
      {"pci.tx_throughput", "pcie_tx_kb_per_s"},
      {"pci.tx_util", "pcie_tx_kb_per_s"},
      {"pci.rx_throughput", "pcie_rx_kb_per_s"},
      {"pci.rx_util", "pcie_rx_kb_per_s"},
      {"fan_speed", "fan_pct"},
      {"performance_state", "pstate"},
      {"fb_memory_usage.total", "mem_total_mib"},
      {"fb_memory_usage.reserved", "mem_reserved_mib"},
      {"fb_memory_usage.used", "mem_used_mib"},
      {"fb_memory_usage.free", "mem_free_mib"},
      {"memory_usage.total", "mem_total_mib"},
      {"memory_usage.used", "mem_used_mib"},
      {"memory_usage.free", "mem_free_mib"},
      {"bar1_memory_usage.total", "bar1_total_mib"},
      {"bar1_memory_usage.used", "bar1_used_mib"},
      {"compute_mode", "compute_mode"},
      {"utilization.gpu", "util_pct"},
      {"utilization.gpu_util", "util_pct"},
      {"utilization.memory", "mem_util_pct"},
      {"utilization.memory_util", "mem_util_pct"},
      {"utilization.encoder", "encoder_util_pct"},
      {"utilization.encoder_util", "encoder_util_pct"},
      {"utilization.decoder", "decoder_util_pct"},
      {"utilization.decoder_util", "decoder_util_pct"},
      {"utilization.jpeg", "jpeg_util_pct"},
      {"utilization.jpeg_util", "jpeg_util_pct"},
      {"utilization.ofa", "ofa_util_pct"},
      {"utilization.ofa_util", "ofa_util_pct"},
      {"ecc_mode.current", "ecc"},
      {"ecc_mode.current_ecc", "ecc"},
      {"ecc_mode.pending", "ecc_pending"},
      {"ecc_mode.pending_ecc", "ecc_pending"},
      {"retired_pages.single_bit_ecc", "retired_pages_single_bit"},
      {"retired_pages.multiple_single_bit_retirement.retired_count", "retired_pages_single_bit"},
      {"retired_pages.double_bit_ecc", "retired_pages_double_bit"},
      {"retired_pages.double_bit_retirement.retired_count", "retired_pages_double_bit"},
      {"retired_pages.pending_page_blacklist", "retired_pages_pending"},
      {"retired_pages.pending_blacklist", "retired_pages_pending"},
      {"retired_pages.pending", "retired_pages_pending"},
      {"retired_pages.pending_retirement", "retired_pages_pending"},
      {"remapped_rows.correctable_error", "remapped_rows_correctable"},
      {"remapped_rows.remapped_row_corr", "remapped_rows_correctable"},
      {"remapped_rows.uncorrectable_error", "remapped_rows_uncorrectable"},
      {"remapped_rows.remapped_row_unc", "remapped_rows_uncorrectable"},
      {"remapped_rows.pending", "remapping_pending"},
      {"remapped_rows.remapped_row_pending", "remapping_pending"},
      {"remapped_rows.remapping_failure_occurred", "remapping_failure"},
      {"remapped_rows.remapped_row_failure", "remapping_failure"},
      {"temperature.gpu_current_temp", "temp_c"},
      {"temperature.gpu_temp", "temp_c"},
      {"temperature.gpu", "temp_c"},
      {"temperature.gpu_t_limit_temp", "temp_t_limit_c"},
      {"temperature.gpu_temp_tlimit", "temp_t_limit_c"},
      {"temperature.gpu_shutdown_temp", "temp_shutdown_c"},
      {"temperature.gpu_temp_max_threshold", "temp_shutdown_c"},
      {"temperature.gpu_slowdown_temp", "temp_slowdown_c"},
      {"temperature.gpu_temp_slow_threshold", "temp_slowdown_c"},
      {"temperature.memory_current_temp", "mem_temp_c"},
      {"temperature.memory_temp", "mem_temp_c"},
      {"clocks.graphics", "graphics_clock_mhz"},
      {"clocks.graphics_clock", "graphics_clock_mhz"},
      {"clocks.sm", "sm_clock_mhz"},
      {"clocks.sm_clock", "sm_clock_mhz"},
      {"clocks.memory", "mem_clock_mhz"},
      {"clocks.mem_clock", "mem_clock_mhz"},
      {"clocks.video", "video_clock_mhz"},
      {"clocks.video_clock", "video_clock_mhz"},
      {"max_clocks.graphics", "graphics_clock_max_mhz"},
      {"max_clocks.graphics_clock", "graphics_clock_max_mhz"},
      {"max_clocks.sm", "sm_clock_max_mhz"},
      {"max_clocks.sm_clock", "sm_clock_max_mhz"},
      {"max_clocks.memory", "mem_clock_max_mhz"},
      {"max_clocks.mem_clock", "mem_clock_max_mhz"},
      {"applications_clocks.graphics", "graphics_clock_application_mhz"},
      {"applications_clocks.graphics_clock", "graphics_clock_application_mhz"},
      {"applications_clocks.memory", "mem_clock_application_mhz"},
      {"applications_clocks.mem_clock", "mem_clock_application_mhz"},
      {"voltage.graphics", "voltage_mv"},
      {"voltage.graphics_volt", "voltage_mv"},
      {"fabric.state", "fabric_state"},
      {"fabric.status", "fabric_status"},
      {"fabric.clique_id", "fabric_clique_id"},
      {"fabric.cluster_uuid", "fabric_cluster_uuid"},
      {"fabric.health.summary", "fabric_health"},
      {"fabric.health.bandwidth", "fabric_health_bandwidth"},
  };
  return names;
}

// Members of "gpu_power_readings" (also "power_readings" before driver 530).
const Names& power_names() {
  static const Names names = {
      {"power_draw", "power_w"},
      {"average_power_draw", "average_power_draw_w"},
      {"instantaneous_power_draw", "instant_power_draw_w"},
      {"instant_power_draw", "instant_power_draw_w"},
      {"current_power_limit", "power_limit_w"},
      {"enforced_power_limit", "power_limit_enforced_w"},
      {"power_limit", "power_limit_w"},
      {"requested_power_limit", "power_limit_requested_w"},
      {"default_power_limit", "power_limit_default_w"},
      {"min_power_limit", "power_limit_min_w"},
      {"max_power_limit", "power_limit_max_w"},
  };
  return names;
}

const Names& reason_names() {
  static const Names names = {
      {"gpu_idle", "idle"},
      {"display_clocks_setting", "display_clock_setting"},
      {"sw_power_capping", "sw_power_cap"},
      {"hw_power_braking", "hw_power_brake_slowdown"},
      {"hw_power_brake", "hw_power_brake_slowdown"},
      {"hw_therm_slowdown", "hw_thermal_slowdown"},
      {"sw_therm_slowdown", "sw_thermal_slowdown"},
  };
  return names;
}

constexpr std::array<std::string_view, 9> kReasons = {
    "hw_slowdown", "hw_thermal_slowdown",   "hw_power_brake_slowdown",     "sw_power_cap",  "sw_thermal_slowdown",
    "sync_boost",  "display_clock_setting", "applications_clocks_setting", "unknown_reason"};

std::string_view renamed(const Names& names, std::string_view name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

bool strip(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

void put(FactRecord& gpu, std::string_view name, std::string_view text, std::int64_t line) {
  const bool as_printed = name == "pcie_width" || name == "pcie_width_max" || name == "serial" || name == "vbios" ||
                          name == "device_id" || name == "sub_system_id" || name == "board_part_number" ||
                          name == "uuid" || name == "bus_id" || name == "inforom_image" || name == "gsp_firmware" ||
                          name == "gpu_part_number" || name == "name";
  if (as_printed) {
    gpu.set_once(name, says_unknown(text) ? Fact::unknown(line) : Fact::of(trim(text), line));
  } else {
    gpu.set_once(name, measured_value(text, line));
  }
}

void take_reason(FactRecord& gpu, std::string_view reason, std::string_view text, std::int64_t line) {
  strip(reason, "clocks_event_reason_") || strip(reason, "clocks_throttle_reason_");
  reason = renamed(reason_names(), reason);
  put(gpu, reason == "unknown" ? std::string_view("unknown_reason") : reason, text, line);
}

void take_reason_counter(FactRecord& gpu, std::string_view reason, std::string_view text, std::int64_t line) {
  strip(reason, "clocks_event_reasons_counters_");
  if (reason.ends_with("_us")) reason.remove_suffix(3);
  const std::string_view unit = contains(text, "ms") ? "_ms" : contains(text, "ns") ? "_ns" : "_us";
  put(gpu, std::string(renamed(reason_names(), reason)) + "_counter" + std::string(unit), text, line);
}

void take_power(FactRecord& gpu, std::string_view name, std::string_view text, std::int64_t line) {
  const auto found = power_names().find(name);
  if (found == power_names().end()) return;
  put(gpu, found->second, text, line);
  if (found->second == "average_power_draw_w") put(gpu, "power_w", text, line);
}

void take_ecc_error(FactRecord& gpu, std::string_view path, std::string_view text, std::int64_t line) {
  std::string name = "ecc_";
  for (const char c : path) name += c == '.' ? '_' : c;
  put(gpu, name, text, line);
}

// The sum of the members that `counts` picks; nothing when none of them is a number.
template <typename Counts>
void set_sum(FactRecord& gpu, std::string_view name, Counts counts) {
  std::int64_t sum = 0, line = 0;
  bool any = false, all_unknown = false;
  for (const auto& [key, fact] : gpu.members()) {
    if (!counts(key)) continue;
    line = line == 0 ? fact.line : line;
    all_unknown = true;
    const std::int64_t* const value = std::get_if<std::int64_t>(&fact.value);
    if (value == nullptr || *value < 0 || *value > (std::int64_t{1} << 60)) continue;
    any = true;
    sum = std::min(sum + *value, std::int64_t{1} << 60);
  }
  if (any) {
    gpu.set_once(name, Fact::of(sum, line));
  } else if (all_unknown) {
    gpu.set_once(name, Fact::unknown(line));
  }
}

void complete_ecc(FactRecord& gpu) {
  for (const std::string scope : {"volatile", "aggregate"}) {
    const std::string start = "ecc_" + scope + "_";
    const std::string sram = start + "sram_uncorrectable";
    set_sum(gpu, sram, [&](std::string_view key) {
      return key == sram + "_parity" || key == sram + "_sec_ded" || key == sram + "_secded";
    });
    // Before the A100: single and double bit errors, with a total.
    const bool has_total = gpu.has(start + "double_bit_total");
    set_sum(gpu, start + "uncorrectable", [&](std::string_view key) {
      return key == sram || key == start + "dram_uncorrectable" ||
             (has_total ? key == start + "double_bit_total" : key.starts_with(start + "double_bit_"));
    });
    const bool has_single = gpu.has(start + "single_bit_total");
    set_sum(gpu, start + "correctable", [&](std::string_view key) {
      return key == start + "sram_correctable" || key == start + "dram_correctable" ||
             (has_single ? key == start + "single_bit_total" : key.starts_with(start + "single_bit_"));
    });
  }
  if (const Fact* const sum = gpu.find("ecc_volatile_uncorrectable")) gpu.set_once("ecc_uncorrectable", Fact(*sum));
  if (const Fact* const sum = gpu.find("ecc_volatile_correctable")) gpu.set_once("ecc_correctable", Fact(*sum));
}

void complete_reasons(FactRecord& gpu) {
  std::vector<Fact> active;
  std::int64_t line = 0;
  for (const std::string_view reason : kReasons) {
    const Fact* const fact = gpu.find(reason);
    if (fact == nullptr) continue;
    line = fact->line;
    if (fact->text() == "Active") active.push_back(Fact::of(reason, fact->line));
  }
  if (line > 0) gpu.set("slowdowns_active", Fact::of(std::move(active), line));
}

void complete_lanes(FactRecord& gpu, std::string_view width, std::string_view lanes) {
  const Fact* const fact = gpu.find(width);
  if (fact == nullptr) return;
  Fact value = fact->number() ? *fact : measured_value(fact->text(), fact->line);
  if (fact->is_unknown()) value = Fact::unknown(fact->line);
  gpu.set_once(lanes, std::move(value));
}

bool same_value(const Fact& a, const Fact& b) {
  if (a.as_record() != nullptr || a.as_list() != nullptr) return false;
  if (a.number() && b.number()) return *a.number() == *b.number();
  return a.value.index() == b.value.index() && a.text() == b.text();
}

bool is_scalar(const Fact& fact) { return fact.as_record() == nullptr && fact.as_list() == nullptr; }

// Names that tell one GPU from another, or a measured value: that these differ is no news.
bool is_own(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kOwn = {
      "index", "uuid", "serial", "bus_id", "minor_number", "module_id", "board_id", "last_row", "timestamp"};
  return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
}

bool is_setting(std::string_view name, const Fact& fact) {
  if (is_own(name)) return false;
  if (!fact.text().empty()) return true;
  return name.starts_with("pcie_gen") || name.starts_with("pcie_lanes") || name.starts_with("power_limit") ||
         name == "mem_total_mib" || name.starts_with("remapped") || name.starts_with("retired") ||
         name.starts_with("ecc_");
}

const Fact* index_of(const FactRecord& gpu) {
  const Fact* const index = gpu.find("index");
  return index != nullptr ? index : gpu.find("gpu");
}

struct ValueGroup {
  const Fact* value;
  std::vector<Fact> gpus;
};

void add_difference(FactRecord& facts, std::string_view name, const std::vector<const FactRecord*>& gpus) {
  std::vector<ValueGroup> groups;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Fact* const fact = gpus[i]->find(name);
    if (fact == nullptr) continue;
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const ValueGroup& one) { return same_value(*one.value, *fact); });
    const Fact* const index = index_of(*gpus[i]);
    Fact id = index != nullptr ? *index : Fact::of(static_cast<std::int64_t>(i), fact->line);
    if (group != groups.end()) {
      group->gpus.push_back(std::move(id));
    } else if (groups.size() < 16) {
      groups.push_back({fact, {std::move(id)}});
    }
  }
  std::vector<Fact> list;
  for (ValueGroup& group : groups) {
    FactRecord record(group.value->line);
    record.set("value", *group.value);
    record.set("count", static_cast<std::int64_t>(group.gpus.size()));
    record.set("gpus", Fact::of(std::move(group.gpus)));
    list.push_back(Fact::of(std::move(record)));
  }
  facts.record("differs").set(name, Fact::of(std::move(list)));
}

void compare_gpus(FactRecord& facts, const std::vector<const FactRecord*>& gpus) {
  for (const auto& [name, first] : gpus.front()->members()) {
    if (!is_scalar(first)) continue;
    if (gpus.size() > 1 && is_own(name)) continue;
    const bool same = std::all_of(gpus.begin(), gpus.end(), [&, &name = name, &first = first](const FactRecord* gpu) {
      const Fact* const other = gpu->find(name);
      return other != nullptr && same_value(*other, first);
    });
    if (same) {
      facts.set_once(name, first);
    } else if (is_setting(name, first)) {
      add_difference(facts, name, gpus);
    }
  }
}

// Clocks, throttle reasons and the rest of --query-gpu whose snake name is not the general one.
const Names& column_names() {
  static const Names names = {
      {"gpu_name", "name"},
      {"gpu_uuid", "uuid"},
      {"gpu_serial", "serial"},
      {"gpu_bus_id", "bus_id"},
      {"pci_bus_id", "bus_id"},
      {"pci_device_id", "device_id"},
      {"pci_sub_device_id", "sub_system_id"},
      {"driver_version", "driver"},
      {"count", "attached_gpus"},
      {"vbios_version", "vbios"},
      {"inforom_img", "inforom_image"},
      {"persistence_mode", "persistence"},
      {"accounting_mode", "accounting_mode"},
      {"display_mode", "display_mode"},
      {"display_active", "display_active"},
      {"pcie_link_gen_current", "pcie_gen_current"},
      {"pcie_link_gen_gpucurrent", "pcie_gen_current"},
      {"pcie_link_gen_max", "pcie_gen_max"},
      {"pcie_link_gen_gpumax", "pcie_gen_device_max"},
      {"pcie_link_gen_hostmax", "pcie_gen_host_max"},
      {"pcie_link_width_current", "pcie_width"},
      {"pcie_link_width_max", "pcie_width_max"},
      {"fan_speed", "fan"},
      {"memory_total", "mem_total"},
      {"memory_used", "mem_used"},
      {"memory_free", "mem_free"},
      {"memory_reserved", "mem_reserved"},
      {"utilization_gpu", "util"},
      {"utilization_memory", "mem_util"},
      {"utilization_encoder", "encoder_util"},
      {"utilization_decoder", "decoder_util"},
      {"utilization_jpeg", "jpeg_util"},
      {"utilization_ofa", "ofa_util"},
      {"temperature_gpu", "temp"},
      {"temperature_memory", "mem_temp"},
      {"temperature_gpu_tlimit", "temp_t_limit"},
      {"power_draw", "power"},
      {"power_draw_average", "average_power_draw"},
      {"power_draw_instant", "instant_power_draw"},
      {"enforced_power_limit", "power_limit_enforced"},
      {"power_default_limit", "power_limit_default"},
      {"power_min_limit", "power_limit_min"},
      {"power_max_limit", "power_limit_max"},
      {"clocks_current_graphics", "graphics_clock"},
      {"clocks_gr", "graphics_clock"},
      {"clocks_current_sm", "sm_clock"},
      {"clocks_sm", "sm_clock"},
      {"clocks_current_memory", "mem_clock"},
      {"clocks_mem", "mem_clock"},
      {"clocks_current_video", "video_clock"},
      {"clocks_video", "video_clock"},
      {"clocks_max_graphics", "graphics_clock_max"},
      {"clocks_max_gr", "graphics_clock_max"},
      {"clocks_max_sm", "sm_clock_max"},
      {"clocks_max_memory", "mem_clock_max"},
      {"clocks_max_mem", "mem_clock_max"},
      {"clocks_applications_graphics", "graphics_clock_application"},
      {"clocks_applications_gr", "graphics_clock_application"},
      {"clocks_applications_memory", "mem_clock_application"},
      {"clocks_applications_mem", "mem_clock_application"},
      {"ecc_mode_current", "ecc"},
      {"ecc_mode_pending", "ecc_pending"},
      {"mig_mode_current", "mig"},
      {"mig_mode_pending", "mig_pending"},
      {"retired_pages_single_bit_ecc_count", "retired_pages_single_bit"},
      {"retired_pages_sbe", "retired_pages_single_bit"},
      {"retired_pages_double_bit_count", "retired_pages_double_bit"},
      {"retired_pages_dbe", "retired_pages_double_bit"},
      {"retired_pages_pending", "retired_pages_pending"},
      {"remapped_rows_pending", "remapping_pending"},
      {"remapped_rows_failure", "remapping_failure"},
      {"used_gpu_memory", "mem_used"},
      {"process_name", "process_name"},
      {"fabric_state", "fabric_state"},
      {"fabric_status", "fabric_status"},
  };
  return names;
}

// "ecc.errors.uncorrected.volatile.total" and the throttle reasons have names made of parts.
std::string composed_column(std::string_view snake) {
  std::string_view rest = snake;
  if (strip(rest, "clocks_throttle_reasons_") || strip(rest, "clocks_event_reasons_")) {
    if (rest == "active") return "clocks_event_reasons";
    if (rest == "supported") return "clocks_event_reasons_supported";
    return std::string(renamed(reason_names(), rest));
  }
  if (strip(rest, "ecc_errors_")) {
    for (const auto& [printed, ours] :
         {std::pair{"uncorrected_", "uncorrectable"}, std::pair{"corrected_", "correctable"}}) {
      std::string_view behind = rest;
      if (!strip(behind, printed)) continue;
      for (const std::string_view scope : {"volatile_", "aggregate_"}) {
        std::string_view part = behind;
        if (!strip(part, scope)) continue;
        std::string name = "ecc_" + std::string(scope);
        if (part != "total") name += std::string(part) + "_";
        return name + ours;
      }
    }
  }
  return std::string(snake);
}

}  // namespace

void take_gpu_value(FactRecord& gpu, std::string_view path, std::string_view text, std::int64_t line) {
  const auto found = path_names().find(path);
  if (found != path_names().end()) return put(gpu, found->second, text, line);
  if (strip(path, "clocks_event_reasons_counters.")) return take_reason_counter(gpu, path, text, line);
  if (strip(path, "clocks_event_reasons.") || strip(path, "clocks_throttle_reasons.")) {
    return take_reason(gpu, path.substr(path.rfind('.') + 1), text, line);
  }
  if (strip(path, "gpu_power_readings.") || strip(path, "power_readings.")) return take_power(gpu, path, text, line);
  if (strip(path, "module_power_readings.")) {
    const auto power = power_names().find(path);
    if (power != power_names().end()) put(gpu, "module_" + std::string(power->second), text, line);
    return;
  }
  if (strip(path, "ecc_errors.")) return take_ecc_error(gpu, path, text, line);
}

std::string gpu_column_name(std::string_view column) {
  column = trim(column);
  std::string_view unit;
  if (const std::size_t open = column.rfind('['); open != std::string_view::npos && column.ends_with(']')) {
    unit = column.substr(open + 1, column.size() - open - 2);
    column = trim(column.substr(0, open));
  }
  std::string snake = snake_name(column);
  for (const std::string_view ending :
       {"_pct", "_mib", "_w", "_c", "_mhz"}) {  // "memory_used_MiB" of somebody's script
    if (!unit.empty() || !snake.ends_with(ending)) continue;
    const auto base = column_names().find(std::string_view(snake).substr(0, snake.size() - ending.size()));
    if (base != column_names().end()) return std::string(base->second) + std::string(ending);
  }
  const auto found = column_names().find(snake);
  std::string name = found != column_names().end() ? std::string(found->second) : composed_column(snake);
  if (const std::string_view ending = unit_ending(unit); !ending.empty()) return name + "_" + std::string(ending);
  // Printed without its unit (nounits, and temperatures always): the documentation gives it.
  static const Names implied = {{"temp", "temp_c"}, {"mem_temp", "mem_temp_c"}, {"temp_t_limit", "temp_t_limit_c"},
                                {"fan", "fan_pct"}, {"util", "util_pct"},       {"mem_util", "mem_util_pct"}};
  return std::string(renamed(implied, name));
}

void complete_gpu(FactRecord& gpu) {
  // What is in force is the enforced limit (drivers before 530 print both).
  if (!gpu.has("power_limit_w")) {
    if (const Fact* const limit = gpu.find("power_limit_enforced_w")) gpu.set("power_limit_w", Fact(*limit));
  }
  complete_lanes(gpu, "pcie_width", "pcie_lanes_current");
  complete_lanes(gpu, "pcie_width_max", "pcie_lanes_max");
  complete_ecc(gpu);
  complete_reasons(gpu);
}

void summarise_gpus(FactRecord& facts) {
  const std::vector<Fact>* const list = facts.find_list("gpus");
  if (list == nullptr) return;
  std::vector<const FactRecord*> gpus;
  std::vector<Fact> indexes;
  for (const Fact& fact : *list) {
    const FactRecord* const gpu = fact.as_record();
    if (gpu == nullptr) continue;
    gpus.push_back(gpu);
    if (const Fact* const index = index_of(*gpu)) indexes.push_back(*index);
  }
  if (gpus.empty()) return;
  const std::vector<const FactRecord*> all = gpus;
  FactRecord shared(facts.line);
  compare_gpus(shared, all);
  facts.set_once("gpu_count", Fact::of(static_cast<std::int64_t>(all.size())));
  if (!indexes.empty()) facts.set_once("gpus_listed", Fact::of(std::move(indexes)));
  for (const auto& [name, fact] : shared.members()) facts.set_once(name, fact);
}

void set_snapshots(FactRecord& facts, std::vector<FactRecord> snapshots, std::int64_t count) {
  if (snapshots.empty()) return;
  for (const auto& [name, fact] : snapshots.front().members()) facts.set_once(name, fact);
  facts.set("snapshot_count", count);
  if (snapshots.size() < 2) return;
  std::vector<Fact> list;
  list.reserve(snapshots.size());
  for (FactRecord& snapshot : snapshots) list.push_back(Fact::of(std::move(snapshot)));
  facts.set("snapshots", Fact::of(std::move(list)));
}

}  // namespace tare
