#include "catalog/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tare {
namespace {

namespace fs = std::filesystem;

TEST(Embedded, HoldsEveryFileOfDataCatalogByteForByte) {
  std::size_t csv_files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TARE_SOURCE_DIR) / "data" / "catalog")) {
    if (entry.path().extension() != ".csv") continue;
    ++csv_files;
    std::ifstream stream(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    const auto files = embedded_files();
    const auto found = std::find_if(files.begin(), files.end(),
                                    [&](const EmbeddedFile& file) { return file.name == entry.path().filename(); });
    ASSERT_NE(found, files.end()) << entry.path();
    EXPECT_TRUE(found->text == text.str()) << entry.path();
  }
  EXPECT_EQ(embedded_files().size(), csv_files);
}

TEST(Embedded, IsSortedByName) {
  const auto files = embedded_files();
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end(),
                             [](const EmbeddedFile& a, const EmbeddedFile& b) { return a.name < b.name; }));
}

// A reader that looks one byte past the end finds a NUL, as it does in a std::string.
TEST(Embedded, IsFollowedByANul) {
  for (const EmbeddedFile& file : embedded_files())
    EXPECT_EQ(*(file.text.data() + file.text.size()), '\0') << file.name;
}

}  // namespace
}  // namespace tare
