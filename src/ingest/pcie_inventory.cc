#include "ingest/pcie_inventory.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool is_identity(std::string_view field) {
  return field == "index" || field == "name" || field == "gpu_name" || field == "uuid" || field == "gpu_uuid" ||
         field == "serial" || field == "gpu_serial" || field == "count" || field == "driver_version" ||
         field == "vbios_version" || field == "gpu_bus_id" || field == "timestamp" || field == "pstate" ||
         field == "memory.total" || field == "compute_cap" || field.starts_with("pci.");
}

bool is_pcie_header(std::string_view line) {
  bool link = false;
  for (std::string_view field : split(line, ',')) {
    field = trim(field);
    field = trim(field.substr(0, field.find('[')));
    if (field.starts_with("pcie.link.")) {
      link = true;
    } else if (!is_identity(field)) {
      return false;
    }
  }
  return link;
}

}  // namespace

int recognise_pcie_inventory(const Head& head) {
  int lines = 0;
  for (std::string_view text = head.text; !text.empty() && lines < 30; ++lines) {
    const std::string_view line = trim(without_line_tags(next_line(text)));
    if (line.size() < 1000 && contains(line, "pcie.link.") && is_pcie_header(line)) return 95;
  }
  return confidence::kNone;
}

}  // namespace tare
