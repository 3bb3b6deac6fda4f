#include "ingest/collective_bench.h"
#include "ingest/families.h"
#include "ingest/nccl_tests_json.h"
#include "ingest/nccl_tests_text.h"
#include "ingest/nvbandwidth.h"
#include "ingest/osu_benchmark.h"

namespace tare {

std::span<const Format> nccl_tests_formats() {
  static constexpr Format kFormats[] = {
      {"nccl-tests", "nccl-tests", recognise_nccl_tests, open_nccl_tests, nullptr},
      {"nccl-tests", "nccl-tests JSON", recognise_nccl_tests_json, nullptr, read_nccl_tests_json},
      {"nccl-tests", "nccom-test", recognise_nccom_test, open_nccom_test, nullptr},
      {"nccl-tests", "all_reduce_bench.py", recognise_collective_bench, open_collective_bench, nullptr},
      {"nccl-tests", "nvbandwidth", recognise_nvbandwidth, open_nvbandwidth, nullptr},
      {"nccl-tests", "nvbandwidth -j", recognise_nvbandwidth_json, nullptr, read_nvbandwidth_json},
      {"nccl-tests", "OSU micro-benchmarks", recognise_osu, open_osu, nullptr},
  };
  return kFormats;
}

}  // namespace tare
