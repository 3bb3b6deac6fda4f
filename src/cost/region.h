// What electricity costs and emits where a cluster stands.
//
// A region is known by its name ("eu-west-1", "europe-west4", "swedencentral", "cn-beijing"); its country has a tariff
// and a grid intensity among the parameters, or the nearest thing to one: the average of the European Union, that of
// businesses anywhere. What cannot be told from the name is taken to be the United States, and marked as assumed.
//
//   usd_per_kwh = parameter                          rows in dollars
//               = eur_per_kwh · usd_per_eur          rows in euro
// Thread safety: reads only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cost/line_draft.h"

namespace tare {

// ISO 3166 alpha-3 ("USA"); empty when the name does not tell.
std::string_view country_of(std::string_view region);

struct Tariff {
  std::string expression;  // in USD/kWh: "usd_per_kwh", or "eur_per_kwh * usd_per_eur"
  std::vector<RangedInput> inputs;
};
Tariff tariff_of(std::string_view region, const Catalog& catalog);

// "grams_per_kwh", in gCO2e/kWh.
RangedInput grid_intensity(std::string_view region, const Catalog& catalog);

// The parameters either may ask for.
const std::vector<std::string>& region_parameter_ids();

}  // namespace tare
