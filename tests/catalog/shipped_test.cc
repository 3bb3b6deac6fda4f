// What the shipped tables must hold: every reference known, every figure dense and within its law.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/embedded.h"
#include "tools/cpu_time.h"

namespace tare {
namespace {

const Catalog& shipped() {
  static const Catalog catalog = [] {
    auto loaded = load_catalog();
    if (!loaded) ADD_FAILURE() << render(loaded.error());
    return loaded ? std::move(*loaded) : Catalog();
  }();
  return catalog;
}

const CsvTable& shipped_table(std::string_view name) {
  static std::map<std::string, CsvTable, std::less<>> tables;
  auto found = tables.find(name);
  if (found == tables.end()) {
    for (const EmbeddedFile& file : embedded_files()) {
      if (file.name != name) continue;
      found = tables.emplace(name, CsvTable::parse(std::string(file.text), std::string(name)).value()).first;
    }
  }
  return found->second;
}

TEST(ShippedCatalog, LoadsInAFewMilliseconds) {
  shipped();
  const double start_s = cpu_s();
  const auto catalog = load_catalog();
  const double took_s = cpu_s() - start_s;
  ASSERT_TRUE(catalog);
  EXPECT_TRUE(catalog->left_out.empty()) << render(catalog->left_out);
  EXPECT_LT(took_s, 0.1 * kInstrumentedFactor);  // 5 ms where it was written
}

TEST(ShippedCatalog, HoldsWhatPeopleAskFor) {
  EXPECT_GE(shipped().models.size(), 45u);
  EXPECT_GE(shipped().accelerators.size(), 50u);
  EXPECT_GE(shipped().node_types.size(), 90u);
  EXPECT_GE(shipped().offers.size(), 500u);
  EXPECT_GE(shipped().stacks.size(), 10u);
  EXPECT_NE(find_model(shipped(), "llama-2-13b"), nullptr);
  EXPECT_NE(find_offer(shipped(), "owned/dgx-h100/*/owned"), nullptr);
  EXPECT_NE(find_stack(shipped(), "generic"), nullptr);
}

TEST(ShippedCatalog, EveryModelCountsWhatItsAuthorsPublished) {
  const CsvTable& table = shipped_table("models.csv");
  int checked = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const ModelArchitecture* model = find_model(shipped(), table.field(row, "id"));
    ASSERT_NE(model, nullptr) << table.field(row, "id");
    ASSERT_TRUE(model->published_params) << model->id;
    const ParameterCount count = count_parameters(*model);
    const bool is_exact = table.field(row, "published_precision") == "exact";
    EXPECT_NEAR(count.total / *model->published_params, 1, is_exact ? 1e-9 : 0.01) << model->id;
    EXPECT_LE(count.active, count.total) << model->id;
    ++checked;
  }
  EXPECT_GE(checked, 45);
}

// Active counts are published rounded, some without the embedding: the head and the input embedding are counted here.
TEST(ShippedCatalog, ActiveParametersAreNearTheRoundedPublishedFigure) {
  for (const ModelArchitecture& model : shipped().models) {
    if (!model.published_active_params) continue;
    const ParameterCount count = count_parameters(model);
    const double slack = count.embedding + 0.03 * *model.published_active_params;
    EXPECT_NEAR(count.active, *model.published_active_params, slack) << model.id;
  }
}

TEST(ShippedCatalog, EveryAcceleratorIsDenseAndItsNamesMeanOnePart) {
  std::map<std::string, std::string> owner;
  for (const Accelerator& accelerator : shipped().accelerators) {
    const auto& [id, name] = std::tie(accelerator.id, accelerator.name);
    EXPECT_GT(accelerator.memory_bytes, 1e9) << id;
    EXPECT_NE(accelerator.generation, GpuGeneration::kUnknown) << id;
    EXPECT_FALSE(accelerator.source.text.empty()) << id;
    ASSERT_TRUE(accelerator.peak_fp16_flops) << id;
    if (accelerator.peak_bf16_flops && accelerator.vendor != "intel") {
      EXPECT_LE(*accelerator.peak_bf16_flops, *accelerator.peak_fp16_flops * 1.01) << id;
    }
    std::vector<std::string> names = accelerator.aliases;
    names.push_back(id);
    names.push_back(name);
    for (const std::string& word : names) {
      const auto [entry, is_new] = owner.emplace(to_lower(word), id);
      EXPECT_TRUE(is_new || entry->second == id) << word << " means " << entry->second << " and " << id;
      ASSERT_NE(find_accelerator(shipped(), word), nullptr) << word;
      EXPECT_EQ(find_accelerator(shipped(), word)->id, id) << word;
    }
  }
}

// Known dense peaks, each from its datasheet: a sparse figure would be twice as large.
TEST(ShippedCatalog, KnownPeaks) {
  const std::pair<std::string_view, double> known[] = {
      {"A100-SXM4-80GB", 312e12}, {"H100-SXM5-80GB", 989.4e12}, {"H200", 989.4e12}, {"L40S", 362.05e12},
      {"MI300X", 1307.4e12},      {"RTX4090", 165.2e12},        {"B200", 2250e12},
  };
  for (const auto& [id, flops] : known) {
    const Accelerator* accelerator = find_accelerator(shipped(), id);
    ASSERT_NE(accelerator, nullptr) << id;
    EXPECT_NEAR(peak_flops(*accelerator, Precision::kBf16).value() / flops, 1, 0.01) << id;
  }
}

TEST(ShippedCatalog, NodeTypesKeepToTheLawsOfTheirParts) {
  for (const NodeType& node_type : shipped().node_types) {
    const Accelerator* gpu = find_accelerator(shipped(), node_type.gpu);
    ASSERT_NE(gpu, nullptr) << node_type.id;
    EXPECT_FALSE(node_type.source.text.empty()) << node_type.id;
    if (node_type.intra_node_bytes_per_s && gpu->link_bytes_per_s) {
      EXPECT_LE(*node_type.intra_node_bytes_per_s, *gpu->link_bytes_per_s * 1.001) << node_type.id;
    }
    if (node_type.nvlink_domain.value_or(1) > 1) {
      EXPECT_TRUE(gpu->link_bytes_per_s) << node_type.id << ": a link domain of GPUs without a link";
    }
    if (node_type.gpus == 1) {
      // A superchip of a rack may be one GPU of a domain; a single card never is.
      EXPECT_TRUE(node_type.nvlink_domain.value_or(1) == 1 || gpu->link_domain > 8) << node_type.id;
    }
    EXPECT_EQ(node_type.id, node_type.provider + '/' + node_type.instance);
  }
}

TEST(ShippedCatalog, EveryOfferRefersToKnownThings) {
  for (const std::vector<Offer>* offers : {&shipped().offers, &shipped().offer_history}) {
    for (const Offer& offer : *offers) {
      EXPECT_NE(find_accelerator(shipped(), offer.gpu), nullptr) << offer.id;
      EXPECT_EQ(offer.id, make_offer_id(offer));
      EXPECT_FALSE(offer.source.text.empty()) << offer.id;
      EXPECT_EQ(offer.currency, "USD") << offer.id;
      EXPECT_EQ(offer.price_usd_per_h.has_value(), offer.purchase != Purchase::kOwned) << offer.id;
      EXPECT_EQ(offer.term.empty(), offer.purchase != Purchase::kReserved) << offer.id;
      if (offer.node_type.empty()) continue;
      const NodeType* node_type = find_node_type(shipped(), offer.node_type);
      ASSERT_NE(node_type, nullptr) << offer.id;
      EXPECT_EQ(node_type->gpu, offer.gpu) << offer.id;
      if (offer.suspect.empty()) {
        EXPECT_EQ(node_type->gpus, offer.gpus) << offer.id;
      }
    }
  }
}

TEST(ShippedCatalog, OneOfferCountsPerId) {
  std::set<std::string> ids;
  for (const Offer& offer : shipped().offers) EXPECT_TRUE(ids.insert(offer.id).second) << offer.id;
  EXPECT_TRUE(std::is_sorted(shipped().offers.begin(), shipped().offers.end(),
                             [](const Offer& a, const Offer& b) { return a.id < b.id; }));
  for (const Offer& offer : shipped().offer_history) EXPECT_TRUE(ids.count(offer.id)) << offer.id;
}

TEST(ShippedCatalog, NoSpotOfferCostsWhatOnDemandDoes) {
  for (const Offer& offer : shipped().offers) {
    EXPECT_EQ(offer.suspect.find("no spot market"), std::string::npos) << offer.id << ": leave it out of offers.csv";
  }
}

TEST(ShippedCatalog, TheExampleFindsTwelveMultiNodeOffers) {
  const std::vector<std::string> globs = {"runpod/*h100*",     "aws/p5*",          "azure/*h100*",  "gcp/a3*",
                                          "oci/*h100*",        "coreweave/*h100*", "nebius/*h100*", "lambda/*h100*",
                                          "hyperstack/*h100*", "owned/dgx-h100"};
  int multi_node = 0;
  std::set<std::string> providers;
  for (const Offer* offer : match_offers(shipped(), globs)) {
    const NodeType* node_type = find_node_type(shipped(), offer->node_type);
    if (!offer->suspect.empty() || node_type == nullptr || !has_known_fabric(*node_type)) continue;
    if (find_accelerator(shipped(), offer->gpu)->id != "H100-SXM5-80GB") continue;
    ++multi_node;
    providers.insert(offer->provider);
  }
  EXPECT_GE(multi_node, 12);
  EXPECT_GE(providers.size(), 6u);
}

}  // namespace
}  // namespace tare
