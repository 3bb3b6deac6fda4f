// Causes and consequences: who stands under whom, and at whom the loss stands.
#include <gtest/gtest.h>

#include "audit/audit.h"

namespace tare {
namespace {

Finding finding_of(const char* rule, const char* node, std::vector<std::string> explains, double gpus_lost = 0) {
  Finding finding;
  finding.rule_id = rule;
  finding.subject = {"node", node, node};
  finding.consequences = std::move(explains);
  if (gpus_lost > 0) finding.loss = whole_gpus_lost(gpus_lost, "test");
  return finding;
}

TEST(Grouping, OnTheSameNodeOnly) {
  std::vector<Finding> findings = {finding_of("a", "n1", {"b"}), finding_of("b", "n1", {}), finding_of("b", "n2", {})};
  group_findings(findings);
  EXPECT_EQ(findings[1].caused_by, 0);
  EXPECT_EQ(findings[2].caused_by, -1);
}

TEST(Grouping, AFindingOverSeveralNodesHasItsCauseOnAnyOfThem) {
  std::vector<Finding> findings = {finding_of("a", "n2", {"b"}), finding_of("b", "", {})};
  findings[1].nodes = {"n1", "n2"};
  group_findings(findings);
  EXPECT_EQ(findings[1].caused_by, 0);
}

TEST(Grouping, ACauseWithoutANodeActsOnAllOfItsFile) {
  std::vector<Finding> findings = {finding_of("a", "", {"b"}), finding_of("b", "n1", {}), finding_of("b", "n1", {})};
  findings[0].evidence = {{"run.log", 1, ""}};
  findings[1].evidence = {{"run.log", 7, ""}};
  findings[2].evidence = {{"other.log", 7, ""}};
  group_findings(findings);
  EXPECT_EQ(findings[1].caused_by, 0);
  EXPECT_EQ(findings[2].caused_by, -1);
}

TEST(Grouping, OfTwoCausesTheOneThatTakesMore) {
  std::vector<Finding> findings = {finding_of("a", "n1", {"c"}, 1), finding_of("b", "n1", {"c"}, 2),
                                   finding_of("c", "n1", {})};
  group_findings(findings);
  EXPECT_EQ(findings[2].caused_by, 1);
}

TEST(Grouping, AConsequenceOfAConsequenceStandsUnderTheFirst) {
  std::vector<Finding> findings = {finding_of("a", "n1", {"b"}), finding_of("b", "n1", {"c"}, 3),
                                   finding_of("c", "n1", {})};
  group_findings(findings);
  EXPECT_EQ(findings[1].caused_by, 0);
  EXPECT_EQ(findings[2].caused_by, 0);
}

// Two consequences measure one loss, of 2 and of 3 GPUs: 3 * 24 = 72 GPU-hours a day at the cause, once.
TEST(Grouping, ACauseOfUnknownLossTakesTheDearestOfItsConsequences) {
  std::vector<Finding> findings = {finding_of("a", "n1", {"b", "c"}), finding_of("b", "n1", {}, 2),
                                   finding_of("c", "n1", {}, 3)};
  findings[0].loss_unknown = "not known";
  group_findings(findings);
  ASSERT_TRUE(findings[0].loss);
  EXPECT_EQ(findings[0].loss->value, 72);
  EXPECT_TRUE(findings[0].loss_unknown.empty());
}

TEST(Grouping, ACauseKeepsItsOwnLoss) {
  std::vector<Finding> findings = {finding_of("a", "n1", {"b"}, 1), finding_of("b", "n1", {}, 8)};
  group_findings(findings);
  EXPECT_EQ(findings[0].loss->value, 24);
}

}  // namespace
}  // namespace tare
