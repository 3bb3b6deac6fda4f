// What outside input got wrong, and where: the value every reader returns instead of throwing.
//
// A Diagnostic names its place as file:line:column (1-based, columns in bytes; 0 = not known). A reader gathers all it
// finds wrong before it returns, so a person mends a file in one go.
// Thread safety: plain values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace tare {

enum class Severity { kError, kWarning, kNote };

struct Diagnostic {
  std::string file;  // as the person named it; empty when there is none ("<stdin>", "--gpus")
  int line = 0;      // 1-based; 0 = unknown
  int column = 0;    // 1-based, in bytes; 0 = unknown
  Severity severity = Severity::kError;
  std::string rule;     // stable id, kebab-case: "unknown-key", "missing-unit"
  std::string text;     // what was expected and what was found, one line
  std::string help;     // what to do about it; may be empty
  std::string excerpt;  // the source line, for the caret; may be empty
  int width = 1;        // how many bytes the caret underlines
};

using Diagnostics = std::vector<Diagnostic>;

template <typename T>
using Result = tl::expected<T, Diagnostics>;

// One error without a place in a file: of the command line, of a computation on given values.
Diagnostic make_error(std::string rule, std::string text, std::string help = {});

// A failed Result of a single diagnostic.
tl::unexpected<Diagnostics> fail(Diagnostic diagnostic);
tl::unexpected<Diagnostics> fail(std::string rule, std::string text, std::string help = {});

// Points a diagnostic at `width` bytes of a text from `offset` on: sets line, column, width and excerpt (left empty
// when the line is so long that it would not help). `line` is that of the offset; 0 counts it, which is linear in the
// offset.
void point_at(Diagnostic& diagnostic, std::string_view text, std::size_t offset, std::size_t width, int line = 0);

// What a reader found wrong in one input, up to a limit that hostile input cannot fill memory or a screen beyond.
class DiagnosticList {
 public:
  static constexpr std::size_t kLimit = 100;
  bool is_full() const { return found_.size() >= kLimit; }
  bool empty() const { return found_.empty(); }
  void add(Diagnostic diagnostic);
  // In the order of their places; when some were left out, how many comes last, as severe as the worst of them.
  Diagnostics sorted() const;

 private:
  Diagnostics found_;
  std::size_t left_out_ = 0;
  Severity worst_left_out_ = Severity::kNote;
};

bool has_error(const Diagnostics& diagnostics);

// As a compiler prints it:
//   job.toml:4:10: error: unknown model 'llama-2-13c' [unknown-model]
//     model = "llama-2-13c"
//             ^~~~~~~~~~~~~
//   help: did you mean "llama-2-13b"?
// Long lines are cut around the caret and bytes that a terminal could obey are shown as '?'. Ends with a newline.
std::string render(const Diagnostic& diagnostic);
std::string render(const Diagnostics& diagnostics);

}  // namespace tare
