#include "ingest/bill_columns.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "ingest/money.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct RoleNames {
  BillRole role;
  std::initializer_list<std::string_view> names;  // the first that is there is taken
};

const std::initializer_list<RoleNames>& role_names() {
  static const std::initializer_list<RoleNames> kNames = {
      {BillRole::kProvider,
       {"providername", "provider", "serviceprovidername", "billpayerprovider", "cloud", "cloudprovider", "vendor",
        "providerid", "publishername"}},
      {BillRole::kService,
       {"servicename", "productservicename", "metercategory", "servicedescription", "productproductname",
        "lineitemproductcode", "service", "consumedservice", "servicecategory", "productname", "product", "dienst",
        "produkt"}},
      {BillRole::kSku,
       {"skuname", "metername", "skudescription", "sku", "productusagetype", "lineitemusagetype", "usagetype", "meter",
        "skumeter", "partnumber", "artikel", "item"}},
      {BillRole::kSkuId, {"skuid", "productsku", "meterid", "skupriceid"}},
      {BillRole::kDescription,
       {"chargedescription", "lineitemlineitemdescription", "skudescription", "description", "metername",
        "beschreibung", "bezeichnung", "item", "lineitem", "sku", "details", "leistung", "position"}},
      {BillRole::kRegion,
       {"regionid", "productregioncode", "productregion", "regionname", "locationregion", "resourcelocation",
        "meterregion", "location", "region", "productlocation", "locationlocation"}},
      {BillRole::kZone, {"availabilityzone", "lineitemavailabilityzone", "locationzone", "zone"}},
      {BillRole::kResource,
       {"resourceid", "lineitemresourceid", "instanceid", "resourcename", "resourceglobalname", "instancename"}},
      {BillRole::kAccount,
       {"subaccountid", "lineitemusageaccountid", "subscriptionid", "subscriptionguid", "projectid", "projectname",
        "billingaccountid", "accountid", "project", "account"}},
      {BillRole::kCurrency,
       {"billingcurrency", "billingcurrencycode", "lineitemcurrencycode", "currency", "currencycode", "wahrung",
        "whrung", "pricingcurrency"}},
      {BillRole::kQuantity,
       {"consumedquantity", "pricingquantity", "lineitemusageamount", "usagequantity", "quantity", "usageamount",
        "usageamountinpricingunits", "consumedusage", "menge", "qty", "hours", "usage", "verbrauch", "gpuhours",
        "stunden"}},
      {BillRole::kUnit,
       {"consumedunit", "pricingunit", "unitofmeasure", "usageunit", "usagepricingunit", "unit", "mengeneinheit",
        "einheit", "uom"}},
      {BillRole::kUnitPrice,
       {"listunitprice", "contractedunitprice", "effectiveprice", "lineitemunblendedrate", "resourcerate", "unitprice",
        "rate", "paygprice", "einzelpreis", "pricingpublicondemandrate", "priceperunit"}},
      {BillRole::kCost,
       {"billedcost",
        "lineitemunblendedcost",
        "costinbillingcurrency",
        "pretaxcost",
        "cost",
        "costusd",
        "subtotal",
        "unroundedsubtotal",
        "unroundedcost",
        "costincurrency",
        "totalcost",
        "extendedcost",
        "amount",
        "total",
        "netamount",
        "charge",
        "charges",
        "betrag",
        "kosten",
        "nettobetrag",
        "gesamtpreis",
        "summe",
        "costinusd",
        "costbeforetax",
        "montant",
        "importe",
        "lineamount",
        "fee"}},
      {BillRole::kEffectiveCost, {"effectivecost", "amortizedcost", "netamortizedcost"}},
      {BillRole::kReservationCost, {"reservationeffectivecost"}},
      {BillRole::kSavingsPlanCost, {"savingsplansavingsplaneffectivecost"}},
      {BillRole::kListCost,
       {"listcost", "pricingpublicondemandcost", "paygcostinbillingcurrency", "costatlist", "listcostusd", "paygcost"}},
      {BillRole::kCredits, {"credits", "creditsamount", "discounts", "othersavings", "negotiatedsavings"}},
      {BillRole::kChargeCategory, {"chargecategory", "lineitemlineitemtype", "chargetype", "costtype", "category"}},
      {BillRole::kPricingCategory,
       {"pricingcategory", "pricingterm", "pricingmodel", "pricingpurchaseoption", "tier", "priceType"}},
      {BillRole::kCommitmentType, {"commitmentdiscounttype", "commitmentdiscountcategory"}},
      {BillRole::kCommitmentId,
       {"commitmentdiscountid", "reservationreservationarn", "savingsplansavingsplanarn", "reservationid",
        "benefitid"}},
      {BillRole::kStart,
       {"chargeperiodstart", "lineitemusagestartdate", "usagestarttime", "usagestartdate", "usagedatetime", "usagedate",
        "date", "startdate", "starttime", "datum", "periodstart", "billperiodstart", "von"}},
      {BillRole::kEnd,
       {"chargeperiodend", "lineitemusageenddate", "usageendtime", "usageenddate", "enddate", "endtime", "periodend",
        "bis"}},
      {BillRole::kTags, {"tags", "resourcetags", "labels", "tag"}},
      {BillRole::kAdditionalInfo, {"additionalinfo", "additionalinformation"}},
      {BillRole::kInstanceType,
       {"productinstancetype", "instancetype", "machinetype", "vmsize", "shape", "armskuname"}},
      {BillRole::kGpuModel,
       {"acceleratorname", "gpumodel", "gpuname", "gpu", "gputype", "accelerator", "model", "displayname"}},
      {BillRole::kGpuCount, {"acceleratorcount", "gpucount", "gpus", "numgpus", "ngpus"}},
      {BillRole::kPrice,
       {"price",          "priceusdhour", "pricehourly",   "hourlyprice", "priceperhour",       "ondemandprice",
        "usdperhour",     "priceusd",     "usdhour",       "retailprice", "priceusdperhour",    "pricepergpuhour",
        "hourlyrate",     "costperhour",  "usdpergpuhour", "ondemand",    "priceusdpergpuhour", "priceeurhour",
        "preisprostunde", "preis",        "hourlyusd",     "hourlycost",  "usdpergpuh",         "priceusdperh"}},
      {BillRole::kSpotPrice, {"spotprice", "spotpriceusd", "spotusdhour", "spotpriceperhour", "spot"}},
  };
  return kNames;
}

