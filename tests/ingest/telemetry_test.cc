#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <charconv>

#include "ingest/field_scan.h"
#include "ingest/read_text.h"
#include "ingest/telemetry_csv.h"
#include "ingest/telemetry_table.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

// A line with the bytes behind it that a scan may read.
std::string padded(std::string line) { return line.append(LineStream::kPadding, '9'); }

TEST(FieldScan, NumbersAreThoseOfFromChars) {
  EXPECT_TRUE(rc::check([] {
    const auto whole = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000);
    const auto digits = static_cast<std::size_t>(*rc::gen::inRange(1, 16));
    const auto decimals = static_cast<std::size_t>(*rc::gen::inRange(0, 9));
    std::string number = std::to_string(whole).substr(0, digits);
    if (decimals > 0) number += "." + std::to_string(100'000'000 + whole % 100'000'000).substr(1, decimals);
    const std::string line = "a," + number + ",7";
    const std::string bytes = padded(line);
    FieldScan scan;
    std::array<FieldScan::Column, 3> columns{};
    columns[0].unit_size = FieldScan::kNoValue;
    std::array<double, 3> values{};
    RC_ASSERT(scan.read(std::string_view(bytes).substr(0, line.size()), ',', columns.data(), 3, values.data()));
    double expected = 0;
    std::from_chars(number.data(), number.data() + number.size(), expected);
    if (scan.odd_count() == 0) RC_ASSERT(values[1] == expected);
    RC_ASSERT(values[2] == 7.0);
    // What the scan leaves to others: over 15 digits, and over 8 before a point.
    const bool beyond = number.size() - (decimals > 0 ? 1 : 0) > 15 || (decimals > 0 && number.find('.') > 8);
    RC_ASSERT((scan.odd_count() > 0) == beyond);
  }));
}

TEST(FieldScan, WhatIsNoPlainNumberIsOdd) {
  for (const std::string field :
       {"", "-3", "1e5", "0x10", "1.", ".5", "1.2.3", "N/A", "1 2", "12a", "1234567890123456"}) {
    const std::string line = field + ",1";
    const std::string bytes = padded(line);
    FieldScan scan;
    const std::array<FieldScan::Column, 2> columns{};
    std::array<double, 2> values{};
    ASSERT_TRUE(scan.read(std::string_view(bytes).substr(0, line.size()), ',', columns.data(), 2, values.data()));
    ASSERT_EQ(scan.odd_count(), 1u) << field;
    EXPECT_EQ(scan.odd(0), 0u);
    EXPECT_EQ(values[1], 1.0);
  }
}

TEST(FieldScan, BlanksOfAnyNumberAndLongLines) {
  std::string line;
  for (int i = 0; i < 40; ++i) line += std::string(static_cast<std::size_t>(1 + i % 7), ' ') + std::to_string(i * 37);
  const std::string bytes = padded(line);
  FieldScan scan;
  const std::vector<FieldScan::Column> columns(40);
  std::vector<double> values(40);
  ASSERT_TRUE(scan.read(std::string_view(bytes).substr(0, line.size()), ' ', columns.data(), 40, values.data()));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i * 37);
  EXPECT_FALSE(scan.read(std::string_view(bytes).substr(0, line.size()), ' ', columns.data(), 39, values.data()));
}

TEST(TelemetryTable, RowsAreThinnedEvenly) {
  TelemetryTable table({{"gpu", "gpu", TelemetryTable::Role::kKey}, {"x", "x"}}, ',');
  for (int i = 0; i < 10000; ++i) {
    const std::string bytes = padded("0," + std::to_string(i));
    ASSERT_EQ(table.take(std::string_view(bytes).substr(0, bytes.size() - LineStream::kPadding), i + 1),
              TelemetryTable::Row::kTaken);
  }
  FactRecord facts;
  table.put(facts, "gpu");
  EXPECT_EQ(facts.integer("row_count"), 10000);
  EXPECT_EQ(facts.integer("rows_every"), 8);
  EXPECT_EQ(facts.find_list("rows")->size(), 1250u);
  EXPECT_EQ(item(facts, "rows", 1).integer("x"), 8);
  EXPECT_EQ(facts.find_record("overall")->find_record("x")->number("mean"), 4999.5);
}

