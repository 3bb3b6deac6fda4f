// Dumps of PyTorch's NCCL flight recorder: the last collectives of a rank, with who waits for what. JSON as
// `torchfrtrace -j`, the debug server or json.dump of the pickle give it; the pickle itself is no text, and read_facts
// says how to turn it into JSON.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace tare {

int recognise_flight_recorder(const Head& head);
void read_flight_recorder(std::string_view text, Reading& reading);

}  // namespace tare
