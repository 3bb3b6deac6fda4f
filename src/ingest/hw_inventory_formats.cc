#include "ingest/dmidecode.h"
#include "ingest/families.h"
#include "ingest/lsblk.h"
#include "ingest/lscpu.h"
#include "ingest/lspci.h"
#include "ingest/lspci_tree.h"
#include "ingest/lstopo_text.h"
#include "ingest/lstopo_xml.h"
#include "ingest/memory_and_space.h"
#include "ingest/numactl.h"
#include "ingest/nvme_list.h"
#include "ingest/pcie_inventory.h"
#include "ingest/telemetry_csv.h"

namespace tare {

std::span<const Format> hw_inventory_formats() {
  static constexpr Format kFormats[] = {
      {"hw-inventory", "lsblk", recognise_lsblk, open_lsblk, nullptr},
      {"hw-inventory", "lsblk -J", recognise_lsblk_json, nullptr, read_lsblk_json},
      {"hw-inventory", "lscpu", recognise_lscpu, open_lscpu, nullptr},
      {"hw-inventory", "lscpu -J", recognise_lscpu_json, nullptr, read_lscpu_json},
      {"hw-inventory", "numactl -H", recognise_numactl, open_numactl, nullptr},
      {"hw-inventory", "nvme list", recognise_nvme_list, open_nvme_list, nullptr},
      {"hw-inventory", "nvme list -o json", recognise_nvme_list_json, nullptr, read_nvme_list_json},
      {"hw-inventory", "lspci", recognise_lspci, open_lspci, nullptr},
      {"hw-inventory", "lspci -t", recognise_lspci_tree, open_lspci_tree, nullptr},
      {"hw-inventory", "lstopo XML", recognise_lstopo_xml, nullptr, read_lstopo_xml},
      {"hw-inventory", "lstopo", recognise_lstopo_text, open_lstopo_text, nullptr},
      {"hw-inventory", "dmidecode", recognise_dmidecode, open_dmidecode, nullptr},
      {"hw-inventory", "free", recognise_free, open_free, nullptr},
      {"hw-inventory", "df", recognise_df, open_df, nullptr},
      {"hw-inventory", "nvidia-smi PCIe links", recognise_pcie_inventory, open_smi_csv, nullptr},
  };
  return kFormats;
}

}  // namespace tare
