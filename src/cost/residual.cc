#include "cost/residual.h"

namespace tare {
namespace {

struct ByModel {
  const char* a100;
  const char* h100;
  const char* l40s;
};
constexpr ByModel kTable = {"resid_36_table_a100", "resid_36_table_h100", "resid_36_table_l40s"};
constexpr ByModel kResale = {"resid_36_a100", "resid_36_h100", "resid_36_l40s"};

Residual by_model(const BillInput& input, const Catalog& catalog, const ByModel& ids) {
  const Accelerator* const accelerator = find_accelerator(catalog, input.node_type->gpu);
  const GpuGeneration generation = accelerator == nullptr ? GpuGeneration::kUnknown : accelerator->generation;
  const bool ampere = generation == GpuGeneration::kAmpere;
  const bool ada = generation == GpuGeneration::kAda;
  RangedInput left = parameter_range("residual_36_months", parameter(catalog, ampere ? ids.a100
                                                                              : ada  ? ids.l40s
                                                                                     : ids.h100));
  left.input.assumed = left.input.assumed || !(ampere || ada || generation == GpuGeneration::kHopper);
  return {"residual_36_months^(life_years / 3)", {std::move(left)}};
}

}  // namespace

Residual residual_of(const BillInput& input, const Catalog& catalog) {
  const std::string& scenario = input.offer->ownership.residual;
  if (scenario == "table") return by_model(input, catalog, kTable);
  if (scenario == "resale") return by_model(input, catalog, kResale);
  if (scenario == "decline") {
    return {"(1 - decline_per_year)^life_years",
            {parameter_range("decline_per_year", parameter(catalog, "value_decline_per_year"))}};
  }
  return {"10^(-decay_oom_per_year * life_years)",
          {parameter_range("decay_oom_per_year", parameter(catalog, "hw_progress"))}};
}

const std::vector<std::string>& residual_parameter_ids() {
  static const std::vector<std::string> ids = {kTable.a100,  kTable.h100,  kTable.l40s,   kResale.a100,
                                               kResale.h100, kResale.l40s, "hw_progress", "value_decline_per_year"};
  return ids;
}

}  // namespace tare
