// A number that can be asked where it comes from: its formula, inputs with units and sources.
//
// `expression` is written in the input names with + - * / ^, parentheses and the functions min, max, ceil, floor, sqrt,
// log2, exp, pow; evaluate(formula) must give `value` (a test does that for every one shown by --explain).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace tare {

struct FormulaInput {
  std::string name;  // an identifier: "tokens_per_step"
  double value = 0;
  std::string unit;      // "s", "bytes/s", "1"
  std::string source;    // "job.toml", "catalog: H100-SXM5-80GB", "parameter ckpt_bytes_param"
  bool assumed = false;  // a default nobody stated, or a parameter without a source
  // Its range, where it has one: the ends between which draws move it (cost/uncertainty.h).
  std::optional<double> low = {}, high = {};
};

struct Formula {
  std::string id;  // what it computes: "step.dp_exposed_s", "bill.rent"
  double value = 0;
  std::string unit;
  std::string expression;  // the right-hand side
  std::vector<FormulaInput> inputs;
  std::string note;  // why, or the literature the form is from; may be empty
};

// The expression at its inputs. Errors: syntax, an unknown name, a result that is not finite.
Result<double> evaluate(const Formula& formula);

// For people:
//   bill.rent = price_usd_per_gpu_h * billed_gpu_hours = 18,432.00 USD
//     price_usd_per_gpu_h = 3.29 USD/GPU-h   (offer runpod/…, 2026-05-24)
std::string render(const Formula& formula);

}  // namespace tare
