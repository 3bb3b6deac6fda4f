// SkyPilot's catalog CSVs (github.com/skypilot-org/skypilot-catalog: catalogs/v8/<cloud>/vms.csv) -> offers.
//
// A file has one row per instance type, region and zone, columns in any order: InstanceType, AcceleratorName,
// AcceleratorCount, GpuInfo (a Python dict as text), Price and SpotPrice (USD per hour of the instance), Region. What
// comes out is one offer per instance and region, its price the median over the zones with the range kept, and a spot
// offer where SpotPrice is there and is not the on-demand price again. Rows that are no GPU instance, and GPUs that the
// catalog does not know, are counted by reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/offers_csv.h"

namespace tare {

struct SkyPilotOptions {
  std::string provider;      // the file does not say; empty = provider_of_path(file)
  std::optional<Date> date;  // of the prices; nullopt leaves the offers undated
};

// Whether the first line names SkyPilot's columns.
bool is_skypilot_catalog(std::string_view text);

// The last word of the path that is a provider of the catalog ("prices/v8-nebius.csv" -> "nebius"); without one, the
// folder of a vms.csv or the file's name: "catalogs/v8/newcloud/vms.csv" -> "newcloud".
std::string provider_of_path(std::string_view path, const Catalog& known);

// Offers sorted by id; left_out holds one warning per reason with its number of rows, at the first of them.
Result<OfferTable> read_skypilot_catalog(std::string text, const std::string& file, const SkyPilotOptions& options,
                                         const Catalog& known);

// A price list of either kind: SkyPilot's, or a plain offers CSV.
Result<OfferTable> read_price_list(std::string text, const std::string& file, const SkyPilotOptions& options,
                                   const Catalog& known);

}  // namespace tare
