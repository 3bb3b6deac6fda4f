#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/loss.h"

namespace tare {
namespace {

// Bits of NVML's clocks event reasons, as --query-gpu and DCGM print them.
enum ReasonBit : std::uint64_t {
  kSwPowerCap = 0x4,
  kHwSlowdown = 0x8,
  kSwThermal = 0x20,
  kHwThermal = 0x40,
  kHwPowerBrake = 0x80
};

std::optional<std::uint64_t> reason_bits(const FactRecord& gpu) {
  for (const char* const name : {"clocks_throttle_reasons_active", "clocks_event_reasons_active",
                                 "clock_throttle_reasons", "clocks_event_reasons", "clocks_throttle_reasons"}) {
    if (const auto number = gpu.number(name)) return static_cast<std::uint64_t>(std::clamp(*number, 0.0, 9e15));
    std::string_view text = gpu.text(name);
    if (!text.starts_with("0x")) continue;
    text.remove_prefix(2);
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    if (error == std::errc() && end == text.data() + text.size()) return bits;
  }
  return std::nullopt;
}

bool is_active(const FactRecord& gpu, std::string_view reason, ReasonBit bit) {
  for (const std::string_view prefix : {"", "clocks_throttle_reasons_", "clocks_event_reasons_"}) {
    if (says(gpu, std::string(prefix) + std::string(reason), "Active")) return true;
  }
  return (reason_bits(gpu).value_or(0) & bit) != 0;
}

std::string state_in_words(const FactRecord& gpu) {
  std::string text;
  if (const auto watts = power_w(gpu)) text += fmt::format(", {:.0f} W", *watts);
  if (const auto limit = power_limit_w(gpu)) text += fmt::format(" of {:.0f} W", *limit);
  if (const auto temp = temperature_c(gpu)) text += fmt::format(", {:.0f} °C", *temp);
  if (const auto clock = first_number(gpu, {"sm_clock_mhz", "graphics_clock_mhz"}))
    text += fmt::format(", {:.0f} MHz", *clock);
  return text;
}

// Clock now over the clock it could have, where both are known: what a slowdown takes from work bound by compute.
std::optional<double> clock_ratio(const FactRecord& gpu) {
  const auto now = first_number(gpu, {"sm_clock_mhz", "graphics_clock_mhz"});
  const auto most = first_number(gpu, {"sm_clock_max_mhz", "graphics_clock_max_mhz", "max_sm_clock_mhz"});
  if (!now || !most || *most <= 0 || *now <= 0) return std::nullopt;
  return std::min(1.0, *now / *most);
}

// Under load the clock tells what is lost. At rest it is low anyway; then NVIDIA's word counts, that a slowdown by the
// hardware lowers the clock by a factor of two or more (nvidia-smi manual), up to what is seen.
constexpr double kHardwareLeast = 0.5;
constexpr double kLoaded = 50;

std::optional<Formula> lost_clock(const std::vector<const FactRecord*>& gpus, bool by_hardware) {
  double lost = 0, known = 0;
  bool loaded = true;
  for (const FactRecord* const gpu : gpus) {
    loaded = loaded && util_pct(*gpu).value_or(0) >= kLoaded;
    if (const auto ratio = clock_ratio(*gpu)) lost += 1 - *ratio, known += 1;
  }
  const bool measured = loaded && known == static_cast<double>(gpus.size());
  if (!measured && !by_hardware) return std::nullopt;
  const double seen = known > 0 ? lost / known : kHardwareLeast;
  const FormulaInput ratio =
      measured ? known_ratio("lost_clock_ratio", seen, "1 - SM clock / highest SM clock, mean over these GPUs")
               : assumed_ratio(
                     "lost_clock_ratio", {kHardwareLeast, kHardwareLeast, std::max(kHardwareLeast, seen)},
                     "a hardware slowdown halves the clock at least (nvidia-smi manual); up to what it shows at rest");
  return share_lost(ratio, static_cast<double>(gpus.size()), "GPUs that are slowed");
}

void power_brake(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    std::vector<const FactRecord*> gpus;
    for (const GpuSeen& gpu : group.gpus) {
      if (!is_active(*gpu.facts, "hw_power_brake_slowdown", kHwPowerBrake)) continue;
      gpus.push_back(gpu.facts);
      faults.add(gpu, line_of(*gpu.facts, "hw_power_brake_slowdown"),
                 "HW power brake slowdown active" + state_in_words(*gpu.facts));
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kHigh, "is|are held down by the hardware's power brake");
    finding.cause =
        "The chassis pulls the power brake signal: a power supply is out, overloaded or badly seated, or the BMC "
        "caps the node. On all GPUs at once it is the node, not a GPU.";
    finding.fix = {
        "BMC: power supplies, redundancy and power cap (ipmitool sdr type 'Power Supply'; ipmitool dcmi power "
        "get_limit)",
        "check the feeds of the rack, then restart the node and look again: nvidia-smi -q -d PERFORMANCE"};
    finding.confidence = 0.95;
    finding.loss = lost_clock(gpus, true);
    finding.consequences = {"health.hw-slowdown", "health.clocks-low", "telemetry.busy-low-power"};
    add_once(findings, std::move(finding));
  }
}

void thermal(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults hard(group), soft(group);
    std::vector<const FactRecord*> hard_gpus, soft_gpus;
    for (const GpuSeen& gpu : group.gpus) {
      if (is_active(*gpu.facts, "hw_thermal_slowdown", kHwThermal)) {
        hard.add(gpu, line_of(*gpu.facts, "hw_thermal_slowdown"),
                 "HW thermal slowdown active" + state_in_words(*gpu.facts));
        hard_gpus.push_back(gpu.facts);
      } else if (is_active(*gpu.facts, "sw_thermal_slowdown", kSwThermal)) {
        soft.add(gpu, line_of(*gpu.facts, "sw_thermal_slowdown"),
                 "SW thermal slowdown active" + state_in_words(*gpu.facts));
        soft_gpus.push_back(gpu.facts);
      }
    }
    for (const auto& [faults, gpus, severity] : {std::tuple(&hard, &hard_gpus, FindingSeverity::kHigh),
                                                 std::tuple(&soft, &soft_gpus, FindingSeverity::kMedium)}) {
      if (faults->empty()) continue;
      Finding finding = faults->finding(rule, severity,
                                        severity == FindingSeverity::kHigh
                                            ? "is|are too hot: the hardware cuts the clock to half or less"
                                            : "is|are too hot: the driver lowers the clock");
      finding.cause = "Heat does not get away: a fan, the air inlet, coolant, dust or the paste under the heat sink.";
      finding.fix = {"compare with the other GPUs of the node: one alone means its heat sink, all mean air or coolant",
                     "nvidia-smi -q -d TEMPERATURE,PERFORMANCE; ipmitool sdr type Fan"};
      finding.confidence = 0.95;
      finding.loss = lost_clock(*gpus, severity == FindingSeverity::kHigh);
      if (!finding.loss) finding.loss_unknown = "the clock that it runs at is not known";
      finding.consequences = {"health.hw-slowdown", "health.clocks-low", "health.temperature"};
      add_once(findings, std::move(finding));
    }
  }
}

