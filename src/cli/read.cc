// tare read: what files are, and the facts in them.
#include <algorithm>
#include <optional>

#include "base/json.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/read_operands.h"
#include "cli/read_view.h"
#include "ingest/cluster_facts.h"
#include "ingest/read_file_facts.h"

namespace tare {

Result<ExitCode> run_read(Context& context) {
  const Result<std::vector<FileFacts>> read = read_operands(context);
  if (!read) return tl::unexpected(read.error());
  const std::vector<FileFacts>& files = *read;

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
