// How the facts of files are shown.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "ingest/read_file_facts.h"
#include "report/document.h"

namespace tare {

// A table of the files, and for a single file its facts and what could not be used.
Document read_document_of(const std::vector<FileFacts>& files);
// One row a fact: path, line, name ("gpus[0].power_w"), value.
Table facts_table(const std::vector<FileFacts>& files);
Json read_json(const std::vector<FileFacts>& files);

}  // namespace tare
