// Runs the cases of every family, and holds that each rule has cases and a page.
#include "rule_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "fake_prometheus.h"

namespace tare {

const Catalog& shipped_catalog() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

AuditReport audit_files(const std::vector<CaseFile>& files, void (*set)(AuditSetting&)) {
  std::vector<FileFacts> facts;
  for (const CaseFile& file : files) {
    const bool server = std::string_view(file.path).starts_with("http://");
    facts.push_back(server ? facts_of_table(file.text, file.path) : read_facts_of_text(file.text, file.path));
  }
  AuditSetting setting = default_setting(shipped_catalog());
  if (set != nullptr) set(setting);
  return run_audit(Observed(std::move(facts), shipped_catalog(), std::move(setting)));
}

std::vector<const Finding*> findings_of(const AuditReport& report, std::string_view rule_id) {
  std::vector<const Finding*> found;
  for (const Finding& finding : report.findings) {
    if (finding.rule_id == rule_id) found.push_back(&finding);
  }
  return found;
}

const Finding& only(const AuditReport& report, std::string_view rule_id) {
  static const Finding none;
  const std::vector<const Finding*> found = findings_of(report, rule_id);
  EXPECT_EQ(found.size(), 1U) << rule_id;
  return found.size() == 1 ? *found.front() : none;
}

namespace {

std::vector<RuleCase> all_cases() {
  std::vector<RuleCase> all;
  for (const auto family :
       {topology_cases, network_cases, health_cases, telemetry_cases, waste_cases, collective_cases, storage_cases,
        training_cases, slurm_cases, kubernetes_cases, billing_cases, run_cases, rank_cases}) {
    const std::span<const RuleCase> cases = family();
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

std::string describe(const AuditReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += std::string(name_of(finding.severity)) + ' ' + finding.rule_id + " [" + finding.subject.name + "] " +
            finding.title + '\n';
  }
  return text.empty() ? "no findings" : text;
}

std::string read_page(const std::string& family) {
  std::ifstream file(std::string(TARE_SOURCE_DIR) + "/docs/audit/" + family + ".md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class RuleCases : public testing::TestWithParam<RuleCase> {};

TEST_P(RuleCases, Holds) {
  const RuleCase& one = GetParam();
  const AuditReport report = audit_files(one.files, one.set);
  const std::vector<const Finding*> found = findings_of(report, one.rule_id);
  SCOPED_TRACE(std::string(one.rule_id) + " " + one.what + ":\n" + describe(report));
  if (!one.speaks) {
    EXPECT_TRUE(found.empty());
    return;
  }
  ASSERT_FALSE(found.empty());
  const auto meant = std::find_if(found.begin(), found.end(), [&](const Finding* finding) {
    return (*one.subject == 0 || finding->subject.name == one.subject) &&
           finding->title.find(one.title_has) != std::string::npos;
  });
  ASSERT_NE(meant, found.end()) << "none about '" << one.subject << "' with '" << one.title_has << "'";
  EXPECT_EQ(name_of((*meant)->severity), name_of(one.severity));
  EXPECT_FALSE((*meant)->evidence.empty()) << "a finding shows where it is seen";
  EXPECT_FALSE((*meant)->cause.empty()) << "a finding says why";
  EXPECT_TRUE((*meant)->severity == FindingSeverity::kInfo || !(*meant)->fix.empty()) << "and what to do";
}

std::string name_of_case(const testing::TestParamInfo<RuleCase>& info) {
  std::string name = std::string(info.param.rule_id) + '_' + info.param.what;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Audit, RuleCases, testing::ValuesIn(all_cases()), name_of_case);

TEST(Rules, EachSpeaksInOneCaseAndIsSilentInAnother) {
  std::set<std::string_view> speaking, silent;
  const std::vector<RuleCase> cases = all_cases();
  for (const RuleCase& one : cases) {
    ASSERT_NE(find_rule(one.rule_id), nullptr) << one.rule_id;
    (one.speaks ? speaking : silent).insert(one.rule_id);
  }
  for (const Rule& rule : rules()) {
    EXPECT_EQ(speaking.count(rule.id), 1U) << rule.id << ": no case in which it speaks";
    EXPECT_EQ(silent.count(rule.id), 1U) << rule.id << ": no case in which it is silent";
  }
}

TEST(Rules, EachHasItsIdOnceAndStandsInTheDocs) {
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " twice";
    const std::string family(rule.id.substr(0, rule.id.find('.')));
    EXPECT_NE(read_page(family).find("## " + std::string(rule.id) + "\n"), std::string::npos)
        << "docs/audit/" << family << ".md has no heading '## " << rule.id << "'";
  }
}

}  // namespace
}  // namespace tare
