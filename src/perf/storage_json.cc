#include "perf/storage_json.h"

#include "base/json.h"

namespace tare {

Json to_json(const DataLoading& loading) {
  return {{"epochs", loading.epochs},
          {"bytes_per_step", loading.bytes_per_step},
          {"local_ratio", loading.local_ratio},
          {"cache_hit_ratio", loading.cache_hit_ratio},
          {"store_bytes_per_s", loading.store_bytes_per_s},
          {"metadata_ops_per_s", loading.metadata.throughput_per_s},
          {"metadata_response_s", loading.metadata.response_s},
          {"read_s", loading.read_s},
          {"read_without_affinity_s", loading.read_without_affinity_s},
          {"affinity_saves_ratio", loading.affinity_saves_ratio}};
}

}  // namespace tare
