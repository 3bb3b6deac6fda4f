// Which node a file is of.
#include "audit/observed.h"

#include <gtest/gtest.h>

#include "rule_case.h"

namespace tare {
namespace {

const char* const kDmesg =
    "[   71.000001] NVRM: Xid (PCI:0000:1b:00): 79, pid=7, name=x, GPU has fallen off the bus.\n";
const char* const kPorts =
    "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n"
    "\t\tRate: 400\n\t\tLink layer: InfiniBand\n";

std::vector<std::string> nodes_of_files(const std::vector<CaseFile>& files) {
  std::vector<FileFacts> facts;
  for (const CaseFile& file : files) facts.push_back(read_facts_of_text(file.text, file.path));
  const Observed observed(std::move(facts), shipped_catalog());
  std::vector<std::string> nodes;
  for (const Seen& seen : observed.all()) nodes.push_back(seen.node);
  return nodes;
}

TEST(Nodes, TheFolderThatLooksLikeAHost) {
  EXPECT_EQ(nodes_of_files({{"b/gpu01/var/log/dmesg.txt", kDmesg}, {"b/gpu02/var/log/dmesg.txt", kDmesg}}),
            (std::vector<std::string>{"gpu01", "gpu02"}));
  EXPECT_EQ(nodes_of_files({{"gpu01/2026-03-01/dmesg.txt", kDmesg}, {"gpu02/2026-03-01/dmesg.txt", kDmesg}}),
            (std::vector<std::string>{"gpu01", "gpu02"}));
}

TEST(Nodes, AFolderOfOneNodeOfAnyName) {
  EXPECT_EQ(nodes_of_files({{"b/n1/dmesg.txt", kDmesg}, {"b/n1/ibstat.txt", kPorts}}),
            (std::vector<std::string>{"n1", "n1"}));
  EXPECT_EQ(nodes_of_files({{"b/alpha/logs/dmesg.txt", kDmesg}, {"b/alpha/logs/ibstat.txt", kPorts}}),
            (std::vector<std::string>{"alpha", "alpha"}));
}

TEST(Nodes, AFolderOfTwoFilesOfOneFormatIsNone) {
  EXPECT_EQ(nodes_of_files({{"dmesgs/a.txt", kDmesg}, {"dmesgs/b.txt", kDmesg}}), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(nodes_of_files({{"x/rank0/dmesg.txt", kDmesg}, {"x/rank1/dmesg.txt", kDmesg}}),
            (std::vector<std::string>{"", ""}));
}

TEST(Nodes, PathsWithoutAFolderHaveNone) {
  EXPECT_EQ(nodes_of_files({{"./dmesg.txt", kDmesg}, {"ibstat.txt", kPorts}}), (std::vector<std::string>{"", ""}));
}

TEST(Nodes, AFolderWithCharactersThatNoHostHasIsNone) {
  EXPECT_EQ(nodes_of_files({{"work-0n6_8/dmesg.txt", kDmesg}}), (std::vector<std::string>{""}));
}

TEST(Nodes, AFolderForEachTool) {
  EXPECT_EQ(nodes_of_files({{"dmesg/gpu01.txt", kDmesg},
                            {"dmesg/gpu02.txt", kDmesg},
                            {"ibstat/gpu01.txt", kPorts},
                            {"ibstat/gpu02.txt", kPorts}}),
            (std::vector<std::string>{"gpu01", "gpu02", "gpu01", "gpu02"}));
}

TEST(Nodes, TheHostInFilesOfOneFolder) {
  EXPECT_EQ(nodes_of_files({{"b/gpu01-dmesg.txt", kDmesg},
                            {"b/gpu02-dmesg.txt", kDmesg},
                            {"b/gpu01-ibstat.txt", kPorts},
                            {"b/gpu02-ibstat.txt", kPorts}}),
            (std::vector<std::string>{"gpu01", "gpu02", "gpu01", "gpu02"}));
}

}  // namespace
}  // namespace tare
