#include "report/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace tare {
namespace {

Environment given(std::map<std::string, std::string, std::less<>> variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// Neither end of a pipe is a terminal.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  int write_end() const { return ends_[1]; }

 private:
  int ends_[2] = {-1, -1};
};

TEST(Color, AutoNeedsATerminalThatShowsIt) {
  EXPECT_TRUE(use_color(ColorChoice::kAuto, true, given({{"TERM", "xterm"}})));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, false, given({{"TERM", "xterm"}})));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, true, given({{"TERM", "dumb"}})));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, true, given({})));
}

TEST(Color, NoColorCountsOnlyWhenNotEmpty) {
  EXPECT_FALSE(use_color(ColorChoice::kAuto, true, given({{"TERM", "xterm"}, {"NO_COLOR", "1"}})));
  EXPECT_TRUE(use_color(ColorChoice::kAuto, true, given({{"TERM", "xterm"}, {"NO_COLOR", ""}})));
}

TEST(Color, TheFlagCountsBeforeTheEnvironment) {
  EXPECT_TRUE(use_color(ColorChoice::kAlways, false, given({{"NO_COLOR", "1"}, {"TERM", "dumb"}})));
  EXPECT_FALSE(use_color(ColorChoice::kNever, true, given({{"TERM", "xterm"}})));
}

TEST(Color, PaintsBetweenSequenceAndReset) {
  EXPECT_EQ(paint("x", Tone::kGood, true), "\033[32mx\033[0m");
  EXPECT_EQ(paint("x", Tone::kGood, false), "x");
  EXPECT_EQ(paint("x", Tone::kPlain, true), "x");
  EXPECT_EQ(paint("", Tone::kGood, true), "");
}

TEST(Terminal, APipeHasNoWidthAndNobodyWatching) {
  const Pipe file;
  const Terminal terminal = detect_terminal(file.write_end(), ColorChoice::kAuto, given({{"TERM", "xterm"}}));
  EXPECT_EQ(terminal.width, 0);
  EXPECT_FALSE(terminal.interactive);
  EXPECT_FALSE(terminal.color);
}

TEST(Terminal, ColumnsSetsTheWidthWhenItIsOne) {
  const Pipe file;
  const auto width = [&](const char* columns) {
    return detect_terminal(file.write_end(), ColorChoice::kAuto, given({{"COLUMNS", columns}})).width;
  };
  EXPECT_EQ(width("100"), 100);
  EXPECT_EQ(width("wide"), 0);
  EXPECT_EQ(width("100x"), 0);
  EXPECT_EQ(width("-5"), 0);
  EXPECT_EQ(width("3"), 0);
}

TEST(Terminal, UnicodeFollowsTheFirstLocaleThatIsSet) {
  const Pipe file;
  const auto unicode = [&](std::map<std::string, std::string, std::less<>> variables) {
    return detect_terminal(file.write_end(), ColorChoice::kAuto, given(std::move(variables))).unicode;
  };
  EXPECT_TRUE(unicode({{"LANG", "C.UTF-8"}}));
  EXPECT_TRUE(unicode({{"LC_ALL", "en_US.utf8"}, {"LANG", "C"}}));
  EXPECT_FALSE(unicode({{"LC_ALL", "C"}, {"LANG", "C.UTF-8"}}));
  EXPECT_TRUE(unicode({{"LC_ALL", ""}, {"LANG", "C.UTF-8"}}));
  EXPECT_FALSE(unicode({}));
}

}  // namespace
}  // namespace tare
