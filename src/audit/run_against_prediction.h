// A run's log beside what was predicted for it: rates, and where the GPU-hours that were held went.
//
//   held     = gpus * span,  span = last time stamp - first + the steps of the first line
//   stepping = sum over lines of n_i * s_i         n_i: steps since the line before, s_i: seconds of one of them
//   stop     = dt_i - n_i * s_i                    where that is above a step's and two seconds: nothing was trained
//   restart  = dt_i - s_i                          where the step number falls back
//   redone   = s_i of the steps that had been done before the fall
//   startup  = s_1 - median s                      the first step compiles
//   useful   = MFU * (stepping - redone - startup) what these FLOPs take at the GPU's peak
//   recompute = useful * (hardware FLOPs / model FLOPs - 1) of the predicted configuration, at peak as well
//   data, communication: what the log times of them, in steps
//   checkpoint: timers of saving, out of the stops
//   between  = what is left between lines; below peak = what is left within steps
//
// so the bars sum to what was held. MFU is the printed one, else the predicted one times the measured over the
// predicted rate of tokens: the model's FLOPs per token and the peak are the same in both. A log without time stamps
// has no span: held is the sum of its steps, and stops and restarts are unknown. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "ingest/step_series.h"

namespace tare {

struct PredictedRun {
  std::string job, on, parallelism;
  double gpus = 0;
  double step_time_s = 0, tokens_per_step = 0, tokens_per_s_per_gpu = 0, mfu_ratio = 0;
  double flops_ratio = 1;                                                 // hardware over model FLOPs
  double recompute_s = 0, communication_s = 0, bubble_s = 0, data_s = 0;  // exposed, of a step
  double goodput_ratio = 0;
  std::optional<double> usd_per_gpu_h;
};

struct MeasuredRun {
  std::string file;
  std::int64_t line = 0;  // of the last step
  std::optional<double> gpus, tokens_per_step;
  double steps = 0;        // lines' steps, with those done twice
  double step_time_s = 0;  // median
  std::optional<double> tokens_per_s_per_gpu, mfu_ratio, data_s, communication_s;  // the last two of a step
  bool has_times = false;
  double span_s = 0, stepping_s = 0, redone_s = 0, startup_s = 0, restart_s = 0, stop_s = 0, checkpoint_s = 0;
  int restarts = 0, stops = 0;
  double redone_steps = 0;
  std::int64_t first_restart_line = 0, longest_stop_line = 0;
  double longest_stop_s = 0;
  std::optional<double> goodput_ratio;  // steps that count over the span
};

// `checkpoint_s`: of all saves that the log times.
MeasuredRun measure_run(const StepSeries& series, double checkpoint_s);

struct RunBar {
  std::string id, label;
  double gpu_h = 0;
  std::optional<double> usd;  // to the cent; the bars sum to the whole
};

struct RunAudit {
  MeasuredRun measured;
  PredictedRun predicted;
  double held_gpu_h = 0;
  std::optional<double> held_usd;
  std::vector<RunBar> waterfall;
  std::optional<double> calibration_ratio;  // measured over predicted tokens per second and GPU
};
RunAudit compare_run(MeasuredRun measured, const PredictedRun& predicted);

Json to_json(const RunAudit& run);

}  // namespace tare
