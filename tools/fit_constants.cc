// Fits the step model's constants on published rows and prints them; a person copies what holds into
// src/perf/constants.cc.
//
//   fit_constants [--exclude ROWS.csv] [--evaluations N] [--leave-out source|gpu] ROWS.csv…
//
// --leave-out fits once for every source group (or GPU) on the rows of the others and prints the errors on those left
// out: what an unseen source or part has to expect.
//
// Objective: weighted mean of a soft |log(predicted ÷ measured)|, each replicate cluster weighing one, tier C and rows
// listed as impossible left out, plus a weak pull to the starting values. Compass search over the logarithms.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/csv.h"
#include "base/file.h"
#include "perf/step.h"
#include "validation/row_setup.h"

namespace {

using namespace tare;

struct Row {
  RowSetup setup;
  std::string id, source, gpu, group;
  double weight = 1;
};

struct Variable {
  std::string name;
  double* at = nullptr;  // inside the working copy
  double low = 0, high = 0, start = 0;
};

struct Problem {
  std::vector<Row> rows;
  StepConstants constants = default_constants();
  std::vector<Variable> variables;
  long evaluations = 0;
  double best = 1e9;
  std::string Row::*held = nullptr;  // rows whose key equals `held_out` are not fitted
  std::string held_out;
  bool fits(const Row& row) const { return held == nullptr || row.*held != held_out; }
};

void add_generation(Problem& problem, GpuGeneration generation, bool server, std::string_view name, bool has_8bit,
                    bool has_4bit, bool fused) {
  GenerationConstants& g = problem.constants.generation[static_cast<std::size_t>(generation_slot(generation, server))];
  const std::string prefix(name);
  problem.variables.push_back({prefix + ".gemm_16bit", &g.gemm_16bit, 0.3, 0.98, 0});
  if (has_8bit) problem.variables.push_back({prefix + ".gemm_8bit", &g.gemm_8bit, 0.2, 0.95, 0});
  if (has_4bit) problem.variables.push_back({prefix + ".gemm_4bit", &g.gemm_4bit, 0.1, 0.95, 0});
  problem.variables.push_back({prefix + ".flash2", &g.flash2, 0.1, 0.8, 0});
  if (fused) problem.variables.push_back({prefix + ".flash_fused", &g.flash_fused, 0.2, 0.85, 0});
}

double objective(unsigned n, const double* x, double*, void* data) {
  auto& problem = *static_cast<Problem*>(data);
  double pull = 0;
  for (unsigned i = 0; i < n; ++i) {
    *problem.variables[i].at = std::exp(x[i]);
    const double d = x[i] - std::log(problem.variables[i].start);
    pull += d * d;
  }
  double sum = 0, weight = 0;
  for (const Row& row : problem.rows) {
    if (!problem.fits(row)) continue;
    StepModel model(row.setup.workload, row.setup.machine, {}, problem.constants);
    const double predicted = model.evaluate(row.setup.parallelism).tokens_per_s_per_gpu;
    const double error = std::log(predicted / row.setup.measured_tokens_per_s_per_gpu);
    sum += row.weight * (std::sqrt(error * error + 0.02 * 0.02) - 0.02);
    weight += row.weight;
  }
  const double value = sum / weight + 2e-4 * pull;
  if (++problem.evaluations % 500 == 0 || value < problem.best - 1e-3) {
    std::fprintf(stderr, "%ld evaluations, objective %.5f\n", problem.evaluations, std::min(value, problem.best));
  }
  problem.best = std::min(problem.best, value);
  return value;
}

// Tries each variable up and down in turn; steps that help grow, those that do not shrink. Slower than a model-based
// method near the optimum, but it does not stop in the ridges that max() terms make.
double compass_search(Problem& problem, std::vector<double>& x, const std::vector<double>& low,
                      const std::vector<double>& high, int evaluations) {
  std::vector<double> step(x.size(), 0.25);
  const auto n = static_cast<unsigned>(x.size());
  double best = objective(n, x.data(), nullptr, &problem);
  double widest = 1;
  while (problem.evaluations < evaluations && widest > 2e-3) {
    widest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double from = x[i];
      bool better = false;
      for (const double sign : {1.0, -1.0}) {
        x[i] = std::clamp(from + sign * step[i], low[i], high[i]);
        const double value = x[i] == from ? best : objective(n, x.data(), nullptr, &problem);
        if (value < best) {
          best = value;
          better = true;
          break;
        }
      }
      if (!better) x[i] = from;
      step[i] = better ? std::min(0.5, step[i] * 1.3) : step[i] * 0.6;
      widest = std::max(widest, step[i]);
    }
  }
  objective(n, x.data(), nullptr, &problem);
  return best;
}

