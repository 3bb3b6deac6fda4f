#include "ingest/price_offers.h"

#include <algorithm>

namespace tare {
namespace {

constexpr std::size_t kModels = 2000;

void widen(std::optional<double>& low, std::optional<double>& high, double value) {
  low = std::min(low.value_or(value), value);
  high = std::max(high.value_or(value), value);
}

void count_text(std::map<std::string, std::int64_t>& counts, std::string_view text) {
  const std::string key(text);
  if (!key.empty() && (counts.size() < kModels || counts.count(key) > 0)) ++counts[key];
}

void set_if(FactRecord& record, std::string_view name, const std::optional<double>& value) {
  if (value) record.set(name, *value);
}

}  // namespace

void PriceOffers::add(FactRecord offer) {
  const std::optional<double> price = offer.number("price");
  const std::optional<double> spot = offer.number("spot_price");
  const std::optional<double> gpus = offer.number("gpus");
  const bool several = gpus && *gpus > 0;
  if (several && price) offer.set("price_per_gpu", *price / *gpus, offer.find("price")->line);
  if (several && spot) offer.set("spot_price_per_gpu", *spot / *gpus, offer.find("spot_price")->line);
  if (price) widen(low_, high_, *price);
  count_text(currencies_, offer.text("currency"));
  count_text(providers_, offer.text("provider"));
  const std::string gpu(offer.text("gpu"));
  if (!gpu.empty() && (models_.size() < kModels || models_.count(gpu) > 0)) {
    Model& model = models_[gpu];
    ++model.offers;
    if (price) widen(model.low, model.high, *price);
    if (several && price) widen(model.per_gpu_low, model.per_gpu_high, *price / *gpus);
    if (spot) model.spot_low = std::min(model.spot_low.value_or(*spot), *spot);
  }
  if (offers_.wants_next()) offers_.add(std::move(offer));
}

void PriceOffers::give(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (offers_.seen() == 0) return;
  facts.set("offer_count", offers_.seen());
  set_if(facts, "price_min", low_);
  set_if(facts, "price_max", high_);
  if (currencies_.size() == 1) facts.set("currency", currencies_.begin()->first);
  if (currencies_.size() > 1) {
    std::vector<Fact>& list = facts.list("currencies");
    for (const auto& [currency, count] : currencies_) list.push_back(Fact::of(currency));
  }
  if (!providers_.empty()) {
    FactRecord& record = facts.record("providers");
    for (const auto& [provider, count] : providers_) record.add(provider, Fact::of(count));
  }
  for (const auto& [gpu, model] : models_) {
    FactRecord& record = facts.append("gpu_models", 0);
    record.set("gpu", gpu);
    record.set("offers", model.offers);
    set_if(record, "price_min", model.low);
    set_if(record, "price_max", model.high);
    set_if(record, "price_per_gpu_min", model.per_gpu_low);
    set_if(record, "price_per_gpu_max", model.per_gpu_high);
    set_if(record, "spot_price_min", model.spot_low);
  }
  offers_.give(facts, "offers", reading);
}

}  // namespace tare
