#include <array>

#include "ingest/families.h"
#include "ingest/topo_matrix.h"

namespace tare {

std::span<const Format> topo_formats() {
  static constexpr std::array<Format, 1> list = {{
      {"topo", "nvidia-smi topo", recognise_topo_matrix, open_topo_matrix, nullptr},
  }};
  return list;
}

}  // namespace tare
