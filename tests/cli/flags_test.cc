#include "cli/flags.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/completions.h"
#include "cli/help.h"
#include "cli/man.h"

namespace tare {
namespace {

TEST(Flags, NamesAreUnique) {
  std::set<std::string_view> names;
  std::set<char> shorts;
  for (const Flag& flag : flags()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    EXPECT_TRUE(flag.short_name == 0 || shorts.insert(flag.short_name).second) << flag.name;
  }
}

TEST(Flags, EachHasHelpAndAVerb) {
  for (const Flag& flag : flags()) {
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    EXPECT_FALSE(flag.long_help.empty()) << flag.name;
    EXPECT_FALSE(flag.help.ends_with('.')) << flag.name;  // a line, not a sentence
    EXPECT_TRUE(flag.long_help.ends_with('.')) << flag.name;
    EXPECT_NE(flag.verbs, 0u) << flag.name;
  }
}

TEST(Flags, ValuesAndMetavarsGoTogether) {
  for (const Flag& flag : flags()) {
    EXPECT_EQ(flag.kind == ValueKind::kSwitch, flag.metavar.empty()) << flag.name;
    const bool needs_words =
        flag.kind == ValueKind::kWord || flag.kind == ValueKind::kWords || flag.kind == ValueKind::kForm;
    EXPECT_EQ(needs_words, !flag.words.empty()) << flag.name;
  }
}

TEST(Flags, DefaultsAreValuesOfTheirFlags) {
  for (const Flag& flag : flags()) {
    EXPECT_TRUE(flag.default_text.empty() || !check_value(flag, flag.default_text)) << flag.name;
  }
}

TEST(Flags, StandTogetherByCategory) {
  std::set<Category> finished;
  Category current = flags().front().category;
  for (const Flag& flag : flags()) {
    if (flag.category == current) continue;
    finished.insert(current);
    current = flag.category;
    EXPECT_FALSE(finished.contains(current)) << flag.name;
  }
}

TEST(Flags, HelpManAndCompletionsHaveEveryOne) {
  const std::string man = man_page();
  const std::string bash = bash_completions();
  const std::string zsh = zsh_completions();
  const std::string fish = fish_completions();
  for (const Flag& flag : flags()) {
    const std::string name(flag.name);
    std::string in_roff = "\\-\\-";
    for (const char c : name) in_roff += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(man.find("\\fB" + in_roff + "\\fR"), std::string::npos) << name;
    EXPECT_NE(bash.find("--" + name), std::string::npos) << name;
    EXPECT_NE(zsh.find("--" + name), std::string::npos) << name;
    EXPECT_NE(fish.find(" -l " + name + " "), std::string::npos) << name;
    for (const VerbInfo& verb : verbs()) {
      const bool shown = help_text(verb, Terminal{}).find(" --" + name) != std::string::npos;
      EXPECT_TRUE(shown || !contains(flag.verbs, verb.verb)) << name << " of " << verb.name;
    }
  }
}

TEST(Flags, CompletionsHaveEveryVerbAndWord) {
  for (const std::string& script : {bash_completions(), zsh_completions(), fish_completions()}) {
    for (const VerbInfo& verb : verbs()) EXPECT_NE(script.find(verb.name), std::string::npos) << verb.name;
    for (const Flag& flag : flags()) {
      for (const VerbInfo& verb : verbs()) {
        if (!contains(flag.verbs, verb.verb)) continue;
        for (const std::string& word : words_of(flag, verb.verb)) {
          EXPECT_NE(script.find(word), std::string::npos) << flag.name << ' ' << word;
        }
      }
    }
  }
}

// Every flag is used by a test: a golden case or one of the tests of this directory.
TEST(Flags, EachIsTested) {
  std::string tested;
  for (const char* folder : {"tests/golden", "tests/cli"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(TARE_SOURCE_DIR "/") + folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".test" && extension != ".cc") continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      tested += text.str();
    }
  }
  for (const Flag& flag : flags())
    EXPECT_NE(tested.find("--" + std::string(flag.name)), std::string::npos) << flag.name;
}

TEST(Flags, NamesOfTheLowerLayers) {
  const Flag& flag = *find_flag("max-price-age");
  EXPECT_EQ(environment_name(flag), "TARE_MAX_PRICE_AGE");
  EXPECT_EQ(config_key(flag), "max_price_age");
}

struct ValueCase {
  const char* flag;
  const char* text;
  const char* complaint;  // nullptr: a value of the flag
};

class FlagValues : public testing::TestWithParam<ValueCase> {};

TEST_P(FlagValues, AreChecked) {
  const ValueCase& c = GetParam();
  const std::optional<Diagnostic> wrong = check_value(*find_flag(c.flag), c.text);
  if (c.complaint == nullptr) {
    EXPECT_FALSE(wrong) << wrong->text;
  } else {
    ASSERT_TRUE(wrong);
    EXPECT_NE((wrong->text + " / " + wrong->help).find(c.complaint), std::string::npos) << wrong->text << wrong->help;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, FlagValues,
    testing::Values(ValueCase{"gpus", "64", nullptr}, ValueCase{"gpus", "64,128", nullptr},
                    ValueCase{"gpus", "0", "whole number from 1"}, ValueCase{"gpus", "64,", "whole number"},
                    ValueCase{"gpus", "64.5", "whole number"},
                    ValueCase{"gpus", "99999999999999999999", "whole number"}, ValueCase{"zero", "0,3", nullptr},
                    ValueCase{"zero", "4", "from 0 to 3"}, ValueCase{"top", "0", nullptr},
                    ValueCase{"top", "-1", "whole number from 0"}, ValueCase{"output", "json", nullptr},
                    ValueCase{"output", "out/plan.JSON", nullptr}, ValueCase{"output", "plan.doc", "known form"},
                    ValueCase{"confidence", "90%", nullptr}, ValueCase{"confidence", "1.5", "a share"},
                    ValueCase{"seed", "18446744073709551615", nullptr}, ValueCase{"seed", "-1", "from 0"},
                    ValueCase{"output", "jsn", "did you mean \"json\"?"}, ValueCase{"recompute", "none,full", nullptr},
                    ValueCase{"recompute", "none,half", "'half'"}, ValueCase{"as-of", "2026-11-30", nullptr},
                    ValueCase{"as-of", "2026-02-30", "is not a date"}, ValueCase{"max-price-age", "180d", nullptr},
                    ValueCase{"max-price-age", "180", "unit"}, ValueCase{"fail-over", "50000 USD", nullptr},
                    ValueCase{"fail-over", "50000 EUR", "EUR"}, ValueCase{"assume-fabric", "400Gb/s", nullptr},
                    ValueCase{"assume-fabric", "-1Gb/s", "-1"}, ValueCase{"chart", "", "empty"},
                    ValueCase{"explain", "maybe", "true or false"}));

}  // namespace
}  // namespace tare
