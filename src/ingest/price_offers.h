// Prices of a list, gathered: one record per offer, and the range per GPU model.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/kept_rows.h"

namespace tare {

class PriceOffers {
 public:
  // `offer` has "price" and may have "spot_price", "gpu", "gpus", "provider", "region", "instance_type", "currency".
  // Adds the prices per GPU where the number of GPUs is known, and keeps it.
  void add(FactRecord offer);
  std::int64_t count() const { return offers_.seen(); }
  // offer_count, price_min, price_max, currencies, gpu_models[], offers[].
  void give(Reading& reading);

 private:
  struct Model {
    std::int64_t offers = 0;
    std::optional<double> low, high, spot_low, per_gpu_low, per_gpu_high;
  };
  KeptRows offers_;
  std::map<std::string, Model> models_;
  std::map<std::string, std::int64_t> currencies_, providers_;
  std::optional<double> low_, high_;
};

}  // namespace tare
