// What an audit looks at: the facts of many files, by node and by kind, and what else is known of cluster and job.
//
// The node of a reading is the host that its facts name; else its folder: the deepest whose name looks like a host's
// ("gpu01/var/log/dmesg.txt"), else the deepest that is not general ("logs", a date), where no two files in it are of
// one format; else the host in the file's name ("node07-dmesg.txt", "dmesg/node07.txt"), where a file of another format
// carries it too; else none, and only what the same file says belongs to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "audit/run_against_prediction.h"
#include "base/formula.h"
#include "catalog/catalog.h"
#include "ingest/read_file_facts.h"

namespace tare {

// One format's reading of one file.
struct Seen {
  const FileFacts* file = nullptr;
  const Format* format = nullptr;
  const FactRecord* facts = nullptr;
  std::string node;  // may be empty
};

// What is known beside the files: of --on and --job.
struct AuditSetting {
  // The part of a healthy step that waits for communication within a node, and between nodes. Of the job's predicted
  // step, else the catalog's parameters.
  FormulaInput intra_node_comm_share, inter_node_comm_share;
  std::optional<double> usd_per_gpu_h;  // of --on
  std::string price_source;
  // Of --on: where no file of a node says how many GPUs it has, and what its NICs carry together in one direction.
  std::optional<double> gpus_per_node, node_network_bytes_per_s;
  std::optional<PredictedRun> predicted;  // of --job on --on
};
// The catalog's parameters, without job and offer.
AuditSetting default_setting(const Catalog& catalog);

class Observed {
 public:
  Observed(std::vector<FileFacts> files, const Catalog& catalog, AuditSetting setting);
  Observed(std::vector<FileFacts> files, const Catalog& catalog);

  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  const std::vector<FileFacts>& files() const { return files_; }
  const Catalog& catalog() const { return *catalog_; }
  const AuditSetting& setting() const { return setting_; }

  // Every reading, in the order of the files; those of a kind ("nvidia-smi"); those of a format ("nvidia-smi -q").
  const std::vector<Seen>& all() const { return seen_; }
  const std::vector<Seen>& of_kind(std::string_view kind) const;
  const std::vector<Seen>& of_format(std::string_view name) const;
  // Those of the same node, itself among them; with no node those of the same file.
  const std::vector<Seen>& beside(const Seen& here) const;
  std::vector<Seen> of_kind_beside(std::string_view kind, const Seen& here) const;
  // The nodes that files are of; not counted are files of which no node is known.
  std::size_t node_count() const { return node_count_; }

  // Of the node or file: how many GPUs it has, and which; what no file there says is unknown.
  std::optional<double> gpus_beside(const Seen& here) const;
  const Accelerator* accelerator_beside(const Seen& here) const;
  // The same by a finding's subject and evidence.
  const Accelerator* accelerator_at(const std::string& node, const std::string& file) const;

  // What several rules derive from the same files, made at the first call. One thread at a time.
  template <typename T>
  const T& once(T (*make)(const Observed&)) const {
    const auto key = reinterpret_cast<void (*)()>(make);
    for (const auto& [maker, made] : once_) {
      if (maker == key) return *static_cast<const T*>(made.get());
    }
    const auto made = std::make_shared<const T>(make(*this));
    once_.emplace_back(key, made);
    return *made;
  }

 private:
  std::vector<FileFacts> files_;
  std::vector<Seen> seen_;
  std::unordered_map<std::string, std::vector<Seen>> by_kind_, by_format_, by_node_, by_file_;
  std::size_t node_count_ = 0;
  const Catalog* catalog_;
  AuditSetting setting_;
  mutable std::vector<std::pair<void (*)(), std::shared_ptr<const void>>> once_;
};

// The accelerator that a tool's product name means; nullptr when the catalog has none.
const Accelerator* accelerator_named(const Catalog& catalog, std::string_view product);

// The records of a list member; empty when it is not there.
std::vector<const FactRecord*> records_of(const FactRecord& facts, std::string_view list);

// The texts of a list member; empty when it is not there.
std::vector<std::string> texts_of(const FactRecord& facts, std::string_view list);
// A member that is true: false and unknown are not.
bool is_true(const FactRecord& facts, std::string_view name);
bool is_false(const FactRecord& facts, std::string_view name);

}  // namespace tare