std::pair<double, double> quantiles(std::vector<std::pair<double, double>> errors) {
  std::sort(errors.begin(), errors.end());
  double total = 0, below = 0, median = -1, p90 = -1;
  for (const auto& [error, weight] : errors) total += weight;
  for (const auto& [error, weight] : errors) {
    below += weight;
    if (median < 0 && below >= 0.5 * total) median = error;
    if (p90 < 0 && below >= 0.9 * total) p90 = error;
  }
  return {median, p90};
}

// Median and P90 of |error| by source group, and the worst rows, at the constants found.
void print_errors(const Problem& problem) {
  struct Error {
    double error, weight;
    const Row* row;
  };
  std::map<std::string, std::vector<Error>> groups;
  for (const Row& row : problem.rows) {
    StepModel model(row.setup.workload, row.setup.machine, {}, problem.constants);
    const double error =
        model.evaluate(row.setup.parallelism).tokens_per_s_per_gpu / row.setup.measured_tokens_per_s_per_gpu - 1;
    groups["all" + std::string(row.source.rfind("vtrain", 0) == 0 ? " vtrain" : " published")].push_back(
        {error, row.weight, &row});
    groups[row.source].push_back({error, row.weight, &row});
  }
  for (auto& [name, errors] : groups) {
    std::sort(errors.begin(), errors.end(),
              [](const Error& a, const Error& b) { return std::abs(a.error) < std::abs(b.error); });
    double total = 0, below = 0, median = -1, p90 = -1, bias = 0;
    for (const Error& e : errors) total += e.weight, bias += e.weight * e.error;
    for (const Error& e : errors) {
      below += e.weight;
      if (median < 0 && below >= 0.5 * total) median = std::abs(e.error);
      if (p90 < 0 && below >= 0.9 * total) p90 = std::abs(e.error);
    }
    std::printf("%-28s %4zu rows  median %5.1f  P90 %5.1f  mean %+5.1f\n", name.c_str(), errors.size(), 100 * median,
                100 * p90, 100 * bias / total);
  }
  for (const auto& [name, errors] : groups) {
    if (name.rfind("all", 0) == 0) continue;
    for (std::size_t i = errors.size(); i-- > 0 && errors.size() - i <= 4;) {
      const Row& row = *errors[i].row;
      std::printf("%s %s %s %s %s gpus %d: %+.1f %%\n", name.c_str(), row.id.c_str(),
                  row.setup.workload.model.id.c_str(), row.setup.workload.stack.id.c_str(),
                  to_text(row.setup.parallelism).c_str(), row.setup.machine.gpus, 100 * errors[i].error);
    }
  }
}

void leave_each_out(Problem& problem, const std::vector<double>& start, const std::vector<double>& low,
                    const std::vector<double>& high, int evaluations, std::string Row::*key) {
  std::set<std::string> keys;
  for (const Row& row : problem.rows) keys.insert(row.*key);
  std::vector<std::pair<double, double>> errors;  // |error|, weight
  problem.held = key;
  for (const std::string& held_out : keys) {
    problem.held_out = held_out;
    problem.evaluations = 0;
    std::vector<double> x = start;
    compass_search(problem, x, low, high, evaluations);
    std::vector<std::pair<double, double>> here;
    for (const Row& row : problem.rows) {
      if (problem.fits(row)) continue;
      StepModel model(row.setup.workload, row.setup.machine, {}, problem.constants);
      const double predicted = model.evaluate(row.setup.parallelism).tokens_per_s_per_gpu;
      here.emplace_back(std::abs(predicted / row.setup.measured_tokens_per_s_per_gpu - 1), row.weight);
    }
    const auto [median, p90] = quantiles(here);
    std::printf("%-28s left out: median %5.1f  P90 %5.1f\n", held_out.c_str(), 100 * median, 100 * p90);
    std::fflush(stdout);
    if (held_out.rfind("vtrain", 0) != 0) errors.insert(errors.end(), here.begin(), here.end());
  }
  const auto [median, p90] = quantiles(errors);
  std::printf("published, each left out: median %.1f  P90 %.1f\n", 100 * median, 100 * p90);
}

}  // namespace

