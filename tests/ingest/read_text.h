// What a test does with a small input written for it.
#pragma once

#include <string>

#include "ingest/read_file_facts.h"

namespace tare {

// Reads the text as a file of that name would be; the first reading is the answer.
inline FileFacts read_text(std::string text, const std::string& path = "input.txt") {
  return read_facts_of_text(std::move(text), path);
}

inline const FactRecord& facts_of(const FileFacts& file) {
  static const FactRecord none;
  return file.readings.empty() ? none : file.readings.front().reading.facts;
}

// Of a file that goes at once: its facts by value.
inline FactRecord facts_of(FileFacts&& file) { return facts_of(static_cast<const FileFacts&>(file)); }

inline std::string kind_of(const FileFacts& file) {
  return file.readings.empty() ? "" : std::string(file.readings.front().format->kind);
}

}  // namespace tare
