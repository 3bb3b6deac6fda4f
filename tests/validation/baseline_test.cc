// data/catalog/baseline_mfu.csv is what the published rows give. TARE_UPDATE_RATCHET=1 writes it.
#include "validation/baseline.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/file.h"
#include "validation/rows.h"

namespace tare {
namespace {

const std::string kPublished = TARE_SOURCE_DIR "/tests/published/published.csv";
const std::string kShipped = TARE_SOURCE_DIR "/data/catalog/baseline_mfu.csv";

TEST(Baseline, TheShippedFileIsThatOfThePublishedRows) {
  const auto rows = read_file(kPublished);
  ASSERT_TRUE(rows) << render(rows.error());
  const auto baseline = baseline_of(*rows, kPublished, test::shipped_catalog());
  ASSERT_TRUE(baseline) << render(baseline.error());
  const std::string expected = to_csv(*baseline);
  if (std::getenv("TARE_UPDATE_RATCHET") != nullptr) {
    ASSERT_TRUE(write_file(kShipped, expected));
  }
  const auto shipped = read_file(kShipped);
  ASSERT_TRUE(shipped) << render(shipped.error());
  EXPECT_EQ(*shipped, expected) << "TARE_UPDATE_RATCHET=1 validation_test writes it; then build again";
}

TEST(Baseline, ReadsBackWhatIsEmbedded) {
  const Baseline baseline = shipped_baseline();
  EXPECT_GT(baseline.size(), 20u);
  ASSERT_TRUE(baseline.count({"A100-SXM4-80GB", ""}));  // a blank precision is a class of its own
  for (const auto& [key, mfu] : baseline) {
    EXPECT_GT(mfu, 0) << key.first;
    EXPECT_LT(mfu, 1) << key.first;
  }
}

// Three runs of 10, 20 and 60 thousand tokens/s: the MFU of the middle one, however far the others lie.
TEST(Baseline, IsTheMedian) {
  std::string csv =
      "id,model_name,layers,hidden,heads,seq_len,gpu,n_gpus,global_batch,precision,method,tokens_per_s_per_gpu\n";
  for (const char* rate : {"60000", "10000", "20000"}) {
    csv += std::string("x,m,24,2048,16,2048,H200,1,8,bf16,pretrain,") + rate + "\n";
  }
  const auto baseline = baseline_of(csv, "rows.csv", test::shipped_catalog());
  ASSERT_TRUE(baseline) << render(baseline.error());
  ASSERT_EQ(baseline->size(), 1u);
  const auto rows = read_throughput_rows(csv, "rows.csv");
  EXPECT_DOUBLE_EQ(baseline->at(0).mfu_ratio, measured_mfu(test::set_up(rows->at(2))));
  EXPECT_EQ(baseline->at(0).rows, 3);
}

}  // namespace
}  // namespace tare
