// tare read: what files are, and the facts in them.
#include <optional>

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/read_view.h"
#include "ingest/cluster_facts.h"
#include "ingest/read_file_facts.h"
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

Result<ExitCode> run_read(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string kind = arguments.text("kind");
  if (const Result<void> known = check_kind(kind); !known) return tl::unexpected(known.error());
  const Result<std::vector<std::string>> paths = files_under(arguments.operands);
  if (!paths) return tl::unexpected(paths.error());
  if (paths->empty()) return fail("empty-folder", "no file under the given paths", "give files, folders, or '-'");
  const std::vector<FileFacts> files = [&] {
    Progress progress("reading", context.console.err_terminal);
    return read_all(*paths, kind, progress);
  }();

  std::optional<ClusterDraft> cluster_draft;
  if (output_form(context.arguments.text("output")).form == "toml") {
    const Result<Catalog> catalog = read_catalog(context.arguments);
    if (!catalog) return tl::unexpected(catalog.error());
    cluster_draft = cluster_of(nodes_of(files), *catalog, "cluster");
    if (cluster_draft->nodes.empty()) {
      return fail("no-node", "no file says anything of a node",
                  "give outputs of nvidia-smi, topo -m, ibstat, lsblk or fio");
    }
  }

  Answer answer;
  answer.document = [&] { return read_document_of(files); };
  answer.table = [&] { return facts_table(files); };
  answer.json = [&] { return read_json(files); };
  answer.toml = [&] { return cluster_draft->toml; };
  if (cluster_draft && !cluster_draft->loads) {
    for (const std::string& missing : cluster_draft->to_fill_in) {
      Diagnostic note = make_error("to-fill-in", missing, "the file says where");
      note.severity = Severity::kWarning;
      answer.warnings.push_back(std::move(note));
    }
  }
  bool all_read = true;
  for (const FileFacts& file : files) {
    all_read = all_read && file.errors.empty();
    answer.warnings.insert(answer.warnings.end(), file.errors.begin(), file.errors.end());
  }
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());
  return all_read ? ExitCode::kYes : ExitCode::kWrongUse;
}

}  // namespace tare
