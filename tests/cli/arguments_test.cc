#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tare {
namespace {

Arguments parsed(const std::vector<std::string>& words) {
  Result<Arguments> arguments = parse_arguments(words);
  EXPECT_TRUE(arguments) << (arguments ? "" : render(arguments.error()));
  return arguments ? *arguments : Arguments{};
}

std::string complaint(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words);
  return arguments ? "" : render(arguments.error());
}

TEST(Arguments, VerbOperandsAndFlagsInAnyOrder) {
  const Arguments arguments =
      parsed({"--output", "json", "plan", "--top=3", "job.toml", "--gpus", "64,128", "--gpus", "256"});
  EXPECT_EQ(arguments.verb, Verb::kPlan);
  EXPECT_EQ(arguments.operands, std::vector<std::string>{"job.toml"});
  EXPECT_EQ(arguments.text("output"), "json");
  EXPECT_EQ(arguments.count("top"), 3);
  EXPECT_EQ(arguments.integers("gpus"), (std::vector<int>{64, 128, 256}));
}

TEST(Arguments, ShortFlagsInTheirSpellings) {
  EXPECT_EQ(parsed({"plan", "-ojson", "j"}).text("output"), "json");
  EXPECT_EQ(parsed({"plan", "-o", "csv", "j"}).text("output"), "csv");
  EXPECT_EQ(parsed({"plan", "-o=md", "j"}).text("output"), "md");
}

TEST(Arguments, ValuesInBaseUnits) {
  const Arguments arguments =
      parsed({"plan", "j", "--max-price-age", "2d", "--fail-over", "50000 USD", "--assume-fabric", "400Gb/s", "--as-of",
              "2026-11-30", "--recompute", "none,full"});
  EXPECT_EQ(arguments.quantity("max-price-age"), 2 * 86400.0);
  EXPECT_EQ(arguments.quantity("fail-over"), 50000.0);
  EXPECT_EQ(arguments.quantity("assume-fabric"), 50e9);
  EXPECT_EQ(arguments.date("as-of"), parse_date("2026-11-30"));
  EXPECT_EQ(arguments.words("recompute"), (std::vector<std::string>{"none", "full"}));
}

TEST(Arguments, DefaultsHoldWithoutBeingGiven) {
  const Arguments arguments = parsed({"plan", "j"});
  EXPECT_FALSE(arguments.has("output"));
  EXPECT_EQ(arguments.text("output"), "table");
  EXPECT_EQ(arguments.count("top"), 10);
  EXPECT_FALSE(arguments.is_on("explain"));
  EXPECT_FALSE(arguments.quantity("fail-over"));
}

TEST(Arguments, SwitchesCanBeTakenBack) {
  EXPECT_TRUE(parsed({"plan", "j", "--explain"}).is_on("explain"));
  EXPECT_FALSE(parsed({"plan", "j", "--explain", "--explain=false"}).is_on("explain"));
}

TEST(Arguments, AfterTwoDashesAllAreOperands) {
  EXPECT_EQ(parsed({"plan", "--", "--top"}).operands, std::vector<std::string>{"--top"});
}

TEST(Arguments, ALoneDashIsAnOperand) { EXPECT_EQ(parsed({"plan", "-"}).operands, std::vector<std::string>{"-"}); }

TEST(Arguments, HelpAndVersionCountBeforeAllElse) {
  EXPECT_EQ(parsed({"plan", "--help"}).verb, Verb::kHelp);
  EXPECT_EQ(parsed({"plan", "--help"}).operands, std::vector<std::string>{"plan"});
  EXPECT_EQ(parsed({"-h"}).verb, Verb::kHelp);
  EXPECT_EQ(parsed({"help", "plan"}).operands, std::vector<std::string>{"plan"});
  EXPECT_EQ(parsed({"--version"}).verb, Verb::kVersion);
  EXPECT_EQ(parsed({"plan", "-V"}).verb, Verb::kVersion);
}

TEST(Arguments, UnknownFlag) {
  EXPECT_EQ(complaint({"plan", "j", "--outptu", "json"}),
            "error: unknown flag '--outptu' [unknown-flag]\n"
            "  help: did you mean \"--output\"?\n"
            "error: unexpected 'json' [extra-operand]\n"
            "  help: usage: tare plan JOB.toml\n");
  EXPECT_EQ(complaint({"plan", "j", "-x"}),
            "error: unknown flag '-x' [unknown-flag]\n"
            "  help: 'tare help VERB' lists the flags\n");
}

TEST(Arguments, UnknownVerb) {
  EXPECT_EQ(complaint({"plna", "j"}),
            "error: unknown verb 'plna' [unknown-verb]\n"
            "  help: did you mean \"plan\"?\n");
  EXPECT_EQ(complaint({"job.toml"}),
            "error: unknown verb 'job.toml' [unknown-verb]\n"
            "  help: did you mean \"tare plan job.toml\"?\n");
  EXPECT_EQ(complaint({}),
            "error: no verb given [missing-verb]\n"
            "  help: 'tare help' lists the verbs\n");
}

TEST(Arguments, FlagOfAnotherVerb) {
  EXPECT_EQ(complaint({"estimate", "j", "--top", "3"}),
            "error: 'tare estimate' has no flag --top [misplaced-flag]\n"
            "  help: it is a flag of plan\n");
}

TEST(Arguments, MissingAndWrongValues) {
  EXPECT_EQ(complaint({"plan", "j", "--top"}),
            "error: --top needs a value: N [missing-value]\n"
            "  help: show the first N options; 0 shows all\n");
  EXPECT_EQ(complaint({"plan", "j", "--gpus", "--explain"}),
            "error: --gpus needs a value: N[,N…] [missing-value]\n"
            "  help: numbers of GPUs instead of the job's\n");
  EXPECT_EQ(complaint({"plan", "j", "--objective", "tme"}),
            "error: --objective: 'tme' is not one of cost, time, energy, carbon [bad-value]\n"
            "  help: did you mean \"time\"?\n");
}

TEST(Arguments, GivenTwice) {
  EXPECT_EQ(complaint({"plan", "j", "--top", "1", "--top", "2"}),
            "error: --top is given more than once [repeated-flag]\n");
}

TEST(Arguments, Operands) {
  EXPECT_EQ(complaint({"plan"}),
            "error: 'tare plan' needs JOB.toml [missing-operand]\n"
            "  help: usage: tare plan JOB.toml\n");
  EXPECT_EQ(complaint({"plan", "a", "b"}),
            "error: unexpected 'b' [extra-operand]\n"
            "  help: usage: tare plan JOB.toml\n");
}

TEST(Arguments, AllErrorsAtOnce) {
  const std::string text = complaint({"plan", "--top", "x", "--nonsense", "--threads", "y"});
  EXPECT_NE(text.find("--top"), std::string::npos);
  EXPECT_NE(text.find("--nonsense"), std::string::npos);
  EXPECT_NE(text.find("--threads"), std::string::npos);
}

TEST(Arguments, WhatCouldBeReadIsKeptForShowingErrors) {
  Arguments partial;
  EXPECT_FALSE(parse_arguments({"plan", "--output", "json", "--nonsense"}, &partial));
  EXPECT_EQ(partial.text("output"), "json");
}

}  // namespace
}  // namespace tare
