// The XML of hwloc (lstopo --of xml), versions 1 to 3.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_lstopo_xml(const Head& head);
void read_lstopo_xml(std::string_view text, Reading& reading);

}  // namespace tare
