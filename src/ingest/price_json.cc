#include "ingest/price_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/bill_columns.h"
#include "ingest/bill_summary.h"
#include "ingest/bounded_fact.h"
#include "ingest/json_walk.h"
#include "ingest/price_offers.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr int kDepth = 12;  // of the search for offers in a tree

std::string text_or_number(const Fact* fact) {
  if (fact == nullptr) return {};
  if (!fact->text().empty()) return std::string(fact->text());
  if (const std::int64_t* const number = std::get_if<std::int64_t>(&fact->value)) return std::to_string(*number);
  return {};
}

// A number, or a text that is one ("2.93", "$1.20").
std::optional<double> amount_of(const Fact& fact) {
  if (const std::optional<double> number = fact.number()) return number;
  if (fact.text().empty() || fact.text().size() > 40) return std::nullopt;
  DecimalMark mark;
  const std::optional<PrintedAmount> amount = parse_amount(fact.text(), mark);
  return amount && amount->rest.empty() ? std::optional(amount->value) : std::nullopt;
}

void copy(FactRecord& into, std::string_view name, const FactRecord& from, std::string_view member) {
  if (const Fact* const fact = from.find(member);
      fact != nullptr && fact->as_record() == nullptr && !fact->is_unknown()) {
    into.set(name, bounded(*fact));
  }
}

// The member of a record whose name has one of these parts, the first part first.
const std::pair<std::string, Fact>* member_like(const FactRecord& record,
                                                std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const auto& member : record.members()) {
      if (bill_heading(member.first) == name && !member.second.is_unknown()) return &member;
    }
  }
  return nullptr;
}

bool is_price_name(std::string_view name) {
  const std::string key = bill_heading(name);
  if (contains(key, "spot") || contains(key, "min") || contains(key, "max") || contains(key, "previous") ||
      contains(key, "id"))
    return false;
  for (const std::string_view part :
       {"price", "usdhour", "usdperhour", "hourlyrate", "costperhour", "perhour", "dphtotal", "hourlyusd", "usdh",
        "usdperh", "eurh", "ondemand", "hourlycost", "pergpuh", "cost"}) {
    if (contains(key, part)) return true;
  }
  return false;
}

// The member that holds the price of an offer.
const std::pair<std::string, Fact>* price_member(const FactRecord& record) {
  const std::pair<std::string, Fact>* found = nullptr;
  for (const auto& member : record.members()) {
    if (!is_price_name(member.first) || !amount_of(member.second)) continue;
    // "price_usd_hour" before "price_month".
    const bool hour = contains(to_lower(member.first), "h");
    if (found == nullptr ||
        (hour && !contains(to_lower(found->first), "hour") && contains(to_lower(member.first), "hour")))
      found = &member;
  }
  return found;
}

class PriceDocument {
 public:
  explicit PriceDocument(Reading& reading) : reading_(reading) {}

  void member(std::string_view name, bool in_list, const Fact& value) {
    const FactRecord* const record = value.as_record();
    if (record == nullptr) {
      if (in_list && name == "PriceList" && !value.text().empty()) product_text(value);
      if (!in_list && (name == "BillingCurrency" || name == "currency" || name == "currencyCode"))
        currency_ = std::string(value.text());
      if (in_list && value.as_list() != nullptr) search(value, "", 0);
      return;
    }
    if (name == "skus" && (record->has("pricingInfo") || record->has("skuId"))) return gcp_sku(*record);
    if (record->has("partNumber")) return oci_item(*record);
    if (record->has("retailPrice")) return azure_item(*record);
    if (record->has("SpotPrice") && record->has("InstanceType")) return spot(*record);
    if (name == "ResultsByTime") return cost_explorer(*record);
    if (name == "properties" && record->has("rows") && record->has("columns")) return azure_query(*record);
    if (record->has("product") && record->has("terms")) return product(*record);
    if (bill_row(*record)) return;
    search(value, in_list ? std::string_view() : name, 0);
  }

  // The members of an outermost object, its lists left out: a row, an offer, or something that holds them.
  void outermost(const FactRecord& members) {
    const bool alone = members.members().size() >= 3;
    if (alone && bill_row(members)) return;
    const std::pair<std::string, Fact>* const price = alone ? price_member(members) : nullptr;
    if (price != nullptr) return offer(members, *price, "");
    for (const auto& [name, value] : members.members()) member(name, false, value);
  }