TEST(SmiCsv, WithUnits) {
  const FileFacts file = read_text(
      "index, name, pstate, pcie.link.gen.current, temperature.gpu, utilization.gpu [%], power.draw [W], "
      "clocks_throttle_reasons.active\n"
      "0, NVIDIA A30, P0, 4, 35, 7 %, 54.12 W, 0x0000000000000001\n"
      "1, NVIDIA A30, P8, 1, 36, 5 %, [N/A], 0x0000000000000004\n");
  EXPECT_EQ(kind_of(file), "nvidia-smi");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.text("name"), "NVIDIA A30");
  const FactRecord& gpu = item(facts, "gpus", 1);
  EXPECT_EQ(gpu.line, 3);
  EXPECT_TRUE(gpu.find("power_w")->is_unknown());
  EXPECT_EQ(gpu.integer("util_pct"), 5);
  EXPECT_EQ(gpu.text("clocks_event_reasons"), "0x0000000000000004");
  EXPECT_TRUE(facts.find_record("differs")->has("pcie_gen_current"));
}

TEST(SmiCsv, WithoutHeaderAfterItsCommandAndOverTime) {
  const FileFacts file = read_text(
      "$ nvidia-smi --query-gpu=timestamp,index,utilization.gpu --format=csv,noheader -l 1\n"
      "2025/03/03 09:00:00.100, 0, 35 %\n2025/03/03 09:00:00.101, 1, 36 %\n2025/03/03 09:00:01.100, 0, 37 %\n"
      "2025/03/03 09:00:01.101, 1, [Unknown Error]\n2025/03/03 09:00:0");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("rounds"), 2);
  EXPECT_EQ(facts.text("last_time"), "2025/03/03 09:00:01.101");
  EXPECT_EQ(item(facts, "series", 0).find_record("util_pct")->integer("max"), 37);
  EXPECT_EQ(item(facts, "series", 1).find_record("util_pct")->integer("unknown_count"), 1);
  EXPECT_EQ(item(facts, "gpus", 1).integer("util_pct"), 36);
}

TEST(SmiCsv, ProcessesAndPlaces) {
  const FileFacts processes = read_text("pid, process_name, used_gpu_memory [MiB]\n4321, python3, 1024 MiB\n");
  EXPECT_EQ(item(facts_of(processes), "processes", 0).integer("pid"), 4321);
  const FileFacts places = read_text("0, NVIDIA L40S, 35 %, 1024 MiB\n1, NVIDIA L40S, 0 %, 3 MiB\n");
  EXPECT_EQ(item(facts_of(places), "gpus", 0).integer("column_4_mib"), 1024);
  EXPECT_FALSE(places.readings.front().reading.notes().empty());
}

TEST(GpuCsv, DcgmFieldsOfSeveralHosts) {
  const FileFacts file = read_text(
      "timestamp,hostname,gpu,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_DEV_POWER_USAGE\n"
      "1,a,0,90,301.5\n1,b,0,10,80.25\n2,a,0,92,nan\n2,b,0,abc,81.75\n3,a\n");
  EXPECT_EQ(kind_of(file), "dcgm");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(item(facts, "series", 0).text("hostname"), "a");
  EXPECT_EQ(item(facts, "series", 0).find_record("power_usage_w")->integer("unknown_count"), 1);
  EXPECT_EQ(item(facts, "series", 1).find_record("power_usage_w")->number("mean"), 81);
  EXPECT_EQ(file.readings.front().reading.unread().front().line, 6);
}

TEST(GpuCsv, HowOftenNothingRanAndOverHowLong) {
  const FileFacts file = read_text(
      "timestamp,hostname,gpu,gpu_util_pct,power_w\n"
      "1718000000,n1,0,0,61\n1718000000,n1,1,97,390\n"
      "1718000060,n1,0,0,60\n1718000060,n1,1,0,88\n"
      "1718000120,n1,0,3,70\n1718000120,n1,1,98,391\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.number("span_s"), 120);
  const std::vector<Fact>& series = *facts.find_list("series");
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].as_record()->find_record("gpu_util_pct")->integer("zero_count"), 2);
  EXPECT_EQ(series[1].as_record()->find_record("gpu_util_pct")->integer("zero_count"), 1);
  EXPECT_FALSE(series[0].as_record()->find_record("power_w")->has("zero_count"));
}

