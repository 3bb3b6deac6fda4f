#include <vector>

#include "ingest/families.h"
#include "ingest/slurm_json.h"
#include "ingest/slurm_text.h"

namespace tare {

std::span<const Format> slurm_formats() {
  static const std::vector<Format> all = {slurm_text_format(), slurm_json_format()};
  return all;
}

}  // namespace tare
