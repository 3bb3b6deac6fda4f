#include "ingest/collective_bench.h"
#include "ingest/families.h"
#include "ingest/nccl_tests_text.h"

namespace tare {

std::span<const Format> nccl_tests_formats() {
  static constexpr Format kFormats[] = {
      {"nccl-tests", "nccl-tests", recognise_nccl_tests, open_nccl_tests, nullptr},
      {"nccl-tests", "nccom-test", recognise_nccom_test, open_nccom_test, nullptr},
      {"nccl-tests", "all_reduce_bench.py", recognise_collective_bench, open_collective_bench, nullptr},
  };
  return kFormats;
}

}  // namespace tare
