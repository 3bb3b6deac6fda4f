// The tree that NCCL prints of a machine under NCCL_DEBUG_SUBSYS=GRAPH:
//
//   === System : maxBw 48.0 totalBw 240.0 ===
//   CPU/0 (1/1/2)
//   + PCI[24.0] - PCI/1000
//                 + PCI[24.0] - GPU/5000 (0)
//                               + NVL[240.0] - NVS/0
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/format.h"
#include "ingest/kept_rows.h"

namespace tare {

class NcclTopoLines {
 public:
  // `message` keeps its leading blanks: they are the depth.
  bool take(std::string_view message, std::string_view host, std::int64_t line);
  void finish(Reading& reading);

 private:
  struct Link {
    std::string type, bandwidth;
    auto operator<=>(const Link&) const = default;
  };
  bool take_system(std::string_view message, std::int64_t line);
  bool take_node(std::string_view message, std::int64_t line);
  bool take_paths(std::string_view message, std::int64_t line);

  std::map<Link, std::int64_t> links_;
  std::map<std::string, std::set<std::string>, std::less<>> nodes_;  // by type: "GPU" -> "E000"
  std::map<std::string, std::int64_t, std::less<>> path_types_;
  std::vector<std::pair<std::size_t, std::string>> open_;  // depth and name of the nodes above
  KeptRows tree_{2000}, paths_{1000};
  std::string first_host_;
  std::int64_t first_line_ = 0, system_line_ = 0, systems_ = 0, paths_line_ = 0;
  std::string max_bw_, total_bw_;
};

}  // namespace tare
