// What NVIDIA's drivers and fabric manager print, one line each, as facts.
// Thread safety: pure functions.
#pragma once

#include <optional>

#include "ingest/fact.h"
#include "ingest/log_line.h"

namespace tare {

// "NVRM: Xid (PCI:0000:9b:00): 119, pid=…, name=…, …": number, GPU, process, meaning and action; the parts of the text
// that are known for its number.
std::optional<FactRecord> read_xid(std::string_view message, std::int64_t line);
// "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 …"
std::optional<FactRecord> read_sxid(std::string_view message, std::int64_t line);
// "detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61"
std::optional<FactRecord> read_fabric_manager_error(std::string_view message, std::int64_t line);

}  // namespace tare
