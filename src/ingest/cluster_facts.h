// From the outputs of tools to a cluster file: what topo, nvidia-smi, ibstat, lsblk, fio and others say of one node or
// of several becomes node types with their GPUs, NICs and disks.
//
// Nothing is guessed: what no file says is left out, and a comment in the text says what is missing and which command
// would show it. Where two files disagree, the surer one is taken and a comment names both.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "ingest/read_file_facts.h"

namespace tare {

// What the files of one machine say.
struct NodeFiles {
  std::string name;
  std::vector<const FileFacts*> files;
};

// The machines that a set of files is of: one per folder when the files lie in several, else one. `files` must outlive
// the answer.
std::vector<NodeFiles> nodes_of(const std::vector<FileFacts>& files);

struct NodeNics {
  std::string model;      // "ConnectX-7 NDR", or free text; may be empty
  std::string transport;  // "ib", "roce"; empty when not known
  int count = 0;
  double gbit_per_s = 0;  // of one
};

struct NodeDisk {
  std::string name;
  std::optional<double> bytes, read_bytes_per_s, write_bytes_per_s, read_iops;
  // A cluster file wants size and both rates of a disk.
  bool complete() const { return bytes && read_bytes_per_s && write_bytes_per_s; }
};

struct NodeDraft {
  std::string name;
  std::string gpu;       // id of the catalog; empty when no file names a model that it knows
  std::string gpu_text;  // as the file has it
  std::optional<int> gpus, nvlink_domain, pcie_generation, pcie_lanes, vcpus;
  std::optional<double> memory_bytes;
  std::optional<NodeNics> nics;
  std::vector<NodeDisk> disks;
  std::vector<std::string> remarks;  // what is missing, doubtful or left out: comments of the file
};

NodeDraft draft_of(const NodeFiles& node, const Catalog& catalog);

struct ClusterDraft {
  std::vector<NodeDraft> nodes;
  std::string toml;                     // docs/cluster-file.md
  bool loads = false;                   // whether the text is a cluster file as it is
  std::vector<std::string> to_fill_in;  // why not: what a person must add first
};

ClusterDraft cluster_of(const std::vector<NodeFiles>& nodes, const Catalog& catalog, const std::string& name);

}  // namespace tare
