// How far the step model is off, taken apart into what is shared: the sigmas that draws of a bill use.
//
// e = ln(measured ÷ predicted step time) of a row, a cluster of replicates weighing as one:
//   e = b(stack) + c(generation) + rest
//   b     the weighted median of e over the stack's rows; nothing is corrected by it, so it is an error that all runs
//         on the stack share: sigma = √(b² + standard error²), the standard error of a median 1.2533 own ÷ √clusters
//   c     the same over the rows of a GPU generation, of e − b
//   own   half of P84 − P16 of the rest; a stack's own where it has enough clusters
// "all" stands in where there are too few: 1.4826 · the median sigma of the stacks (generations) that have enough, as
// if their errors were those of one normal distribution around zero; own/all over every row.
// Shipped as data/catalog/step_error.csv, which a test holds equal to step_errors_of(tests/published/published.csv).
#pragma once

#include <string>
#include <vector>

#include "catalog/step_error.h"
#include "validation/error_summary.h"

namespace tare {

// P16 and P84 of fewer clusters are their extremes.
inline constexpr int kFewestClusters = 8;

std::vector<StepError> step_errors_of(const std::vector<RowPrediction>& predictions);
// id,sigma_log,rows,clusters,evidence,source
std::string to_csv(const std::vector<StepError>& errors);

// The share of the rows, by weight, that lie between P10 and P90 of what the sigmas say: 0.8 where they are right.
double share_between_p10_and_p90(const std::vector<RowPrediction>& predictions, const std::vector<StepError>& errors);

}  // namespace tare
