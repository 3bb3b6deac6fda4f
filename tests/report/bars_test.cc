#include "report/bars.h"

#include <gtest/gtest.h>

#include "report/text_layout.h"

namespace tare {
namespace {

TEST(Bars, DrawnToAnEighthOfAColumn) {
  EXPECT_EQ(bar(0.5, 4, true), "██");
  EXPECT_EQ(bar(0.53125, 4, true), "██▏");
  EXPECT_EQ(bar(1, 4, true), "████");
  EXPECT_EQ(bar(7, 4, true), "████");
}

TEST(Bars, WhatIsNotZeroIsVisible) {
  EXPECT_EQ(bar(1e-9, 10, true), "▏");
  EXPECT_EQ(bar(1e-9, 10, false), "#");
  EXPECT_EQ(bar(0, 10, true), "");
  EXPECT_EQ(bar(-1, 10, true), "");
}

TEST(Bars, AsciiHasWholeColumns) { EXPECT_EQ(bar(0.5, 10, false), "#####"); }

TEST(Bars, WaterfallBeginsWhereTheOneBeforeEnded) {
  EXPECT_EQ(waterfall_bar(0, 0.25, 8, true), "██");
  EXPECT_EQ(waterfall_bar(0.25, 0.5, 8, true), "  ████");
  EXPECT_EQ(waterfall_bar(0.75, 0.25, 8, true), "      ██");
}

TEST(Bars, WaterfallStaysWithinItsWidth) {
  for (int step = 0; step <= 100; ++step) {
    const double start = step / 100.0;
    EXPECT_LE(display_width(waterfall_bar(start, 1 - start, 10, true)), 11) << start;
    EXPECT_LE(display_width(waterfall_bar(start, 0.001, 10, true)), 10) << start;
  }
}

}  // namespace
}  // namespace tare
