#include <array>

#include "ingest/ethtool.h"
#include "ingest/families.h"
#include "ingest/ibdev2netdev.h"
#include "ingest/iblinkinfo.h"
#include "ingest/ibstat.h"
#include "ingest/ibv_devinfo.h"
#include "ingest/perftest.h"

namespace tare {

std::span<const Format> infiniband_formats() {
  static constexpr std::array<Format, 6> list = {{
      {"infiniband", "ibstat", recognise_ibstat, open_ibstat, nullptr},
      {"infiniband", "ibv_devinfo", recognise_ibv_devinfo, open_ibv_devinfo, nullptr},
      {"infiniband", "ibdev2netdev", recognise_ibdev2netdev, open_ibdev2netdev, nullptr},
      {"infiniband", "iblinkinfo", recognise_iblinkinfo, open_iblinkinfo, nullptr},
      {"infiniband", "ethtool", recognise_ethtool, open_ethtool, nullptr},
      {"infiniband", "perftest", recognise_perftest, open_perftest, nullptr},
  }};
  return list;
}

}  // namespace tare
