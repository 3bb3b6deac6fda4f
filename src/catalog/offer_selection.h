// Which of several prices of one offer counts.
#pragma once

#include <vector>

#include "catalog/offer.h"

namespace tare {

struct OfferSelection {
  std::vector<Offer> current;  // one per id, sorted by id
  std::vector<Offer> history;  // the others: by id, newest first
};

// `layers` from the shipped file to the last overlaid one. A row replaces the row of the same id and date in an earlier
// layer. Of the rest, a sound row goes before a suspect one, then a later layer before an earlier one, then the newer
// price (a span is as old as its beginning), then the one with a date of its own, then the earlier row of its file.
OfferSelection select_offers(std::vector<std::vector<Offer>> layers);

}  // namespace tare
