// A command line read against the tables of verbs and flags, with what the environment and config files add.
//
// Precedence: flag > environment (TARE_…) > project file (./tare.toml) > user file ($XDG_CONFIG_HOME/tare/config.toml,
// else ~/.config/tare/config.toml) > default. Every value is checked against its flag while it is read, so the getters
// cannot fail; asking for a flag that is not in the table is a programmer error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "base/diagnostic.h"
#include "cli/flags.h"
#include "cli/verbs.h"
#include "report/color.h"

namespace tare {

class Arguments {
 public:
  Verb verb = Verb::kHelp;
  std::vector<std::string> operands;

  bool has(std::string_view flag) const;                        // given somewhere (a default does not count)
  bool is_on(std::string_view flag) const;                      // a switch
  std::string text(std::string_view flag) const;                // the last value, the default, or empty
  std::vector<std::string> texts(std::string_view flag) const;  // all values
  std::optional<int> count(std::string_view flag) const;
  std::vector<int> integers(std::string_view flag) const;       // of kSizes and kStages, all values joined
  std::vector<std::string> words(std::string_view flag) const;  // of kWords, all values joined
  std::optional<double> quantity(std::string_view flag) const;  // in base units
  std::optional<Date> date(std::string_view flag) const;
  std::optional<double> ratio(std::string_view flag) const;
  std::uint64_t seed() const;

  void add(const Flag& flag, std::string value);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// The command line alone. On errors `partial`, if given, still holds what could be read: how errors are to be shown.
Result<Arguments> parse_arguments(const std::vector<std::string>& words, Arguments* partial = nullptr);

// Where the lower layers are read from.
struct Settings {
  Environment environment;
  std::string project_file = "tare.toml";  // empty = none
};

// Adds what the environment and the config files say of the verb's flags that the command line does not give.
Result<void> add_settings(Arguments& arguments, const Settings& settings);

}  // namespace tare
