#include <gtest/gtest.h>

#include "ingest/dcgm_diag.h"
#include "ingest/dcgm_exporter.h"
#include "ingest/dcgm_fields.h"
#include "ingest/prometheus_api.h"
#include "ingest/read_text.h"
#include "ingest/text_box.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

constexpr const char* kDiag =
    "Successfully ran diagnostic for group.\n"
    "+---------------------------+------------------------------------------------+\n"
    "| Diagnostic                | Result                                         |\n"
    "+===========================+================================================+\n"
    "|-----  Metadata  ----------+------------------------------------------------|\n"
    "| DCGM Version              | 3.1.8                                          |\n"
    "| Driver Version Detected   | 535.54.03                                      |\n"
    "| GPU Device IDs Detected   | 20b2,20b2                                      |\n"
    "|-----  Deployment  --------+------------------------------------------------|\n"
    "| Denylist                  | Pass                                           |\n"
    "+-----  Integration  -------+------------------------------------------------+\n"
    "| PCIe                      | Pass - GPU: 1                                  |\n"
    "|                           | Fail - GPU: 0                                  |\n"
    "| Warning                   | GPU 0 NvLink link 13 is currently down, pleas  |\n"
    "|                           | e check it. Thermal violations totaling 4.5 s  |\n"
    "|                           | econds started at 2.0 seconds into the test    |\n"
    "| software                  | Skip                                           |\n"
    "|                           | GPU1: Skip                                     |\n"
    "+---------------------------+------------------------------------------------+\n";

TEST(DcgmDiag, ResultsByGpuAndMessagesJoined) {
  const FileFacts file = read_text(kDiag);
  EXPECT_EQ(kind_of(file), "dcgm");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("dcgm"), "3.1.8");
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  const FactRecord& pcie = item(facts, "tests", 1);
  EXPECT_EQ(pcie.text("section"), "Integration");
  EXPECT_EQ(pcie.text("result"), "Fail");
  EXPECT_EQ(pcie.find_list("failed_gpus")->at(0).number(), 0);
  EXPECT_EQ(
      item(pcie, "warnings", 0).text("text"),
      "GPU 0 NvLink link 13 is currently down, please check it. Thermal violations totaling 4.5 seconds started at 2.0 "
      "seconds into the test");
  EXPECT_EQ(facts.find_list("links_named")->at(0).number(), 13);
  EXPECT_EQ(facts.number("thermal_violation_s"), 4.5);
  EXPECT_EQ(facts.find_list("failed_tests")->at(0).text(), "PCIe");
  EXPECT_EQ(facts.find_list("skipped_tests")->at(0).text(), "software");
  EXPECT_EQ(facts.find_list("tests")->at(1).line, 12);
}

TEST(DcgmDiag, JsonOfOldAndNew) {
  const FileFacts old_form = read_text(
      "{\"DCGM GPU Diagnostic\": {\"test_categories\": [{\"category\": \"Hardware\", \"tests\": [\n"
      "{\"name\": \"GPU Memory\", \"results\": [{\"gpu_ids\": \"0,1\", \"status\": \"PASS\"},\n"
      "{\"gpu_ids\": \"2\", \"status\": \"FAIL\", \"warnings\": \"row remap\"}]}]}]}}\n");
  const FactRecord& test = item(facts_of(old_form), "tests", 0);
  EXPECT_EQ(test.text("result"), "Fail");
  EXPECT_EQ(test.find_list("passed_gpus")->size(), 2u);
  EXPECT_EQ(item(test, "warnings", 0).line, 3);
  const FileFacts new_form = read_text(
      "{\"DCGM Diagnostic\": {\"metadata\": {\"version\": \"4.2.3\", \"Driver Version Detected\": \"570.1\"},\n"
      "\"test_categories\": [{\"category\": \"Deployment\", \"tests\": [{\"name\": \"software\", \"results\":\n"
      "[{\"entity_group\": \"GPU\", \"entity_id\": 5, \"status\": \"Pass\"}], \"test_summary\": {\"status\": "
      "\"Pass\"}}]}]}");
  EXPECT_EQ(facts_of(new_form).text("dcgm"), "4.2.3");
  EXPECT_EQ(item(facts_of(new_form), "tests", 0).find_list("passed_gpus")->at(0).number(), 5);
  EXPECT_EQ(new_form.readings.front().reading.unread_count(), 1);  // a brace is missing
}

