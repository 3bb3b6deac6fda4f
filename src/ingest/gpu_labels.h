// The labels that exporters put on the metrics of a GPU, and the GPUs they tell of.
//
// Used for the exporter's text and for what Prometheus answers. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/fact.h"
#include "ingest/running_stat.h"

namespace tare {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::string_view label(const Labels& labels, std::string_view name);  // empty when not there

// Collects values by GPU and by metric.
class GpuSeries {
 public:
  static constexpr std::size_t kGpus = 16384;
  static constexpr std::size_t kMetricsPerGpu = 400;
  static constexpr std::size_t kMetrics = 2000;

  void about(std::string_view metric, std::string_view what, std::string_view text);  // HELP, TYPE
  // A value of a metric; unknown is none.
  void add(std::string_view metric, const Labels& labels, const Fact& value);
  void put(FactRecord& facts);
  std::int64_t series() const { return series_; }
  std::int64_t blanks() const { return blanks_; }

 private:
  struct Metric {
    std::string help, type;
    std::int64_t line = 0;
    RunningStat stat;
  };
  FactRecord& gpu_of(const Labels& labels, std::int64_t line);
  std::vector<FactRecord> gpus_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::map<std::string, Metric> metrics_;
  std::int64_t series_ = 0, blanks_ = 0, dropped_ = 0;
};

}  // namespace tare