  void finish(const JsonWalk& walk) {
    if (!dialect_.empty()) reading_.facts.set("dialect", dialect_);
    if (skus_.seen() > 0) {
      reading_.facts.set("sku_count", skus_.seen());
      skus_.give(reading_.facts, "skus", reading_);
    }
    if (bill_rows_ > 0) bill_.give(reading_);
    offers_.give(reading_);
    if (reading_.facts.empty() || walk.complete) return;
    reading_.cannot_use(walk.fault_line, "", walk.fault);
    reading_.facts.set("fault", walk.fault, walk.fault_line);
  }

 private:
  void dialect(std::string_view name) {
    if (dialect_.empty()) dialect_ = std::string(name);
  }

  // units "2" and nanos 933908000 are 2.933908.
  static std::optional<double> money(const FactRecord* price) {
    if (price == nullptr) return std::nullopt;
    const Fact* const units = price->find("units");
    const std::optional<double> whole = units == nullptr ? std::optional(0.0) : amount_of(*units);
    if (!whole) return std::nullopt;
    return *whole + price->number("nanos").value_or(0) * 1e-9;
  }

  void gcp_sku(const FactRecord& from) {
    dialect("GCP Cloud Billing SKUs");
    FactRecord sku(from.line);
    copy(sku, "sku_id", from, "skuId");
    copy(sku, "description", from, "description");
    if (const FactRecord* const category = from.find_record("category")) {
      copy(sku, "service", *category, "serviceDisplayName");
      copy(sku, "resource_family", *category, "resourceFamily");
      copy(sku, "resource_group", *category, "resourceGroup");
      copy(sku, "usage_type", *category, "usageType");
    }
    copy(sku, "regions", from, "serviceRegions");
    const std::vector<Fact>* const infos = from.find_list("pricingInfo");
    const FactRecord* const info = infos == nullptr || infos->empty() ? nullptr : infos->back().as_record();
    if (const FactRecord* const expression = info == nullptr ? nullptr : info->find_record("pricingExpression")) {
      copy(sku, "unit", *expression, "usageUnit");
      copy(sku, "unit_description", *expression, "usageUnitDescription");
      copy(sku, "effective_time", *info, "effectiveTime");
      if (const std::vector<Fact>* const rates = expression->find_list("tieredRates")) {
        for (const Fact& rate : *rates) {
          const FactRecord* const price =
              rate.as_record() == nullptr ? nullptr : rate.as_record()->find_record("unitPrice");
          const std::optional<double> value = money(price);
          if (!value) continue;
          sku.set("price", *value, price->line);  // the last tier; a first tier of 0 is free usage
          copy(sku, "currency", *price, "currencyCode");
        }
        sku.set("tiers", static_cast<std::int64_t>(rates->size()));
      }
    }
    sku.set("gpu_sku",
            equals_ignoring_case(sku.text("resource_group"), "GPU") || contains(sku.text("description"), " GPU"));
    if (skus_.wants_next()) skus_.add(std::move(sku));
  }

  void oci_item(const FactRecord& from) {
    dialect("OCI price list");
    FactRecord offer(from.line);
    copy(offer, "part_number", from, "partNumber");
    copy(offer, "name", from, "displayName");
    copy(offer, "unit", from, "metricName");
    copy(offer, "category", from, "serviceCategory");
    copy(offer, "category", from, "serviceCategoryDisplayName");
    offer.set("provider", "OCI");
    const bool gpu = contains(offer.text("name"), "GPU") || contains(offer.text("unit"), "GPU");
    offer.set("gpu_item", gpu);
    const auto take_prices = [&offer](const std::vector<Fact>* prices) {
      for (std::size_t i = 0; prices != nullptr && i < prices->size(); ++i) {
        const FactRecord* const price = (*prices)[i].as_record();
        if (price == nullptr || !price->find("value")) continue;
        if (const std::optional<double> value = amount_of(*price->find("value"));
            value && (!offer.has("price") || price->text("model") == "PAY_AS_YOU_GO")) {
          offer.set("price", *value, price->line);
          copy(offer, "model", *price, "model");
        }
      }
    };
    for (const std::string_view list : {"currencyCodeLocalizations", "prices"}) {
      const std::vector<Fact>* const currencies = from.find_list(list);
      if (currencies == nullptr) continue;
      for (const Fact& one : *currencies) {
        const FactRecord* const currency = one.as_record();
        if (currency == nullptr || (offer.has("price") && currency->text("currencyCode") != "USD")) continue;
        copy(offer, "currency", *currency, "currencyCode");
        take_prices(currency->find_list("prices"));
      }
      if (!offer.has("price")) take_prices(currencies);
    }
    offers_.add(std::move(offer));
  }

