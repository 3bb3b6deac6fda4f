#include "validation/step_error.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tare {
namespace {

constexpr double kMadToSigma = 1.4826;   // of a normal distribution
constexpr double kMedianError = 1.2533;  // standard error of a median, in sigmas ÷ √n
constexpr double kP90 = 1.2815515655446004;

double log_error(const RowPrediction& row) { return std::log1p(row.error_ratio); }

// What is left of the rows' errors, taken apart group by group.
struct Rest {
  const RowPrediction* row;
  double error;
};

struct Group {
  double median = 0, spread = 0;  // half of P84 − P16
  int rows = 0, clusters = 0;

  bool enough() const { return clusters >= kFewestClusters; }
};

Group group_of(const std::vector<Rest>& rests) {
  std::vector<Weighted> values;
  std::set<std::string> clusters;
  for (const Rest& rest : rests) {
    values.push_back({rest.error, rest.row->weight});
    clusters.insert(rest.row->cluster);
  }
  Group group;
  group.median = weighted_quantile(values, 0.5);
  group.spread = (weighted_quantile(values, 0.84) - weighted_quantile(values, 0.16)) / 2;
  group.rows = static_cast<int>(rests.size());
  group.clusters = static_cast<int>(clusters.size());
  return group;
}

std::map<std::string, std::vector<Rest>> by(const std::vector<Rest>& rests, std::string RowPrediction::*field) {
  std::map<std::string, std::vector<Rest>> groups;
  for (const Rest& rest : rests) groups[rest.row->*field].push_back(rest);
  return groups;
}

StepError step_error(std::string id, double sigma, int rows, int clusters) {
  StepError error;
  error.id = std::move(id);
  error.sigma_log = sigma;
  error.rows = rows;
  error.clusters = clusters;
  error.source.evidence = "derived";
  error.source.text = "tests/published/published.csv, by validation_test";
  return error;
}

// Takes the groups' medians out of the rests and adds "kind/…" for each group with enough clusters, and "kind/all".
void take_out(std::vector<Rest>& rests, const std::string& kind, std::string RowPrediction::*field,
              std::vector<StepError>& errors) {
  std::vector<Weighted> shared;
  std::vector<StepError> own;
  std::map<std::string, double> medians;
  int rows = 0, clusters = 0;
  for (const auto& [name, members] : by(rests, field)) {
    const Group group = group_of(members);
    medians[name] = group.median;
    if (!group.enough()) continue;
    const double standard_error = kMedianError * group.spread / std::sqrt(group.clusters);
    const double sigma = std::hypot(group.median, standard_error);
    own.push_back(step_error(fmt::format("{}/{}", kind, name), sigma, group.rows, group.clusters));
    shared.push_back({sigma, 1});
    rows += group.rows;
    clusters += group.clusters;
  }
  const double all = shared.empty() ? 0 : kMadToSigma * weighted_quantile(shared, 0.5);
  errors.push_back(step_error(kind + "/all", all, rows, clusters));
  errors.insert(errors.end(), own.begin(), own.end());
  for (Rest& rest : rests) rest.error -= medians[rest.row->*field];
}

}  // namespace

std::vector<StepError> step_errors_of(const std::vector<RowPrediction>& predictions) {
  std::vector<Rest> rests;
  rests.reserve(predictions.size());
  for (const RowPrediction& row : predictions) rests.push_back({&row, log_error(row)});
  std::vector<StepError> errors;
  if (rests.empty()) return errors;
  take_out(rests, "stack", &RowPrediction::stack, errors);
  take_out(rests, "generation", &RowPrediction::generation, errors);
  const Group all = group_of(rests);
  errors.push_back(step_error("own/all", all.spread, all.rows, all.clusters));
  for (const auto& [name, members] : by(rests, &RowPrediction::stack)) {
    const Group group = group_of(members);
    if (group.enough()) errors.push_back(step_error("own/" + name, group.spread, group.rows, group.clusters));
  }
  return errors;
}

std::string to_csv(const std::vector<StepError>& errors) {
  std::string text = "id,sigma_log,rows,clusters,evidence,source\n";
  for (const StepError& e : errors) {
    text += fmt::format("{},{:.4f},{},{},{},\"{}\"\n", e.id, e.sigma_log, e.rows, e.clusters, e.source.evidence,
                        e.source.text);
  }
  return text;
}

double share_between_p10_and_p90(const std::vector<RowPrediction>& predictions, const std::vector<StepError>& errors) {
  double within = 0, total = 0;
  for (const RowPrediction& row : predictions) {
    const double sigma =
        std::hypot(step_error_sigma(errors, "stack", row.stack), step_error_sigma(errors, "generation", row.generation),
                   step_error_sigma(errors, "own", row.stack));
    total += row.weight;
    if (std::fabs(log_error(row)) <= kP90 * sigma) within += row.weight;
  }
  return total > 0 ? within / total : 0;
}

}  // namespace tare
