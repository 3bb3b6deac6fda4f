#include "cli/command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_tare.h"

namespace tare {
namespace {

using test::run_tare;

TEST(Command, AnswersStandOnStandardOutputAlone) {
  const test::Outcome outcome = run_tare({"version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with("tare "));
  EXPECT_EQ(outcome.err, "");
}

TEST(Command, ErrorsStandOnStandardErrorAlone) {
  const test::Outcome outcome = run_tare({"plan"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("error: "));
}

TEST(Command, ErrorsAreJsonWhereTheAnswerWouldBe) {
  const test::Outcome outcome = run_tare({"plan", "/nonexistent/job.toml", "--output", "json", "--nonsense"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  const auto json = nlohmann::json::parse(outcome.err);
  EXPECT_EQ(json["format_version"], "1.0");
  EXPECT_EQ(json["errors"][0]["rule"], "unknown-flag");
  EXPECT_EQ(json["errors"][0]["severity"], "error");
}

TEST(Command, AMissingFileIsNamed) {
  const test::Outcome outcome = run_tare({"plan", "/nonexistent/job.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("/nonexistent/job.toml"), std::string::npos);
}

TEST(Command, ColourFollowsTheFlag) {
  EXPECT_EQ(run_tare({"plan"}).err.find('\033'), std::string::npos);
  EXPECT_NE(run_tare({"plan", "--color", "always"}).err.find("\033[1;31merror: \033[0m"), std::string::npos);
}

TEST(Command, HelpOfEveryVerb) {
  for (const VerbInfo& verb : verbs()) {
    const test::Outcome outcome = run_tare({"help", std::string(verb.name)});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(outcome.out.starts_with("tare " + std::string(verb.name))) << outcome.out;
    if (verb.verb == Verb::kHelp) continue;  // 'tare help --help' is 'tare help'
    EXPECT_EQ(outcome.out, run_tare({std::string(verb.name), "--help"}).out);
  }
  EXPECT_EQ(run_tare({"--help"}).out, run_tare({"help"}).out);
  EXPECT_EQ(run_tare({"--version"}).out, run_tare({"version"}).out);
}

TEST(Command, HelpFitsNarrowTerminals) {
  Terminal narrow;
  narrow.width = 60;
  narrow.unicode = false;
  const std::string text = run_tare({"help"}, {}, narrow).out;
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST(Command, HelpOfAnUnknownVerb) {
  const test::Outcome outcome = run_tare({"help", "plna"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("did you mean \"plan\"?"), std::string::npos);
}

TEST(Command, CompletionsForUnknownShells) {
  const test::Outcome outcome = run_tare({"completions", "cmd"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("bash, zsh or fish"), std::string::npos);
}

}  // namespace
}  // namespace tare
