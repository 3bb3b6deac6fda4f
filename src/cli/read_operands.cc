#include "cli/read_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/text.h"
#include "report/progress.h"

namespace tare {
namespace {

constexpr std::size_t kFewestRows = 64;  // of a file, however many files there are

Result<void> check_kind(const std::string& kind) {
  if (kind.empty()) return {};
  std::vector<std::string> kinds;
  for (const Format& format : formats()) {
    if (format.kind == kind) return {};
    if (std::find(kinds.begin(), kinds.end(), format.kind) == kinds.end()) kinds.emplace_back(format.kind);
  }
  return fail("bad-value", fmt::format("--kind: no kind is called {}", in_quotes(kind)),
              fmt::format("one of: {}", join(kinds, ", ")));
}

// Reads the files side by side, the answers in their order. Standard input is a file like another.
std::vector<FileFacts> read_all(const std::vector<std::string>& paths, const ReadOptions& common, Progress& progress) {
  std::vector<FileFacts> files(paths.size());
  const double count = static_cast<double>(paths.size());
  std::atomic<std::size_t> next{0}, done{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      ReadOptions options = common;
      options.progress = [&](std::uint64_t bytes, std::optional<std::uint64_t> of) {
        const double before = static_cast<double>(done.load());
        if (of && *of > 0) progress.update((before + static_cast<double>(bytes) / static_cast<double>(*of)) / count);
      };
      files[i] = read_facts(paths[i], options);
      progress.update(static_cast<double>(++done) / count);
    }
  };
  const std::size_t threads = std::min<std::size_t>(paths.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  others.reserve(threads);
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return files;
}

}  // namespace

Result<std::vector<FileFacts>> read_operands(Context& context, std::size_t row_budget) {
  const std::string kind = context.arguments.text("kind");
  if (const Result<void> known = check_kind(kind); !known) return tl::unexpected(known.error());
  const Result<std::vector<std::string>> paths = files_under(context.arguments.operands);
  if (!paths) return tl::unexpected(paths.error());
  if (paths->empty()) return fail("empty-folder", "no file under the given paths", "give files, folders, or '-'");
  Progress progress("reading", context.console.err_terminal);
  ReadOptions options;
  options.only_kind = kind;
  if (row_budget > 0) options.rows_kept = std::max(kFewestRows, row_budget / paths->size());
  return read_all(*paths, options, progress);
}

}  // namespace tare
