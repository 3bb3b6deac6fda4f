// How fast bills are drawn: Llama 2 13B on 64 H100, one rented bill (aws/p5) and one owned (dgx-h100), one core.
//
//   DrawRented, DrawOwned    every number of a draw: run, lines, waterfall, total; without the percentiles of them
//   WholeAnswer              100,000 draws of both bills with all percentiles and chances
//   CountedDraws             a fixed number of draws, for bench/ratchet.sh to count instructions of
//   CompareOffers            two offers with 100,000 draws as `tare compare` asks for them: searched, priced, drawn,
//                            ranked, with their tornado
// Bars of the project: 5,000,000 bill draws/s on one core; the comparison in under 0.2 s. bench/draws.sh holds them and
// sets numpy beside them.
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

// A bill as it is drawn, and room for one block of its draws.
struct DrawnOption {
  explicit DrawnOption(const char* glob)
      : option(option_of(glob)),
        bill(to_draw(option, request().job)),
        program(make_bill_program({&bill, 1}, catalog(), {}).value()),
        source(program, 1),
        workspace(program.program->workspace()),
        columns(static_cast<std::size_t>(program.columns)) {
    for (DrawBlock& column : columns) outputs.push_back(column.at);
  }
  DrawnOption(const DrawnOption&) = delete;
  DrawnOption& operator=(const DrawnOption&) = delete;

  void block(std::uint32_t number) {
    source.next(number);
    program.program->run(workspace, source, outputs.data());
    benchmark::DoNotOptimize(columns.data());
    benchmark::ClobberMemory();
  }

  PlanOption option;
  BillToDraw bill;
  BillProgram program;
  DrawSource source;
  FormulaProgram::Workspace workspace;
  std::vector<DrawBlock> columns;
  std::vector<double*> outputs;
};

void draw(benchmark::State& state, const char* glob) {
  DrawnOption drawn(glob);
  std::uint32_t block = 0;
  for (auto _ : state) drawn.block(block++);
  state.counters["causes"] = double(drawn.program.causes.size());
  state.counters["numbers"] = double(drawn.program.numbers.size());
  state.counters["instructions"] = double(drawn.program.program->instructions());
  state.counters["columns"] = double(drawn.program.columns);
  state.counters["draws/s"] = benchmark::Counter(kBlock, benchmark::Counter::kIsIterationInvariantRate);
}

// A fixed number of draws of the owned bill.
void CountedDraws(benchmark::State& state) {
  constexpr std::uint32_t kBlocks = 200;
  DrawnOption drawn(kOwned);
  for (auto _ : state) {
    for (std::uint32_t block = 0; block < kBlocks; ++block) drawn.block(block);
  }
  state.counters["evaluations"] = double(kBlocks) * kBlock;
}
BENCHMARK(CountedDraws)->Iterations(1);

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
