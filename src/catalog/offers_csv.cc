#include "catalog/offers_csv.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/tables.h"

namespace tare {
namespace {

const std::vector<std::string>& billing_periods() {
  static const std::vector<std::string> names = {"second", "minute", "hour", "day", "week", "month", "year"};
  return names;
}

std::string read_node_type(TableReader& row, const Offer& offer, const Catalog& known) {
  const std::string id = row.text("node_type");
  if (id.empty()) {
    const NodeType* same_name = find_node_type(known, offer.provider + '/' + offer.instance);
    return same_name != nullptr && same_name->gpu == offer.gpu ? same_name->id : std::string();
  }
  if (const NodeType* node_type = find_node_type(known, id)) return node_type->id;
  row.error("node_type", unknown_node_type(known, id));
  return {};
}

// A term is a number and a unit of time: "1y", "6mo".
void check_term(TableReader& row, const std::string& term) {
  const std::size_t unit = term.find_first_not_of("0123456789");
  static const std::vector<std::string> kUnits = {"h", "d", "w", "mo", "y"};
  if (term.empty()) return;
  if (unit != 0 && unit != std::string::npos && std::count(kUnits.begin(), kUnits.end(), term.substr(unit)) == 1)
    return;
  row.error("term", "unknown-value",
            fmt::format("expected a length of time in column 'term', found {}", in_quotes(term)),
            "a number and one of h, d, w, mo, y, such as 1y");
}

void read_price(TableReader& row, Offer& offer) {
  offer.price_usd_per_h = row.number("price_usd_per_h");
  offer.price_low_usd_per_h = row.number("price_low_usd_per_h");
  offer.price_high_usd_per_h = row.number("price_high_usd_per_h");
  check_range(row, "price_low_usd_per_h", offer.price_low_usd_per_h, offer.price_usd_per_h, offer.price_high_usd_per_h);
  if (offer.purchase != Purchase::kOwned && row.view("price_usd_per_h").empty()) row.require_text("price_usd_per_h");
  if (offer.price_usd_per_h && *offer.price_usd_per_h == 0) {
    row.error("price_usd_per_h", "not-positive", "expected a price, found 0", "leave out what has no price");
  }
  offer.currency = row.text("currency").empty() ? "USD" : row.text("currency");
  if (equals_ignoring_case(offer.currency, "usd")) offer.currency = "USD";
  offer.billing_period = row.word("billing_period", billing_periods(), "");
  offer.billing_minimum_s = row.number("billing_minimum_s");
}

void read_dates(TableReader& row, Offer& offer) {
  offer.date = row.date("date");
  offer.date_from = row.date("date_from");
  offer.date_to = row.date("date_to");
  if (offer.date_from && offer.date_to && *offer.date_to < *offer.date_from) {
    row.error("date_to", "unordered-range",
              fmt::format("expected a span of dates, found {} to {}", format_date(*offer.date_from),
                          format_date(*offer.date_to)));
  }
}

void add_suspicion(Offer& offer, const std::string& reason) {
  offer.suspect += offer.suspect.empty() ? reason : "; " + reason;
}

// What the row leaves empty, the node type knows.
void fill_from_node_type(TableReader& row, const Catalog& known, Offer& offer) {
  const NodeType* node_type = offer.node_type.empty() ? nullptr : find_node_type(known, offer.node_type);
  if (node_type == nullptr) return;
  if (row.view("host").empty()) offer.delivery.host = node_type->delivery.host;
  if (row.view("packaging").empty()) offer.delivery.packaging = node_type->delivery.packaging;
  if (row.view("gpu_share").empty()) offer.delivery.gpu_share = node_type->delivery.gpu_share;
  if (row.view("tenancy").empty()) offer.delivery.tenancy = node_type->delivery.tenancy;
  if (node_type->gpu != offer.gpu && !offer.gpu.empty()) {
    row.error("gpu", "wrong-gpu",
              fmt::format("expected {}, the GPU of node type {}, found {}", node_type->gpu, node_type->id, offer.gpu));
  }
  if (node_type->gpus != offer.gpus && offer.suspect.empty()) {
    add_suspicion(offer,
                  fmt::format("listed with {} GPUs, node type {} has {}", offer.gpus, node_type->id, node_type->gpus));
  }
}

Offer read_row(TableReader& row, const Catalog& known) {
  Offer o;
  o.provider = row.require_text("provider");
  o.instance = row.require_text("instance");
  o.region = row.text("region").empty() ? "*" : row.text("region");
  o.purchase = parse_purchase(row.word("purchase", purchase_names(), "on_demand")).value_or(o.purchase);
  o.term = row.text("term");
  check_term(row, o.term);
  o.gpu = read_gpu(row, "gpu", known);
  o.gpus = row.require_count("gpus");
  o.node_type = read_node_type(row, o, known);
  read_price(row, o);
  read_dates(row, o);
  o.delivery = read_delivery(row);
  o.certifications = row.list("certifications");
  o.regions_seen = row.list("regions_seen", ' ');
  o.suspect = row.text("suspect");
  fill_from_node_type(row, known, o);
  o.source = row.source();
  o.id = make_offer_id(o);
  return o;
}

bool same_day(const Offer& a, const Offer& b) {
  return a.date == b.date && a.date_from == b.date_from && a.date_to == b.date_to;
}

}  // namespace

Result<OfferTable> read_offers_csv(std::string text, const std::string& file, const Catalog& known) {
  const auto csv = CsvTable::parse(std::move(text), file);
  if (!csv) return tl::unexpected(csv.error());
  OfferTable table;
  DiagnosticList diagnostics;
  TableReader row(*csv, file, diagnostics, {"provider", "instance", "gpu", "gpus", "price_usd_per_h"});
  table.offers.reserve(row.rows());
  std::unordered_multimap<std::string, std::size_t> by_id;
  for (std::size_t i = 0; row.complete() && i < row.rows(); ++i) {
    row.select(i);
    const std::size_t before = row.errors();
    Offer offer = read_row(row, known);
    if (row.errors() != before) continue;
    if (offer.currency != "USD") {
      table.left_out.push_back(
          row.at("currency", "other-currency",
                 fmt::format("expected a price in USD, found one in {}", in_quotes(offer.currency)),
                 "no exchange rate is built in, convert it first"));
      table.left_out.back().severity = Severity::kWarning;
      continue;
    }
    const auto [first, last] = by_id.equal_range(offer.id);
    const bool ambiguous =
        offer.suspect.empty() && std::any_of(first, last, [&](const auto& entry) {
          const Offer& other = table.offers[entry.second];
          return other.suspect.empty() && same_day(offer, other) && other.price_usd_per_h != offer.price_usd_per_h;
        });
    if (ambiguous) {
      row.error("price_usd_per_h", "ambiguous-price",
                fmt::format("a second price of {} of the same date ({})", offer.id, price_date_text(offer)),
                "give the rows their dates, or mark one as suspect");
      continue;
    }
    by_id.emplace(offer.id, table.offers.size());
    table.offers.push_back(std::move(offer));
  }
  if (!diagnostics.empty()) return tl::unexpected(diagnostics.sorted());
  return table;
}

}  // namespace tare
