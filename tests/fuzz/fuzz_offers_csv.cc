// Any bytes as a price list: offers that survive being written and read back, or errors that can be shown.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catalog/catalog.h"
#include "catalog/offers_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tare::Catalog catalog = tare::load_catalog().value();
  const auto table = tare::read_offers_csv(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv", catalog);
  if (!table) {
    if (!tare::has_error(table.error()) || tare::render(table.error()).empty()) std::abort();
    return 0;
  }
  for (const tare::Offer& offer : table->offers) {
    if (offer.gpus <= 0 || offer.id.empty()) std::abort();
    if (offer.price_usd_per_h && !(*offer.price_usd_per_h >= 0 && std::isfinite(*offer.price_usd_per_h))) std::abort();
  }
  if (table->offers.empty()) return 0;
  const auto again = tare::read_offers_csv(tare::write_offers_csv(table->offers), "again.csv", catalog);
  if (!again || again->offers.size() != table->offers.size()) std::abort();
  for (std::size_t i = 0; i < again->offers.size(); ++i) {
    if (again->offers[i].id != table->offers[i].id) std::abort();
    if (again->offers[i].price_usd_per_h != table->offers[i].price_usd_per_h) std::abort();
  }
  return 0;
}
