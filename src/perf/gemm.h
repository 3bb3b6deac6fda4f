// Time of one matrix product by its shape.
//
//   w = ⌈m/128⌉·⌈n/tile_n⌉·count ÷ SMs                          waves of output tiles
//   F = 2·m·n·k·count,  F_whole = 2·tile_m·tile_n·k · SMs·⌈w⌉   whole waves of whole tiles
//   compute = ((1 − wave_share)·F + wave_share·F_whole) ÷ (peak·share) · (1 + k_ramp/k)
//   memory  = (m·k + k·n + m·n)·count·element_bytes ÷ (HBM·memory_share)
// F_whole counts the padding of ragged tiles, so the time never falls as m, n, k or count grow. A tile is 128 × tile_n,
// or the next multiple of 16 where the product is smaller. For shapes that are multiples of a tile F_whole = F·⌈w⌉/w.
//   time    = max(compute, memory) + kernel_s
// share: what the generation's largest GEMMs sustain in that format (perf/constants.h), times the clock that the
// board's power allows. Wave and tile quantisation as in NVIDIA's matrix-multiplication guide.
#pragma once

#include "perf/constants.h"
#include "perf/machine.h"

namespace tare {

// The formats a GEMM's inputs come in.
enum class GemmFormat { k16Bit, k8Bit, k4Bit };

GemmFormat gemm_format(Precision precision);

struct Gemm {
  double m = 0, n = 0, k = 0;
  double count = 1;  // independent products of that shape in one launch
  GemmFormat format = GemmFormat::k16Bit;
};

// The rates a part reaches, worked out once per model.
struct KernelRates {
  double gemm_flops[3] = {0, 0, 0};       // sustained FLOP/s by GemmFormat; a format the part lacks runs in 16 bit
  double element_bytes[3] = {2, 1, 0.5};  // of the inputs by GemmFormat; the first slot is the workload's own type
  bool native[3] = {true, false, false};
  double flash_fused_flops = 0, flash2_flops = 0, flash1_flops = 0;
  double memory_bytes_per_s = 0;
  double sm_count = 1;
  double tile_n = 128;
  double k_ramp[3] = {0, 0, 0};  // by GemmFormat: the k whose main loop takes tile_fixed_s
  double wave_share = 0, kernel_s = 0;
};
// The first slot runs in the workload's type: fp16, bf16, tf32 or fp32.
KernelRates kernel_rates(const Machine& machine, Precision precision, const StepConstants& constants);

double gemm_s(const Gemm& gemm, const KernelRates& rates);
// What it moves: both inputs once, the output once.
double gemm_bytes(const Gemm& gemm, const KernelRates& rates);
inline double flops(const Gemm& g) { return 2 * g.m * g.n * g.k * g.count; }

// Time of a streaming kernel.
inline double streaming_s(double bytes, const KernelRates& rates) {
  return bytes / rates.memory_bytes_per_s + rates.kernel_s;
}

}  // namespace tare
