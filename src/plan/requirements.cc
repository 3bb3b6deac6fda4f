#include "plan/requirements.h"

#include <algorithm>

#include "base/text.h"

namespace tare {
namespace {

Refusal refuse(const Offer& offer, int gpus, std::string reason, std::string needed, std::string had,
               std::string nearest) {
  return {offer.id, gpus, std::move(reason), std::move(needed), std::move(had), std::move(nearest)};
}

std::optional<Refusal> check_delivery(const JobRequirements& require, const Offer& offer, const NodeType& type,
                                      int gpus) {
  const std::string& tenancy = offer.delivery.tenancy != "unknown" ? offer.delivery.tenancy : type.delivery.tenancy;
  if (require.tenancy == "dedicated" && tenancy != "dedicated") {
    return refuse(offer, gpus, "tenancy", "dedicated", tenancy,
                  "an offer with dedicated tenancy, or require.tenancy = \"any\"");
  }
  const std::string& host = offer.delivery.host != "unknown" ? offer.delivery.host : type.delivery.host;
  if (require.host != "any" && host != require.host) {
    return refuse(offer, gpus, "host", require.host, host, "require.host = \"any\"");
  }
  return std::nullopt;
}

std::optional<Refusal> check_place(const JobRequirements& require, const Offer& offer, int gpus) {
  if (!require.regions.empty()) {
    const bool any = std::any_of(require.regions.begin(), require.regions.end(),
                                 [&](const std::string& glob) { return glob_matches(glob, offer.region); });
    if (!any) {
      const std::string had = offer.region == "*" ? "not stated" : offer.region;
      return refuse(offer, gpus, "region", join(require.regions, ", "), had, "a price row of an accepted region");
    }
  }
  for (const std::string& wanted : require.certifications) {
    const bool has = std::any_of(offer.certifications.begin(), offer.certifications.end(),
                                 [&](const std::string& had) { return equals_ignoring_case(had, wanted); });
    if (has) continue;
    const std::string had = offer.certifications.empty() ? "none known" : join(offer.certifications, ", ");
    return refuse(offer, gpus, "certification", wanted, had,
                  "state it in an overlay of offers.csv once the provider has shown it");
  }
  return std::nullopt;
}

std::optional<Refusal> check_price(const PlanRequest& request, const Offer& offer, int gpus) {
  if (!offer.suspect.empty() && !request.include_suspect) {
    return refuse(offer, gpus, "suspect_price", "a price without doubt", offer.suspect,
                  "--include-suspect ranks it all the same");
  }
  if (offer.purchase != Purchase::kOwned && !offer.price_usd_per_h) {
    return refuse(offer, gpus, "no_price", "a price per hour", "none",
                  "add one to the cluster file or to an overlay of offers.csv");
  }
  if (request.max_price_age_days && offer.purchase != Purchase::kOwned &&
      is_stale(offer, request.as_of, *request.max_price_age_days)) {
    const std::optional<int> age = price_age_days(offer, request.as_of);
    return refuse(offer, gpus, "stale_price", "at most " + std::to_string(*request.max_price_age_days) + " days old",
                  age ? std::to_string(*age) + " days" : "undated", "a newer price in an overlay of offers.csv");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> check_requirements(const PlanRequest& request, const Offer& offer, const NodeType& type,
                                          int gpus) {
  if (auto refusal = check_price(request, offer, gpus)) return refusal;
  if (auto refusal = check_delivery(request.job.require, offer, type, gpus)) return refusal;
  if (auto refusal = check_place(request.job.require, offer, gpus)) return refusal;
  const int nodes = (gpus + offer.gpus - 1) / offer.gpus;
  if (type.max_cluster_nodes && nodes > *type.max_cluster_nodes) {
    return refuse(offer, gpus, "cluster_limit", std::to_string(nodes) + " nodes",
                  std::to_string(*type.max_cluster_nodes),
                  "at most " + std::to_string(*type.max_cluster_nodes * offer.gpus) + " GPUs of this offer");
  }
  return std::nullopt;
}

}  // namespace tare
