// fio --output-format=json and json+, one document or several, also behind other output.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_fio_json(const Head& head);
void read_fio_json(std::string_view text, Reading& reading);

}  // namespace tare
