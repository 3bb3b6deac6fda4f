#include <vector>

#include "ingest/cluster_trace_csv.h"
#include "ingest/families.h"
#include "ingest/kube_text.h"
#include "ingest/topograph_model.h"

namespace tare {

std::span<const Format> kubernetes_formats() {
  static const std::vector<Format> all = {kube_text_format(), cluster_trace_csv_format(), topograph_model_format()};
  return all;
}

}  // namespace tare
