// Price lists: offers.csv of the catalog, and the same columns written by hand or by `tare catalog import`.
//
// Only provider, instance, gpu, gpus and price_usd_per_h (empty where purchase is owned) are needed. What stands empty
// is filled: region "*", purchase on_demand, currency USD; the node type whose id is provider/instance, if the catalog
// has it; the delivery of that node type. A row whose GPU count is not its node type's is marked suspect, with the
// reason.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace tare {

struct OfferTable {
  std::vector<Offer> offers;  // one per row, in file order
  Diagnostics left_out;       // rows understood but not usable: a price in another currency
};

// All errors of the file at their cells. Two sound prices of one id and date are an error too: which one counts?
Result<OfferTable> read_offers_csv(std::string text, const std::string& file, const Catalog& known);

// As offers.csv: reading it back gives the same offers, but for Source::place.
std::string write_offers_csv(const std::vector<Offer>& offers);

}  // namespace tare
