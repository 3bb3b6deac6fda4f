// Errors of many predictions in a few figures.
//
// Rows of one replicate cluster share one weight, so a configuration that was published twenty times counts once. A
// quantile is the smallest value with at least that share of the weight at or below it: always the error of a row.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tare {

struct RowPrediction {
  std::string id;
  std::string source_group, gpu, precision, cluster;
  std::string stack, generation;  // ids of the software stack and of the GPU generation
  double measured_tokens_per_s_per_gpu = 0;
  double predicted_tokens_per_s_per_gpu = 0;
  double error_ratio = 0;                      // predicted ÷ measured − 1
  std::optional<double> baseline_error_ratio;  // nullopt: the shipped rows have no such GPU and precision
  double weight = 1;                           // 1 ÷ rows of its cluster
  std::vector<std::string> assumed;
};

struct ErrorSummary {
  std::string name;
  int rows = 0;
  int clusters = 0;
  double median_abs_error_ratio = 0, p90_abs_error_ratio = 0;
  double bias_ratio = 0;  // weighted median of the signed error
  // Over the rows that have a baseline; nullopt: none has.
  std::optional<double> baseline_median_abs_error_ratio, baseline_p90_abs_error_ratio;
};

// Sets the weight of each row from the clusters of all.
void set_weights(std::vector<RowPrediction>& predictions);

ErrorSummary summarise(std::string name, const std::vector<RowPrediction>& predictions);

// One summary for each value of a field, by that value.
std::vector<ErrorSummary> summarise_by(const std::vector<RowPrediction>& predictions,
                                       std::string RowPrediction::*field);

struct Weighted {
  double value = 0, weight = 0;
};
// Precondition: not empty, weights > 0.
double weighted_quantile(std::vector<Weighted> values, double share);

}  // namespace tare
