// What the GPUs of a cluster did over days or weeks, asked of a Prometheus server that scrapes dcgm-exporter or its
// kin.
//
// For each day of the window the server itself counts, over a grid of `step_s`, with subqueries (PromQL):
//
//   hours       count_over_time(M[1d:step]) * step                  that a series was there
//   idle_hours  sum_over_time((M < bool 5)[1d:step]) * step
//   low_hours   sum_over_time((M < bool 30)[1d:step]) * step, those of idle_hours among them
//   and the mean of M, of power and of the tensor pipe, the most memory used
//
// where M is the utilisation of the GPU. A series is told by its labels: exporters put node, GPU and, where they know
// it, the pod or job on it, so a GPU that served three jobs has three series. A time without a sample counts neither as
// use nor as idle: no data is not 0 %.
//
// Facts: server, from, to, days, step_s, utilisation_metric (unknown where the server has none), missing_metrics[],
// has_owners, use[] {node, gpu, model, namespace, pod, job, user, hours, idle_hours, low_hours, mean_util_pct,
// mean_power_w, max_mem_used_mib, mean_tensor_pct}.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ingest/http_get.h"
#include "ingest/read_file_facts.h"

namespace tare {

struct PrometheusWindow {
  std::int64_t to_unix_s = 0;
  int days = 14;
  int step_s = 300;
};

// The answers as the facts of a file called after the server. Errors (in FileFacts::errors): no answer, an answer that
// is no Prometheus's, a query it refuses.
FileFacts read_prometheus_server(const std::string& url, const PrometheusWindow& window, const HttpGet& get,
                                 const std::function<void(double done_ratio)>& progress = {});

}  // namespace tare
