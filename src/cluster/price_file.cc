#include "cluster/price_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/toml_checks.h"

namespace tare {
namespace {

// The offer of this cluster without its price.
Offer offer_of(TomlTable& table, const Cluster& cluster) {
  Offer offer;
  offer.provider = table.string("provider").value_or("cluster");
  offer.instance = cluster.name;
  offer.region = table.string("region").value_or("*");
  offer.delivery = cluster.delivery;
  offer.source.text = "the cluster file";
  if (!cluster.node_types.empty()) {
    const NodeType& type = cluster.node_types.front().type;
    offer.node_type = type.id;
    offer.gpu = type.gpu;
    offer.gpus = type.gpus;
  }
  return offer;
}

void read_price_table(TomlTable& price, Offer& offer) {
  if (!price.has("usd_per_gpu_h")) price.require_number("usd_per_gpu_h");
  const auto per_gpu = read_positive(price, "usd_per_gpu_h");
  if (per_gpu) offer.price_usd_per_h = *per_gpu * offer.gpus;
  offer.date = read_date(price, "date");
  const auto purchase = price.one_of("purchase", {"on_demand", "spot", "reserved"});
  if (purchase) offer.purchase = parse_purchase(*purchase).value_or(offer.purchase);
  offer.term = price.string("term").value_or("");
  offer.billing_period =
      price.one_of("billing_period", {"second", "minute", "hour", "day", "week", "month"}).value_or("");
  offer.billing_minimum_s = read_positive(price, "billing_minimum", Dimension::kDuration);
}

// The offer that a text names: its id, or enough of it to mean one offer.
const Offer* find_named_offer(TomlTable& table, const std::string& name, const Catalog& catalog) {
  if (const Offer* offer = find_offer(catalog, name)) return offer;
  const std::vector<const Offer*> matching = match_offers(catalog, {name});
  if (matching.size() == 1) return matching.front();
  if (matching.empty()) {
    Diagnostic unknown = unknown_offer(catalog, name);
    table.error("price", std::move(unknown.rule), std::move(unknown.text), std::move(unknown.help));
    return nullptr;
  }
  constexpr std::size_t kMost = 4;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < matching.size() && i < kMost; ++i) ids.push_back(matching[i]->id);
  if (matching.size() > kMost) ids.emplace_back("…");
  table.error("price", "ambiguous-offer",
              fmt::format("expected one offer, found {} that match {}", matching.size(), in_quotes(name)),
              "name one: " + join(ids, ", "));
  return nullptr;
}

void read_named_offer(TomlTable& table, const Catalog& catalog, Cluster& cluster) {
  const auto name = table.string("price");
  if (!name) return;
  const Offer* offer = find_named_offer(table, *name, catalog);
  if (offer == nullptr) return;
  const std::string gpu = cluster.node_types.empty() ? offer->gpu : cluster.node_types.front().type.gpu;
  if (!gpu.empty() && offer->gpu != gpu) {
    table.error("price", "wrong-gpu", fmt::format("expected an offer of {}, found one of {}", gpu, offer->gpu));
    return;
  }
  cluster.offer = *offer;
}

void read_owned(TomlTable& owned, Cluster& cluster, Ownership& ownership) {
  ownership.colocation = owned.boolean("colocation").value_or(ownership.colocation);
  ownership.cooling = owned.one_of("cooling", {"auto", "air", "liquid"}).value_or(ownership.cooling);
  ownership.residual =
      owned.one_of("residual", {"progress", "decline", "table", "resale"}).value_or(ownership.residual);
  if (!owned.has("capex_usd")) owned.require_number("capex_usd");
  const auto base = read_positive(owned, "capex_usd");
  const auto low = read_positive(owned, "capex_low_usd");
  const auto high = read_positive(owned, "capex_high_usd");
  const auto power = read_positive(owned, "power_w");
  if (base && ((low && *low > *base) || (high && *high < *base))) {
    owned.error("capex_usd", "unordered-range",
                fmt::format("expected capex_low_usd <= capex_usd <= capex_high_usd, found {:g}", *base));
  }
  for (ClusterNodeType& node : cluster.node_types) {
    node.type.capex_base_usd = base;
    node.type.capex_low_usd = low;
    node.type.capex_high_usd = high;
    if (power) node.type.node_power_w = power;
  }
}

}  // namespace

void read_price(TomlTable& table, const Catalog& catalog, Cluster& cluster) {
  const bool has_price = table.has("price");
  Offer offer = offer_of(table, cluster);
  auto owned = table.table("owned");
  if (has_price && table.has("owned")) {
    table.error("owned", "conflicting-keys", "expected price or owned, found both",
                "a rented hour already pays for the hardware");
  }
  if (owned) {
    read_owned(*owned, cluster, offer.ownership);
    offer.purchase = Purchase::kOwned;
  }
  if (has_price && table.is_table("price")) {
    if (auto price = table.table("price")) read_price_table(*price, offer);
  } else if (has_price) {
    read_named_offer(table, catalog, cluster);
    return;
  } else if (!table.has("owned")) {
    return;
  }
  offer.id = make_offer_id(offer);
  cluster.offer = std::move(offer);
}

}  // namespace tare