void hw_slowdown(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const bool named = is_active(*gpu.facts, "hw_thermal_slowdown", kHwThermal) ||
                         is_active(*gpu.facts, "hw_power_brake_slowdown", kHwPowerBrake);
      if (named || !is_active(*gpu.facts, "hw_slowdown", kHwSlowdown)) continue;
      faults.add(gpu, line_of(*gpu.facts, "hw_slowdown"), "HW slowdown active" + state_in_words(*gpu.facts));
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kMedium, "is|are slowed by the hardware, which does not say why");
    finding.cause = "Temperature over its limit, an external power brake, or power drawn faster than the board allows.";
    finding.fix = {"nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER under load",
                   "check power cables, supplies and cooling"};
    finding.confidence = 0.8;
    finding.loss_unknown = "the reason, and so how far the clock falls under load, is not known";
    add_once(findings, std::move(finding));
  }
}

// Under this share of its limit a GPU that reports a power cap is capped by something else than its limit.
constexpr double kCappedFarBelow = 0.7;

void power_cap(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults odd(group), normal(group);
    bool loaded = false;
    for (const GpuSeen& gpu : group.gpus) {
      if (!is_active(*gpu.facts, "sw_power_cap", kSwPowerCap)) continue;
      const auto watts = power_w(*gpu.facts), limit = power_limit_w(*gpu.facts);
      const bool far = watts && limit && *watts < kCappedFarBelow * *limit;
      loaded = loaded || (far && util_pct(*gpu.facts).value_or(kLoaded) >= kLoaded);
      (far ? odd : normal)
          .add(gpu, line_of(*gpu.facts, "sw_power_cap"), "SW power cap active" + state_in_words(*gpu.facts));
    }
    if (!odd.empty()) {
      Finding finding = odd.finding(rule, loaded ? FindingSeverity::kMedium : FindingSeverity::kLow,
                                    "is|are capped in power far below the limit");
      finding.cause =
          "Something other than the limit caps it: a cap of the BMC or module, or a board whose power sensing fails.";
      finding.expected = "no cap below the limit";
      finding.fix = {"nvidia-smi -q -d POWER: module and requested limits; the BMC's power cap",
                     "swap the GPU with a neighbour: a cap that moves with it is the board's"};
      finding.confidence = 0.7;
      finding.loss_unknown = "how fast it would run without the cap is not known";
      finding.consequences = {"health.clocks-low"};
      add_once(findings, std::move(finding));
    }
    if (!normal.empty()) {
      Finding finding = normal.finding(rule, FindingSeverity::kInfo,
                                       "works|work at its|their power limit, which is normal under load");
      finding.cause = "Heavy matrix work draws what the limit allows, and the clock gives way.";
      add_once(findings, std::move(finding));
    }
  }
}

