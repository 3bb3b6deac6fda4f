// Costs of idle and spare hours, worked by hand.
#include <gtest/gtest.h>

#include "fake_prometheus.h"
#include "rule_case.h"

namespace tare {
namespace {

AuditReport audit_table(const std::string& table, int days) {
  std::vector<FileFacts> files;
  files.push_back(facts_of_table(table, "http://prom.lab:9090", days));
  AuditSetting setting = default_setting(shipped_catalog());
  setting.usd_per_gpu_h = 3;
  setting.price_source = "test";
  return run_audit(Observed(std::move(files), shipped_catalog(), std::move(setting)));
}

// Each of 2 days the fake says the same: 2 GPUs * 2 days * 10 idle hours = 40 GPU-h over 2 days = 20 GPU-h a day,
// at 3 dollars: 60 dollars a day.
TEST(Waste, IdleHoursOfAJobArePriced) {
  const AuditReport report =
      audit_table("Hostname=n1,gpu=0,hpc_job=7 | 24 10 10 50\nHostname=n1,gpu=1,hpc_job=7 | 24 10 10 50\n", 2);
  const DailyCost& cost = only(report, "waste.held-idle").cost_usd_per_day;
  ASSERT_TRUE(cost.base_usd);
  EXPECT_NEAR(*cost.base_usd, 60, 1e-6);
  EXPECT_NEAR(*cost.low_usd, 60, 1e-6);
  ASSERT_TRUE(evaluate(cost.formula));
  EXPECT_NEAR(*evaluate(cost.formula), 60, 1e-6);
}

// One GPU held 20 h of the day, 4 of them idle, mean use 12 %: used 2.4 GPU-h, which GPUs at 80 % do in 3 h; not idle
// 16 h; to spare 16 - 3 = 13 GPU-h a day, at 3 dollars: 39.
TEST(Waste, SpareHoursOfALittleUsedJobArePriced) {
  const AuditReport report = audit_table("Hostname=n1,gpu=0,hpc_job=9 | 20 4 20 12\n", 1);
  EXPECT_NEAR(*only(report, "waste.low-use").cost_usd_per_day.base_usd, 39, 1e-6);
  ASSERT_TRUE(report.use);
  EXPECT_NEAR(report.use->all.spare_gpu_h, 13, 1e-9);
  EXPECT_NEAR(report.use->all.mean_use(), 0.12, 1e-9);
}

TEST(Waste, TheExportersOwnPodIsNoOwner) {
  const AuditReport report = audit_table("Hostname=n1,gpu=0,pod=dcgm-exporter-abc,namespace=mon | 24 24 24 0\n", 1);
  ASSERT_TRUE(report.use);
  EXPECT_FALSE(report.use->has_owners);
  EXPECT_TRUE(findings_of(report, "waste.held-idle").empty());
  EXPECT_EQ(findings_of(report, "waste.free-gpus").size(), 1U);
}

TEST(PrometheusServer, ErrorsNameTheServer) {
  const HttpGet html = [](const std::string&) -> Result<std::string> { return std::string("<html>"); };
  const FileFacts file = read_prometheus_server("http://prom.lab", {86400, 1, 300}, html);
  ASSERT_EQ(file.errors.size(), 1U);
  EXPECT_EQ(file.errors.front().file, "http://prom.lab");
  EXPECT_TRUE(file.readings.empty());
  const HttpGet refusal = [](const std::string&) -> Result<std::string> {
    return std::string(R"({"status":"error","error":"query processing would load too many samples"})");
  };
  const FileFacts refused = read_prometheus_server("http://prom.lab", {86400, 1, 300}, refusal);
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_NE(refused.errors.front().text.find("too many samples"), std::string::npos);
  EXPECT_FALSE(read_prometheus_server("prom.lab", {86400, 1, 300}, html).errors.empty());
}

TEST(HttpGet, AddressesArePartedAndEncoded) {
  EXPECT_EQ(split_url("https://h:9090/p/q/")->server, "https://h:9090");
  EXPECT_EQ(split_url("https://h:9090/p/q/")->path, "/p/q");
  EXPECT_EQ(split_url("http://h")->path, "");
  EXPECT_FALSE(split_url("ftp://h"));
  EXPECT_FALSE(split_url("http://"));
  EXPECT_FALSE(split_url("http:///x"));
  EXPECT_EQ(url_encoded("a[1d] < b"), "a%5B1d%5D%20%3C%20b");
}

}  // namespace
}  // namespace tare
