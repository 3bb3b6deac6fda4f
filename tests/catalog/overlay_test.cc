#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "catalog/catalog.h"

namespace tare {
namespace {

// A catalog directory of its own for each test.
class Overlay : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/tare_overlay_XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(directory_ + '/' + name, text));
  }
  // What is reported, with the directory's name taken out.
  std::string errors() {
    const auto catalog = load_catalog(directory_);
    if (catalog) return "no error";
    std::string text = render(catalog.error());
    for (std::size_t at = text.find(directory_); at != std::string::npos; at = text.find(directory_)) {
      text.replace(at, directory_.size(), "DIR");
    }
    return text;
  }

  std::string directory_;
};

TEST_F(Overlay, ADirectoryWithoutTables) {
  write("README.txt", "prices were here\n");
  EXPECT_EQ(errors(),
            "DIR: error: expected tables of the catalog, found none [no-table]\n"
            "  help: name a directory with files such as offers.csv\n");
}

TEST_F(Overlay, ATableWithoutRowsChangesNothing) {
  write("offers.csv", "provider,instance,gpu,gpus,price_usd_per_h\n");
  const auto catalog = load_catalog(directory_);
  ASSERT_TRUE(catalog) << render(catalog.error());
  EXPECT_EQ(catalog->offers.size(), load_catalog()->offers.size());
}

TEST_F(Overlay, RowsReplaceByIdAndOthersAreAdded) {
  write("accelerators.csv",
        "id,memory_bytes,memory_bytes_per_s,peak_bf16_flops\nh100-sxm5-80gb,1e9,2e9,3e12\nX1,4e9,5e9,\n");
  write("node_types.csv", "id,gpu,gpus\nlab/x,x1,4\n");
  write("models.csv", "id,layers,hidden,heads,vocab,ffn_hidden\nllama-2-13b,1,8,2,10,16\n");
  write("parameters.csv", "id,base\npsu_eff,0.5\n");
  const auto catalog = load_catalog(directory_);
  ASSERT_TRUE(catalog) << render(catalog.error());
  EXPECT_EQ(find_accelerator(*catalog, "H100-SXM5-80GB")->memory_bytes, 1e9);
  EXPECT_EQ(find_accelerator(*catalog, "x1")->memory_bytes_per_s, 5e9);
  EXPECT_EQ(find_node_type(*catalog, "LAB/X")->gpu, "X1");
  EXPECT_EQ(find_model(*catalog, "llama-2-13b")->head_dim, 4);
  EXPECT_EQ(parameter(*catalog, "psu_eff").base, 0.5);
  EXPECT_EQ(parameter(*catalog, "psu_eff").source.place, "parameters.csv:2");
  EXPECT_EQ(catalog->accelerators.size(), load_catalog()->accelerators.size() + 1);
}

TEST_F(Overlay, AnOfferOfOnesOwnGoesBeforeTheShippedOne) {
  write("offers.csv",
        "provider,instance,gpu,gpus,price_usd_per_h,date\naws,p5.48xlarge,H100-SXM5-80GB,8,40,2025-01-01\n");
  const auto catalog = load_catalog(directory_);
  ASSERT_TRUE(catalog) << render(catalog.error());
  const Offer* offer = find_offer(*catalog, "aws/p5.48xlarge/*/on_demand");
  ASSERT_NE(offer, nullptr);
  EXPECT_EQ(offer->price_usd_per_h, 40);
  EXPECT_EQ(offer->node_type, "aws/p5.48xlarge");
  EXPECT_EQ(offer->delivery.host, "vm");
}

TEST_F(Overlay, AFileThatNoTableHas) {
  write("offer.csv", "provider\n");
  write("README.txt", "not a table\n");
  EXPECT_EQ(errors(),
            "DIR/offer.csv: error: unknown table 'offer.csv' [unknown-table]\n"
            "  help: did you mean \"offers.csv\"?\n");
}

