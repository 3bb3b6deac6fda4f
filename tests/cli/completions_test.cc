#include "cli/completions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/man.h"

namespace tare {
namespace {

// What a shell command prints; nullopt where it fails.
std::optional<std::string> output_of(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  if (pclose(pipe) != 0) return std::nullopt;
  return text;
}

bool has_program(const std::string& name) { return output_of("command -v " + name).has_value(); }

class Script : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    file_ = (std::filesystem::temp_directory_path() / ("tare-script-" + std::to_string(getpid()))).string();
    std::ofstream(file_) << text;
    return file_;
  }
  void TearDown() override { std::filesystem::remove(file_); }

  // What bash offers for the last of `words`.
  std::string completed(const std::string& words, int at) {
    const std::string file = write(bash_completions());
    return output_of("bash -c 'source " + file + "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                     "; _tare; echo ${COMPREPLY[@]}'")
        .value_or("failed");
  }

  std::string file_;
};

TEST_F(Script, BashCompletesVerbsFlagsAndWords) {
  if (!has_program("bash")) GTEST_SKIP() << "no bash";
  EXPECT_EQ(completed("tare pl", 1), "plan place\n");
  EXPECT_EQ(completed("tare plan --ou", 2), "--output\n");
  EXPECT_EQ(completed("tare plan --output m", 3), "md\n");
  EXPECT_EQ(completed("tare plan -o js", 3), "json\n");
  EXPECT_EQ(completed("tare catalog of", 2), "offers\n");
  EXPECT_EQ(completed("tare completions z", 2), "zsh\n");
  EXPECT_EQ(completed("tare estimate --to", 2), "\n");  // a flag of plan alone
  EXPECT_EQ(completed("tare help val", 2), "validate\n");
}

TEST_F(Script, ShellsThatAreThereCanReadTheirScripts) {
  const std::pair<const char*, std::string> scripts[] = {
      {"bash", bash_completions()}, {"zsh", zsh_completions()}, {"fish", fish_completions()}};
  for (const auto& [shell, text] : scripts) {
    if (!has_program(shell)) continue;
    EXPECT_TRUE(output_of(std::string(shell) + " -n " + write(text))) << shell;
  }
}

TEST_F(Script, RoffHasNoComplaintAboutTheManual) {
  if (!has_program("groff")) GTEST_SKIP() << "no groff";
  EXPECT_EQ(output_of("groff -man -ww -z -Kutf8 " + write(man_page())), "");
}

TEST_F(Script, TheManualReadsAsText) {
  if (!has_program("groff")) GTEST_SKIP() << "no groff";
  const std::string text = output_of("groff -man -Tascii -Kutf8 -P-c -P-b -P-u " + write(man_page())).value_or("");
  EXPECT_NE(text.find("NAME\n       tare - what a GPU cluster turns into trained tokens\n"), std::string::npos) << text;
  EXPECT_NE(text.find("--max-price-age DURATION"), std::string::npos);
  EXPECT_NE(text.find("TARE_OUTPUT"), std::string::npos);
  EXPECT_NE(text.find("EXIT STATUS"), std::string::npos);
}

}  // namespace
}  // namespace tare
