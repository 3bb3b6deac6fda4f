#include "perf/gemm.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

// Board power at which a generation's reference part (the SXM or OAM one) is rated: below it clocks drop.
double reference_power_w(GpuGeneration generation) {
  switch (generation) {
    case GpuGeneration::kVolta:
      return 300;
    case GpuGeneration::kAmpere:
      return 400;
    case GpuGeneration::kHopper:
      return 700;
    case GpuGeneration::kBlackwell:
      return 1200;
    case GpuGeneration::kCdna3:
      return 750;
    case GpuGeneration::kCdna4:
      return 1000;
    default:
      return 0;
  }
}

double clock_share(const Machine& machine, const StepConstants& constants) {
  const double reference = reference_power_w(machine.generation);
  if (!machine.server_part || reference <= 0 || machine.tdp_w <= 0) return 1;
  return std::min(1.0, std::pow(machine.tdp_w / reference, constants.power_exponent));
}

// The peak of what is not 8 or 4 bit.
double wide_peak_flops(const Machine& machine, Precision precision) {
  if (precision == Precision::kFp32 || precision == Precision::kTf32) return peak_flops(machine, precision);
  const double peak = precision == Precision::kFp16 ? machine.peak_fp16_flops : machine.peak_bf16_flops;
  // A part without bf16 (Volta, Turing) emulates it in fp32.
  return peak > 0 ? peak : std::max(machine.peak_fp16_flops * 0.1, machine.peak_fp32_flops);
}

// The side of a tile along a dimension: the kernel's own, or the multiple of 16 that a smaller product is padded to.
double tile_side(double size, double tile) { return std::min(tile, std::ceil(size / 16) * 16); }

}  // namespace

GemmFormat gemm_format(Precision precision) {
  switch (precision) {
    case Precision::kFp8:
    case Precision::kMxfp8:
      return GemmFormat::k8Bit;
    case Precision::kNvfp4:
      return GemmFormat::k4Bit;
    default:
      return GemmFormat::k16Bit;
  }
}

KernelRates kernel_rates(const Machine& machine, Precision precision, const StepConstants& constants) {
  const GenerationConstants& g =
      constants.generation[static_cast<std::size_t>(generation_slot(machine.generation, machine.server_part))];
  const double clock = clock_share(machine, constants);
  const double peak_16 = wide_peak_flops(machine, precision);
  KernelRates rates;
  if (precision == Precision::kFp32 || precision == Precision::kTf32) rates.element_bytes[0] = 4;
  rates.gemm_flops[0] = peak_16 * g.gemm_16bit * clock;
  rates.native[1] = machine.peak_fp8_flops > 0;
  rates.native[2] = machine.peak_fp4_flops > 0;
  rates.gemm_flops[1] = rates.native[1] ? machine.peak_fp8_flops * g.gemm_8bit * clock : rates.gemm_flops[0];
  rates.gemm_flops[2] = rates.native[2] ? machine.peak_fp4_flops * g.gemm_4bit * clock : rates.gemm_flops[1];
  rates.flash_fused_flops = peak_16 * g.flash_fused * clock;
  rates.flash2_flops = peak_16 * g.flash2 * clock;
  rates.flash1_flops = rates.flash2_flops * constants.flash1_share;
  rates.memory_bytes_per_s = machine.memory_bytes_per_s * constants.memory_share;
  rates.sm_count = machine.sm_count > 0 ? machine.sm_count : 100;
  rates.tile_n = g.tile_n;
  // An SM works k off one tile at rate ÷ SMs: the faster the format, the longer the k that hides the same start and
  // end.
  for (int f = 0; f < 3; ++f) {
    rates.k_ramp[f] = constants.tile_fixed_s * rates.gemm_flops[f] / rates.sm_count / (2 * 128 * rates.tile_n);
  }
  rates.wave_share = constants.wave_share;
  rates.kernel_s = constants.kernel_s;
  return rates;
}

double gemm_bytes(const Gemm& g, const KernelRates& rates) {
  const double in = rates.element_bytes[static_cast<int>(g.format)], out = rates.element_bytes[0];
  return ((g.m * g.k + g.k * g.n) * in + g.m * g.n * out) * g.count;
}

double gemm_s(const Gemm& g, const KernelRates& rates) {
  if (g.m <= 0 || g.n <= 0 || g.k <= 0 || g.count <= 0) return 0;
  const auto format = static_cast<int>(g.format);
  const double waves = std::ceil(g.m / 128) * std::ceil(g.n / rates.tile_n) * g.count / rates.sm_count;
  const double whole_wave = 2 * tile_side(g.m, 128) * tile_side(g.n, rates.tile_n) * g.k * rates.sm_count;
  const double work = (1 - rates.wave_share) * flops(g) + rates.wave_share * whole_wave * std::ceil(waves);
  const double compute = work / rates.gemm_flops[format] * (1 + rates.k_ramp[format] / g.k);
  return std::max(compute, gemm_bytes(g, rates) / rates.memory_bytes_per_s) + rates.kernel_s;
}

}  // namespace tare
