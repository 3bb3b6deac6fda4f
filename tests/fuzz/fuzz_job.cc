// Any bytes as a job file: a job whose numbers are finite and sane, or errors that can be shown.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catalog/catalog.h"
#include "workload/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tare::Catalog catalog = tare::load_catalog().value();
  const auto job = tare::parse_job(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml", catalog);
  if (!job) {
    if (!tare::has_error(job.error()) || tare::render(job.error()).empty()) std::abort();
    return 0;
  }
  if (!std::isfinite(job->tokens) || job->tokens <= 0) std::abort();
  if (job->sequence_length <= 0 || job->global_batch <= 0) std::abort();
  if (job->model.layers <= 0 || !tare::check_dimensions(job->model).empty()) std::abort();
  for (const int gpus : job->search.gpus) {
    if (gpus <= 0) std::abort();
  }
  return 0;
}
