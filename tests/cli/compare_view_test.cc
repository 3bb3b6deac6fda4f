#include "cli/compare_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "fake_plan.h"

namespace tare {
namespace {

std::string usd(double value) { return format_usd(value); }

std::vector<PlanOption> two() {
  std::vector<PlanOption> options = {test::fake_option(0, "good/b/*/on_demand", 2000, 50),
                                     test::fake_option(0, "dear/c/*/on_demand", 3000, 40)};
  options[1].bill.lines.push_back({"egress", {743, {}, {}}, false, {}});
  options[1].bill.total.usd += 743;
  return options;
}

TEST(CompareView, DifferencesReadAsPeopleWriteThem) {
  EXPECT_EQ(difference_text(0, 743, usd), "+$743 ($0 → $743)");
  EXPECT_EQ(difference_text(743, 0, usd), "−$743 ($743 → $0)");
  EXPECT_EQ(difference_text(743, 743.2, usd), "=");  // the same at the precision shown
  EXPECT_EQ(difference_text(1, std::numeric_limits<double>::infinity(),
                            [](double value) { return value > 1 ? std::string("unknown") : usd(value); }),
            "$1 → unknown");
}

TEST(CompareView, ALineOfOneBillOnlyIsZeroInTheOther) {
  const std::string text = render_terminal(compare_document(two(), test::fake_job()), Terminal{});
  EXPECT_NE(text.find("+$743 ($0 → $743)"), std::string::npos) << text;
  EXPECT_NE(text.find("+$1,000 ($2,000 → $3,000)"), std::string::npos) << text;
  EXPECT_NE(text.find("Cheapest: good/b/*/on_demand, $2,010"), std::string::npos) << text;
}

TEST(CompareView, CsvHasOneRowPerNumberAndOption) {
  const std::string csv = render_csv(compare_csv(two()));
  EXPECT_NE(csv.find("bill,egress,good/b/*/on_demand,0,0\nbill,egress,dear/c/*/on_demand,743,743\n"), std::string::npos)
      << csv;
  EXPECT_NE(csv.find("step,step_time_s,dear/c/*/on_demand,5,0\n"), std::string::npos);
}

TEST(CompareView, JsonDifferencesAddUp) {
  const auto json = nlohmann::json::parse(compare_json(two(), test::fake_job()).dump());
  const auto& bill = json["differences"][0]["bill"];
  EXPECT_EQ(json["differences"][0]["against"], "good/b/*/on_demand");
  double lines = 0;
  for (const auto& line : bill["lines"]) lines += line["difference"]["usd"].get<double>();
  EXPECT_DOUBLE_EQ(lines, bill["total"]["difference"]["usd"].get<double>());
}

}  // namespace
}  // namespace tare
