#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tare {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tare-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

std::string content(const std::string& path) {
  const auto result = read_file(path);
  return result ? *result : render(result.error());
}

template <typename T>
std::string error(const Result<T>& result) {
  return result ? std::string("none") : render(result.error());
}

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string bytes("a\0\xFF\r\n", 5);
  ASSERT_TRUE(write_file(path("a"), bytes));
  EXPECT_EQ(content(path("a")), bytes);
  ASSERT_TRUE(write_file(path("a"), ""));
  EXPECT_EQ(content(path("a")), "");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, ReadsMoreThanOneChunk) {
  const std::string big(1'000'003, 'x');
  ASSERT_TRUE(write_file(path("big"), big));
  EXPECT_EQ(content(path("big")), big);
}

TEST_F(FileTest, SaysWhyItCannotRead) {
  EXPECT_EQ(error(read_file(path("none"))),
            path("none") +
                ": error: cannot read the file: No such file or directory [cannot-read]\n"
                "  help: check the path, or use - for standard input\n");
  EXPECT_EQ(error(read_file(directory_.string())),
            directory_.string() +
                ": error: cannot read the file: it is a directory [cannot-read]\n"
                "  help: name a file inside it\n");
  EXPECT_EQ(read_file(std::string("a\0b", 3)).error().at(0).rule, "cannot-read");
  EXPECT_EQ(read_file("").error().at(0).rule, "cannot-read");
}

TEST_F(FileTest, HasALimit) {
  ASSERT_TRUE(write_file(path("a"), "12345"));
  EXPECT_TRUE(read_file(path("a"), 5));
  EXPECT_EQ(error(read_file(path("a"), 4)), path("a") +
                                                ": error: larger than the limit of 4 B [file-too-large]\n"
                                                "  help: check that this is the file you meant, or split it\n");
}

TEST_F(FileTest, LimitsWhatHasNoSize) {
  const auto result = read_file("/dev/zero", 1000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error()[0].rule, "file-too-large");
}

TEST_F(FileTest, ReadsStandardInput) {
  ASSERT_TRUE(write_file(path("in"), "from stdin"));
  const int saved = ::dup(STDIN_FILENO);
  const int in = ::open(path("in").c_str(), O_RDONLY);
  ASSERT_GE(in, 0);
  ::dup2(in, STDIN_FILENO);
  ::close(in);
  EXPECT_EQ(content("-"), "from stdin");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

TEST_F(FileTest, SaysWhyItCannotWrite) {
  EXPECT_EQ(error(write_file(path("no/such/dir"), "x")),
            path("no/such/dir") +
                ": error: cannot write the file: No such file or directory [cannot-write]\n"
                "  help: create its directory first\n");
  EXPECT_EQ(error(write_file(directory_.string(), "x")),
            directory_.string() + ": error: cannot write the file: Is a directory [cannot-write]\n");
  EXPECT_FALSE(write_file("", "x"));
  EXPECT_FALSE(write_file(std::string("a\0b", 3), "x"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(FileTest, KeepsTheOldFileAndNoTemporaryWhenWritingFails) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(error(write_file("/dev/full", "x")),
            "/dev/full: error: cannot write the file: No space left on device [cannot-write]\n"
            "  help: free some space; nothing of the old file was lost\n");
  // A directory in the way makes the rename fail after the temporary is written.
  ASSERT_TRUE(write_file(path("a"), "old"));
  fs::create_directory(path("d"));
  EXPECT_FALSE(write_file(path("d"), "new"));
  EXPECT_EQ(files(), 2u);
}

TEST_F(FileTest, KeepsModeAndLink) {
  ASSERT_TRUE(write_file(path("a"), "1"));
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink("a", path("link"));
  ASSERT_TRUE(write_file(path("link"), "2"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("a")), "2");
  EXPECT_EQ(static_cast<int>(fs::status(path("a")).permissions()), 0640);
}

TEST_F(FileTest, NewFilesFollowTheUmask) {
  const mode_t saved = ::umask(027);
  ASSERT_TRUE(write_file(path("a"), "1"));
  ::umask(saved);
  EXPECT_EQ(static_cast<int>(fs::status(path("a")).permissions()), 0640);
}

TEST_F(FileTest, FitsTheLongestName) { ASSERT_TRUE(write_file(path(std::string(255, 'n')), "x")); }

TEST_F(FileTest, WritesRelativeToTheWorkingDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  EXPECT_TRUE(write_file("here", "x"));
  fs::current_path(before);
  EXPECT_EQ(content(path("here")), "x");
}

TEST_F(FileTest, WritesStraightToAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_file(path("pipe"), "through"));
  char buffer[16] = {};
  EXPECT_EQ(::read(reader, buffer, sizeof buffer), 7);
  EXPECT_STREQ(buffer, "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

// Standard output may be a file with something in it already: neither replaced nor written from its start.
TEST_F(FileTest, AppendsToStandardOutput) {
  std::fflush(stdout);
  const int saved = ::dup(STDOUT_FILENO);
  const int out = ::open(path("out").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(out, 0);
  ::dup2(out, STDOUT_FILENO);
  std::printf("first ");
  const bool is_written =
      write_file("/dev/stdout", "second ") && write_file("-", "third ") && write_file("/dev/fd/1", "fourth");
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(out);
  EXPECT_TRUE(is_written);
  EXPECT_EQ(content(path("out")), "first second third fourth");
}

}  // namespace
}  // namespace tare