TEST(GpuCsv, SpansOfPrintedTimes) {
  for (const auto& [first, last] :
       {std::pair("2026/02/03 10:00:00.250", "2026/02/03 10:02:00.250"),
        std::pair("2026-02-03T10:00:00Z", "2026-02-03T10:02:00Z"), std::pair("1770112800000", "1770112920000")}) {
    const FileFacts file =
        read_text("timestamp,gpu,gpu_util_pct,power_w\n" + std::string(first) + ",0,5,90\n" + last + ",0,5,90\n");
    EXPECT_NEAR(facts_of(file).number("span_s").value_or(0), 120, 1e-3) << first;
  }
}

TEST(GpuCsv, NotMine) {
  EXPECT_EQ(recognise_gpu_csv({"instance_type,gpu,price_usd\na,8,2.0\n", "x.csv", true}), 0);
  EXPECT_EQ(recognise_smi_csv({"step,loss,lr\n1,2.0,1e-4\n", "x.csv", true}), 0);
}

TEST(SmiDmon, RunsRoundsAndUnits) {
  const FileFacts file = read_text(
      "$ nvidia-smi dmon -i 2 -d 5\n# gpu   pwr    sm\n# Idx     W     %\n    2   100     -\n    2   110    50\n"
      "$ nvidia-smi dmon -i 2,3\n# gpu   pwr    sm\n# Idx     W     %\n    2   120    60\n    3   130    70\n    3\n");
  EXPECT_EQ(kind_of(file), "nvidia-smi");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("run_count"), 2);
  EXPECT_EQ(facts.integer("interval_s"), 5);
  EXPECT_EQ(facts.integer("rounds"), 2);
  EXPECT_EQ(facts.find_record("overall")->find_record("sm_pct")->integer("unknown_count"), 1);
  EXPECT_EQ(item(facts, "runs", 1).find_list("gpus_listed")->size(), 2u);
  EXPECT_EQ(item(item(facts, "runs", 1), "rows", 1).integer("pwr_w"), 130);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(SmiDmon, DatesPmonAndRepeatedHeaders) {
  const FileFacts dates = read_text(
      "#Date       Time        gpu    pwr\n#YYYYMMDD   HH:MM:SS    Idx      W\n 20250303   09:00:00      0     71\n"
      "#Date       Time        gpu    pwr\n#YYYYMMDD   HH:MM:SS    Idx      W\n 20250303   09:00:01      0     72\n");
  EXPECT_EQ(facts_of(dates).integer("run_count"), 1);
  EXPECT_EQ(facts_of(dates).text("last_time"), "20250303 09:00:01");
  const FileFacts processes = read_text(
      "# gpu         pid   type     sm    mem    command \n# Idx           #    C/G      %      %    name \n"
      "    0       12345     C     88     40    python3 train.py\n    1           -     -      -      -    -\n");
  EXPECT_EQ(item(facts_of(processes), "rows", 0).text("command"), "python3 train.py");
  EXPECT_EQ(item(facts_of(processes), "rows", 0).integer("sm_pct"), 88);
}

TEST(DcgmiDmon, EntitiesOfAnyKind) {
  const FileFacts file =
      read_text("#Entity   GRACT        TENSO\nID\nGPU-I 3   0.500        0.250\nGPU-I 1   N/A          0.750\n");
  EXPECT_EQ(kind_of(file), "dcgm");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("entity_type"), "GPU-I");
  EXPECT_EQ(facts.find_list("entities_listed")->at(0).number(), 3);
  EXPECT_EQ(facts.find_record("overall")->find_record("pipe_tensor_active")->number("max"), 0.75);
}

}  // namespace
}  // namespace tare
