#include "ingest/fact.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "ingest/scan.h"

namespace tare {
namespace {

TEST(Fact, ATextThatIsANumberIsOne) {
  EXPECT_EQ(std::get<std::int64_t>(Fact::parsed(" 12 ").value), 12);
  EXPECT_EQ(std::get<double>(Fact::parsed("-3.5").value), -3.5);
  EXPECT_EQ(Fact::parsed("12 W").text(), "12 W");
}

TEST(Fact, NotAvailableIsUnknownAndNotZero) {
  for (const char* text : {"N/A", "[N/A]", "[Not Supported]", "-", "", "[Unknown Error]"}) {
    EXPECT_TRUE(Fact::parsed(text).is_unknown()) << text;
  }
  EXPECT_FALSE(Fact::parsed("0").is_unknown());
}

TEST(FactRecord, LinesStandWhereTheyDiffer) {
  FactRecord facts;
  facts.set("driver", "550.54", 3);
  facts.append("gpus", 7).set("power_w", 390.5);
  facts.list("gpus").emplace_back(Fact::of(FactRecord(9)));
  EXPECT_EQ(to_json(facts).dump(),
            R"({"driver":"550.54","gpus":[{"line":7,"power_w":390.5},{"line":9}],"lines":{"driver":3}})");
  EXPECT_EQ(count_facts(facts), 2u);
}

TEST(FactRecord, SetReplacesAndSetOnceDoesNot) {
  FactRecord facts;
  facts.set("a", 1);
  facts.set("a", 2);
  EXPECT_FALSE(facts.set_once("a", Fact::of(std::int64_t{3})));
  EXPECT_EQ(facts.integer("a"), 2);
}

TEST(Scan, MeasuresWithUnitsAndThousands) {
  EXPECT_EQ(to_measure("390.5 W")->value, 390.5);
  EXPECT_EQ(to_measure("390.5 W")->unit, "W");
  EXPECT_EQ(to_measure("16GT/s")->unit, "GT/s");
  EXPECT_EQ(to_measure("1,234,567.5 B")->value, 1234567.5);
  EXPECT_EQ(to_measure("12,5")->value, 12);  // a decimal comma is not ours to guess
  EXPECT_FALSE(to_measure("W"));
}

TEST(Scan, NumbersAreWholeTexts) {
  EXPECT_EQ(to_number(" 1e3 "), 1000.0);
  EXPECT_FALSE(to_number("1,234"));
  EXPECT_FALSE(to_number("inf"));
  EXPECT_FALSE(to_integer("1.0"));
}

TEST(Scan, Markers) {
  EXPECT_EQ(after("Driver Version: 550", "Driver Version:"), "550");
  EXPECT_EQ(between("a [b] c", "[", "]"), "b");
  EXPECT_FALSE(after("abc", "x"));
  std::string_view text = "one\r\ntwo";
  EXPECT_EQ(next_line(text), "one");
  EXPECT_EQ(next_line(text), "two");
  EXPECT_TRUE(text.empty());
}

TEST(FactRecord, RowsAreThinnedEvenlyAndOtherListsStay) {
  FactRecord facts;
  for (int i = 0; i < 10; ++i) facts.append("rows", i + 1).set("at", i);
  for (int i = 0; i < 10; ++i) facts.append("xids", i + 1).set("at", i);
  FactRecord& inner = facts.record("gpu");
  for (int i = 0; i < 3; ++i) inner.append("rows", i + 1).set("at", i);
  facts.thin_rows(4);  // every third
  ASSERT_EQ(facts.find_list("rows")->size(), 4U);
  EXPECT_EQ((*facts.find_list("rows"))[3].as_record()->integer("at"), 9);
  EXPECT_EQ(facts.find_list("xids")->size(), 10U);
  EXPECT_EQ(facts.find_record("gpu")->find_list("rows")->size(), 3U);
  facts.compact();
  EXPECT_EQ((*facts.find_list("rows"))[1].as_record()->integer("at"), 3);
}

}  // namespace
}  // namespace tare