  void azure_item(const FactRecord& from) {
    dialect("Azure retail prices");
    FactRecord offer(from.line);
    offer.set("provider", "Azure");
    copy(offer, "price", from, "retailPrice");
    copy(offer, "instance_type", from, "armSkuName");
    copy(offer, "region", from, "armRegionName");
    copy(offer, "currency", from, "currencyCode");
    copy(offer, "name", from, "productName");
    copy(offer, "sku", from, "skuName");
    copy(offer, "meter", from, "meterName");
    copy(offer, "unit", from, "unitOfMeasure");
    copy(offer, "type", from, "type");
    copy(offer, "reservation_term", from, "reservationTerm");
    copy(offer, "service", from, "serviceName");
    offer.set("spot", contains(from.text("skuName"), "Spot") || contains(from.text("meterName"), "Spot"));
    offers_.add(std::move(offer));
  }

  void spot(const FactRecord& from) {
    dialect("AWS spot price history");
    FactRecord offer(from.line);
    offer.set("provider", "AWS");
    copy(offer, "instance_type", from, "InstanceType");
    copy(offer, "zone", from, "AvailabilityZone");
    copy(offer, "time", from, "Timestamp");
    copy(offer, "product", from, "ProductDescription");
    if (const std::optional<double> price = amount_of(*from.find("SpotPrice")))
      offer.set("price", *price, from.find("SpotPrice")->line);
    offer.set("spot", true);
    offer.set("currency", "USD");
    offers_.add(std::move(offer));
  }

  void product_text(const Fact& value) {
    const std::string text(value.text());
    const JsonTree tree = read_json_tree(text, value.line);
    if (tree.root.as_record() != nullptr) product(*tree.root.as_record());
  }

  // One product of AWS GetProducts.
  void product(const FactRecord& from) {
    const FactRecord* const what = from.find_record("product");
    const FactRecord* const terms = from.find_record("terms");
    if (what == nullptr || terms == nullptr) return;
    dialect("AWS price list");
    const FactRecord* const attributes = what->find_record("attributes");
    for (const auto& [term, skus] : terms->members()) {
      if (skus.as_record() == nullptr) continue;
      for (const auto& [code, detail] : skus.as_record()->members()) {
        const FactRecord* const dimensions =
            detail.as_record() == nullptr ? nullptr : detail.as_record()->find_record("priceDimensions");
        if (dimensions == nullptr) continue;
        for (const auto& [rate, dimension] : dimensions->members()) {
          const FactRecord* const price = dimension.as_record();
          const FactRecord* const unit = price == nullptr ? nullptr : price->find_record("pricePerUnit");
          if (unit == nullptr || unit->members().empty()) continue;
          FactRecord offer(what->line > 0 ? what->line : from.line);
          offer.set("provider", "AWS");
          offer.set("term", term);
          copy(offer, "sku", *what, "sku");
          if (attributes != nullptr) {
            copy(offer, "instance_type", *attributes, "instanceType");
            copy(offer, "region", *attributes, attributes->has("regionCode") ? "regionCode" : "location");
            copy(offer, "os", *attributes, "operatingSystem");
            copy(offer, "vcpus", *attributes, "vcpu");
            copy(offer, "memory", *attributes, "memory");
            if (const Fact* const gpus = attributes->find("gpu")) {
              if (const std::optional<double> count = amount_of(*gpus)) offer.set("gpus", *count, gpus->line);
            }
          }
          copy(offer, "unit", *price, "unit");
          copy(offer, "description", *price, "description");
          offer.set("currency", unit->members().front().first);
          if (const std::optional<double> value = amount_of(unit->members().front().second)) offer.set("price", *value);
          offers_.add(std::move(offer));
        }
      }
    }
  }