// Since the driver was loaded; a minute is more than the start of a program.
constexpr double kHistorySeconds = 60;

void history(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    for (const auto& [counter, flag, what, severity] :
         {std::tuple("hw_power_brake_slowdown_counter_us", "hw_power_brake_slowdown", "the hardware's power brake",
                     FindingSeverity::kLow),
          std::tuple("hw_thermal_slowdown_counter_us", "hw_thermal_slowdown", "the hardware for heat",
                     FindingSeverity::kLow),
          std::tuple("sw_thermal_slowdown_counter_us", "sw_thermal_slowdown", "the driver for heat",
                     FindingSeverity::kLow),
          std::tuple("sw_power_cap_counter_us", "sw_power_cap", "the power limit", FindingSeverity::kInfo)}) {
      GpuFaults faults(group);
      double most_s = 0;
      for (const GpuSeen& gpu : group.gpus) {
        const double seconds = gpu.facts->number(counter).value_or(0) / 1e6;
        if (seconds < kHistorySeconds || says(*gpu.facts, flag, "Active")) continue;
        most_s = std::max(most_s, seconds);
        faults.add(gpu, line_of(*gpu.facts, counter), fmt::format("slowed by {} for {:.0f} s", what, seconds));
      }
      if (faults.empty()) continue;
      Finding finding = faults.finding(
          rule, severity,
          fmt::format("was|were slowed by {} for {:.0f} s since the driver started, not now", what, most_s));
      finding.subject.name += fmt::format(" {}", flag);
      finding.cause = severity == FindingSeverity::kInfo
                          ? "The counter runs whenever work draws as much as the limit allows: normal, and past."
                          : "It was slowed at some time since the driver was loaded; under load it may come back.";
      finding.fix = {"look again under load: nvidia-smi -q -d PERFORMANCE"};
      if (severity != FindingSeverity::kInfo) finding.loss_unknown = "over how long a time is not known";
      add_once(findings, std::move(finding));
    }
  }
}

