#include "cost/uncertainty.h"

namespace tare {
namespace {

Percentiles all_at(double value) { return {value, value, value}; }

}  // namespace

// Not drawn yet: every percentile is the bill.
Result<Uncertainty> draw_bills(std::span<const BillToDraw> bills, const Catalog&, const DrawOptions& options) {
  Uncertainty result;
  result.draws = options.draws;
  result.seed = options.seed;
  for (const BillToDraw& bill : bills) {
    DrawnBill drawn;
    drawn.name = bill.name;
    drawn.total_usd = all_at(bill.bill->total.usd);
    for (const BillLine& line : bill.bill->lines) drawn.lines.push_back({line.id, all_at(line.amount.usd)});
    for (const WaterfallBar& bar : bill.bill->waterfall) drawn.waterfall.push_back({bar.id, all_at(bar.amount.usd)});
    drawn.wall_s = all_at(bill.run->wall_s);
    drawn.goodput_ratio = all_at(bill.run->goodput_ratio);
    drawn.failures = all_at(bill.run->failures);
    if (bill.deadline_s) drawn.deadline_probability = bill.run->wall_s <= *bill.deadline_s ? 1 : 0;
    if (bill.budget_usd) drawn.budget_probability = bill.bill->total.usd <= *bill.budget_usd ? 1 : 0;
    result.bills.push_back(std::move(drawn));
  }
  result.cheaper.assign(bills.size(), std::vector<double>(bills.size(), 0.5));
  return result;
}

void add_uncertainty(Bill& bill, const DrawnBill& drawn) {
  const auto set = [](Amount& amount, const Percentiles& p) {
    amount.p10 = p.p10;
    amount.p50 = p.p50;
    amount.p90 = p.p90;
  };
  set(bill.total, drawn.total_usd);
  for (std::size_t i = 0; i < bill.lines.size(); ++i) set(bill.lines[i].amount, drawn.lines[i].usd);
  for (std::size_t i = 0; i < bill.waterfall.size(); ++i) set(bill.waterfall[i].amount, drawn.waterfall[i].usd);
}

Result<std::vector<std::vector<double>>> draw_totals(std::span<const BillToDraw> bills, const Catalog&,
                                                     const DrawOptions& options) {
  std::vector<std::vector<double>> totals;
  for (const BillToDraw& bill : bills) {
    totals.emplace_back(static_cast<std::size_t>(options.draws), bill.bill->total.usd);
  }
  return totals;
}

Result<Tornado> tornado(const BillToDraw& bill, const Catalog&) { return Tornado{bill.bill->total.usd, {}}; }

Result<Tornado> tornado(const BillToDraw& a, const BillToDraw& b, const Catalog&) {
  return Tornado{b.bill->total.usd - a.bill->total.usd, {}};
}

}  // namespace tare
