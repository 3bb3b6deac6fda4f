// A foreign format: how it is recognised, and who reads it. DESIGN: one file per format, bytes → facts.
//
// A format is read line by line (LineReader: a stream of any size, shared with other formats of the same file) or as
// one document. A reader says what it could not use and goes on; it never throws, whatever the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fact.h"
#include "ingest/line_stream.h"

namespace tare {

// The beginning of a file, from which its format is told.
struct Head {
  std::string_view text;  // up to LineStream::kHead bytes, without escape sequences
  std::string_view path;  // as the person named it; a hint only
  bool whole = false;     // there is no more than this
};

struct UnreadLine {
  std::int64_t line = 0;
  std::string text;    // cut to kUnreadText bytes
  std::string reason;  // "fewer columns than the header"
};

// What one format made of one file.
class Reading {
 public:
  static constexpr std::size_t kUnreadKept = 20;
  static constexpr std::size_t kUnreadText = 160;

  FactRecord facts;
  // A line of this format that could not be used, with the reason. Lines that no reader wants need not be reported.
  void cannot_use(std::int64_t line, std::string_view text, std::string_view reason);
  const std::vector<UnreadLine>& unread() const { return unread_; }  // the first kUnreadKept
  std::int64_t unread_count() const { return unread_count_; }
  // Another way the file can be understood, and what would decide: for the person.
  void note(std::string text);
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<UnreadLine> unread_;
  std::int64_t unread_count_ = 0;
  std::vector<std::string> notes_;
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  // True when the line belongs to this format (whether or not all of it could be used).
  virtual bool on_line(const Line& line, Reading& reading) = 0;
  virtual void finish(Reading& reading) = 0;
};

using OpenReader = std::unique_ptr<LineReader> (*)();
using ReadDocument = void (*)(std::string_view text, Reading& reading);

// How sure a format is that a file is its own.
namespace confidence {
constexpr int kNone = 0;
constexpr int kPossible = 30;  // read, unless something is surer by much
constexpr int kLikely = 60;
constexpr int kSure = 90;
}  // namespace confidence

struct Format {
  std::string_view kind;  // the family: "topo", "nvidia-smi", "training-log"
  std::string_view name;  // "nvidia-smi topo -m", the command or tool whose output it is
  int (*recognise)(const Head& head);
  OpenReader open = nullptr;  // exactly one of the two
  ReadDocument read_document = nullptr;
};

// All formats, in no order that matters.
std::span<const Format> formats();

}  // namespace tare
