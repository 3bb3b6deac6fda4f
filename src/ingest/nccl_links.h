// How ranks talk: NCCL's "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC" and what they add up to.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ingest/fact.h"
#include "ingest/kept_rows.h"

namespace tare {

class NcclLinks {
 public:
  // True when the message says how two ranks are joined: of NCCL 2.0 ("Ring 00 : 0 -> 1 via P2P/IPC") to now.
  bool take(std::string_view message, std::int64_t line);
  void finish(Reading& reading);
  int highest_rank() const { return highest_rank_; }
  bool empty() const { return links_.seen() == 0; }

 private:
  std::map<std::string, std::int64_t> transports_;
  std::set<int> nics_, channels_;
  KeptRows links_{2000};
  std::int64_t net_ = 0, gdrdma_ = 0, receive_ = 0, send_ = 0, first_line_ = 0;
  int highest_rank_ = -1;
};

// "NET/IBext/0(32)/GDRDMA" -> "NET/IBext/GDRDMA": without the number of the NIC.
struct NcclTransport {
  std::string name;
  int nic = -1;
  int proxy_rank = -1;  // whose NIC it is, of PXN
  bool gdrdma = false;
};
NcclTransport nccl_transport(std::string_view text);

}  // namespace tare
