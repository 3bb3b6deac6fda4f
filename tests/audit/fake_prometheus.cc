#include "fake_prometheus.h"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr int kStep_s = 300;
constexpr double kStepsPerHour = 3600.0 / kStep_s;

struct Series {
  Json labels;
  double hours = 0, idle = 0, low = 0, util = 0;
};

std::vector<Series> parse(const std::string& table) {
  std::vector<Series> all;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    if (bar > line.size()) continue;
    Series& series = all.emplace_back();
    for (const std::string_view pair : split(trim(std::string_view(line).substr(0, bar)), ',')) {
      const std::size_t equals = pair.find('=');
      series.labels[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    }
    std::istringstream(line.substr(bar + 1)) >> series.hours >> series.idle >> series.low >> series.util;
  }
  return all;
}

std::optional<double> value_of(const Series& series, const std::string& query) {
  const bool utilisation = query.find("DCGM_FI_DEV_GPU_UTIL") < query.size();
  if (!utilisation) return std::nullopt;
  if (query.starts_with("count_over_time")) return series.hours * kStepsPerHour;
  if (query.find("bool%205%29") < query.size()) return series.idle * kStepsPerHour;
  if (query.find("bool%2030%29") < query.size()) return series.low * kStepsPerHour;
  if (query.starts_with("avg_over_time")) return series.util;
  return std::nullopt;
}

std::string answer(const std::vector<Series>& all, const std::string& query) {
  Json result = Json::array();
  if (query.starts_with("count%28")) {  // count(count_over_time(...)): whether there is such a metric
    if (!all.empty() && query.find("DCGM_FI_DEV_GPU_UTIL") < query.size()) {
      result.push_back({{"metric", Json::object()}, {"value", {0, std::to_string(all.size())}}});
    }
  } else {
    for (const Series& series : all) {
      const std::optional<double> value = value_of(series, query);
      if (value) result.push_back({{"metric", series.labels}, {"value", {0, fmt::format("{}", *value)}}});
    }
  }
  return Json{{"status", "success"}, {"data", {{"resultType", "vector"}, {"result", std::move(result)}}}}.dump();
}

}  // namespace

FileFacts facts_of_table(const std::string& table, const std::string& url, int days) {
  const std::vector<Series> all = parse(table);
  const HttpGet get = [&](const std::string& asked) -> Result<std::string> {
    const std::size_t query = asked.find("query=") + 6;
    return answer(all, asked.substr(query));
  };
  return read_prometheus_server(url, {86400 * 100, days, kStep_s}, get);
}

}  // namespace tare
