#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/arguments.h"
#include "run_tare.h"

namespace tare {
namespace {

// A folder with a project file and a user file.
class SettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tare-settings-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "tare");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write_project(const std::string& text) { std::ofstream(project_file()) << text; }
  void write_user(const std::string& text) { std::ofstream(folder_ / "tare" / "config.toml") << text; }
  std::string project_file() const { return (folder_ / "tare.toml").string(); }

  Result<Arguments> read(const std::vector<std::string>& words, test::Variables variables = {}) {
    Arguments arguments = parse_arguments(words).value();
    variables["XDG_CONFIG_HOME"] = folder_.string();
    const Settings settings{test::environment_of(std::move(variables)), project_file()};
    if (Result<void> added = add_settings(arguments, settings); !added) return tl::unexpected(added.error());
    return arguments;
  }

  std::filesystem::path folder_;
};

TEST_F(SettingsTest, FlagThenEnvironmentThenProjectThenUserThenDefault) {
  EXPECT_EQ(read({"plan", "j"})->count("top"), 10);
  write_user("top = 4\n");
  EXPECT_EQ(read({"plan", "j"})->count("top"), 4);
  write_project("top = 3\n");
  EXPECT_EQ(read({"plan", "j"})->count("top"), 3);
  EXPECT_EQ(read({"plan", "j"}, {{"TARE_TOP", "2"}})->count("top"), 2);
  EXPECT_EQ(read({"plan", "j", "--top", "1"}, {{"TARE_TOP", "2"}})->count("top"), 1);
}

TEST_F(SettingsTest, EveryKindOfValue) {
  write_project("format_version = \"1.0\"\noutput = \"csv\"\nexplain = true\nmax_price_age = \"180d\"\nthreads = 3\n");
  const Result<Arguments> arguments = read({"plan", "j"});
  ASSERT_TRUE(arguments) << render(arguments.error());
  EXPECT_EQ(arguments->text("output"), "csv");
  EXPECT_TRUE(arguments->is_on("explain"));
  EXPECT_EQ(arguments->quantity("max-price-age"), 180 * 86400.0);
  EXPECT_EQ(arguments->count("threads"), 3);
}

TEST_F(SettingsTest, WhatTheVerbDoesNotTakeIsLeftAside) {
  write_project("top = 3\n");
  const Result<Arguments> arguments = read({"catalog", "gpus"}, {{"TARE_TOP", "nonsense"}});
  ASSERT_TRUE(arguments);
  EXPECT_FALSE(arguments->has("top"));
}

TEST_F(SettingsTest, SwitchesOfTheEnvironmentInTheirSpellings) {
  EXPECT_TRUE(read({"plan", "j"}, {{"TARE_EXPLAIN", "1"}})->is_on("explain"));
  EXPECT_TRUE(read({"plan", "j"}, {{"TARE_EXPLAIN", "YES"}})->is_on("explain"));
  EXPECT_FALSE(read({"plan", "j"}, {{"TARE_EXPLAIN", "off"}})->is_on("explain"));
  EXPECT_FALSE(read({"plan", "j"}, {{"TARE_EXPLAIN", ""}})->is_on("explain"));
}

TEST_F(SettingsTest, ErrorsNameTheirPlace) {
  write_project("top = 3\nouptut = \"json\"\nobjective = \"speed\"\nmax_price_age = 180\n");
  const Result<Arguments> arguments = read({"plan", "j"}, {{"TARE_COLOR", "sometimes"}});
  ASSERT_FALSE(arguments);
  const std::string text = render(arguments.error());
  EXPECT_NE(text.find("TARE_COLOR: error: 'sometimes' is not one of auto, always, never"), std::string::npos) << text;
  EXPECT_NE(text.find("tare.toml:2:1: error: "), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean \"output\"?"), std::string::npos) << text;
  EXPECT_NE(text.find("tare.toml:3:13: error: 'speed' is not one of cost, time"), std::string::npos) << text;
  EXPECT_NE(text.find("tare.toml:4:"), std::string::npos) << text;
}

TEST_F(SettingsTest, PerCallFlagsAreNoSettings) {
  write_project("fail_over = \"1 USD\"\nrow = \"T1\"\n");
  const Result<Arguments> arguments = read({"plan", "j"});
  ASSERT_FALSE(arguments);
  EXPECT_NE(render(arguments.error()).find("unknown key 'row'"), std::string::npos) << render(arguments.error());
}

TEST_F(SettingsTest, DirectoriesAreMeantFromTheFile) {
  write_project("catalog = \"prices\"\n");
  EXPECT_EQ(read({"plan", "j"})->text("catalog"), (folder_ / "prices").string());
}

TEST_F(SettingsTest, HelpAnswersWhateverIsBroken) {
  write_project("top = [\n");
  EXPECT_EQ(test::run_tare({"help"}, {}, {}, project_file()).code, 0);
  EXPECT_EQ(test::run_tare({"catalog", "gpus"}, {}, {}, project_file()).code, 2);
}

}  // namespace
}  // namespace tare
