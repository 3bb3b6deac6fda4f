#include "cost/region.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tare {
namespace {

struct Prefix {
  std::string_view begins;
  std::string_view country;
};

// Names of AWS, GCP, Azure and OCI regions, and countries by themselves. The longest that fits counts.
constexpr auto kPrefixes = std::to_array<Prefix>({
    {"us", "USA"},
    {"eastus", "USA"},
    {"westus", "USA"},
    {"centralus", "USA"},
    {"northcentralus", "USA"},
    {"southcentralus", "USA"},
    {"westcentralus", "USA"},
    {"northamerica-northeast", "CAN"},
    {"canada", "CAN"},
    {"ca-", "CAN"},
    {"cn", "CHN"},
    {"china", "CHN"},
    {"asia-east1", "TWN"},
    {"asia-east2", "HKG"},
    {"ap-east-1", "HKG"},
    {"eastasia", "HKG"},
    {"eu-west-1", "IRL"},
    {"northeurope", "IRL"},
    {"ireland", "IRL"},
    {"eu-west-2", "GBR"},
    {"europe-west2", "GBR"},
    {"uk", "GBR"},
    {"eu-west-3", "FRA"},
    {"europe-west9", "FRA"},
    {"france", "FRA"},
    {"eu-central-1", "DEU"},
    {"eu-frankfurt", "DEU"},
    {"europe-west3", "DEU"},
    {"europe-west10", "DEU"},
    {"germany", "DEU"},
    {"eu-north-1", "SWE"},
    {"eu-stockholm", "SWE"},
    {"europe-north2", "SWE"},
    {"sweden", "SWE"},
    {"europe-north1", "FIN"},
    {"finland", "FIN"},
    {"norway", "NOR"},
    {"iceland", "ISL"},
    {"europe-west4", "NLD"},
    {"westeurope", "NLD"},
    {"eu-amsterdam", "NLD"},
    {"eu", "EU"},
    {"ap-south-1", "IND"},
    {"ap-mumbai", "IND"},
    {"asia-south1", "IND"},
    {"asia-south2", "IND"},
    {"centralindia", "IND"},
    {"southindia", "IND"},
    {"westindia", "IND"},
    {"india", "IND"},
    {"ap-northeast-1", "JPN"},
    {"ap-northeast-3", "JPN"},
    {"ap-tokyo", "JPN"},
    {"asia-northeast1", "JPN"},
    {"asia-northeast2", "JPN"},
    {"japan", "JPN"},
    {"ap-northeast-2", "KOR"},
    {"asia-northeast3", "KOR"},
    {"korea", "KOR"},
    {"ap-southeast-1", "SGP"},
    {"asia-southeast1", "SGP"},
    {"southeastasia", "SGP"},
    {"singapore", "SGP"},
    {"ap-southeast-2", "AUS"},
    {"australia", "AUS"},
    {"taiwan", "TWN"},
});

struct Country {
  std::string_view country;
  const char* tariff;     // a row in dollars or in euro
  const char* intensity;  // nullptr: no row
};

constexpr const char* kEverywhere = "elec_world_business";
constexpr auto kCountries = std::to_array<Country>({
    {"USA", "elec_us_ind", "co2_usa"},       {"CHN", "elec_china_ind", "co2_chn"},
    {"DEU", "elec_germany", "co2_deu"},      {"FRA", "elec_france", "co2_fra"},
    {"IRL", "elec_ireland", "co2_irl"},      {"SWE", "elec_finland_sweden", "co2_swe"},
    {"FIN", "elec_finland_sweden", nullptr}, {"NLD", "elec_eu_avg", nullptr},
    {"EU", "elec_eu_avg", nullptr},          {"GBR", kEverywhere, "co2_gbr"},
    {"NOR", kEverywhere, "co2_nor"},         {"ISL", kEverywhere, "co2_isl"},
    {"IND", kEverywhere, "co2_ind"},         {"JPN", kEverywhere, "co2_jpn"},
    {"SGP", kEverywhere, "co2_sgp"},         {"AUS", kEverywhere, "co2_aus"},
    {"CAN", kEverywhere, "co2_can"},         {"KOR", kEverywhere, "co2_kor"},
    {"TWN", kEverywhere, "co2_twn"},         {"HKG", kEverywhere, nullptr},
});

const Country* find_country(std::string_view region) {
  const std::string_view country = country_of(region);
  const auto* const found =
      std::find_if(kCountries.begin(), kCountries.end(), [&](const Country& c) { return c.country == country; });
  return found == kCountries.end() ? nullptr : found;
}

}  // namespace

std::string_view country_of(std::string_view region) {
  const std::string name = to_lower(region);
  const Prefix* best = nullptr;
  for (const Prefix& prefix : kPrefixes) {
    if (!name.starts_with(prefix.begins)) continue;
    if (best == nullptr || prefix.begins.size() > best->begins.size()) best = &prefix;
  }
  return best == nullptr ? std::string_view() : best->country;
}

Tariff tariff_of(std::string_view region, const Catalog& catalog) {
  const Country* const country = find_country(region);
  const Country& used = country == nullptr ? kCountries.front() : *country;
  const CostParameter& row = parameter(catalog, used.tariff);
  const bool in_euro = row.unit.starts_with("EUR");
  RangedInput price = parameter_range(in_euro ? "eur_per_kwh" : "usd_per_kwh", row);
  price.input.assumed = price.input.assumed || country == nullptr || used.tariff == kEverywhere;
  if (!in_euro) return {"usd_per_kwh", {std::move(price)}};
  return {"eur_per_kwh * usd_per_eur",
          {std::move(price), parameter_range("usd_per_eur", parameter(catalog, "usd_per_eur"))}};
}

RangedInput grid_intensity(std::string_view region, const Catalog& catalog) {
  const Country* const country = find_country(region);
  const bool known = country != nullptr && country->intensity != nullptr;
  RangedInput input =
      parameter_range("grams_per_kwh", parameter(catalog, known ? country->intensity : kCountries.front().intensity));
  input.input.assumed = input.input.assumed || !known;
  return input;
}

const std::vector<std::string>& region_parameter_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all = {"usd_per_eur"};
    for (const Country& country : kCountries) {
      all.emplace_back(country.tariff);
      if (country.intensity != nullptr) all.emplace_back(country.intensity);
    }
    return all;
  }();
  return ids;
}

}  // namespace tare
