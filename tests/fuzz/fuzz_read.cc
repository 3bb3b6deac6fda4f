// Any bytes to one format's reader (TARE_FUZZ_FORMAT names it; "list" lists the names) or, without a name, to whatever
// recognises them: facts that can be written as JSON, whatever the damage.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "ingest/read_file_facts.h"

namespace {

const tare::Format* chosen_format() {
  const char* const name = std::getenv("TARE_FUZZ_FORMAT");
  if (name == nullptr) return nullptr;
  if (std::string_view(name) == "list") {
    for (const tare::Format& format : tare::formats()) std::puts(std::string(format.name).c_str());
    std::fflush(stdout);
    std::_Exit(0);
  }
  for (const tare::Format& format : tare::formats()) {
    if (format.name == name) return &format;
  }
  std::fprintf(stderr, "no format is called '%s'\n", name);
  std::exit(2);
}

void read_as(const tare::Format& format, const std::string& text) {
  tare::Reading reading;
  if (format.read_document != nullptr) {
    format.read_document(text, reading);
  } else {
    tare::LineStream lines(tare::source_of(text));
    const auto reader = format.open();
    tare::Line line;
    while (lines.next(line)) reader->on_line(line, reading);
    reader->finish(reading);
  }
  if (tare::to_json(reading.facts).dump().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static_cast<void>(chosen_format());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tare::Format* const format = chosen_format();
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (format != nullptr) {
    static_cast<void>(format->recognise({text, "input", true}));
    read_as(*format, text);
  } else if (tare::to_json(tare::read_facts_of_text(text, "input")).dump().empty()) {
    std::abort();
  }
  return 0;
}
