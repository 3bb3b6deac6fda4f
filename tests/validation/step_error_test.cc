// data/catalog/step_error.csv is what the published rows give. TARE_UPDATE_RATCHET=1 writes it.
#include "validation/step_error.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "base/file.h"
#include "validation/rows.h"
#include "validation/validate.h"

namespace tare {
namespace {

const std::string kPublished = TARE_SOURCE_DIR "/tests/published/published.csv";
const std::string kShipped = TARE_SOURCE_DIR "/data/catalog/step_error.csv";

const std::vector<RowPrediction>& published() {
  static const std::vector<RowPrediction> rows =
      validate(read_file(kPublished).value(), kPublished, test::shipped_catalog()).value().predictions;
  return rows;
}

TEST(StepError, TheShippedFileIsThatOfThePublishedRows) {
  const std::string expected = to_csv(step_errors_of(published()));
  if (std::getenv("TARE_UPDATE_RATCHET") != nullptr) {
    ASSERT_TRUE(write_file(kShipped, expected));
  }
  const auto shipped = read_file(kShipped);
  ASSERT_TRUE(shipped) << render(shipped.error());
  EXPECT_EQ(*shipped, expected) << "TARE_UPDATE_RATCHET=1 validation_test writes it; then build again";
}

// Four of five published steps lie between P10 and P90 of their own sigma: they are neither too sure nor too timid.
TEST(StepError, FourOfFiveRowsLieBetweenP10AndP90) {
  const double share = share_between_p10_and_p90(published(), step_errors_of(published()));
  std::cout << "between P10 and P90: " << share << " of the rows\n";
  EXPECT_GT(share, 0.75);
  EXPECT_LT(share, 0.90);
}

// Rows of one stack and generation, each a cluster of its own, with these errors as measured ÷ predicted step time.
std::vector<RowPrediction> rows(const std::string& stack, const std::string& generation,
                                const std::vector<double>& log_errors) {
  std::vector<RowPrediction> made;
  for (const double e : log_errors) {
    RowPrediction row;
    row.stack = stack;
    row.generation = generation;
    row.cluster = stack + generation + std::to_string(made.size());
    row.error_ratio = std::expm1(e);
    made.push_back(row);
  }
  return made;
}

double sigma(const std::vector<StepError>& errors, const std::string& kind, const std::string& what) {
  return step_error_sigma(errors, kind, what);
}

// Nine rows at −0.4, −0.3 … 0.4 around 0.2: median 0.2; P16 and P84 are the second and the eighth row, spread 0.3;
// standard error 1.2533 · 0.3 / 3.
TEST(StepError, ByHand) {
  std::vector<double> errors;
  for (int i = -4; i <= 4; ++i) errors.push_back(0.2 + 0.1 * i);
  const std::vector<StepError> found = step_errors_of(rows("s", "g", errors));
  EXPECT_NEAR(sigma(found, "own", "s"), 0.3, 1e-12);
  EXPECT_NEAR(sigma(found, "stack", "s"), std::hypot(0.2, 1.2533 * 0.3 / 3), 1e-12);
  EXPECT_NEAR(sigma(found, "stack", "unheard of"), 1.4826 * std::hypot(0.2, 1.2533 * 0.3 / 3), 1e-12);
  // Nothing is left for the generation but what is not known of its median.
  EXPECT_NEAR(sigma(found, "generation", "g"), 1.2533 * 0.3 / 3, 1e-12);
}

TEST(StepError, TooFewClustersTakeWhatAllHave) {
  std::vector<RowPrediction> made = rows("many", "g", std::vector<double>(20, 0.1));
  for (const RowPrediction& row : rows("few", "g", {0.5, 0.6, 0.7})) made.push_back(row);
  const std::vector<StepError> found = step_errors_of(made);
  EXPECT_NEAR(sigma(found, "stack", "few"), 1.4826 * 0.1, 1e-12);
  EXPECT_NEAR(sigma(found, "stack", "many"), 0.1, 1e-12);
}

// Twenty copies of one configuration are one cluster.
TEST(StepError, ReplicatesAreNotEnough) {
  std::vector<RowPrediction> made = rows("s", "g", std::vector<double>(20, 0.1));
  for (RowPrediction& row : made) {
    row.cluster = "one";
    row.weight = 1.0 / 20;
  }
  EXPECT_EQ(sigma(step_errors_of(made), "stack", "s"), 0);
}

}  // namespace
}  // namespace tare
