#include "ingest/dmesg.h"
#include "ingest/families.h"

namespace tare {

std::span<const Format> dmesg_formats() {
  static constexpr Format kFormats[] = {{"dmesg", "kernel log", recognise_dmesg, open_dmesg, nullptr}};
  return kFormats;
}

}  // namespace tare