  void add_row(BillRow row) {
    ++bill_rows_;
    bill_.add(std::move(row));
  }

  void cost_explorer(const FactRecord& from) {
    dialect("AWS Cost Explorer");
    const FactRecord* const period = from.find_record("TimePeriod");
    const auto take = [&](const FactRecord& metrics, std::string_view service, std::int64_t line) {
      BillRow row;
      row.line = line;
      row.provider = "AWS";
      row.service = std::string(service);
      if (period != nullptr) {
        row.start = std::string(period->text("Start"));
        row.end = std::string(period->text("End"));
      }
      for (const auto& [name, value] : metrics.members()) {
        const FactRecord* const metric = value.as_record();
        const Fact* const amount = metric == nullptr ? nullptr : metric->find("Amount");
        if (amount == nullptr) continue;
        const std::optional<double> number = amount_of(*amount);
        if (name == "UsageQuantity") {
          row.usage_quantity = number;
          row.usage_unit = std::string(metric->text("Unit"));
        } else if (name == "AmortizedCost" || name == "NetAmortizedCost") {
          row.effective_cost = number;
          row.currency = std::string(metric->text("Unit"));
        } else if (contains(name, "Cost")) {
          row.cost = number;
          row.currency = std::string(metric->text("Unit"));
        }
      }
      if (row.cost || row.effective_cost || row.usage_quantity) add_row(std::move(row));
    };
    const std::vector<Fact>* const groups = from.find_list("Groups");
    if (groups != nullptr && !groups->empty()) {
      for (const Fact& one : *groups) {
        const FactRecord* const group = one.as_record();
        if (group == nullptr || group->find_record("Metrics") == nullptr) continue;
        std::vector<std::string> keys;
        if (const std::vector<Fact>* const list = group->find_list("Keys")) {
          for (const Fact& key : *list) keys.emplace_back(key.text());
        }
        take(*group->find_record("Metrics"), join(keys, " / "), group->line);
      }
    } else if (const FactRecord* const total = from.find_record("Total")) {
      take(*total, "", total->line);
    }
  }

  // Azure Cost Management query: columns, and rows as lists.
  void azure_query(const FactRecord& from) {
    const std::vector<Fact>* const columns = from.find_list("columns");
    const std::vector<Fact>* const rows = from.find_list("rows");
    if (columns == nullptr || rows == nullptr) return;
    dialect("Azure cost query");
    for (const Fact& one : *rows) {
      if (one.as_list() == nullptr) continue;
      FactRecord row(one.line);
      for (std::size_t i = 0; i < columns->size() && i < one.as_list()->size() && i < 100; ++i) {
        const FactRecord* const column = (*columns)[i].as_record();
        if (column != nullptr) row.set(column->text("name"), Fact((*one.as_list())[i]));
      }
      bill_row(row);
    }
  }

  // {"service": {"description": "x"}} -> service.description, as a CSV of the same rows would call it.
  static FactRecord flat(const FactRecord& from) {
    FactRecord into(from.line);
    for (const auto& [name, value] : from.members()) {
      const FactRecord* const inner = value.as_record();
      if (inner == nullptr) {
        into.add(name, value);
        continue;
      }
      for (const auto& [part, item] : inner->members()) {
        if (item.as_record() == nullptr && into.members().size() < 800)
          into.add(fmt::format("{}.{}", name, part), item);
      }
    }
    return into;
  }

