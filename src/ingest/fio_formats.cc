#include "ingest/families.h"
#include "ingest/fio_text.h"

namespace tare {

std::span<const Format> fio_formats() {
  static constexpr Format kFormats[] = {
      {"fio", "fio", recognise_fio_text, open_fio_text, nullptr},
  };
  return kFormats;
}

}  // namespace tare
