#include <array>

#include "ingest/families.h"
#include "ingest/nvidia_smi_dmon.h"
#include "ingest/nvidia_smi_list.h"
#include "ingest/nvidia_smi_query.h"
#include "ingest/nvidia_smi_table.h"
#include "ingest/nvidia_smi_xml.h"
#include "ingest/rocm_smi.h"
#include "ingest/telemetry_csv.h"

namespace tare {

std::span<const Format> nvidia_smi_formats() {
  static constexpr std::array kFormats = {
      Format{"nvidia-smi", "nvidia-smi", recognise_smi_table, open_smi_table},
      Format{"nvidia-smi", "nvidia-smi -q", recognise_smi_query, open_smi_query},
      Format{"nvidia-smi", "nvidia-smi -q -x", recognise_smi_xml, nullptr, read_smi_xml},
      Format{"nvidia-smi", "nvidia-smi --query-gpu", recognise_smi_csv, open_smi_csv},
      Format{"nvidia-smi", "nvidia-smi dmon", recognise_smi_dmon, open_smi_dmon},
      Format{"nvidia-smi", "nvidia-smi pmon", recognise_smi_pmon, open_smi_dmon},
      Format{"nvidia-smi", "nvidia-smi nvlink", recognise_smi_nvlink, open_smi_list},
      Format{"nvidia-smi", "nvidia-smi -L", recognise_smi_list, open_smi_list},
      Format{"nvidia-smi", "rocm-smi", recognise_rocm_smi, open_rocm_smi},
      Format{"nvidia-smi", "rocm-smi --json", recognise_rocm_smi_json, nullptr, read_rocm_smi_json},
  };
  return kFormats;
}

}  // namespace tare
