// Effective training time of published runs: predicted inside the range that each source supports, ± 3 points, with one
// set of parameters per hardware generation.
//
// What a source gives stands in tests/published/goodput.csv and takes the place of the catalog's rows; all else is the
// catalog's base. `every` is seconds, "step", "auto", or "inside" where the source's restart time holds the lost work;
// a run that does not say is taken at its generation's habit: the automatic interval from Hopper on, before that the
// hour that the catalog's ckpt_interval records. `restart_s` is the whole restart; 954 s of G08 are its 5 min of pods,
// 8 min of loading and the catalog's 174 s of initialisation.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "run/round_catalog.h"
#include "run/run.h"

namespace tare {
namespace {

constexpr double kMargin = 0.03;
constexpr double kStep_s = 10;  // where no source gives one
const std::string kRuns = TARE_SOURCE_DIR "/tests/published/goodput.csv";
const std::string kPage = TARE_SOURCE_DIR "/docs/goodput.md";

struct PublishedRun {
  std::string id, name, generation, every, mode, store, given, assumed, source;
  double gpus = 0, nodes = 0, parameters = 0, days = 0;
  std::optional<double> checkpoint_bytes, step_s, unexpected, planned, low, high, detect_s, restart_s, swap_s,
      write_bytes_per_s, failures_per_gpu_h, lost_h;
};

PublishedRun read_run(const CsvTable& table, std::size_t i) {
  Diagnostics diagnostics;
  const auto text = [&](const char* column) { return std::string(table.field(i, column)); };
  const auto number = [&](const char* column) { return table.number(i, column, diagnostics); };
  PublishedRun run;
  run.id = text("id");
  run.name = text("run");
  run.generation = text("generation");
  run.every = text("every");
  run.mode = text("mode");
  run.store = text("store");
  run.given = text("given");
  run.assumed = text("assumed");
  run.source = text("source");
  run.gpus = number("gpus").value_or(0);
  run.nodes = number("nodes").value_or(0);
  run.parameters = number("parameters").value_or(0);
  run.days = number("days").value_or(0);
  run.checkpoint_bytes = number("checkpoint_bytes");
  run.step_s = number("step_s");
  run.unexpected = number("unexpected");
  run.planned = number("planned");
  run.low = number("low");
  run.high = number("high");
  run.detect_s = number("detect_s");
  run.restart_s = number("restart_s");
  run.swap_s = number("swap_s");
  run.write_bytes_per_s = number("write_bytes_per_s");
  run.failures_per_gpu_h = number("failures_per_gpu_h");
  run.lost_h = number("lost_h");
  EXPECT_TRUE(diagnostics.empty()) << render(diagnostics);
  return run;
}

std::vector<PublishedRun> published_runs() {
  const auto text = read_file(kRuns);
  EXPECT_TRUE(text.has_value()) << kRuns;
  const auto table = CsvTable::parse(text.value_or(""), kRuns);
  EXPECT_TRUE(table.has_value());
  std::vector<PublishedRun> runs;
  for (std::size_t i = 0; table && i < table->rows(); ++i) runs.push_back(read_run(*table, i));
  return runs;
}

// The catalog with the source's own figures in place of its rows.
Catalog catalog_of(const PublishedRun& run, const Catalog& shipped) {
  Catalog catalog = shipped;
  const double gpu_h = run.gpus * run.days * 24;
  std::optional<double> failures = run.failures_per_gpu_h;
  if (run.unexpected) failures = *run.unexpected / gpu_h;
  if (failures && run.generation == "ampere") test::set(catalog, "rsc1_failures", 8 * *failures);
  if (failures && run.generation == "hopper") test::set(catalog, "gpu_failures_per_gpu_h", *failures);
  if (run.planned) test::set(catalog, "planned_int_rate", *run.planned / gpu_h);
  if (run.detect_s) test::set(catalog, "detect_time", *run.detect_s);
  if (run.swap_s) test::set(catalog, "spare_swap_s", *run.swap_s);
  if (run.write_bytes_per_s) {
    test::set(catalog, "ckpt_bw_shared", *run.write_bytes_per_s);
    test::set(catalog, "checkpoint_load_bytes_per_s", *run.write_bytes_per_s);
    test::set(catalog, "ckpt_bw_per_gpu", 0);
    test::set(catalog, "checkpoint_node_bytes_per_s", std::max(2.5e9, *run.write_bytes_per_s / run.nodes));
  }
  return catalog;
}

RunInput input_of(const PublishedRun& run, const Catalog& catalog) {
  RunInput input;
  input.gpus = static_cast<int>(run.gpus);
  input.nodes = static_cast<int>(run.nodes);
  input.generation = parse_generation(run.generation).value_or(GpuGeneration::kUnknown);
  input.purchase = Purchase::kOwned;
  input.host = "bare_metal";
  input.parameters = run.parameters;
  input.checkpoint_bytes = run.checkpoint_bytes.value_or(run.parameters * parameter(catalog, "ckpt_bytes_param").base);
  input.step_time_s = run.step_s.value_or(kStep_s);
  input.tokens_per_step = 1;
  input.tokens = std::ceil(run.days * 86400 / input.step_time_s);
  input.checkpoint.async = run.mode != "sync";
  input.checkpoint.store = parse_checkpoint_store(run.store).value_or(CheckpointStore::kShared);
  using Every = CheckpointPolicy::Every;
  if (run.every == "step" || run.every == "inside") {
    input.checkpoint.every = Every::kSteps;
    input.checkpoint.value = 1;
    if (run.every == "inside") input.checkpoint.store = CheckpointStore::kMemory;
  } else if (run.every.empty() && run.generation == "ampere") {
    input.checkpoint.every = Every::kSeconds;
    input.checkpoint.value = parameter(catalog, "ckpt_interval").base;
  } else if (!run.every.empty() && run.every != "auto") {
    input.checkpoint.every = Every::kSeconds;
    input.checkpoint.value = std::strtod(run.every.c_str(), nullptr);
  }
  return input;
}

double predicted(const PublishedRun& run, const Catalog& shipped) {
  Catalog catalog = catalog_of(run, shipped);
  const RunInput input = input_of(run, catalog);
  if (run.restart_s) {
    // The swap takes what is left of the stated restart beside initialising and loading.
    const double own_s = estimate_run(input, catalog).restart_s - parameter(catalog, "spare_swap_s").base;
    test::set(catalog, "spare_swap_s", *run.restart_s - own_s);
  }
  const double lost = run.lost_h.value_or(0) / (24 * run.days);
  return estimate_run(input, catalog).goodput_ratio * (1 - lost);
}

std::string range_text(const PublishedRun& run) {
  if (!run.high) return fmt::format("≥ {:.2f}", run.low.value_or(0));
  if (!run.low) return fmt::format("≤ {:.2f}", *run.high);
  return *run.low == *run.high ? fmt::format("{:.2f}", *run.low) : fmt::format("{:.2f}–{:.2f}", *run.low, *run.high);
}

std::string row_of(const PublishedRun& run, double ratio) {
  return fmt::format("| {} | {} | {:.0f} | {} | {:.3f} | {} | {} | {} |", run.id, run.name, run.gpus, range_text(run),
                     ratio, run.given, run.assumed.empty() ? "–" : run.assumed, run.source);
}

class Goodput : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Catalog> loaded = load_catalog();
    ASSERT_TRUE(loaded.has_value()) << render(loaded.error());
    catalog_ = std::move(*loaded);
  }
  Catalog catalog_;
};

