#include "catalog/offer_selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tare {
namespace {

struct Candidate {
  Offer* offer = nullptr;  // sorted by pointer: an offer is large
  int layer = 0;
  int row = 0;
};

// Less = goes before.
auto order_of(const Candidate& candidate) {
  const Offer& offer = *candidate.offer;
  const std::optional<Date> known = offer.date ? offer.date : offer.date_from;
  const int day = known ? known->days : std::numeric_limits<int>::min() + 1;
  return std::make_tuple(!offer.suspect.empty(), -candidate.layer, -day, !offer.date.has_value(), candidate.row);
}

// A row of a later layer takes the place of the earlier layers' row of the same id and date. `candidates` are sorted by
// id: those of one id stand together.
void drop_replaced(std::vector<Candidate>& candidates) {
  const auto date_of = [](const Offer& offer) { return std::make_tuple(offer.date, offer.date_from, offer.date_to); };
  std::vector<Candidate> kept;
  kept.reserve(candidates.size());
  for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    std::map<decltype(date_of(*candidates[0].offer)), int> last_layer;
    for (; end < candidates.size() && candidates[end].offer->id == candidates[begin].offer->id; ++end) {
      int& layer = last_layer[date_of(*candidates[end].offer)];
      layer = std::max(layer, candidates[end].layer);
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (candidates[i].layer == last_layer[date_of(*candidates[i].offer)]) kept.push_back(candidates[i]);
    }
  }
  candidates = std::move(kept);
}

// A list that prints the on-demand price in its spot column means that nothing is sold as spot there.
void mark_false_spot(std::vector<Offer>& offers) {
  constexpr double kSamePrice = 1e-3;
  std::unordered_map<std::string, double> on_demand;
  for (const Offer& offer : offers) {
    if (offer.purchase == Purchase::kOnDemand && offer.price_usd_per_h) on_demand[offer.id] = *offer.price_usd_per_h;
  }
  for (Offer& offer : offers) {
    if (offer.purchase != Purchase::kSpot || !offer.price_usd_per_h || !offer.suspect.empty()) continue;
    std::string place = offer.id.substr(0, offer.id.rfind('/') + 1);
    const auto found = on_demand.find(place.append(name_of(Purchase::kOnDemand)));
    if (found == on_demand.end()) continue;
    if (std::abs(*offer.price_usd_per_h / found->second - 1) > kSamePrice) continue;
    offer.suspect = "spot price equal to the on-demand price: no spot market";
  }
}

}  // namespace

OfferSelection select_offers(std::vector<std::vector<Offer>> layers) {
  std::vector<Candidate> candidates;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    int row = 0;
    for (Offer& offer : layers[layer]) candidates.push_back({&offer, static_cast<int>(layer), row++});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    const int ids = a.offer->id.compare(b.offer->id);
    return ids != 0 ? ids < 0 : order_of(a) < order_of(b);
  });
  drop_replaced(candidates);
  OfferSelection selection;
  for (const Candidate& candidate : candidates) {
    const bool counts = selection.current.empty() || selection.current.back().id != candidate.offer->id;
    (counts ? selection.current : selection.history).push_back(std::move(*candidate.offer));
  }
  mark_false_spot(selection.current);
  return selection;
}

}  // namespace tare
