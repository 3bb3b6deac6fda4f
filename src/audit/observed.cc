#include "audit/observed.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.h"
#include "ingest/gpu_name.h"

namespace tare {
namespace {

// The host that facts name, in the members that readers give it.
std::string host_of(const FactRecord& facts) {
  for (const char* const name : {"node", "host", "hostname", "node_name"}) {
    const std::string_view text = facts.text(name);
    if (!text.empty()) return std::string(text);
  }
  return {};
}

std::string last_part(const std::string& folder) {
  const std::string name = std::filesystem::path(folder).filename().string();
  return name == "." || name == ".." ? std::string() : name;
}

// Words of a file's name between separators, lower case: "nvidia-smi_node07.txt" -> nvidia, smi, node07.
std::vector<std::string> words_of_name(const std::string& path) {
  std::vector<std::string> words(1);
  for (const char c : to_lower(std::filesystem::path(path).filename().string())) {
    if (c == '-' || c == '_' || c == '.' || c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Letters, then digits: "node07", "gpu12", "h100x3" - and no letter alone, which is a version or an option.
bool looks_like_host(const std::string& word) {
  const bool digits_at_end = !word.empty() && word.back() >= '0' && word.back() <= '9';
  const std::size_t letters = word.find_first_of("0123456789");
  const bool host_characters = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
  return digits_at_end && host_characters && letters != std::string::npos && letters >= 2;
}

// Which files of a folder carry which host in their names: a word counts when two files do that are of different
// formats.
std::unordered_map<std::string, std::string> hosts_in_names(const std::vector<const Seen*>& folder) {
  std::map<std::string, std::set<std::string_view>> formats_by_word, files_by_word;
  for (const Seen* const seen : folder) {
    for (const std::string& word : words_of_name(seen->file->path)) {
      if (!looks_like_host(word)) continue;
      formats_by_word[word].insert(seen->format->name);
      files_by_word[word].insert(seen->file->path);
    }
  }
  std::unordered_map<std::string, std::string> hosts;
  for (const Seen* const seen : folder) {
    for (const std::string& word : words_of_name(seen->file->path)) {
      const auto found = formats_by_word.find(word);
      const bool shared = found != formats_by_word.end() && found->second.size() > 1 && files_by_word[word].size() > 1;
      if (shared) hosts.emplace(seen->file->path, word);
    }
  }
  return hosts;
}

bool holds_one_node(const std::vector<const Seen*>& folder) {
  std::map<std::string_view, const FileFacts*> file_by_format;
  std::set<const FileFacts*> files;
  for (const Seen* const seen : folder) {
    const auto [found, fresh] = file_by_format.emplace(seen->format->name, seen->file);
    if (!fresh && found->second != seen->file) return false;
    files.insert(seen->file);
  }
  return files.size() > 1;
}

// Folders that say what lies in them, or of when it is, and not whose it is.
bool names_no_node(const std::string& folder) {
  static const std::set<std::string_view> general = {"",       "log",     "logs",  "var",    "tmp",
                                                     "out",    "output",  "data",  "result", "results",
                                                     "bundle", "outputs", "files", "diag"};
  return general.contains(to_lower(folder)) || (folder[0] >= '0' && folder[0] <= '9');
}

// Numbered, but not machines.
bool counts_something_else(const std::string& word) {
  for (const std::string_view other :
       {"rank", "run", "job", "step", "epoch", "iter", "trial", "exp", "test", "sample"}) {
    if (word.starts_with(other)) return true;
  }
  return false;
}

bool is_host_folder(const std::string& folder) {
  const std::string name = to_lower(last_part(folder));
  return looks_like_host(name) && !counts_something_else(name);
}

// The folder that may be a node's: the deepest whose name looks like a host's, else the deepest that is not general.
// Only folders of the path as it was given: what the current folder is called says nothing.
std::string home_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::string fallback;
  for (fs::path folder = fs::path(path).parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (is_host_folder(folder.string())) return folder.string();
    if (fallback.empty() && !names_no_node(last_part(folder.string()))) fallback = folder.string();
    if (folder == folder.parent_path()) break;  // the root
  }
  return fallback;
}

void name_nodes(std::vector<Seen>& all) {
  std::map<std::string, std::vector<Seen*>> by_home;
  for (Seen& seen : all) {
    seen.node = host_of(*seen.facts);
    if (seen.node.empty()) by_home[home_of(seen.file->path)].push_back(&seen);
  }
  std::vector<const Seen*> nameless;
  for (auto& [home, members] : by_home) {
    const std::vector<const Seen*> together(members.begin(), members.end());
    const bool alone = together.size() == 1 && is_host_folder(home);
    if (!home.empty() && (alone || holds_one_node(together))) {
      for (Seen* const seen : members) seen->node = last_part(home);
    } else {
      nameless.insert(nameless.end(), together.begin(), together.end());
    }
  }
  const std::unordered_map<std::string, std::string> hosts = hosts_in_names(nameless);
  for (Seen& seen : all) {
    const auto found = hosts.find(seen.file->path);
    if (seen.node.empty() && found != hosts.end()) seen.node = found->second;
  }
}

const Accelerator* accelerator_in(const FactRecord& facts, const Catalog& catalog) {
  for (const char* const name : {"product", "product_name", "gpu_model", "gpu_name", "gpu_type", "gpu", "model"}) {
    if (const Accelerator* const found = accelerator_named(catalog, facts.text(name))) return found;
  }
  for (const char* const list : {"gpus", "devices", "series", "use"}) {
    for (const FactRecord* const one : records_of(facts, list)) {
      for (const char* const name : {"product", "product_name", "gpu_model", "gpu_name", "name", "model"}) {
        if (const Accelerator* const found = accelerator_named(catalog, one->text(name))) return found;
      }
    }
  }
  return nullptr;
}

const std::vector<Seen>& found_or_none(const std::unordered_map<std::string, std::vector<Seen>>& map,
                                       const std::string& key) {
  static const std::vector<Seen> none;
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

const Accelerator* first_accelerator(const std::vector<Seen>& seen, const Catalog& catalog) {
  for (const Seen& one : seen) {
    if (const Accelerator* const found = accelerator_in(*one.facts, catalog)) return found;
  }
  return nullptr;
}

FormulaInput share_parameter(const Catalog& catalog, const char* id, const char* name) {
  const CostParameter& of = parameter(catalog, id);
  return {name, of.base, "1", "parameter " + of.id, true, of.low, of.high};
}

}  // namespace

AuditSetting default_setting(const Catalog& catalog) {
  AuditSetting setting;
  setting.intra_node_comm_share = share_parameter(catalog, "comm_share_intra_node", "comm_share");
  setting.inter_node_comm_share = share_parameter(catalog, "comm_share_inter_node", "comm_share");
  return setting;
}

Observed::Observed(std::vector<FileFacts> files, const Catalog& catalog)
    : Observed(std::move(files), catalog, default_setting(catalog)) {}

Observed::Observed(std::vector<FileFacts> files, const Catalog& catalog, AuditSetting setting)
    : files_(std::move(files)), catalog_(&catalog), setting_(std::move(setting)) {
  for (const FileFacts& file : files_) {
    for (const FormatReading& one : file.readings) seen_.push_back({&file, one.format, &one.reading.facts, {}});
  }
  name_nodes(seen_);
  for (const Seen& seen : seen_) {
    by_kind_[std::string(seen.format->kind)].push_back(seen);
    by_format_[std::string(seen.format->name)].push_back(seen);
    by_file_[seen.file->path].push_back(seen);
    if (!seen.node.empty()) by_node_[seen.node].push_back(seen);
  }
  node_count_ = by_node_.size();
}

const std::vector<Seen>& Observed::of_kind(std::string_view kind) const {
  return found_or_none(by_kind_, std::string(kind));
}

const std::vector<Seen>& Observed::of_format(std::string_view name) const {
  return found_or_none(by_format_, std::string(name));
}

const std::vector<Seen>& Observed::beside(const Seen& here) const {
  return here.node.empty() ? found_or_none(by_file_, here.file->path) : found_or_none(by_node_, here.node);
}

std::vector<Seen> Observed::of_kind_beside(std::string_view kind, const Seen& here) const {
  std::vector<Seen> found;
  for (const Seen& seen : beside(here)) {
    if (seen.format->kind == kind) found.push_back(seen);
  }
  return found;
}

std::optional<double> Observed::gpus_beside(const Seen& here) const {
  for (const Seen& seen : beside(here)) {
    if (const std::optional<double> count = seen.facts->number("gpu_count"); count && *count > 0) return count;
  }
  for (const Seen& seen : beside(here)) {
    if (const std::size_t count = records_of(*seen.facts, "gpus").size(); count > 0) return static_cast<double>(count);
  }
  return setting_.gpus_per_node;
}

const Accelerator* Observed::accelerator_beside(const Seen& here) const {
  return first_accelerator(beside(here), *catalog_);
}

const Accelerator* Observed::accelerator_at(const std::string& node, const std::string& file) const {
  const Accelerator* const of_file = first_accelerator(found_or_none(by_file_, file), *catalog_);
  if (of_file != nullptr || node.empty()) return of_file;
  return first_accelerator(found_or_none(by_node_, node), *catalog_);
}

namespace {

// Labels and types join the maker by a dash or underscore: "NVIDIA-H100-80GB-HBM3", "nvidia_h100_80gb_hbm3".
std::string with_maker_apart(std::string_view product) {
  std::string text(product);
  std::size_t at = 0;
  for (const std::string_view maker : {"nvidia", "amd", "geforce", "tesla", "instinct", "rtx"}) {
    if (text.size() <= at + maker.size() || !equals_ignoring_case(text.substr(at, maker.size()), maker)) continue;
    const char behind = text[at + maker.size()];
    if (behind != '-' && behind != '_' && behind != ' ') continue;
    text[at + maker.size()] = ' ';
    at += maker.size() + 1;
  }
  return text;
}

// "1g.10gb" in a name: a slice under MIG is no whole GPU of that name.
bool names_slice(std::string_view product) {
  const std::size_t at = product.find("g.");
  return at != std::string_view::npos && at > 0 && product[at - 1] >= '0' && product[at - 1] <= '9' &&
         product.find("gb", at) != std::string_view::npos;
}

// Of cards all of which are called RTX the number tells which: "RTX 3090" is no RTX A6000.
bool number_agrees(const Accelerator& accelerator, const std::string& name) {
  const std::string text = to_lower(name);
  const std::size_t rtx = text.find("rtx ");
  if (rtx == std::string::npos) return true;
  const std::string model = text.substr(rtx + 4, text.find_first_of(" -_", rtx + 4) - rtx - 4);
  return to_lower(accelerator.id + ' ' + accelerator.name + ' ' + join(accelerator.aliases, " ")).find(model) !=
         std::string::npos;
}

}  // namespace

const Accelerator* accelerator_named(const Catalog& catalog, std::string_view product) {
  if (product.empty() || names_slice(product)) return nullptr;
  const std::string name = with_maker_apart(product);
  if (to_lower(name).starts_with("nvidia ")) {
    if (const Accelerator* const known = find_accelerator(catalog, std::string_view(name).substr(7))) return known;
  }
  const Accelerator* const found = match_gpu(catalog, {name, name, {}, {}, {}}).accelerator;
  return found != nullptr && number_agrees(*found, name) ? found : nullptr;
}

std::vector<const FactRecord*> records_of(const FactRecord& facts, std::string_view list) {
  std::vector<const FactRecord*> records;
  const std::vector<Fact>* const items = facts.find_list(list);
  if (items == nullptr) return records;
  records.reserve(items->size());
  for (const Fact& item : *items) {
    if (const FactRecord* const record = item.as_record()) records.push_back(record);
  }
  return records;
}

std::vector<std::string> texts_of(const FactRecord& facts, std::string_view list) {
  std::vector<std::string> texts;
  const std::vector<Fact>* const items = facts.find_list(list);
  if (items == nullptr) return texts;
  texts.reserve(items->size());
  for (const Fact& item : *items) texts.emplace_back(item.text());
  return texts;
}

bool is_true(const FactRecord& facts, std::string_view name) {
  const Fact* const fact = facts.find(name);
  const bool* const value = fact == nullptr ? nullptr : std::get_if<bool>(&fact->value);
  return value != nullptr && *value;
}

bool is_false(const FactRecord& facts, std::string_view name) {
  const Fact* const fact = facts.find(name);
  const bool* const value = fact == nullptr ? nullptr : std::get_if<bool>(&fact->value);
  return value != nullptr && !*value;
}

}  // namespace tare