TEST_F(Goodput, EveryPublishedRunIsWithinThreePointsOfItsRange) {
  const std::vector<PublishedRun> runs = published_runs();
  EXPECT_EQ(runs.size(), 12u);
  for (const PublishedRun& run : runs) {
    ASSERT_TRUE(run.low || run.high) << run.id;
    const double ratio = predicted(run, catalog_);
    EXPECT_GE(ratio, run.low.value_or(0) - kMargin) << run.id << " " << run.name;
    EXPECT_LE(ratio, run.high.value_or(1) + kMargin) << run.id << " " << run.name;
  }
}

// The page shows what the model says: TARE_UPDATE_GOODPUT=1 prints the rows to put into it.
TEST_F(Goodput, ThePageShowsThesePredictions) {
  const std::string page = read_file(kPage).value_or("");
  for (const PublishedRun& run : published_runs()) {
    const std::string row = row_of(run, predicted(run, catalog_));
    if (std::getenv("TARE_UPDATE_GOODPUT") != nullptr) fmt::print("{}\n", row);
    EXPECT_NE(page.find(row), std::string::npos) << "docs/goodput.md lacks\n" << row;
  }
}

// The reference beside the checkout: each of its runs with a ratio or a bound is in the table, with its numbers.
TEST_F(Goodput, TheTableHasEveryRunOfTheReference) {
  const char* shared = std::getenv("TARE_SHARED");
  const std::string root = shared != nullptr ? shared : TARE_SOURCE_DIR "/../shared";
  const std::string path = root + "/reference/goodput.csv";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "NOT HELD AGAINST THE REFERENCE: no " << path << " (set TARE_SHARED)";
  const auto text = read_file(path);
  ASSERT_TRUE(text.has_value());
  const auto table = CsvTable::parse(*text, path);
  ASSERT_TRUE(table.has_value());
  const std::vector<PublishedRun> runs = published_runs();
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    const auto low = table->number(i, "effective_time_ratio_low", diagnostics);
    const auto high = table->number(i, "effective_time_ratio_high", diagnostics);
    if (!low && !high) continue;
    const std::string id(table->field(i, "id"));
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const PublishedRun& r) { return r.id == id; });
    ASSERT_NE(run, runs.end()) << id;
    EXPECT_EQ(run->low, low) << id;
    EXPECT_EQ(run->high, high) << id;
    if (id == "G12") continue;  // the row of a cluster; the table holds its jobs
    EXPECT_EQ(run->gpus, table->number(i, "gpus", diagnostics).value_or(run->gpus)) << id;
    EXPECT_EQ(run->days, table->number(i, "days_wall", diagnostics).value_or(run->days)) << id;
  }
}

}  // namespace
}  // namespace tare
