#include "report/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tare {
namespace {

// What is written to a pipe while `work` runs under a Progress.
template <typename Work>
std::string drawn_during(const Terminal& terminal, const Work& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    Progress progress("searching", terminal, ends[1]);
    work(progress);
  }
  close(ends[1]);
  std::string drawn;
  char buffer[4096];
  for (ssize_t got = read(ends[0], buffer, sizeof buffer); got > 0; got = read(ends[0], buffer, sizeof buffer)) {
    drawn.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  return drawn;
}

Terminal watched() {
  Terminal terminal;
  terminal.interactive = true;
  terminal.width = 60;
  return terminal;
}

TEST(Progress, LineShowsWhatIsKnown) {
  EXPECT_EQ(progress_line("searching", -1, 2.2, watched()), "searching  2 s");
  EXPECT_EQ(progress_line("searching", 0.5, 3, watched()), "searching ███████████████                 50 %  3 s");
}

TEST(Progress, LineNeverWraps) {
  Terminal narrow = watched();
  narrow.width = 24;
  EXPECT_LT(progress_line("searching", 0.5, 3, narrow).size(), 24u * 3);
  EXPECT_EQ(progress_line("searching through it all", -1, 3, narrow), "searching through it");
}

TEST(Progress, ShortWorkDrawsNothing) {
  EXPECT_EQ(drawn_during(watched(), [](Progress&) {}), "");
}

TEST(Progress, NothingWhenNobodyWatches) {
  Terminal file;
  const std::string drawn =
      drawn_during(file, [](Progress&) { std::this_thread::sleep_for(std::chrono::milliseconds(1200)); });
  EXPECT_EQ(drawn, "");
}

TEST(Progress, LongWorkIsShownAndErasedAgain) {
  const std::string drawn = drawn_during(watched(), [](Progress& progress) {
    progress.update(0.25);
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  });
  EXPECT_NE(drawn.find("searching"), std::string::npos);
  EXPECT_NE(drawn.find("25 %"), std::string::npos);
  EXPECT_TRUE(drawn.ends_with("\r\033[K"));
}

}  // namespace
}  // namespace tare