// Measured limits differ by a watt or two from what is set.
constexpr double kLoweredShare = 0.95;
constexpr double kLoweredMuch = 0.75;
// A name alone does not tell every variant of a card (H100 PCIe is sold with 310 and 350 W).
constexpr double kBelowCatalog = 0.8;

void lowered(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    double least = 1, usual = 0, now = 0;
    for (const GpuSeen& gpu : group.gpus) {
      const auto limit = power_limit_w(*gpu.facts);
      auto normal = gpu.facts->number("power_limit_default_w");
      double share = kLoweredShare;
      if (const Accelerator* const known = accelerator_named(observed.catalog(), gpu.facts->text("name"));
          !normal && known != nullptr && gpu.facts->find("name_is_cut") == nullptr) {
        normal = known->tdp_w;
        share = kBelowCatalog;
      }
      if (!limit || !normal || *normal <= 0 || *limit >= share * *normal || *limit <= 0) continue;
      if (*limit / *normal < least) least = *limit / *normal, usual = *normal, now = *limit;
      faults.add(gpu, line_of(*gpu.facts, "power_limit_w"),
                 fmt::format("limit {:.0f} W, usual {:.0f} W", *limit, *normal));
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, least < kLoweredMuch ? FindingSeverity::kMedium : FindingSeverity::kLow,
                                     fmt::format("may draw {:.0f} W, {:.0f} W is usual", now, usual));
    finding.cause = "Somebody or a power manager lowered the limit: work bound by compute runs at a lower clock.";
    finding.expected = fmt::format("{:.0f} W", usual);
    finding.measured = fmt::format("{:.0f} W", now);
    finding.fix = {"if it is not on purpose: nvidia-smi -pl <watts>, and keep it over a restart (nvidia-persistenced)"};
    finding.confidence = 0.8;
    finding.loss_unknown = "how much of the work is bound by power is not known";
    add_once(findings, std::move(finding));
  }
}

// Where no threshold is printed: data-centre GPUs slow down from some 89 to 94 °C, HBM from 95 °C.
constexpr double kHotGpuC = 90;
constexpr double kHotHbmC = 95;
constexpr double kNearLimitC = 3;
// Some boards print a margin of 0 while cold.
constexpr double kCannotBeHotC = 70;

void temperature(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto temp = temperature_c(*gpu.facts);
      const auto slow = first_number(*gpu.facts, {"temp_slowdown_c", "slowdown_temp_c"});
      const auto margin = gpu.facts->number("temp_t_limit_c");
      const auto memory = first_number(*gpu.facts, {"mem_temp_c", "memory_temp_c"});
      const Accelerator* const known = accelerator_named(observed.catalog(), gpu.facts->text("name"));
      const bool hbm = known != nullptr && is_data_centre(*known) && known->memory_bytes_per_s >= 1.2e12;
      const bool cold = temp && *temp < kCannotBeHotC;
      if (margin ? *margin <= kNearLimitC && !cold : temp && *temp >= (slow ? *slow - kNearLimitC : kHotGpuC)) {
        faults.add(
            gpu, line_of(*gpu.facts, gpu.facts->has("temp_c") ? "temp_c" : "gpu_temp_c"),
            fmt::format("{:.0f} °C{}", temp.value_or(0), slow ? fmt::format(", slows down at {:.0f} °C", *slow) : ""));
      } else if (hbm && memory && *memory >= kHotHbmC) {
        faults.add(gpu, line_of(*gpu.facts, gpu.facts->has("mem_temp_c") ? "mem_temp_c" : "memory_temp_c"),
                   fmt::format("memory {:.0f} °C", *memory));
      }
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kMedium, "is|are at the temperature where the clock is lowered");
    finding.cause = "Cooling is at its end: the next degree slows the GPU, and memory errors become more likely.";
    finding.fix = {"check fans, air inlet or coolant of the node; compare with its neighbours"};
    finding.confidence = 0.8;
    finding.loss_unknown = "how far the clock falls is not known";
    add_once(findings, std::move(finding));
  }
}

