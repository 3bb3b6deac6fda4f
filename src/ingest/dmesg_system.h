// What the kernel says of hardware and processes, one line each, as facts.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "ingest/fact.h"

namespace tare {

// A line's event: the list it belongs to and its facts.
struct KernelEvent {
  std::string_view list;  // "oom_kills", "segfaults" …
  FactRecord facts;
};

// Processes (OOM kills, segfaults, hung tasks, lockups), the kernel itself (panics, oopses), memory and CPU errors,
// storage, network links, NICs, temperature, PCIe links. PCIe's AER has lines that belong together: read_aer_*.
std::optional<KernelEvent> read_kernel_event(std::string_view message, std::int64_t line);

// "pcieport 0000:00:02.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, id=0010(Transmitter ID)"
std::optional<FactRecord> read_aer_error(std::string_view message, std::int64_t line);
// The lines behind it: "  device [8086:6f04] error status/mask=00001000/00002000", "   [12] Replay Timer Timeout".
// True when the line was one of these.
bool add_aer_detail(std::string_view message, FactRecord& error);

}  // namespace tare
