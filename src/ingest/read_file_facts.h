// Files in, facts out: recognises what a file is and runs its readers over it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "ingest/format.h"

namespace tare {

struct FormatReading {
  const Format* format = nullptr;
  int confidence = 0;
  Reading reading;
  // Much less sure than the surest: kept only for lines that no surer one has use for, as in a paste of many outputs.
  bool weak = false;
  std::int64_t lines_alone = 0;  // that only weak ones used
};

struct FileFacts {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t lines = 0;
  // By confidence. The first says what the file is; further ones are other outputs in the same file, or other ways of
  // understanding it. Empty: not recognised, or not readable (`errors`).
  std::vector<FormatReading> readings;
  std::int64_t unused_lines = 0;         // not empty, and no reader wanted them
  std::vector<UnreadLine> first_unused;  // the first few of these
  Diagnostics errors;
};

struct ReadOptions {
  std::string only_kind;      // --kind: this family only, however sure
  std::size_t rows_kept = 0;  // FactRecord::thin_rows; 0: as many as the reader gives
  std::function<void(std::uint64_t bytes, std::optional<std::uint64_t> of)> progress;  // now and then; may be empty
};

FileFacts read_facts(const std::string& path, const ReadOptions& options = {});
FileFacts read_facts_of_text(std::string text, const std::string& path, const ReadOptions& options = {});

// Every regular file under the paths, sorted; "-" and files stand for themselves. Hidden files and folders are left
// out. Errors: a path that is not there.
Result<std::vector<std::string>> files_under(const std::vector<std::string>& paths);

Json to_json(const FileFacts& file);

}  // namespace tare
