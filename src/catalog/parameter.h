// A cost or reliability parameter as low / base / high with its evidence.
#pragma once

#include <optional>
#include <string>

#include "catalog/source.h"

namespace tare {

struct CostParameter {
  std::string id;  // "psu_eff"
  std::string group;
  std::string description;
  std::string unit;
  std::optional<double> low, high;
  double base = 0;
  Source source;  // evidence "unsourced" is shown wherever the parameter shows
};

}  // namespace tare
