#include "base/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "tools/cpu_time.h"

namespace tare {
namespace {

using Strings = std::vector<std::string>;

CsvTable table(std::string text) {
  auto result = CsvTable::parse(std::move(text), "t.csv");
  EXPECT_TRUE(result) << render(result.error());
  return std::move(result).value();
}

std::string errors(std::string text) {
  const auto result = CsvTable::parse(std::move(text), "t.csv");
  return result ? std::string("none") : render(result.error());
}

std::string rule(std::string text) {
  const auto result = CsvTable::parse(std::move(text), "t.csv");
  return result ? std::string("none") : result.error().at(0).rule;
}

TEST(Csv, ReadsPlainRows) {
  const CsvTable t = table("id,price\nh100,2.95\nl40s,0.8\n");
  EXPECT_EQ(t.columns(), (Strings{"id", "price"}));
  ASSERT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.field(0, "id"), "h100");
  EXPECT_EQ(t.field(1, 1), "0.8");
  EXPECT_EQ(t.column("price"), 1u);
  EXPECT_EQ(t.column("cost"), std::nullopt);
  EXPECT_EQ(t.missing({"id", "date", "price", "region"}), (Strings{"date", "region"}));
}

TEST(Csv, WhatIsNotThereReadsAsEmpty) {
  const CsvTable t = table("a\n1\n");
  EXPECT_EQ(t.field(0, "b"), "");
  EXPECT_EQ(t.field(1, "a"), "");
  EXPECT_EQ(t.field(0, 5), "");
}

TEST(Csv, ReadsQuotedFields) {
  const CsvTable t = table("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\n\"\"\"\",5\"\n");
  ASSERT_EQ(t.rows(), 3u);
  EXPECT_EQ(t.field(0, "a"), "x, y");
  EXPECT_EQ(t.field(0, "b"), "say \"hi\"");
  EXPECT_EQ(t.field(1, "a"), "two\nlines");
  EXPECT_EQ(t.field(1, "b"), "");
  EXPECT_EQ(t.field(2, "a"), "\"");
  EXPECT_EQ(t.field(2, "b"), "5\"");  // a quote inside an unquoted field is a letter like any other
}

TEST(Csv, AcceptsWhatSpreadsheetsWrite) {
  const CsvTable t = table("\xEF\xBB\xBF\"a\",b\r\n1,\"2\"\r\n\r\n,\r\n3,4");
  EXPECT_EQ(t.columns(), (Strings{"a", "b"}));
  ASSERT_EQ(t.rows(), 3u);
  EXPECT_EQ(t.field(0, "b"), "2");
  EXPECT_EQ(t.field(1, "a"), "");
  EXPECT_EQ(t.field(2, "b"), "4");
  EXPECT_EQ(table("a\r\n1\r").field(0, 0), "1");
  EXPECT_EQ(table("a\r\n\"1\"\r").field(0, 0), "1");
}

TEST(Csv, HeaderAloneIsATableWithoutRows) {
  EXPECT_EQ(table("a,b").rows(), 0u);
  EXPECT_EQ(table("a,b\n").rows(), 0u);
}

TEST(Csv, ReportsEveryRowOfAnotherLength) {
  EXPECT_EQ(errors("a,b\n1\n\"x\ny\",2,3\n4,5\n6,7,8\n"),
            "t.csv:2:1: error: expected 2 fields as in the header, found 1 [csv-field-count]\n"
            "  1\n"
            "  ^\n"
            "t.csv:4:6: error: expected 2 fields as in the header, found 3 [csv-field-count]\n"
            "  y\",2,3\n"
            "       ^\n"
            "  help: put a field that holds a comma in quotes\n"
            "t.csv:6:5: error: expected 2 fields as in the header, found 3 [csv-field-count]\n"
            "  6,7,8\n"
            "      ^\n"
            "  help: put a field that holds a comma in quotes\n");
}

TEST(Csv, ReportsBrokenQuotes) {
  EXPECT_EQ(errors("a,b\n1,\"x\ny\n"),
            "t.csv:2:3: error: this quote is never closed [csv-unclosed-quote]\n"
            "  1,\"x\n"
            "    ^\n"
            "  help: close it with \"; write a quote inside a field as \"\"\n");
  EXPECT_EQ(errors("a\n\"x\"y\n\"z\" \n"),
            "t.csv:2:4: error: expected a comma or the end of the line after the quote, found 'y' [csv-after-quote]\n"
            "  \"x\"y\n"
            "     ^\n"
            "  help: write a quote inside a field as \"\"\n"
            "t.csv:3:4: error: expected a comma or the end of the line after the quote, found ' ' [csv-after-quote]\n"
            "  \"z\"\n"
            "     ^\n"
            "  help: write a quote inside a field as \"\"\n");
}

TEST(Csv, ReportsARepeatedColumn) {
  EXPECT_EQ(errors("id,gpu,id\n"),
            "t.csv:1:8: error: two columns are named 'id' [csv-duplicate-column]\n"
            "  id,gpu,id\n"
            "         ^~\n"
            "  help: name each column once\n");
}

TEST(Csv, ReportsWhatIsNoTable) {
  EXPECT_EQ(rule(""), "empty-file");
  EXPECT_EQ(rule(" \r\n\n"), "empty-file");
  EXPECT_EQ(rule("\xEF\xBB\xBF"), "empty-file");
  EXPECT_EQ(rule(std::string("a,b\n1,\0\n", 8)), "not-text");
  EXPECT_EQ(rule("\xFF\xFE"
                 "a"),
            "not-text");
  EXPECT_EQ(errors("a\nb\xE4\n"),
            "t.csv:2:2: error: expected UTF-8 text, found another encoding [not-text]\n"
            "  b?\n"
            "   ^\n"
            "  help: save it as UTF-8\n");
}

TEST(Csv, ReadsNumbers) {
  const CsvTable t = table("x\n2.5\n+3\n-1e3\n\"\"\n 7 \n64.0\n");
  Diagnostics diagnostics;
  EXPECT_EQ(t.number(0, "x", diagnostics), 2.5);
  EXPECT_EQ(t.number(1, "x", diagnostics), 3);
  EXPECT_EQ(t.number(2, "x", diagnostics), -1000);
  EXPECT_EQ(t.number(3, "x", diagnostics), std::nullopt);
  EXPECT_EQ(t.number(0, "y", diagnostics), std::nullopt);
  EXPECT_EQ(t.integer(1, "x", diagnostics), 3);
  EXPECT_EQ(t.integer(4, "x", diagnostics), 7);
  EXPECT_EQ(t.integer(5, "x", diagnostics), 64);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Csv, RefusesWhatIsNoNumber) {
  const CsvTable t = table("x\ninf\nnan\n\"1,5\"\n1e999\n+-1\n12a\n-\n+\n0x10\n");
  for (std::size_t row = 0; row < t.rows(); ++row) {
    Diagnostics diagnostics;
    EXPECT_EQ(t.number(row, "x", diagnostics), std::nullopt) << t.field(row, 0);
    EXPECT_EQ(t.integer(row, "x", diagnostics), std::nullopt) << t.field(row, 0);
    EXPECT_EQ(diagnostics.size(), 2u);
  }
  Diagnostics diagnostics;
  EXPECT_EQ(table("x\n99999999999999999999\n").integer(0, "x", diagnostics), std::nullopt);
}

TEST(Csv, PointsAtABadNumber) {
  const CsvTable t = table("name,x\n\"a\nb\",n/a\nc,2.5\n");
  Diagnostics diagnostics;
  EXPECT_EQ(t.number(0, "x", diagnostics), std::nullopt);
  EXPECT_EQ(t.integer(1, "x", diagnostics), std::nullopt);
  EXPECT_EQ(render(diagnostics),
            "t.csv:3:4: error: expected a number in column 'x', found 'n/a' [not-a-number]\n"
            "  b\",n/a\n"
            "     ^~~\n"
            "t.csv:4:3: error: expected a whole number in column 'x', found '2.5' [not-a-number]\n"
            "  c,2.5\n"
            "    ^~~\n");
}

TEST(Csv, PointsAtARowWithoutTheColumn) {
  const CsvTable t = table("a,b\n1,2\n");
  EXPECT_EQ(render(t.at(0, "nope", "r", "t")), "t.csv:2:1: error: t [r]\n  1,2\n  ^\n");
  EXPECT_EQ(render(t.at(9, "a", "r", "t")), "t.csv: error: t [r]\n");
}

TEST(Csv, LimitsItsReport) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100'000; ++i) text += "1\n";
  const auto result = CsvTable::parse(text, "t.csv");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().size(), DiagnosticList::kLimit + 1);
  EXPECT_EQ(result.error().back().text, "99900 more are not shown");
}

