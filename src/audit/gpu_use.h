// GPU-hours by who held them: what a cluster's telemetry over days says of jobs, users and nodes.
//
// Of each series (a GPU while one owner held it): hours it was seen, idle (under 5 % use), low (under 30 %, idle among
// them) and its mean use. Summed up by owner:
//
//   idle_gpu_h          held and doing nothing
//   spare_gpu_h         what a job that is not idle would not need, were its GPUs used to kWellUsed:
//                       (hours - idle) - used / kWellUsed,  used = mean_util * hours,  at least 0
//
// Idle and spare hours are disjoint. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/observed.h"
#include "base/json_fwd.h"

namespace tare {

constexpr double kWellUsed = 0.8;  // the utilisation that a job with nothing to wait for reaches

struct UseSum {
  std::string name;  // of the job, user or node; empty: GPU-hours that nobody held
  std::set<std::string> gpus;
  double gpu_h = 0, idle_gpu_h = 0, low_gpu_h = 0, used_gpu_h = 0, spare_gpu_h = 0;
  double power_wh = 0, power_gpu_h = 0;  // energy over the hours whose power is known
  std::optional<double> max_memory_mib;
  std::string model, user, node;  // the first seen

  double mean_use() const { return gpu_h > 0 ? used_gpu_h / gpu_h : 0; }
};

struct GpuUse {
  double days = 0, step_s = 0;
  bool has_owners = false;  // labels say which job, pod or user held a GPU
  UseSum all;
  std::vector<UseSum> jobs, users, nodes;  // the most idle hours first; jobs are pods where there is no job
};

// Of the facts of read_prometheus_server().
GpuUse gpu_use_of(const FactRecord& facts);

Json to_json(const GpuUse& use);

}  // namespace tare
