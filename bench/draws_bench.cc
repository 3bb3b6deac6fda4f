// How fast bills are drawn: Llama 2 13B on 64 H100, one rented bill (aws/p5) and one owned (dgx-h100), one core.
//
//   DrawRented, DrawOwned    every number of a draw: run, lines, waterfall, total; without the percentiles of them
//   WholeAnswer              100,000 draws of both bills with all percentiles and chances
//   CompareOffers            two offers with 100,000 draws as `tare compare` asks for them: searched, priced, drawn,
//                            ranked, with their tornado
// Bars of the project: 5,000,000 bill draws/s on one core; the comparison in under 0.2 s. bench/draws_numpy.sh sets
// numpy beside it.
#include <benchmark/benchmark.h>

#include "base/file.h"
#include "cost/bill_program.h"
#include "plan/plan.h"
#include "plan/uncertain_options.h"

namespace tare {
namespace {

constexpr int kDraws = 100000;

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

const PlanRequest& request() {
  static const PlanRequest made = [] {
    const std::string file = TARE_SOURCE_DIR "/examples/llama-13b-64xh100.toml";
    PlanRequest r;
    r.job = parse_job(read_file(file).value(), file, catalog()).value();
    return r;
  }();
  return made;
}

PlanOption option_of(const char* glob) {
  const Offer& offer = *match_offers(catalog(), {glob}).at(0);
  const Cluster cluster = cluster_from_offer(catalog(), offer, 8, std::nullopt).value();
  return estimate(request(), catalog(), cluster, 64).value();
}

constexpr const char* kRented = "aws/p5.48xlarge/*/on_demand";
constexpr const char* kOwned = "owned/dgx-h100";

void draw(benchmark::State& state, const char* glob) {
  const PlanOption option = option_of(glob);
  const BillToDraw bill = to_draw(option, request().job);
  const BillProgram program = make_bill_program({&bill, 1}, catalog(), {}).value();
  DrawSource source(program, 1);
  FormulaProgram::Workspace workspace = program.program->workspace();
  std::vector<Block> columns(static_cast<std::size_t>(program.columns));
  std::vector<double*> outputs;
  for (Block& column : columns) outputs.push_back(column.at);
  std::uint32_t block = 0;
  for (auto _ : state) {
    source.next(block++);
    program.program->run(workspace, source, outputs.data());
    benchmark::DoNotOptimize(columns.data());
  }
  state.counters["causes"] = double(program.causes.size());
  state.counters["numbers"] = double(program.numbers.size());
  state.counters["instructions"] = double(program.program->instructions());
  state.counters["columns"] = double(program.columns);
  state.counters["draws/s"] = benchmark::Counter(kBlock, benchmark::Counter::kIsIterationInvariantRate);
}

void DrawRented(benchmark::State& state) { draw(state, kRented); }
BENCHMARK(DrawRented);
void DrawOwned(benchmark::State& state) { draw(state, kOwned); }
BENCHMARK(DrawOwned);

void WholeAnswer(benchmark::State& state) {
  const std::vector<PlanOption> options = {option_of(kRented), option_of(kOwned)};
  std::vector<BillToDraw> bills;
  for (const PlanOption& option : options) bills.push_back(to_draw(option, request().job));
  DrawOptions draws;
  draws.draws = kDraws;
  for (auto _ : state) benchmark::DoNotOptimize(draw_bills(bills, catalog(), draws));
  state.counters["draws/s"] = benchmark::Counter(2.0 * kDraws, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(WholeAnswer)->Unit(benchmark::kMillisecond);

void CompareOffers(benchmark::State& state) {
  DrawOptions draws;
  draws.draws = kDraws;
  for (auto _ : state) {
    const std::vector<PlanOption> options = {option_of(kRented), option_of(kOwned)};
    std::vector<BillToDraw> bills;
    for (const PlanOption& option : options) bills.push_back(to_draw(option, request().job));
    benchmark::DoNotOptimize(draw_bills(bills, catalog(), draws));
    benchmark::DoNotOptimize(tornado(bills[0], bills[1], catalog()));
  }
}
BENCHMARK(CompareOffers)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tare