TEST_F(Overlay, ADirectoryThatIsNotThere) {
  directory_ += "/none";
  EXPECT_EQ(errors(),
            "DIR: error: cannot read the catalog directory: No such file or directory [cannot-read]\n"
            "  help: name a directory with files such as offers.csv\n");
}

TEST_F(Overlay, AnUnknownGpuOfANodeType) {
  write("node_types.csv", "id,gpu,gpus\nlab/x,H100,8\n");
  EXPECT_EQ(
      errors(),
      "DIR/node_types.csv:2:7: error: unknown GPU 'H100' [unknown-gpu]\n"
      "  lab/x,H100,8\n"
      "        ^~~~\n"
      "  help: did you mean \"H100-PCIe-80GB\", \"H100-NVL-94GB\", \"H100-SXM5-80GB\", \"H100-SXM5-96GB-HBM2e\"?\n");
}

TEST_F(Overlay, EveryTableReportsItsOwnErrorsInOneRun) {
  write("accelerators.csv",
        "id,memory_bytes,memory_bytes_per_s,peak_fp16_flops,peak_bf16_flops\nX,80e9,3e12,1000e12,2000e12\n");
  write("nics.csv", "id,rate_bits_per_s,transport\nn,400e9,tpc\n");
  write("node_types.csv",
        "id,gpu,gpus,nics,nic_rate_bits_per_s,inter_node_bits_per_s_per_gpu\nlab/x,X,8,4,100e9,400e9\n");
  write("models.csv", "id,layers,hidden,heads,kv_heads,vocab,ffn_hidden\nm,2,64,8,3,100,256\n");
  write("parameters.csv", "id,low,base,high\np,0.5,0.4,0.6\n");
  write("stacks.csv", "id,zero_stage,attention\ns,4,flash\n");
  write("offers.csv", "provider,instance,gpu,gpus,price_usd_per_h\na,b,X,1,-2\n");
  EXPECT_EQ(
      errors(),
      "DIR/accelerators.csv:2:21: error: expected at most 1.01 times 'peak_fp16_flops', found 2 times: a figure with "
      "sparsity? [sparse-peak]\n"
      "  X,80e9,3e12,1000e12,2000e12\n"
      "                      ^~~~~~~\n"
      "  help: write the dense peak\n"
      "DIR/nics.csv:2:9: error: expected one of ib, roce, efa, tcp, ethernet, found 'tpc' [unknown-value]\n"
      "  n,400e9,tpc\n"
      "          ^~~\n"
      "  help: did you mean \"tcp\"?\n"
      "DIR/node_types.csv:2:19: error: 8 GPUs at 400 Gb/s each leave the node, its NICs carry 400 Gb/s "
      "[impossible-physics]\n"
      "  lab/x,X,8,4,100e9,400e9\n"
      "                    ^~~~~\n"
      "DIR/offers.csv:2:9: error: expected no negative number in column 'price_usd_per_h', found -2 "
      "[negative-value]\n"
      "  a,b,X,1,-2\n"
      "          ^~\n"
      "DIR/models.csv:2:1: error: 'm': heads = 8 is not a multiple of kv_heads = 3 [inconsistent-model]\n"
      "  m,2,64,8,3,100,256\n"
      "  ^\n"
      "DIR/parameters.csv:2:3: error: expected low <= base <= high, found 0.5, 0.4, 0.6 [unordered-range]\n"
      "  p,0.5,0.4,0.6\n"
      "    ^~~\n"
      "DIR/stacks.csv:2:3: error: expected a ZeRO stage 0 to 3, found 4 [out-of-range]\n"
      "  s,4,flash\n"
      "    ^\n"
      "DIR/stacks.csv:2:5: error: expected one of standard, flash1, flash2, flash3, found 'flash' [unknown-value]\n"
      "  s,4,flash\n"
      "      ^~~~~\n"
      "  help: did you mean \"flash1\"?\n");
}

TEST_F(Overlay, NotATable) {
  write("offers.csv", "");
  EXPECT_EQ(errors(), "DIR/offers.csv: error: expected a table with a header row, found an empty file [empty-file]\n");
}

}  // namespace
}  // namespace tare
