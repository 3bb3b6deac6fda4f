// The machines of an NCCL log, with the network devices that each of them uses.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/format.h"
#include "ingest/nccl_line.h"

namespace tare {

// "[0]mlx5_0:1/IB/SHARP" of a NET/IB line; "[0]ens3:10.0.0.1<0>" of a NET/Socket line.
struct NcclDevice {
  int index = -1;
  std::string name;   // "mlx5_0"
  int port = -1;      // of NET/IB
  std::string layer;  // "IB", "RoCE"
  bool sharp = false;
};

class NcclHosts {
 public:
  static constexpr std::size_t kMost = 20'000;

  void see(const NcclLine& line, std::int64_t number);
  // True when the message says which network devices the process uses, or that there are none.
  bool take(const NcclLine& line, std::int64_t number);
  void finish(Reading& reading);
  std::size_t count() const { return hosts_.size(); }

 private:
  struct Host {
    std::int64_t line = 0;
    std::set<std::int64_t> pids;
    std::set<int> devices;
    std::vector<NcclDevice> ib, sockets;
    std::int64_t ib_line = 0, socket_line = 0;
    std::string oob;
    bool no_ib = false, differs = false;
  };
  Host* host_of(const NcclLine& line, std::int64_t number);

  std::map<std::string, Host, std::less<>> hosts_;  // "" = the paste names none
  std::size_t pids_ = 0;
  bool relaxed_ordering_ = false;
};

}  // namespace tare
