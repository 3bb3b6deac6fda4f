// ibdev2netdev (plain and -v) and rdma link: which network interface belongs to which InfiniBand or RoCE port.
//
// ibdev2netdev's "(Down)" is the state of the network interface; an InfiniBand port without IPoIB is up all the same.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_ibdev2netdev(const Head& head);
std::unique_ptr<LineReader> open_ibdev2netdev();

}  // namespace tare
