#include "ingest/families.h"
#include "ingest/fio_json.h"
#include "ingest/fio_terse.h"
#include "ingest/fio_text.h"

namespace tare {

std::span<const Format> fio_formats() {
  static constexpr Format kFormats[] = {
      {"fio", "fio --output-format=json", recognise_fio_json, nullptr, read_fio_json},
      {"fio", "fio", recognise_fio_text, open_fio_text, nullptr},
      {"fio", "fio --output-format=terse", recognise_fio_terse, open_fio_terse, nullptr},
  };
  return kFormats;
}

}  // namespace tare
