// Every formula that --explain prints, evaluated from its printed inputs to its printed value, through the command
// itself.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/formula.h"
#include "run_tare.h"

namespace tare {
namespace {

using nlohmann::json;

std::string example(const std::string& name) { return std::string(TARE_SOURCE_DIR "/examples/") + name; }

json answer(const std::vector<std::string>& words) {
  std::vector<std::string> all = words;
  all.insert(all.end(), {"--explain", "--output", "json", "--as-of", "2026-11-30"});
  const test::Outcome outcome = test::run_tare(all);
  EXPECT_LE(outcome.code, 1) << outcome.err;
  return json::parse(outcome.out.empty() ? "{}" : outcome.out);
}

Formula formula_of(const json& printed) {
  Formula formula;
  formula.id = printed.at("id");
  formula.value = printed.at("value");
  formula.expression = printed.at("expression");
  for (const json& input : printed.at("inputs")) {
    formula.inputs.push_back({input.at("name"), input.at("value"), input.at("unit"), input.at("source"), false});
  }
  return formula;
}

void expect_all_hold(const json& explained) {
  EXPECT_GE(explained.size(), 20u);
  for (const json& printed : explained) {
    const Formula formula = formula_of(printed);
    const Result<double> value = evaluate(formula);
    ASSERT_TRUE(value) << formula.id << ": " << formula.expression << '\n' << render(value.error());
    EXPECT_NEAR(*value, formula.value, 1e-9 * std::max(1.0, std::abs(formula.value))) << formula.id;
  }
}

// The formulas are of the same step and run that the answer shows.
void expect_shown_values(const json& explained, const json& option) {
  std::size_t compared = 0;
  for (const json& printed : explained) {
    const std::string id = printed.at("id");
    const std::string section = id.substr(0, id.find('.'));
    const std::string field = id.substr(id.find('.') + 1);
    const json* shown = nullptr;
    if (section == "step" && option.at("step").contains(field)) shown = &option.at("step").at(field);
    if (section == "run" && option.at("run").contains(field)) shown = &option.at("run").at(field);
    if (shown == nullptr || !shown->is_number()) continue;
    const double value = printed.at("value");
    EXPECT_NEAR(value, shown->get<double>(), 1e-9 * std::max(1.0, std::abs(value))) << id;
    ++compared;
  }
  EXPECT_GE(compared, 10u);
}

class ExplainedPlan : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ExplainedPlan, FormulasHold) {
  const json plan = answer(GetParam());
  ASSERT_TRUE(plan.contains("explain"));
  expect_all_hold(plan["explain"]);
  json leading = plan["options"][0];
  for (const json& option : plan["options"]) {
    if (option["chosen"] == true) leading = option;
  }
  expect_shown_values(plan["explain"], leading);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ExplainedPlan,
    testing::Values(std::vector<std::string>{"plan", example("llama-13b-64xh100.toml")},
                    std::vector<std::string>{"plan", example("llama-13b-64xh100.toml"), "--offers", "owned/dgx-h100"},
                    std::vector<std::string>{"plan", example("llama-13b-64xh100.toml"), "--on",
                                             example("cluster-64xh100.toml"), "--offers", "none/*", "--gpus", "64"},
                    std::vector<std::string>{"plan", example("llama-3.1-8b-lora-l40s.toml")},
                    std::vector<std::string>{"plan", example("qwen3-30b-a3b-64gpu.toml")}));

class ExplainedEstimate : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ExplainedEstimate, FormulasHold) {
  const json estimate = answer(GetParam());
  ASSERT_TRUE(estimate.contains("explain"));
  expect_all_hold(estimate["explain"]);
  expect_shown_values(estimate["explain"], estimate["option"]);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ExplainedEstimate,
    testing::Values(std::vector<std::string>{"estimate", example("llama-13b-64xh100.toml"), "--on",
                                             example("cluster-64xh100.toml")},
                    std::vector<std::string>{"estimate", example("llama-13b-64xh100.toml"), "--on",
                                             example("cluster-64xh100.toml"), "--gpus", "16", "--tp", "4", "--pp", "2"},
                    std::vector<std::string>{"estimate", example("llama-13b-64xh100.toml"), "--on",
                                             example("cluster-64xh100.toml"), "--gpus", "4"},
                    std::vector<std::string>{"estimate", example("deepseek-v3-256xh800.toml"), "--on",
                                             example("cluster-256xh800.toml")},
                    std::vector<std::string>{"estimate", example("gpt2-1b-48xl40s.toml"), "--on",
                                             example("cluster-48xl40s.toml")},
                    std::vector<std::string>{"estimate", example("llama-13b-64xh100.toml"), "--on",
                                             example("cluster-gb200-nvl72.toml"), "--gpus", "64"}));

}  // namespace
}  // namespace tare
