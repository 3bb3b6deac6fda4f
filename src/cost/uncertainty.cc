#include "cost/uncertainty.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "cost/bill_program.h"
#include "cost/cents.h"

namespace tare {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

// Every draw of every column; a column is padded to whole blocks.
class Draws {
 public:
  Draws(const BillProgram& program, const DrawOptions& options)
      : program_(program), count_(static_cast<std::size_t>(std::max(options.draws, 1))) {
    blocks_ = (count_ + kBlock - 1) / kBlock;
    stride_ = blocks_ * kBlock;
    values_.resize(stride_ * static_cast<std::size_t>(program.columns));
    run(options);
    percentiles_.resize(static_cast<std::size_t>(program.columns));
    summarise(options.threads);
  }

  std::size_t count() const { return count_; }

  // Draw i of a figure.
  double at(const FigurePlace& place, std::size_t i) const {
    return place.column < 0 ? place.factor : column(place.column)[i] * place.factor;
  }
  Percentiles percentiles_of(const FigurePlace& place) const {
    if (place.column < 0) return {place.factor, place.factor, place.factor};
    const Percentiles& p = percentiles_[static_cast<std::size_t>(place.column)];
    return {p.p10 * place.factor, p.p50 * place.factor, p.p90 * place.factor};
  }
  // The share of draws in which the figure is at most this.
  double share_at_most(const FigurePlace& place, double most) const {
    std::size_t within = 0;
    for (std::size_t i = 0; i < count_; ++i) within += at(place, i) <= most ? 1 : 0;
    return share(static_cast<double>(within));
  }
  double share(double draws) const { return draws / static_cast<double>(count_); }

 private:
  double* column(int c) { return values_.data() + static_cast<std::size_t>(c) * stride_; }
  const double* column(int c) const { return values_.data() + static_cast<std::size_t>(c) * stride_; }

  // Calls `work(n)` for n below `count`, from so many threads.
  template <typename Make>
  static void share_work(int threads, std::size_t count, Make make_worker) {
    std::atomic<std::size_t> next{0};
    const auto loop = [&] {
      auto work = make_worker();
      for (std::size_t n = next++; n < count; n = next++) work(n);
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(loop);
    loop();
    for (std::thread& other : others) other.join();
  }

  void run(const DrawOptions& options) {
    share_work(options.threads, blocks_, [&] {
      return [this, drawer = DrawSource(program_, options.seed), workspace = program_.program->workspace(),
              outputs = std::vector<double*>(static_cast<std::size_t>(program_.columns))](std::size_t block) mutable {
        for (int c = 0; c < program_.columns; ++c) outputs[static_cast<std::size_t>(c)] = column(c) + block * kBlock;
        drawer.next(static_cast<std::uint32_t>(block));
        program_.program->run(workspace, drawer, outputs.data());
        for (double* const output : outputs) {
          for (int i = 0; i < kBlock; ++i) output[i] = output[i] < kNeverEnds ? output[i] : kEndless;
        }
      };
    });
  }

  void summarise(int threads) {
    share_work(threads, percentiles_.size(), [&] {
      return [this](std::size_t c) { percentiles_[c] = percentiles({column(static_cast<int>(c)), count_}); };
    });
  }

  const BillProgram& program_;
  std::size_t count_ = 0, blocks_ = 0, stride_ = 0;
  std::vector<double> values_;
  std::vector<Percentiles> percentiles_;
};

DrawnBill drawn_bill(const BillToDraw& bill, const BillPlaces& places, const Draws& draws) {
  DrawnBill drawn;
  drawn.name = bill.name;
  drawn.total_usd = draws.percentiles_of(places.total);
  for (std::size_t i = 0; i < places.lines.size(); ++i) {
    drawn.lines.push_back({bill.bill->lines[i].id, draws.percentiles_of(places.lines[i])});
  }
  for (std::size_t i = 0; i < places.bars.size(); ++i) {
    drawn.waterfall.push_back({bill.bill->waterfall[i].id, draws.percentiles_of(places.bars[i])});
  }
  for (std::size_t i = 0; i < places.figures.size(); ++i) {
    drawn.figures.push_back({bill.bill->formulas[i].id, draws.percentiles_of(places.figures[i])});
  }
  drawn.wall_s = draws.percentiles_of(places.wall_s);
  drawn.goodput_ratio = draws.percentiles_of(places.goodput_ratio);
  drawn.failures = draws.percentiles_of(places.failures);
  if (places.it_energy_j) drawn.it_energy_j = draws.percentiles_of(*places.it_energy_j);
  drawn.finishes_probability = draws.share_at_most(places.wall_s, kNeverEnds);
  if (bill.deadline_s) drawn.deadline_probability = draws.share_at_most(places.wall_s, *bill.deadline_s);
  if (bill.budget_usd) drawn.budget_probability = draws.share_at_most(places.total, *bill.budget_usd);
  return drawn;
}

// The totals of one block of draws at a time, all options side by side.
class Ranking {
 public:
  Ranking(std::span<const BillToDraw> bills, const BillProgram& program, const Draws& draws)
      : draws_(draws),
        order_(bills.size()),
        cheapest_(bills.size(), 0.0),
        cheaper_(bills.size(), std::vector<double>(bills.size(), 0.0)) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return bills[a].bill->total.usd < bills[b].bill->total.usd; });
    std::vector<double> totals(bills.size());
    for (std::size_t i = 0; i < draws.count(); ++i) {
      for (std::size_t b = 0; b < totals.size(); ++b) totals[b] = draws.at(program.bills[b].total, i);
      count(totals);
    }
  }

  void write(Uncertainty& result) const {
    for (std::size_t b = 0; b < cheapest_.size(); ++b) {
      result.bills[b].cheapest_probability = draws_.share(cheapest_[b]);
    }
    result.cheaper = cheaper_;
    for (auto& row : result.cheaper) {
      for (double& pair : row) pair = draws_.share(pair);
    }
    result.same_order_probability = draws_.share(same_order_);
  }

 private:
  void count(const std::vector<double>& totals) {
    cheapest_[static_cast<std::size_t>(std::min_element(totals.begin(), totals.end()) - totals.begin())] += 1;
    for (std::size_t a = 0; a < totals.size(); ++a) {
      for (std::size_t b = 0; b < totals.size(); ++b) {
        cheaper_[a][b] += totals[a] < totals[b] ? 1 : totals[a] == totals[b] ? 0.5 : 0;
      }
    }
    bool same = true;
    for (std::size_t i = 1; i < order_.size(); ++i) same = same && totals[order_[i - 1]] <= totals[order_[i]];
    same_order_ += same ? 1 : 0;
  }

  const Draws& draws_;
  std::vector<std::size_t> order_;  // by the bills
  std::vector<double> cheapest_;
  std::vector<std::vector<double>> cheaper_;
  double same_order_ = 0;
};