TEST(DcgmDiag, NotMine) {
  EXPECT_EQ(recognise_dcgm_diag({"| Name | Result |\n|---|---|\n| unit tests | Pass |\n", "x.md", true}), 0);
}

TEST(TextBox, PiecesThatDoNotFillTheColumnAreEntries) {
  TextBox box;
  EXPECT_TRUE(box.take("| To GPU 1          | Connected via a PCIe switch                            |", 1));
  EXPECT_TRUE(box.take("|                   | Connected via one NVLINK (Link: 3)                     |", 2));
  ASSERT_EQ(box.rows().size(), 1u);
  EXPECT_EQ(box.rows()[0].entries,
            (std::vector<std::string>{"Connected via a PCIe switch", "Connected via one NVLINK (Link: 3)"}));
  EXPECT_FALSE(box.take("plain text", 3));
}

TEST(DcgmiTables, DiscoveryTopologyHealthAndStats) {
  const FileFacts found = read_text(
      "2 GPUs found.\n"
      "+--------+----------------------------------------+\n"
      "| GPU ID | Device Information                     |\n"
      "+--------+----------------------------------------+\n"
      "| 0      | Name: NVIDIA H200                      |\n"
      "|        | PCI Bus ID: 00000000:18:00.0           |\n"
      "|        | Device UUID: GPU-5d2a0b1c              |\n"
      "+--------+----------------------------------------+\n"
      "| 1      | Name: NVIDIA H200                      |\n"
      "+--------+----------------------------------------+\n"
      "0 NvSwitches found.\n");
  EXPECT_EQ(facts_of(found).integer("gpu_count"), 2);
  EXPECT_EQ(facts_of(found).integer("nvswitch_count"), 0);
  EXPECT_EQ(item(facts_of(found), "gpus", 0).text("uuid"), "GPU-5d2a0b1c");

  const FileFacts topology = read_text(
      "{ \"body\" : { \"CPU Core Affinity\" : { \"value\" : \"0 - 3\" }, \"To GPU 0\" : { \"overflow\" : [\n"
      "\"Connected via four NVLINKs (Links: 2, 3, 8, 9)\" ], \"value\" : \"Connected via a CPU-level link\" } },\n"
      "\"header\" : [ \"Topology Information\", \"GPU ID: 1\" ] }\n");
  EXPECT_EQ(facts_of(topology).integer("gpu"), 1);
  const FactRecord& peer = item(facts_of(topology), "peers", 0);
  EXPECT_EQ(peer.integer("nvlinks"), 4);
  EXPECT_EQ(peer.find_list("links")->at(2).number(), 8);
  EXPECT_EQ(peer.find("nvlinks")->line, 2);

  const FileFacts health = read_text(
      "| Health Monitor Report                                                      |\n"
      "+===========================+================================================+\n"
      "| Overall Health            | Warning                                        |\n"
      "| -> 3                      | Warning                                        |\n"
      "|       -> PCIe system      | Warning                                        |\n"
      "|                           | Detected replays                               |\n");
  EXPECT_EQ(facts_of(health).text("overall"), "Warning");
  EXPECT_EQ(item(facts_of(health), "incidents", 1).text("system"), "PCIe system");

  const FileFacts stats = read_text(
      "Successfully retrieved statistics for job: 7\n+---------+\n| GPU ID: 2                                    "
      "|\n+=========+\n"
      "|-----  Performance Stats  ----------+---------------------------------|\n"
      "| Energy Consumed (Joules)           | 4830                            |\n"
      "| Power Usage (Watts)                | Avg: 75.7, Max: 80, Min: N/A    |\n");
  const FactRecord& gpu = item(facts_of(stats), "gpus", 0);
  EXPECT_EQ(gpu.integer("energy_consumed_j"), 4830);
  EXPECT_EQ(gpu.number("power_usage_avg_w"), 75.7);
  EXPECT_TRUE(gpu.find("power_usage_min_w")->is_unknown());
}

