#include "cli/read_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/progress.h"

namespace tare {
namespace {

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

std::vector<FileFacts> read_all(const std::vector<std::string>& paths, const std::string& kind, Progress& progress) {
  std::vector<FileFacts> files;
  const double count = static_cast<double>(paths.size());
  for (const std::string& path : paths) {
    const double done = static_cast<double>(files.size());
    ReadOptions options;
    options.only_kind = kind;
    options.progress = [&](std::uint64_t bytes, std::optional<std::uint64_t> of) {
      if (of && *of > 0) progress.update((done + static_cast<double>(bytes) / static_cast<double>(*of)) / count);
    };
    files.push_back(read_facts(path, options));
    if (paths.size() > 1) progress.update(static_cast<double>(files.size()) / count);
  }
  return files;
}

}  // namespace

Result<std::vector<FileFacts>> read_operands(Context& context) {
  const std::string kind = context.arguments.text("kind");
  if (const Result<void> known = check_kind(kind); !known) return tl::unexpected(known.error());
  const Result<std::vector<std::string>> paths = files_under(context.arguments.operands);
  if (!paths) return tl::unexpected(paths.error());
  if (paths->empty()) return fail("empty-folder", "no file under the given paths", "give files, folders, or '-'");
  Progress progress("reading", context.console.err_terminal);
  return read_all(*paths, kind, progress);
}

}  // namespace tare