  // An object whose members are the columns of a bill (FOCUS, a GCP export row, an Azure usage record).
  bool bill_row(const FactRecord& whole) {
    if (whole.members().size() < 3 || whole.members().size() > 400) return false;
    const FactRecord from = flat(whole);
    std::vector<std::string> headings;
    for (const auto& [name, value] : from.members()) headings.push_back(name);
    const BillColumns columns = bill_columns(headings);
    if (columns.dialect.empty() || columns.dialect == "price list" || columns.dialect == "SkyPilot catalog" ||
        !columns.has(BillRole::kCost))
      return false;
    const auto fact = [&](BillRole role) -> const Fact* {
      return columns.has(role) ? &from.members()[columns[role]].second : nullptr;
    };
    const auto number = [&](BillRole role) -> std::optional<double> {
      const Fact* const value = fact(role);
      return value == nullptr ? std::nullopt : amount_of(*value);
    };
    const auto text = [&](BillRole role) { return text_or_number(fact(role)); };
    BillRow row;
    row.cost = number(BillRole::kCost);
    if (!row.cost && !number(BillRole::kEffectiveCost)) return false;
    dialect(columns.dialect == "invoice" ? "costs as JSON" : columns.dialect + " as JSON");
    row.line = from.line;
    row.effective_cost = number(BillRole::kEffectiveCost);
    row.list_cost = number(BillRole::kListCost);
    row.usage_quantity = number(BillRole::kQuantity);
    row.usage_unit = text(BillRole::kUnit);
    row.unit_price = number(BillRole::kUnitPrice);
    row.provider = text(BillRole::kProvider);
    row.service = text(BillRole::kService);
    row.sku = text(BillRole::kSku);
    row.sku_id = text(BillRole::kSkuId);
    row.description = text(BillRole::kDescription);
    row.region = text(BillRole::kRegion);
    row.resource = text(BillRole::kResource);
    row.account = text(BillRole::kAccount);
    row.currency = text(BillRole::kCurrency).empty() ? columns.currency : text(BillRole::kCurrency);
    row.charge_category = text(BillRole::kChargeCategory);
    row.pricing_category = text(BillRole::kPricingCategory);
    row.start = text(BillRole::kStart);
    row.end = text(BillRole::kEnd);
    row.instance_type = text(BillRole::kInstanceType);
    for (const auto& [role, name] :
         {std::pair<BillRole, std::string_view>{BillRole::kChargeCategory, "charge_categories"},
          {BillRole::kPricingCategory, "pricing_categories"}}) {
      if (columns.has(role)) bill_.count_cell(name, text(role));
    }
    add_row(std::move(row));
    return true;
  }

  // An object with a price among its members, wherever it stands. `name`: of the member that holds it.
  void search(const Fact& value, std::string_view name, int depth) {
    if (depth > kDepth) return;
    if (const std::vector<Fact>* const list = value.as_list()) {
      for (const Fact& item : *list) search(item, name, depth + 1);
      return;
    }
    const FactRecord* const record = value.as_record();
    if (record == nullptr) return;
    if (const std::pair<std::string, Fact>* const price = price_member(*record)) return offer(*record, *price, name);
    for (const auto& [member, inner] : record->members()) search(inner, member, depth + 1);
  }

  void offer(const FactRecord& from, const std::pair<std::string, Fact>& price, std::string_view name) {
    dialect("price collection");
    FactRecord into(from.line);
    for (const auto& [member, value] : from.members()) {
      if (into.members().size() >= 100) break;
      if (member != "price" && value.as_record() == nullptr) into.set(member, bounded(value));
    }
    const double value = *amount_of(price.second);
    const bool cents = contains(to_lower(price.first), "cent");
    into.set("price", cents ? value / 100 : value, price.second.line);
    into.set("price_name", price.first, price.second.line);
    const auto take = [&](std::string_view as, std::initializer_list<std::string_view> names) {
      const std::pair<std::string, Fact>* const found = member_like(from, names);
      if (found != nullptr && !into.has(as) && found->second.as_list() == nullptr &&
          found->second.as_record() == nullptr)
        into.set(as, Fact(found->second));
    };
    take("gpu", {"gpumodel", "gpuname", "gpu", "gputype", "accelerator", "acceleratorname", "displayname", "model",
                 "gpudescription", "name"});
    take("gpus", {"gpucount", "numgpus", "gpus", "acceleratorcount", "numgpu", "ngpus"});
    take("provider", {"provider", "providerid", "providername", "cloud", "vendor", "cloudprovider"});
    take("instance_type", {"instancetype", "machinetype", "shape", "sku"});
    take("region", {"region", "location", "regionname"});
    take("spot_price", {"spotprice", "spot", "spotpriceusd", "minimumbidprice"});
    take("currency", {"currency", "currencycode"});
    if (into.text("gpu").empty() && !name.empty()) into.set("name", name);
    if (!into.has("currency")) {
      const std::string_view code = currency_of_heading(price.first);
      if (!code.empty()) {
        into.set("currency", code);
      } else if (!currency_.empty()) {
        into.set("currency", currency_);
      }
    }
    offers_.add(std::move(into));
  }