TEST(DcgmiNvlink, LettersAreCounted) {
  const FileFacts file = read_text(
      "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n    gpuId 0:\n        U U "
      "D _\n"
      "    gpuId 1:\n        U U X _\nNvSwitches:\n    physicalId 8:\n        U U\n\nKey: Up=U, Down=D, Disabled=X, "
      "Not Supported=_\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("links_up"), 4);
  EXPECT_EQ(facts.integer("links_up_per_gpu"), 2);
  EXPECT_FALSE(facts.has("links_down_per_gpu"));
  EXPECT_EQ(facts.integer("nvswitch_count"), 1);
  EXPECT_EQ(item(facts, "gpus", 0).text("links"), "UUD_");
}

TEST(DcgmExporter, GpusInstancesAndBlankValues) {
  const FileFacts file = read_text(
      "# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\n# TYPE DCGM_FI_DEV_GPU_TEMP gauge\n"
      "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA A30\",Hostname=\"n1\",GPU_I_ID=\"3\"} 41\n"
      "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA A30\",Hostname=\"n1\",GPU_I_ID=\"5\"} 41\n"
      "DCGM_FI_DEV_GPU_TEMP{gpu=\"1\",UUID=\"GPU-b\",modelName=\"NVIDIA A30\",Hostname=\"n1\"} 43\n"
      "DCGM_FI_PROF_DRAM_ACTIVE{gpu=\"1\",UUID=\"GPU-b\",Hostname=\"n1\"} 9.2233720368547758e+18\n"
      "DCGM_FI_DEV_XID_ERRORS{gpu=\"1\",UUID=\"GPU-b\",Hostn");
  EXPECT_EQ(kind_of(file), "dcgm");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.find_list("mig_instances")->size(), 2u);
  EXPECT_EQ(item(facts, "gpus", 2).integer("gpu_temp_c"), 43);
  EXPECT_TRUE(item(facts, "gpus", 2).find("dram_active")->is_unknown());
  EXPECT_EQ(facts.integer("blank_values"), 1);
  EXPECT_EQ(item(facts, "metrics", 0).text("type"), "gauge");
  EXPECT_EQ(file.readings.front().reading.unread().front().line, 7);
}

TEST(DcgmExporter, NotMine) {
  EXPECT_EQ(recognise_dcgm_exporter({"node_load1{instance=\"a\"} 3\n", "x.prom", true}), 0);
}

TEST(PrometheusApi, VectorsRangesNothingAndErrors) {
  const FileFacts vector = read_text(
      "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{\"__name__\":\"DCGM_FI_DEV_"
      "GPU_UTIL\",\n"
      "\"gpu\":\"4\",\"UUID\":\"GPU-x\"},\"value\":[1700000000.5,\"87\"]},{\"metric\":{\"gpu\":\"5\"");
  EXPECT_EQ(facts_of(vector).integer("series_count"), 2);
  EXPECT_EQ(facts_of(vector).integer("complete_series_count"), 1);
  EXPECT_EQ(item(facts_of(vector), "gpus", 0).integer("gpu_util_pct"), 87);

  const FileFacts matrix = read_text(
      "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"__name__\":\"up\"},\n"
      "\"values\":[[1,\"3\"],[2,\"NaN\"],[3,\"5\"]]}]}}");
  EXPECT_EQ(item(facts_of(matrix), "series", 0).number("mean"), 4);
  EXPECT_EQ(item(facts_of(matrix), "series", 0).integer("unknown_count"), 1);

  const FileFacts nothing = read_text("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}");
  EXPECT_EQ(facts_of(nothing).integer("series_count"), 0);
  EXPECT_TRUE(facts_of(nothing).has("no_data"));

  const FileFacts error = read_text("{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error\"}");
  EXPECT_EQ(facts_of(error).text("error"), "parse error");
}

TEST(PrometheusApi, PartsWithElisions) {
  const FileFacts file = read_text(
      "    {\n      \"metric\": {\n        \"__name__\": \"DCGM_FI_DEV_FB_USED\",\n        ...\n        \"gpu\": "
      "\"1\"\n      },\n"
      "      \"value\": [\n        1700,\n        \"12\"\n      ]\n    },\n");
  EXPECT_EQ(item(facts_of(file), "gpus", 0).integer("fb_used_mib"), 12);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 0);
}

TEST(DcgmFields, NamesAndBlanks) {
  EXPECT_EQ(dcgm_fact_name("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), "pipe_tensor_active");
  EXPECT_EQ(dcgm_fact_name("DCGM_FI_DEV_POWER_USAGE"), "power_usage_w");
  EXPECT_EQ(dcgmi_column_name("TENSO"), "pipe_tensor_active");
  EXPECT_TRUE(is_dcgm_blank(2147483632.0));
  EXPECT_TRUE(is_dcgm_blank(9223372036854775792.0));
  EXPECT_FALSE(is_dcgm_blank(2147483631.0));
}

}  // namespace
}  // namespace tare
