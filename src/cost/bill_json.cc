#include "cost/bill_json.h"

#include <cmath>

#include "base/json.h"

namespace tare {
namespace {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

Json to_json(const Amount& amount) {
  Json json;
  json["usd"] = finite_or_null(amount.usd);
  if (amount.low_usd) json["low_usd"] = *amount.low_usd;
  if (amount.high_usd) json["high_usd"] = *amount.high_usd;
  if (amount.p10) json["p10"] = *amount.p10;
  if (amount.p50) json["p50"] = *amount.p50;
  if (amount.p90) json["p90"] = *amount.p90;
  return json;
}

Json to_json(const Bill& bill) {
  Json json;
  json["total"] = to_json(bill.total);
  json["usd_per_million_tokens"] = finite_or_null(bill.usd_per_million_tokens);
  json["billed_gpu_hours"] = bill.billed_gpu_hours;
  json["goodput_ratio"] = bill.goodput_ratio;
  const auto known = [&json](const char* key, const std::optional<double>& value) {
    if (value) json[key] = *value;
  };
  known("it_kwh", bill.it_kwh);
  known("energy_kwh", bill.energy_kwh);
  known("co2e_kg", bill.co2e_kg);
  known("joules_per_token", bill.joules_per_token);
  if (bill.checkpoint_marginal_usd) json["checkpoint_marginal"] = Json{{"usd", *bill.checkpoint_marginal_usd}};
  json["lines"] = Json::array();
  for (const BillLine& line : bill.lines) {
    json["lines"].push_back(Json{{"id", line.id}, {"amount", to_json(line.amount)}, {"gpu_time", line.gpu_time}});
  }
  json["waterfall"] = Json::array();
  for (const WaterfallBar& bar : bill.waterfall) {
    json["waterfall"].push_back(Json{{"id", bar.id}, {"gpu_hours", bar.gpu_hours}, {"amount", to_json(bar.amount)}});
  }
  if (!bill.unknown.empty()) json["unknown"] = bill.unknown;
  return json;
}

}  // namespace tare
