// Any bytes as a SkyPilot catalog: offers that are an overlay when written, or errors that can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ingest/skypilot_catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tare::Catalog catalog = tare::load_catalog().value();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto table = tare::read_skypilot_catalog(text, "catalogs/v8/aws/vms.csv", {}, catalog);
  if (!table) {
    if (!tare::has_error(table.error()) || tare::render(table.error()).empty()) std::abort();
    return 0;
  }
  if (tare::has_error(table->left_out)) std::abort();
  for (const tare::Offer& offer : table->offers) {
    if (offer.gpus < 1 || !offer.price_usd_per_h || !(*offer.price_usd_per_h > 0)) std::abort();
  }
  if (table->offers.empty()) return 0;
  const auto again = tare::read_offers_csv(tare::write_offers_csv(table->offers), "again.csv", catalog);
  if (!again || again->offers.size() != table->offers.size()) std::abort();
  return 0;
}
