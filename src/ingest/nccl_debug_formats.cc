#include <array>

#include "ingest/families.h"
#include "ingest/nccl_log.h"
#include "ingest/nccl_xml.h"

namespace tare {

std::span<const Format> nccl_debug_formats() {
  static constexpr std::array<Format, 2> list = {{
      {"nccl-debug", "NCCL_DEBUG log", recognise_nccl_log, open_nccl_log, nullptr},
      {"nccl-debug", "NCCL topology XML", recognise_nccl_xml, nullptr, read_nccl_xml},
  }};
  return list;
}

}  // namespace tare