std::optional<double> in_cents(double usd) {
  const std::optional<std::int64_t> cents = to_cents(usd);
  return cents ? std::optional(to_usd(*cents)) : std::nullopt;
}

void set_percentiles(Amount& amount, const Percentiles& usd) {
  amount.p10 = in_cents(usd.p10);
  amount.p50 = in_cents(usd.p50);
  amount.p90 = in_cents(usd.p90);
}

}  // namespace

Result<Uncertainty> draw_bills(std::span<const BillToDraw> bills, const Catalog& catalog, const DrawOptions& options) {
  const Result<BillProgram> program = make_bill_program(bills, catalog, options);
  if (!program) return tl::unexpected(program.error());
  const Draws draws(*program, options);
  Uncertainty result;
  result.draws = static_cast<int>(draws.count());
  result.seed = options.seed;
  result.causes = static_cast<int>(program->causes.size());
  for (std::size_t b = 0; b < bills.size(); ++b) {
    result.bills.push_back(drawn_bill(bills[b], program->bills[b], draws));
  }
  Ranking(bills, *program, draws).write(result);
  return result;
}

void add_uncertainty(Bill& bill, const DrawnBill& drawn) {
  set_percentiles(bill.total, drawn.total_usd);
  for (std::size_t i = 0; i < bill.lines.size(); ++i) set_percentiles(bill.lines[i].amount, drawn.lines[i].usd);
  for (std::size_t i = 0; i < bill.waterfall.size(); ++i) {
    set_percentiles(bill.waterfall[i].amount, drawn.waterfall[i].usd);
  }
}

Result<std::vector<std::vector<double>>> draw_totals(std::span<const BillToDraw> bills, const Catalog& catalog,
                                                     const DrawOptions& options) {
  const Result<BillProgram> program = make_bill_program(bills, catalog, options);
  if (!program) return tl::unexpected(program.error());
  const Draws draws(*program, options);
  std::vector<std::vector<double>> totals(bills.size());
  for (std::size_t b = 0; b < bills.size(); ++b) {
    totals[b].reserve(draws.count());
    for (std::size_t i = 0; i < draws.count(); ++i) totals[b].push_back(draws.at(program->bills[b].total, i));
  }
  return totals;
}

}  // namespace tare
