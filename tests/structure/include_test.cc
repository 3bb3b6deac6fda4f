// Holds the house to its table: src/modules.cmake says which module may include which, and every file is checked.
//
// The link lines alone cannot do it: headers of plain structs compile and link from anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

using Table = std::map<std::string, std::set<std::string>>;

const fs::path kRoot = TARE_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The rows `"module: a b c"` of TARE_MODULES, closed transitively.
Table parse_table(const std::string& cmake) {
  const std::string start = "set(TARE_MODULES";
  const std::size_t begin = cmake.find(start);
  const std::size_t end = cmake.find("\n)", begin);
  EXPECT_NE(begin, std::string::npos);
  EXPECT_NE(end, std::string::npos);
  const std::string body = cmake.substr(begin, end - begin);
  Table table;
  const std::regex row(R"re("([a-z]+):([a-z ]*)")re");
  for (std::sregex_iterator it(body.begin(), body.end(), row), last; it != last; ++it) {
    const std::string module = (*it)[1];
    EXPECT_FALSE(table.count(module)) << "src/modules.cmake: two rows for " << module;
    std::set<std::string>& closed = table[module];
    std::istringstream words((*it)[2]);
    for (std::string word; words >> word;) {
      EXPECT_TRUE(table.count(word)) << "src/modules.cmake: " << module << " names " << word
                                     << ", which no row above defines";
      closed.insert(word);
      closed.insert(table[word].begin(), table[word].end());
    }
  }
  return table;
}

struct Include {
  int line = 0;
  std::string target;  // as written between the quotes
};

std::vector<Include> quoted_includes(const std::string& text) {
  static const std::regex directive(R"re(^\s*#\s*include\s*"([^"]*)")re");
  std::vector<Include> includes;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, directive)) includes.push_back({number, match[1]});
  }
  return includes;
}

// Why the file of `module` may not include `target`; empty when it may.
std::string objection(const Table& table, const std::string& module, const std::string& target) {
  const std::size_t slash = target.find('/');
  if (slash == std::string::npos || target.find("..") != std::string::npos) {
    return "is not of the form \"module/file.h\"";
  }
  const std::string other = target.substr(0, slash);
  const auto row = table.find(module);
  if (row == table.end()) return "stands in a folder that src/modules.cmake has no row for";
  if (!table.count(other)) return "names no module of src/modules.cmake";
  if (other != module && !row->second.count(other)) return "is not allowed: " + module + " may not include " + other;
  return {};
}

std::vector<fs::path> source_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cc") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string module_of(const fs::path& file) { return fs::relative(file, kRoot / "src").begin()->string(); }

Table shipped_table() { return parse_table(read(kRoot / "src" / "modules.cmake")); }

TEST(Modules, EveryIncludeIsAllowedByTheTable) {
  const Table table = shipped_table();
  int checked = 0;
  for (const fs::path& file : source_files()) {
    for (const Include& include : quoted_includes(read(file))) {
      ++checked;
      const std::string why = objection(table, module_of(file), include.target);
      EXPECT_TRUE(why.empty()) << fs::relative(file, kRoot).string() << ":" << include.line << ": #include \""
                               << include.target << "\" " << why;
      EXPECT_TRUE(fs::exists(kRoot / "src" / include.target))
          << fs::relative(file, kRoot).string() << ":" << include.line << ": no file src/" << include.target;
    }
  }
  EXPECT_GT(checked, 0);
}

TEST(Modules, EveryFolderHasARow) {
  const Table table = shipped_table();
  for (const auto& entry : fs::directory_iterator(kRoot / "src")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(table.count(entry.path().filename().string())) << entry.path() << " has no row in src/modules.cmake";
  }
}

TEST(Modules, EveryRowHasAParagraphInTheReadme) {
  const std::string readme = read(kRoot / "src" / "README.md");
  for (const auto& [module, includes] : shipped_table()) {
    EXPECT_NE(readme.find("**" + module + "**"), std::string::npos) << "src/README.md says nothing of " << module;
  }
}

TEST(Modules, HeadersAreGuardedByPragmaOnce) {
  for (const fs::path& file : source_files()) {
    if (file.extension() != ".h") continue;
    EXPECT_NE(read(file).find("#pragma once"), std::string::npos) << file << " has no #pragma once";
  }
}

// Two types of one name in the one namespace link without a word and run as each other: their vectors, say, are one.
TEST(Modules, ATypeNameIsDefinedInOneHeader) {
  const std::regex definition(R"re(^(?:struct|class|enum class|enum|union)(?: alignas\([0-9a-z]+\))? (\w+)[^;:]*\{)re");
  std::map<std::string, fs::path> seen;
  for (const fs::path& file : source_files()) {
    if (file.extension() != ".h") continue;
    std::istringstream lines(read(file));
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (!std::regex_search(line, found, definition)) continue;
      const auto [first, fresh] = seen.emplace(found[1], file);
      EXPECT_TRUE(fresh) << found[1] << " is defined in " << first->second << " and in " << file;
    }
  }
  EXPECT_GT(seen.size(), 100u);
}

// rapidcheck says in its return value that a property failed.
TEST(Tests, APropertysVerdictIsLookedAt) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TARE_SOURCE_DIR) / "tests")) {
    if (entry.path().extension() != ".cc" || entry.path().filename() == "include_test.cc") continue;
    const std::string text = read(entry.path());
    for (std::size_t at = text.find("rc::check("); at < text.size(); at = text.find("rc::check(", at + 1)) {
      const bool looked_at = at >= 12 && text.compare(at - 12, 12, "EXPECT_TRUE(") == 0;
      EXPECT_TRUE(looked_at || (at >= 12 && text.compare(at - 12, 12, "ASSERT_TRUE(") == 0)) << entry.path();
    }
  }
}

// The checker itself, on a table small enough to see through.
//   base <- catalog <- perf <- cost, with report beside them
TEST(Checker, ClosesTheTableTransitively) {
  const Table table = parse_table(
      "set(TARE_MODULES\n  # words\n  \"base:\"\n  \"catalog: base\"\n  \"perf: catalog\"\n  \"cost: perf\"\n)\n");
  EXPECT_EQ(table.at("base"), std::set<std::string>{});
  EXPECT_EQ(table.at("cost"), (std::set<std::string>{"base", "catalog", "perf"}));
  EXPECT_EQ(objection(table, "cost", "base/text.h"), "");
  EXPECT_EQ(objection(table, "cost", "cost/bill.h"), "");
  EXPECT_NE(objection(table, "perf", "cost/bill.h"), "");
  EXPECT_NE(objection(table, "perf", "step.h"), "");
  EXPECT_NE(objection(table, "perf", "../cost/bill.h"), "");
  EXPECT_NE(objection(table, "perf", "sched/slurm.h"), "");
}

TEST(Checker, FindsQuotedIncludesWithTheirLines) {
  const auto includes = quoted_includes("// a\n#include <vector>\n#include \"base/text.h\"\n  #  include \"a/b.h\"\n");
  ASSERT_EQ(includes.size(), 2u);
  EXPECT_EQ(includes[0].line, 3);
  EXPECT_EQ(includes[0].target, "base/text.h");
  EXPECT_EQ(includes[1].line, 4);
}

}  // namespace