TEST(Csv, LimitsColumnsAndBadNumbers) {
  EXPECT_EQ(rule(std::string(1'000'000, ',')), "csv-field-count");
  EXPECT_EQ(errors("a\n" + std::string(1'000'000, ',')).substr(0, 78),
            "t.csv:2:2: error: expected 1 fields as in the header, found 1000001 [csv-field");
  std::string text = "a\n";
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const CsvTable t = table(text);
  Diagnostics diagnostics;
  for (std::size_t row = 0; row < t.rows(); ++row) t.number(row, "a", diagnostics);
  ASSERT_EQ(diagnostics.size(), DiagnosticList::kLimit + 1);
  EXPECT_EQ(diagnostics.back().text, "more are not shown");
}

TEST(Csv, IsFastOnBigTables) {
  std::string text = "a,b,c,d\n";
  while (text.size() < 10'000'000) text += "h100,2.95,\"x, \"\"y\"\"\",2026-11-01\n";
  const double start_s = cpu_s();
  const CsvTable t = table(std::move(text));
  const double took_s = cpu_s() - start_s;
  EXPECT_GT(t.rows(), 300'000u);
  EXPECT_LT(took_s, 2 * kInstrumentedFactor);  // 0.1 s where it was written: this catches only a quadratic reader
}

std::string written(const std::vector<Strings>& rows) {
  std::string text;
  for (const Strings& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += '"';
      for (const char c : row[i]) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += '\n';
  }
  return text;
}

RC_GTEST_PROP(CsvProperty, RoundTrips, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 5);
  const auto field = rc::gen::container<std::string>(rc::gen::element('a', ' ', ',', '"', '\n', '\r', ';'));
  const auto rows = *rc::gen::container<std::vector<Strings>>(rc::gen::container<Strings>(count, field));
  std::vector<Strings> all = {{}};
  for (std::size_t i = 0; i < count; ++i) all[0].push_back("c" + std::to_string(i));
  all.insert(all.end(), rows.begin(), rows.end());
  const auto result = CsvTable::parse(written(all), "t.csv");
  RC_ASSERT(result.has_value());
  RC_ASSERT(result->columns() == all[0]);
  RC_ASSERT(result->rows() == rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < count; ++column) {
      RC_ASSERT(result->field(row, column) == rows[row][column]);
    }
  }
}

RC_GTEST_PROP(CsvProperty, AnyTextIsATableOrErrors, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', ',', '"', '\n', '\r', ' ', '1', '\xC3'));
  const auto result = CsvTable::parse(text, "t.csv");
  if (result) {
    RC_ASSERT(!result->columns().empty());
  } else {
    RC_ASSERT(has_error(result.error()));
    RC_ASSERT(!render(result.error()).empty());
  }
}

}  // namespace
}  // namespace tare
