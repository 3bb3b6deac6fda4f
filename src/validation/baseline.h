// What the model must beat: a constant MFU for each (GPU, stated precision).
//
// The median MFU, by tare's own FLOPs, of the rows that the project ships; a blank precision is a class of its own. It
// is shipped as data/catalog/baseline_mfu.csv, which a test holds equal to baseline_of(tests/published/published.csv).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "validation/row_setup.h"

namespace tare {

struct BaselineMfu {
  std::string gpu, precision;
  int rows = 0;
  double mfu_ratio = 0;
};

// From the rows that can be set up, by GPU and precision.
Result<std::vector<BaselineMfu>> baseline_of(const std::string& csv_text, const std::string& file,
                                             const Catalog& catalog);
// gpu,precision,rows,mfu_ratio
std::string to_csv(const std::vector<BaselineMfu>& baseline);

// MFU by (GPU, stated precision).
using Baseline = std::map<std::pair<std::string, std::string>, double>;
Baseline shipped_baseline();

// Model FLOPs of the measured rate ÷ dense peak of the precision it ran in.
double measured_mfu(const RowSetup& setup);

}  // namespace tare
