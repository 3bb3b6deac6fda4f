// Block devices as lsblk lists them, in whatever form, as facts of one shape.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "ingest/format.h"

namespace tare {

// Sets the value of an lsblk column ("SIZE", "maj:min") in a device's record under a name of ours: "size" as printed or
// "size_bytes" where it is a number of bytes, "rota" as a truth value.
void set_block_device_field(FactRecord& device, std::string_view column, const Fact& value);

// Adds counts and lists that are asked first to facts that have "devices": disks, NVMe disks, loop devices, models.
void summarise_block_devices(Reading& reading);

}  // namespace tare
