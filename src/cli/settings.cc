// The layers below the command line: environment, project file, user file.
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/toml_document.h"
#include "cli/arguments.h"

namespace tare {
namespace {

// Switches are spelled in more ways outside a command line.
std::string normalized(const Flag& flag, std::string value) {
  if (flag.kind != ValueKind::kSwitch) return value;
  std::string lower = to_lower(value);
  if (lower == "1" || lower == "yes" || lower == "on") return "true";
  if (lower == "0" || lower == "no" || lower == "off") return "false";
  return lower;
}

bool takes(const Arguments& arguments, const Flag& flag) {
  return flag.configurable && contains(flag.verbs, arguments.verb) && !arguments.has(flag.name);
}

void add_environment(Arguments& arguments, const Environment& environment, Diagnostics& errors) {
  for (const Flag& flag : flags()) {
    if (!takes(arguments, flag)) continue;
    const std::string name = environment_name(flag);
    std::optional<std::string> value = environment(name);
    if (!value || value->empty()) continue;
    value = normalized(flag, *value);
    if (std::optional<Diagnostic> wrong = check_value(flag, *value)) {
      wrong->file = name;
      errors.push_back(std::move(*wrong));
      continue;
    }
    arguments.add(flag, *value);
  }
}

// The value of a config key as a flag would be given it; the table reports a wrong TOML type itself.
std::optional<std::string> config_value(TomlTable& table, const Flag& flag, const std::string& key) {
  if (flag.kind == ValueKind::kSwitch) {
    const std::optional<bool> value = table.boolean(key);
    if (!value) return std::nullopt;
    return *value ? "true" : "false";
  }
  if (flag.kind == ValueKind::kCount) {
    const std::optional<long long> value = table.integer(key);
    if (!value) return std::nullopt;
    return std::to_string(*value);
  }
  return table.string(key);
}

// A directory named in a config file is meant from where that file lies.
std::string from_file(const Flag& flag, const std::string& value, const std::string& file) {
  if (flag.kind != ValueKind::kDirectory) return value;
  const std::filesystem::path path(value);
  return path.is_absolute() ? value : (std::filesystem::path(file).parent_path() / path).string();
}

Result<void> add_file(Arguments& arguments, const std::string& file) {
  std::error_code ignored;  // what cannot be looked at is not there; a user file must not stop the program
  if (file.empty() || !std::filesystem::exists(file, ignored)) return {};
  const Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  if (trim(*text).empty()) return {};  // an empty config says nothing, and that is no error
  Result<TomlDocument> document = TomlDocument::parse(*text, file);
  if (!document) return tl::unexpected(document.error());
  TomlTable table = document->root();
  table.string("format_version");
  for (const Flag& flag : flags()) {
    if (!flag.configurable) continue;
    const std::string key = config_key(flag);
    if (!table.has(key)) {
      table.string(key);  // counts as known, so that a misspelled key is told what it may be
      continue;
    }
    const std::optional<std::string> value = config_value(table, flag, key);
    if (!value) continue;
    if (const std::optional<Diagnostic> wrong = check_value(flag, *value)) {
      table.error(key, wrong->rule, wrong->text, wrong->help);
    } else if (takes(arguments, flag)) {
      arguments.add(flag, from_file(flag, *value, file));
    }
  }
  table.finish();
  if (has_error(document->diagnostics())) return tl::unexpected(document->diagnostics());
  return {};
}

std::string user_file(const Environment& environment) {
  const std::string base = environment("XDG_CONFIG_HOME").value_or("");
  if (!base.empty()) return base + "/tare/config.toml";
  const std::string home = environment("HOME").value_or("");
  return home.empty() ? "" : home + "/.config/tare/config.toml";
}

}  // namespace

Result<void> add_settings(Arguments& arguments, const Settings& settings) {
  Diagnostics errors;
  add_environment(arguments, settings.environment, errors);
  for (const std::string& file : {settings.project_file, user_file(settings.environment)}) {
    const Result<void> added = add_file(arguments, file);
    if (!added) errors.insert(errors.end(), added.error().begin(), added.error().end());
  }
  if (!errors.empty()) return tl::unexpected(errors);
  return {};
}

}  // namespace tare
