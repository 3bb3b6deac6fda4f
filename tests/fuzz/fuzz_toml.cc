// Any bytes: a document whose every value can be asked for as every type, or errors that can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "base/toml_document.h"

namespace {

void read_all(tare::TomlTable table) {
  const std::vector<std::string> keys = table.keys();
  for (std::size_t i = 0; i < keys.size(); i += 2) {  // every other key stays unknown
    const std::string& key = keys[i];
    table.string(key);
    table.number(key);
    table.integer(key);
    table.boolean(key);
    table.strings(key);
    table.integers(key);
    table.one_of(key, {"full", "lora"});
    table.quantity(key, tare::Dimension::kDuration);
    table.quantity(key, tare::Dimension::kRatio);
    for (tare::TomlTable inner : table.tables(key)) read_all(inner);
  }
  table.require_string("model");
  table.error("deadline", "rule", "text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = tare::TomlDocument::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml");
  if (!document) {
    const std::string text = tare::render(document.error());
    if (text.empty() || tare::find_not_text(text) != std::string::npos) std::abort();
    return 0;
  }
  read_all(document->root());
  document->root().finish();
  if (!tare::has_error(document->diagnostics())) std::abort();
  if (tare::find_not_text(tare::render(document->diagnostics())) != std::string::npos) std::abort();
  return 0;
}
