// Fits the step model's constants on published rows and prints them; a person copies what holds into
// src/perf/constants.cc.
//
//   fit_constants ROWS.csv… [--evaluations N]
//
// Objective: weighted mean of a soft |log(predicted ÷ measured)|, each replicate cluster weighing one, tier C and rows
// listed as impossible left out, plus a weak pull to the starting values. Subplex (NLopt) over the logarithms.
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/file.h"
#include "perf/step.h"
#include "validation/row_setup.h"

namespace {

using namespace tare;

struct Row {
  RowSetup setup;
  std::string id, group;
  double weight = 1;
};

struct Variable {
  std::string name;
  double* at = nullptr;   // inside the working copy
  double low = 0, high = 0, start = 0;
};

struct Problem {
  std::vector<Row> rows;
  StepConstants constants = default_constants();
  std::vector<Variable> variables;
  long evaluations = 0;
  double best = 1e9;
};

void add_generation(Problem& problem, GpuGeneration generation, bool server, std::string_view name, bool has_8bit, bool has_4bit,
                    bool fused) {
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

}  // namespace

int main(int argc, char** argv) {
  Problem problem;
  int evaluations = 8000;
  const auto catalog = load_catalog();
  if (!catalog) return std::fputs(render(catalog.error()).c_str(), stderr), 1;
  std::map<std::string, int> sizes;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--evaluations") == 0) {
      evaluations = std::atoi(argv[++i]);
      continue;
    }
    const auto text = read_file(argv[i]);
    if (!text) return std::fputs(render(text.error()).c_str(), stderr), 1;
    const auto rows = read_throughput_rows(*text, argv[i]);
    if (!rows) return std::fputs(render(rows.error()).c_str(), stderr), 1;
    for (const ThroughputRow& row : *rows) {
      if (row.tier == "C") continue;
      auto setup = set_up_row(row, *catalog);
      if (!setup) continue;
      const std::string cluster = row.replicate_cluster.empty() ? row.id : row.replicate_cluster;
      ++sizes[cluster];
      problem.rows.push_back({std::move(*setup), row.id, cluster, 1});
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
    problem.variables.push_back({std::string(constant.name), &(problem.constants.*constant.member), constant.low, constant.high, 0});
  }
  std::vector<double> x, low, high;
  for (Variable& v : problem.variables) {
    v.start = std::max(*v.at, std::max(v.low, 1e-9));
    low.push_back(std::log(std::max(v.low, 1e-9)));
    high.push_back(std::log(v.high));
    x.push_back(std::clamp(std::log(v.start), low.back(), high.back()));
  }
  nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(x.size()));
  nlopt_set_min_objective(opt, objective, &problem);
  nlopt_set_lower_bounds(opt, low.data());
  nlopt_set_upper_bounds(opt, high.data());
  nlopt_set_maxeval(opt, evaluations);
  nlopt_set_initial_step1(opt, 0.1);
  nlopt_set_ftol_rel(opt, 1e-6);
  double value = 0;
  std::fprintf(stderr, "%zu rows, %zu variables\n", problem.rows.size(), x.size());
  nlopt_optimize(opt, x.data(), &value);
  nlopt_destroy(opt);
  std::printf("objective %.5f after %ld evaluations\n", value, problem.evaluations);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::printf("%-32s %.6g  (from %.6g; %.3g … %.3g)\n", problem.variables[i].name.c_str(), std::exp(x[i]),
                problem.variables[i].start, problem.variables[i].low, problem.variables[i].high);
  }
}
