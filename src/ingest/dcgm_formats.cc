#include <array>

#include "ingest/dcgm_diag.h"
#include "ingest/dcgm_exporter.h"
#include "ingest/dcgmi_dmon.h"
#include "ingest/dcgmi_nvlink.h"
#include "ingest/dcgmi_tables.h"
#include "ingest/families.h"
#include "ingest/prometheus_api.h"
#include "ingest/telemetry_csv.h"

namespace tare {

std::span<const Format> dcgm_formats() {
  static constexpr std::array kFormats = {
      Format{"dcgm", "dcgmi dmon", recognise_dcgmi_dmon, open_dcgmi_dmon},
      Format{"dcgm", "dcgmi diag", recognise_dcgm_diag, open_dcgm_diag},
      Format{"dcgm", "dcgmi diag -j", recognise_dcgm_diag_json, nullptr, read_dcgm_diag_json},
      Format{"dcgm", "dcgmi nvlink", recognise_dcgmi_nvlink, open_dcgmi_nvlink},
      Format{"dcgm", "dcgmi discovery", recognise_dcgmi_discovery, open_dcgmi_tables},
      Format{"dcgm", "dcgmi topo", recognise_dcgmi_topo, open_dcgmi_tables},
      Format{"dcgm", "dcgmi health", recognise_dcgmi_health, open_dcgmi_tables},
      Format{"dcgm", "dcgmi stats", recognise_dcgmi_stats, open_dcgmi_tables},
      Format{"dcgm", "dcgmi table", recognise_dcgmi_other, open_dcgmi_tables},
      Format{"dcgm", "dcgmi -j", recognise_dcgmi_json, nullptr, read_dcgmi_json},
      Format{"dcgm", "DCGM exporter", recognise_dcgm_exporter, open_dcgm_exporter},
      Format{"dcgm", "Prometheus API", recognise_prometheus_api, nullptr, read_prometheus_api},
      Format{"dcgm", "GPU telemetry CSV", recognise_gpu_csv, open_gpu_csv},
  };
  return kFormats;
}

}  // namespace tare
