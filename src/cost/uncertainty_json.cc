#include "cost/uncertainty_json.h"

#include <cmath>

#include "base/json.h"

namespace tare {
namespace {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

Json to_json(const Percentiles& percentiles) {
  return {{"p10", finite_or_null(percentiles.p10)},
          {"p50", finite_or_null(percentiles.p50)},
          {"p90", finite_or_null(percentiles.p90)}};
}

Json to_json(const DrawnBill& drawn) {
  Json json = {{"wall_s", to_json(drawn.wall_s)},
               {"goodput_ratio", to_json(drawn.goodput_ratio)},
               {"failures", to_json(drawn.failures)}};
  if (drawn.it_energy_j) json["it_energy_j"] = to_json(*drawn.it_energy_j);
  json["finishes_probability"] = drawn.finishes_probability;
  if (drawn.deadline_probability) json["deadline_probability"] = *drawn.deadline_probability;
  if (drawn.budget_probability) json["budget_probability"] = *drawn.budget_probability;
  json["cheapest_probability"] = drawn.cheapest_probability;
  return json;
}

Json to_json(const Uncertainty& uncertainty) {
  return {{"draws", uncertainty.draws},
          {"seed", uncertainty.seed},
          {"causes", uncertainty.causes},
          {"same_order_probability", uncertainty.same_order_probability},
          {"cheaper", uncertainty.cheaper}};
}

Json to_json(const Tornado& tornado) {
  Json bars = Json::array();
  for (const TornadoBar& bar : tornado.bars) {
    bars.push_back({{"cause", bar.cause},
                    {"name", bar.name},
                    {"unit", bar.unit},
                    {"low", finite_or_null(bar.low)},
                    {"base", finite_or_null(bar.base)},
                    {"high", finite_or_null(bar.high)},
                    {"usd_at_low", finite_or_null(bar.usd_at_low)},
                    {"usd_at_high", finite_or_null(bar.usd_at_high)},
                    {"assumed", bar.assumed}});
  }
  return {{"usd", finite_or_null(tornado.usd)}, {"bars", std::move(bars)}};
}

}  // namespace tare