// A GPU that is this cool does not ask for a fan at full speed.
constexpr double kCoolC = 55;
constexpr double kFullFanPct = 95;
constexpr double kWarmC = 80;

void fan(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults failed(group), stopped(group), full(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto speed = first_number(*gpu.facts, {"fan_pct", "fan_speed_pct"});
      const auto temp = temperature_c(*gpu.facts);
      const auto util = util_pct(*gpu.facts);
      const Accelerator* const known = accelerator_named(observed.catalog(), gpu.facts->text("name"));
      // Cooled by the chassis; some print 0 %, and rocm-smi does so for all of them without naming the product.
      const bool passive =
          (known != nullptr && is_data_centre(*known)) ||
          (known == nullptr && group.seen->format->name.find("rocm") < group.seen->format->name.size());
      if (gpu.facts->text("fan_pct").starts_with("ERR")) {
        failed.add(gpu, "fan_pct");
      } else if (!passive && speed && *speed == 0 && temp && *temp >= kWarmC) {
        stopped.add(gpu, line_of(*gpu.facts, "fan_pct"), fmt::format("fan 0 % at {:.0f} °C", *temp));
      } else if (speed && *speed >= kFullFanPct && temp && *temp <= kCoolC && util.value_or(100) <= 5) {
        full.add(gpu, line_of(*gpu.facts, "fan_pct"), fmt::format("fan {:.0f} % at {:.0f} °C, idle", *speed, *temp));
      }
    }
    for (const auto& [faults, severity, title, cause] :
         {std::tuple(
              &failed, FindingSeverity::kMedium,
              "cannot tell the speed of its|their fan: it failed or the GPU is dying",
              "The fan's sensor or the controller that reads it does not answer; without the fan the GPU overheats."),
          std::tuple(&stopped, FindingSeverity::kMedium, "is|are hot while its|their fan stands still",
                     "The fan does not turn although the GPU is warm."),
          std::tuple(&full, FindingSeverity::kLow, "turns|turn the fan at full speed while idle and cool",
                     "The fan's control was set by hand, or its sensor or controller fails.")}) {
      if (faults->empty()) continue;
      Finding finding = faults->finding(rule, severity, title);
      finding.cause = cause;
      finding.fix = {"look at the fan; nvidia-settings -q GPUTargetFanSpeed, or give control back to the driver",
                     "watch temperature and clock under load; replace fan or card"};
      finding.confidence = 0.8;
      if (severity != FindingSeverity::kLow) finding.loss_unknown = "nothing yet; the clock falls when it overheats";
      add_once(findings, std::move(finding));
    }
  }
}

// Repeats since the last reset; a healthy link has some tens from training and power changes.
constexpr double kManyReplays = 1000;

void replays(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    for (const GpuSeen& gpu : group.gpus) {
      const auto count = first_number(*gpu.facts, {"pcie_replays", "pcie_replay_counter"});
      const auto rollovers = gpu.facts->number("pcie_replay_rollovers");
      if (count.value_or(0) < kManyReplays && rollovers.value_or(0) < 1) continue;
      faults.add(gpu, line_of(*gpu.facts, gpu.facts->has("pcie_replays") ? "pcie_replays" : "pcie_replay_counter"),
                 fmt::format("{:.0f} replays, {:.0f} rollovers", count.value_or(0), rollovers.value_or(0)));
    }
    if (faults.empty()) continue;
    Finding finding = faults.finding(rule, FindingSeverity::kLow, "repeats|repeat many PCIe packets");
    finding.cause = "The link is noisy: contact, riser, cable or a retimer.";
    finding.expected = fmt::format("fewer than {:.0f}", kManyReplays);
    finding.fix = {"look twice, minutes apart: does the counter grow under load", "reseat card, riser, cable"};
    finding.confidence = 0.7;
    finding.loss_unknown = "over how long a time they came is not known";
    add_once(findings, std::move(finding));
  }
}