bool has_heading(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_prefix(const std::vector<std::string>& names, std::string_view prefix) {
  return std::any_of(names.begin(), names.end(),
                     [prefix](const std::string& name) { return name.starts_with(prefix); });
}

// The first heading that must be a price though its name is not a known one: "price_per_gpu_hour_usd".
std::size_t price_like(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const bool other = contains(name, "spot") || contains(name, "date") || contains(name, "source") ||
                       contains(name, "unit") || contains(name, "month") || contains(name, "currency");
    if (!other &&
        (contains(name, "price") || contains(name, "perhour") || contains(name, "hourly") || contains(name, "usdh"))) {
      return i;
    }
  }
  return BillColumns::kNone;
}

std::string dialect_of(const BillColumns& columns, const std::vector<std::string>& names) {
  const auto has = [&names](std::string_view name) { return has_heading(names, name); };
  if (has("acceleratorname") && has("instancetype") && (has("price") || has("spotprice"))) return "SkyPilot catalog";
  if (has("billedcost") && (has("chargecategory") || has("effectivecost") || has("servicecategory"))) {
    if (has("invoiceid") || has("pricingcurrency") || has("billingaccounttype")) return "FOCUS 1.2";
    if (has("skumeter") || has("capacityreservationid") || has("commitmentdiscountquantity")) return "FOCUS 1.1";
    return "FOCUS 1.0";
  }
  if (has_prefix(names, "lineitem") &&
      (has("lineitemunblendedcost") || has("lineitemlineitemtype") || has("lineitemusageamount"))) {
    const bool slashes = std::any_of(columns.headings.begin(), columns.headings.end(),
                                     [](const std::string& h) { return contains(h, "lineItem/"); });
    return slashes ? "AWS CUR 1" : "AWS CUR 2";
  }
  const bool azure_meter = has("metercategory") || has("meterid") || has("metername");
  if (azure_meter && (has("pretaxcost") || has("costinbillingcurrency") || has("cost") || has("costinusd") ||
                      has("consumedservice") || has("unitofmeasure"))) {
    return "Azure cost export";
  }
  if (has("costinbillingcurrency")) return "Azure cost export";
  if ((has("skuid") || has("skudescription")) && columns.has(BillRole::kCost)) {
    const bool table = has("usage") || has("costtype") || has("subtotal") || has("billingaccountname");
    return table ? "GCP cost table" : "GCP billing export";
  }
  const bool what = columns.has(BillRole::kService) || columns.has(BillRole::kSku) ||
                    columns.has(BillRole::kDescription) || columns.has(BillRole::kResource) ||
                    columns.has(BillRole::kGpuModel) || columns.has(BillRole::kInstanceType);
  const bool when_or_much = columns.has(BillRole::kQuantity) || columns.has(BillRole::kStart) ||
                            columns.has(BillRole::kCurrency) || columns.has(BillRole::kUnitPrice) ||
                            !columns.currency.empty();
  if (columns.has(BillRole::kCost) && what && when_or_much) return "invoice";
  const bool offer = columns.has(BillRole::kGpuModel) || columns.has(BillRole::kInstanceType) ||
                     columns.has(BillRole::kSku) || columns.has(BillRole::kDescription);
  if ((columns.has(BillRole::kPrice) || columns.has(BillRole::kSpotPrice)) && offer) return "price list";
  return {};
}

}  // namespace

