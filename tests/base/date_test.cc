#include "base/date.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

TEST(Date, CountsDaysSince1970) {
  EXPECT_EQ(parse_date("1970-01-01"), Date{0});
  EXPECT_EQ(parse_date("1969-12-31"), Date{-1});
  EXPECT_EQ(parse_date("2000-03-01"), Date{11017});
  EXPECT_EQ(parse_date("2024-02-29"), Date{19782});
  EXPECT_LT(*parse_date("2026-05-24"), *parse_date("2026-11-30"));
}

TEST(Date, RefusesWhatIsNoDate) {
  for (const char* text :
       {"", "2026-02-30", "2023-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-1", "2026-01-01 ",
        " 2026-01-01", "26-01-01", "2026/01/01", "2026-0a-01", "-026-01-01", "2026-01-01T00:00:00"}) {
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
  }
}

TEST(Date, TodayIsPlausible) {
  EXPECT_GT(today(), *parse_date("2024-01-01"));
  EXPECT_EQ(parse_date(format_date(today())), today());
}

RC_GTEST_PROP(DateProperty, FormatRoundTrips, ()) {
  const Date date{*rc::gen::inRange(-719528, 2932897)};  // 0000-01-01 to 9999-12-31
  RC_ASSERT(parse_date(format_date(date)) == date);
}

}  // namespace
}  // namespace tare
