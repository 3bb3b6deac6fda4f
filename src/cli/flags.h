// The one table of flags: the parser, --help, the man page, completions and the config files all come from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "cli/verbs.h"

namespace tare {

enum class ValueKind {
  kSwitch,  // no value; "=false" takes it back
  kText,
  kWord,       // one of Flag::words
  kWords,      // several of them, separated by commas
  kCount,      // an integer ≥ 0
  kSizes,      // integers ≥ 1, separated by commas
  kStages,     // integers ≥ 0, separated by commas
  kDate,       // 2026-11-30
  kDuration,   // 180d
  kMoney,      // 50000 USD
  kBandwidth,  // 400Gb/s
  kFile,
  kDirectory,
  kOffer,   // an offer id or a glob over them
  kChoice,  // a cluster file, or an offer id or glob
  kForm,    // one of Flag::words, or a file whose extension says which
  kSeed,    // an integer ≥ 0 of any size
  kRatio,   // 0.9 or 90%
};

enum class Category { kInput, kSearch, kParallelism, kPrice, kOutput, kGeneral };
std::string_view title_of(Category category);

struct Flag {
  std::string_view name;  // "max-price-age"
  char short_name = 0;    // 'o'; 0 = none
  ValueKind kind = ValueKind::kSwitch;
  std::string_view metavar;  // "DURATION"; empty for a switch
  Category category = Category::kGeneral;
  VerbSet verbs = 0;
  bool repeats = false;           // may be given several times: the values add up
  bool configurable = false;      // may also come from TARE_… and the config files
  std::string_view words;         // of kWord, kWords: "table json csv md"
  std::string_view default_text;  // what holds when it is not given; empty = nothing
  std::string_view help;          // one line, no full stop
  std::string_view long_help;
};

std::span<const Flag> flags();
const Flag* find_flag(std::string_view name);
const Flag* find_flag(char short_name);
std::vector<const Flag*> flags_of(Verb verb);  // in the table's order, which is by category

std::string environment_name(const Flag& flag);  // "TARE_MAX_PRICE_AGE"
std::string config_key(const Flag& flag);        // "max_price_age"
std::vector<std::string> words_of(const Flag& flag);
// Those of them that a verb takes: not every answer can be drawn.
std::vector<std::string> words_of(const Flag& flag, Verb verb);

// --output: the form of the answer, and the file it goes to (empty = standard output). "plan.json" is both.
struct OutputForm {
  std::string form;  // table, json, csv, md, svg, focus, toml; empty: nothing that is known
  std::string file;
};
OutputForm output_form(std::string_view text);

// "0.9" or "90%" -> 0.9; nullopt outside of 0 to 1.
std::optional<double> ratio_of(std::string_view text);

// Whether `text` is a value of the flag; if not, what is wrong (rule "bad-value", "missing-unit", …; no place).
std::optional<Diagnostic> check_value(const Flag& flag, std::string_view text);

}  // namespace tare
