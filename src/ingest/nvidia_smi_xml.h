// "nvidia-smi -q -x": the same as -q in XML (DTD nvsmi_device_v4 to v13), whole or damaged.
//
// Facts as of nvidia_smi_query.h; `details` holds every element under its own name. Tags are taken one by one, not by
// a strict parser: documents are cut, elided ("...") or follow one another.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_smi_xml(const Head& head);
void read_smi_xml(std::string_view text, Reading& reading);

}  // namespace tare