  Reading& reading_;
  PriceOffers offers_;
  BillSummary bill_;
  std::int64_t bill_rows_ = 0;
  KeptRows skus_;
  std::string dialect_, currency_;
};

std::string_view json_begin(std::string_view text, std::int64_t& line) {
  line = 1;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const std::string_view at = rest;
    const std::string_view first = trim(next_line(rest));
    if (first.starts_with('{') || first.starts_with('[') || first.starts_with('"')) return at;
    if (line > 30) break;
  }
  return {};
}

void read_document(std::string_view text, Reading& reading) {
  std::int64_t line = 1;
  std::string_view rest = json_begin(text, line);
  PriceDocument document(reading);
  JsonWalk walk;
  // One document after another: JSON lines.
  while (!trim(rest).empty()) {
    const std::size_t begin = rest.find_first_not_of(" \t\r\n");
    line += std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    rest.remove_prefix(begin);
    FactRecord members(line);
    walk = walk_json(rest, line, [&](std::string_view name, bool in_list, const Fact& value, bool) {
      if (in_list || members.members().size() >= 400) {
        document.member(name, in_list, value);
      } else {
        members.add(std::string(name), value);
      }
    });
    document.outermost(members);
    const std::size_t used = std::max<std::size_t>(walk.used, 1);
    if (!walk.complete || used >= rest.size()) break;
    line += std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(used), '\n');
    rest.remove_prefix(used);
  }
  document.finish(walk);
}

int recognise(const Head& head) {
  std::int64_t line = 1;
  const std::string_view begin = json_begin(head.text.substr(0, 8192), line);
  if (begin.empty()) return confidence::kNone;
  const std::string_view text = head.text;
  const auto has = [text](std::string_view part) { return contains(text, part); };
  if ((has("\"skuId\"") && has("\"pricingInfo\"")) || (has("\"partNumber\"") && has("\"currencyCodeLocalizations\"")) ||
      (has("\"partNumber\"") && has("\"metricName\"")) || has("\"retailPrice\"") || has("\"SpotPriceHistory\"") ||
      has("\"ResultsByTime\"") || has("\"pricePerUnit\"") || has("\\\"pricePerUnit\\\"") || has("\"BilledCost\"") ||
      has("\"costInBillingCurrency\"") || has("\"lineItem/UnblendedCost\"") ||
      (has("\"SpotPrice\"") && has("\"InstanceType\""))) {
    return confidence::kSure;
  }
  if (has("\"nanos\"") && has("\"units\"") && has("\"currencyCode\"")) return confidence::kSure;
  // A member that is a price, and a word that says of what.
  const std::string lower = to_lower(text.substr(0, 64 << 10));
  const bool price = contains(lower, "price") || contains(lower, "usd_h") || contains(lower, "per_hour\"") ||
                     contains(lower, "hourly") || contains(lower, "dph_total") || contains(lower, "cost\"");
  bool number = false;
  for (std::size_t at = lower.find("\":"); at != std::string::npos && !number; at = lower.find("\":", at + 2)) {
    const std::size_t open = lower.rfind('"', at == 0 ? 0 : at - 1);
    if (open == std::string::npos || at - open > 60) continue;
    const std::string_view name = std::string_view(lower).substr(open + 1, at - open - 1);
    const std::string_view value = trim(std::string_view(lower).substr(at + 2, 24));
    number = is_price_name(name) && !value.empty() && contains("0123456789\"", value.substr(0, 1));
  }
  if (!price || !number) return confidence::kNone;
  const bool of_compute =
      contains(lower, "gpu") || contains(lower, "instance") || contains(lower, "currency") || contains(lower, "region");
  return of_compute ? confidence::kLikely : confidence::kPossible;
}

}  // namespace

Format price_json_format() { return {"billing", "price json", recognise, nullptr, read_document}; }

}  // namespace tare
