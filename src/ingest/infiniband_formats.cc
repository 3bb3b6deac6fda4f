#include <array>

#include "ingest/families.h"
#include "ingest/ibdev2netdev.h"
#include "ingest/ibstat.h"
#include "ingest/ibv_devinfo.h"

namespace tare {

std::span<const Format> infiniband_formats() {
  static constexpr std::array<Format, 3> list = {{
      {"infiniband", "ibstat", recognise_ibstat, open_ibstat, nullptr},
      {"infiniband", "ibv_devinfo", recognise_ibv_devinfo, open_ibv_devinfo, nullptr},
      {"infiniband", "ibdev2netdev", recognise_ibdev2netdev, open_ibdev2netdev, nullptr},
  }};
  return list;
}

}  // namespace tare
