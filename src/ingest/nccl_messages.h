// The messages of an NCCL log that stand by themselves: environment, plugins, the chosen network, warnings,
// collectives. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ingest/format.h"
#include "ingest/kept_rows.h"
#include "ingest/nccl_line.h"

namespace tare {

// Texts with how often each stood, in the order they were first seen.
class CountedTexts {
 public:
  static constexpr std::size_t kMost = 300;
  // Unless `exact`, texts that differ in their numbers only are one.
  explicit CountedTexts(bool exact = false) : exact_(exact) {}
  void add(std::string_view text, const NcclLine* from, std::int64_t line);
  bool empty() const { return texts_.empty(); }
  // As {text: count}.
  void put_counts(FactRecord& facts, std::string_view name) const;
  // As [{line, message, count, host, place}].
  void put_list(FactRecord& facts, std::string_view name, std::string_view text_name) const;
  std::string_view first() const;
  std::int64_t first_line() const;

 private:
  struct One {
    std::int64_t line = 0, count = 0;
    std::string text, host, place;
    int device = -1;
    std::set<std::string> hosts;
  };
  std::vector<const One*> in_order() const;
  std::map<std::string, One, std::less<>> texts_;  // by the text without its numbers
  std::int64_t left_out_ = 0;
  bool exact_;
};

class NcclMessages {
 public:
  void take_version(std::string_view version, std::int64_t line);
  bool take(const NcclLine& line, std::int64_t number);
  void finish(Reading& reading);
  bool network_known() const { return !networks_.empty(); }

 private:
  bool take_environment(const NcclLine& line, std::int64_t number);
  bool take_plugin(const NcclLine& line, std::int64_t number);
  bool take_gpu_direct(const NcclLine& line, std::int64_t number);
  bool take_collective(const NcclLine& line, std::int64_t number);
  bool take_trace(const NcclLine& line, std::int64_t number);
  void take_completion(const NcclLine& line, std::int64_t number);

  struct Setting {
    std::string value;
    std::int64_t line = 0;
    std::set<std::string> others;  // values that other ranks have
  };
  std::map<std::string, Setting, std::less<>> environment_;
  CountedTexts versions_{true}, networks_{true}, codes_{true}, plugins_, warnings_;
  std::map<std::string, std::int64_t, std::less<>> collectives_, algorithms_;
  std::int64_t cuda_driver_ = -1, cuda_line_ = 0, collectives_line_ = 0, algorithms_line_ = 0;
  std::int64_t gdr_enabled_ = 0, gdr_disabled_ = 0, gdr_line_ = 0, dma_buf_ = 0, dma_buf_line_ = 0;
  KeptRows completions_{500};
  std::int64_t warning_count_ = 0;
};

}  // namespace tare