// Under load, below this share of the highest clock, with power to spare.
constexpr double kLowClock = 0.6;
constexpr double kPowerToSpare = 0.85;

void clocks(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const GpuGroup& group : gpu_groups(observed)) {
    GpuFaults faults(group);
    std::vector<const FactRecord*> gpus;
    for (const GpuSeen& gpu : group.gpus) {
      const auto ratio = clock_ratio(*gpu.facts);
      const auto watts = power_w(*gpu.facts), limit = power_limit_w(*gpu.facts);
      const bool at_limit = watts && limit && *watts >= kPowerToSpare * *limit;
      if (!ratio || *ratio >= kLowClock || at_limit || util_pct(*gpu.facts).value_or(0) < 90) continue;
      gpus.push_back(gpu.facts);
      faults.add(gpu, line_of(*gpu.facts, "sm_clock_mhz"),
                 fmt::format("{:.0f} % of its highest clock at full load", *ratio * 100) + state_in_words(*gpu.facts));
    }
    if (faults.empty()) continue;
    Finding finding =
        faults.finding(rule, FindingSeverity::kMedium, "runs|run at a low clock under full load, with power to spare");
    finding.cause = "Clocks are locked or set low, or a slowdown holds them down.";
    finding.fix = {"nvidia-smi -q -d CLOCK,PERFORMANCE; nvidia-smi -rgc and -rac give the clocks free"};
    finding.confidence = 0.7;
    finding.loss = lost_clock(gpus, false);
    if (!finding.loss) finding.loss_unknown = "the clock that it runs at is not known";
    add_once(findings, std::move(finding));
  }
}

constexpr const char* kSmiManual = "nvidia-smi manual: clocks event reasons";
constexpr Rule kRules[] = {
    {"health.hw-power-brake", "Power brake of the hardware",
     "The chassis holds the GPUs at a low clock: a power supply or the BMC. Seen even while idle.",
     "nvidia-smi manual, open_clip#703", power_brake},
    {"health.thermal-slowdown", "Slowed by heat", "Hardware or driver lowers the clock because the GPU is too hot.",
     kSmiManual, thermal},
    {"health.hw-slowdown", "Slowed by the hardware", "The hardware lowers the clock and gives no reason.", kSmiManual,
     hw_slowdown},
    {"health.power-cap", "Capped in power", "Far below its limit it is a fault; at the limit it is normal.",
     "nvidia-smi manual, l4rz#3", power_cap},
    {"health.slowdown-history", "Slowed since the driver started", "Counters of past slowdowns, over now.", kSmiManual,
     history},
    {"health.power-limit", "A power limit below the usual one", "Work bound by compute runs slower.", kSmiManual,
     lowered},
    {"health.temperature", "At its highest temperature", "The next degree lowers the clock.", kSmiManual, temperature},
    {"health.fan", "A fan fails", "ERR! for its speed, standing still while hot, or at full speed while idle and cool.",
     kSmiManual, fan},
    {"health.pcie-replays", "Many PCIe replays", "The GPU repeats packets on a noisy link.", kSmiManual, replays},
    {"health.clocks-low", "A low clock under load", "Locked or lowered clocks take the share that is missing.",
     kSmiManual, clocks},
};

}  // namespace

std::span<const Rule> gpu_speed_rules() { return kRules; }

}  // namespace tare
