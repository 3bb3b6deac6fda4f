#include "ingest/line_stream.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace tare {
namespace {

struct Read {
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  std::vector<bool> cut;
};

Read read_all(std::string text) {
  LineStream lines(source_of(std::move(text)));
  Read read;
  Line line;
  while (lines.next(line)) {
    read.texts.emplace_back(line.text);
    read.numbers.push_back(line.number);
    read.cut.push_back(line.cut);
  }
  EXPECT_TRUE(lines.error().empty());
  return read;
}

using Texts = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

TEST(LineStream, EndsAreLfCrlfOrNone) {
  const Read read = read_all("one\ntwo\r\n\nfour");
  EXPECT_EQ(read.texts, (Texts{"one", "two", "", "four"}));
  EXPECT_EQ(read.numbers, (Numbers{1, 2, 3, 4}));
}

TEST(LineStream, AnEmptyTextHasNoLine) {
  EXPECT_TRUE(read_all("").texts.empty());
  EXPECT_EQ(read_all("\n").texts, (Texts{""}));
}

TEST(LineStream, WhatAProgressBarWroteOverItselfSharesANumber) {
  const Read read = read_all("0%\r50%\r100%\ndone\n");
  EXPECT_EQ(read.texts, (Texts{"0%", "50%", "100%", "done"}));
  EXPECT_EQ(read.numbers, (Numbers{1, 1, 1, 2}));
}

TEST(LineStream, EscapesBackspacesAndTheByteOrderMarkGo) {
  EXPECT_EQ(read_all("\xEF\xBB\xBF\x1b[4mGPU0\x1b[0m\tX\n12\b\b34\n").texts, (Texts{"GPU0\tX", "34"}));
  EXPECT_EQ(read_all("\x1b]0;title\x07text\x1b(B\n").texts, (Texts{"text"}));
}

TEST(LineStream, Utf16BecomesUtf8) {
  const std::string little("\xFF\xFEh\0i\0\n\0\xE9\0", 10);
  EXPECT_EQ(read_all(little).texts, (Texts{"hi", "\xC3\xA9"}));
  const std::string big("\xFE\xFF\xD8\x3D\xDE\x00", 6);  // U+1F600 as a surrogate pair
  EXPECT_EQ(read_all(big).texts, (Texts{"\xF0\x9F\x98\x80"}));
}

TEST(LineStream, AnEndlessLineComesCutAndTheNextOneWhole) {
  const Read read = read_all(std::string(LineStream::kLineLimit + (3u << 20), 'x') + "\nnext\n");
  ASSERT_EQ(read.texts.size(), 2u);
  EXPECT_TRUE(read.cut[0]);
  EXPECT_GE(read.texts[0].size(), LineStream::kLineLimit);
  EXPECT_EQ(read.texts[1], "next");
  EXPECT_EQ(read.numbers, (Numbers{1, 2}));
}

TEST(LineStream, TheHeadUsesNothingUp) {
  LineStream lines(source_of("\x1b[1mfirst\x1b[0m\nsecond\n"));
  EXPECT_EQ(lines.head().value(), "first\nsecond\n");
  Line line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line.text, "first");
  EXPECT_EQ(lines.rest(100).value(), "second\n");
  EXPECT_FALSE(lines.next(line));
}

TEST(LineStream, ADocumentOverTheLimitIsRefused) {
  LineStream lines(source_of(std::string(5u << 20, 'x')));
  EXPECT_EQ(lines.rest(1u << 20).error().front().rule, "file-too-large");
}

TEST(LineStream, AMissingFileSaysSo) {
  EXPECT_EQ(open_source("/nonexistent/file").error().front().rule, "cannot-read");
}

// Lines joined again are the text, for any mix of lengths, also across the chunks that are read.
RC_GTEST_PROP(LineStream, LinesJoinedAgainAreTheText, ()) {
  const auto lengths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 700'000)).as("lengths of lines");
  std::string text;
  for (std::size_t i = 0; i < lengths.size() && i < 12; ++i) {
    text += std::string(static_cast<std::size_t>(lengths[i]), static_cast<char>('a' + i % 26)) + "\n";
  }
  std::string joined;
  for (const std::string& line : read_all(text).texts) joined += line + "\n";
  RC_ASSERT(joined == text);
}

}  // namespace
}  // namespace tare
