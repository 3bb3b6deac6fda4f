// A Prometheus server of a test: answers the queries of read_prometheus_server() from a table.
#pragma once

#include <string>

#include "ingest/prometheus_server.h"

namespace tare {

// One line a series: labels, then the hours of the one day that it was seen, was idle, was low, and its mean use:
//   Hostname=n1,gpu=0,hpc_job=7 | 24 12 12 45
// An empty table: a server without the metric.
FileFacts facts_of_table(const std::string& table, const std::string& url, int days = 1);

}  // namespace tare
