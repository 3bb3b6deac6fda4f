// nvme list (nvme-cli 1.x and 2.x), as table and as JSON.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_nvme_list(const Head& head);
std::unique_ptr<LineReader> open_nvme_list();

int recognise_nvme_list_json(const Head& head);
void read_nvme_list_json(std::string_view text, Reading& reading);

}  // namespace tare
