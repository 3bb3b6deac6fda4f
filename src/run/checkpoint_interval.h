// How often to write a checkpoint.
//
// With a stall of δ per checkpoint, work T between two and a mean time M to an interruption, a share δ/T of the time is
// stalled and T/2M is lost: least at T = √(2δM) (Young 1974). Daly 2006 keeps the higher orders:
//   T = √(2δM)·(1 + √(δ/2M)/3 + (δ/2M)/9) − δ   for δ < 2M,   T = M otherwise.
// Worked example, BLOOM-176B: 2.3 TB in δ = 40 s, one interruption a week (M = 604,800 s): Young 6,956 s, Daly 6,929 s;
// the run itself saved every 3 h.
#pragma once

namespace tare {

double young_interval_s(double block_s, double mtti_s);
double daly_interval_s(double block_s, double mtti_s);

}  // namespace tare