std::string bill_heading(std::string_view heading) {
  heading = trim(heading);
  if (heading.starts_with("\xEF\xBB\xBF")) heading.remove_prefix(3);
  // The English name stands in brackets behind a translated one.
  if (const std::size_t open = heading.rfind('(');
      open != std::string_view::npos && open > 0 && heading.ends_with(')')) {
    const std::string_view inside = heading.substr(open + 1, heading.size() - open - 2);
    const bool word =
        inside.size() > 3 &&
        inside.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ") == inside.npos;
    heading = word && currency_of_heading(inside).empty() ? inside : heading.substr(0, open);
  }
  // "Cost in CHF" is the cost.
  if (const std::size_t in = heading.find(" in ");
      in != std::string_view::npos && !currency_of_heading(heading.substr(in + 4)).empty()) {
    heading = heading.substr(0, in);
  }
  std::string name;
  for (const char c : heading) {
    if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name += c;
    }
  }
  return name;
}

BillColumns bill_columns(const std::vector<std::string>& headings) {
  BillColumns columns;
  columns.headings = headings;
  columns.at.fill(BillColumns::kNone);
  if (headings.size() < 2 || headings.size() > 3000) return columns;
  std::vector<std::string> names;
  names.reserve(headings.size());
  std::size_t prose = 0;
  for (const std::string& heading : headings) {
    names.push_back(bill_heading(heading));
    if (heading.size() > 80 || to_number(heading)) ++prose;
  }
  if (prose * 3 > headings.size()) return columns;
  for (const RoleNames& one : role_names()) {
    std::size_t& at = columns.at[static_cast<std::size_t>(one.role)];
    for (const std::string_view name : one.names) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) continue;
      at = static_cast<std::size_t>(found - names.begin());
      ++columns.roles;
      break;
    }
  }
  if (!columns.has(BillRole::kPrice) && !columns.has(BillRole::kCost)) {
    columns.at[static_cast<std::size_t>(BillRole::kPrice)] = price_like(names);
  }
  for (const BillRole role : {BillRole::kCost, BillRole::kPrice, BillRole::kUnitPrice}) {
    if (columns.currency.empty() && columns.has(role))
      columns.currency = std::string(currency_of_heading(headings[columns[role]]));
  }
  columns.dialect = dialect_of(columns, names);
  return columns;
}

}  // namespace tare