int main(int argc, char** argv) {
  Problem problem;
  int evaluations = 8000;
  const auto catalog = load_catalog();
  if (!catalog) return std::fputs(render(catalog.error()).c_str(), stderr), 1;
  std::map<std::string, int> sizes;
  std::set<std::string> excluded;
  std::string leave_out;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--evaluations") == 0) {
      evaluations = std::atoi(argv[++i]);
      continue;
    }
    if (std::strcmp(argv[i], "--leave-out") == 0) {
      leave_out = argv[++i];
      continue;
    }
    if (std::strcmp(argv[i], "--exclude") == 0) {
      const auto list = read_file(argv[++i]);
      const auto table = list ? CsvTable::parse(*list, argv[i]) : tl::unexpected(list.error());
      if (!table) return std::fputs(render(table.error()).c_str(), stderr), 1;
      for (std::size_t r = 0; r < table->rows(); ++r) excluded.insert(std::string(table->field(r, "id")));
      continue;
    }
    const auto text = read_file(argv[i]);
    if (!text) return std::fputs(render(text.error()).c_str(), stderr), 1;
    const auto rows = read_throughput_rows(*text, argv[i]);
    if (!rows) return std::fputs(render(rows.error()).c_str(), stderr), 1;
    for (const ThroughputRow& row : *rows) {
      if (row.tier == "C" || excluded.count(row.id) > 0) continue;
      auto setup = set_up_row(row, *catalog);
      if (!setup) continue;
      const std::string cluster = row.replicate_cluster.empty() ? row.id : row.replicate_cluster;
      ++sizes[cluster];
      problem.rows.push_back({std::move(*setup), row.id, row.source_group, row.gpu, cluster, 1});
    }
  }
  for (Row& row : problem.rows) row.weight = 1.0 / sizes[row.group];
  using G = GpuGeneration;
  add_generation(problem, G::kAmpere, true, "ampere", false, false, false);
  add_generation(problem, G::kAda, false, "ada", false, false, false);
  add_generation(problem, G::kHopper, true, "hopper", true, false, true);
  add_generation(problem, G::kBlackwell, true, "blackwell", true, true, true);
  add_generation(problem, G::kBlackwell, false, "blackwell_pcie", true, true, false);
  add_generation(problem, G::kCdna3, true, "cdna3", true, false, false);
  for (const NamedConstant& constant : named_constants()) {
    problem.variables.push_back(
        {std::string(constant.name), &(problem.constants.*constant.member), constant.low, constant.high, 0});
  }
  std::vector<double> x, low, high;
  for (Variable& v : problem.variables) {
    v.start = std::max(*v.at, std::max(v.low, 1e-9));
    low.push_back(std::log(std::max(v.low, 1e-9)));
    high.push_back(std::log(v.high));
    x.push_back(std::clamp(std::log(v.start), low.back(), high.back()));
  }
  std::fprintf(stderr, "%zu rows, %zu variables\n", problem.rows.size(), x.size());
  if (!leave_out.empty()) {
    leave_each_out(problem, x, low, high, evaluations, leave_out == "gpu" ? &Row::gpu : &Row::source);
    return 0;
  }
  const double value = compass_search(problem, x, low, high, evaluations);
  std::printf("objective %.5f after %ld evaluations\n", value, problem.evaluations);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::printf("%-32s %.6g  (from %.6g; %.3g … %.3g)\n", problem.variables[i].name.c_str(), std::exp(x[i]),
                problem.variables[i].start, problem.variables[i].low, problem.variables[i].high);
  }
  print_errors(problem);
}
