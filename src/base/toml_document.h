// Strict reading of the TOML files that people write.
//
// A TomlTable hands out typed values and remembers which keys were asked for; finish() then reports every key that
// nobody asked for ("unknown-key", with a did-you-mean from the asked ones). Every error is collected in the document
// with file:line:column, the source line and a caret, and the getter returns nullopt, so a reader goes on and finds the
// next one. toml++ is behind the implementation: no other file of the project includes it.
// Thread safety: a document is used from one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/quantity.h"

namespace tare {

class TomlDocument;

class TomlTable {
 public:
  struct Impl;
  explicit TomlTable(std::shared_ptr<Impl> impl);

  bool has(std::string_view key) const;       // does not count as asked for
  bool is_table(std::string_view key) const;  // nor does this
  std::optional<std::string> string(std::string_view key);
  std::optional<double> number(std::string_view key);  // integer or float; NaN and infinity refused
  std::optional<long long> integer(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<double> quantity(std::string_view key, Dimension dimension);  // a string with its unit
  std::optional<std::string> one_of(std::string_view key, const std::vector<std::string>& words);  // did-you-mean
  std::optional<std::vector<std::string>> strings(std::string_view key);  // one string or an array of them
  std::optional<std::vector<long long>> integers(std::string_view key);   // one integer or an array of them
  std::optional<TomlTable> table(std::string_view key);
  std::vector<TomlTable> tables(std::string_view key);  // array of tables (or one table)
  std::vector<std::string> keys() const;                // in file order

  // The `require_` forms report "missing-key" at the table's place when the key is absent.
  std::optional<std::string> require_string(std::string_view key);
  std::optional<double> require_number(std::string_view key);
  std::optional<long long> require_integer(std::string_view key);
  std::optional<double> require_quantity(std::string_view key, Dimension dimension);

  // An error of the reader's own at a key's value (or at the key's table when it is absent).
  void error(std::string_view key, std::string rule, std::string text, std::string help = {});
  void warning(std::string_view key, std::string rule, std::string text, std::string help = {});

  // Reports the keys nobody asked for, here and in the sub-tables handed out.
  void finish();

 private:
  std::shared_ptr<Impl> impl_;
};

class TomlDocument {
 public:
  // Errors: empty file ("empty-file"), not text ("not-text": NUL or invalid UTF-8), syntax ("toml-syntax").
  static Result<TomlDocument> parse(std::string text, std::string file);

  TomlTable root() const;
  const Diagnostics& diagnostics() const;  // all that the tables reported so far, in file order

 private:
  struct Impl;
  explicit TomlDocument(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare
