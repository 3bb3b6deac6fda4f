// PCIe links as lspci and nvidia-smi print them, in one form: what a link runs at, and what it could.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "audit/observed.h"

namespace tare {

enum class PcieDevice { kGpu, kNic, kDisk, kPort };  // kPort: bridges, and whatever is none of the others

struct PcieLink {
  Seen seen;
  const FactRecord* record = nullptr;
  PcieDevice device = PcieDevice::kPort;
  std::string name;  // "GPU3", "0000:5a:00.0"
  std::int64_t line = 0;
  std::optional<int> generation, lanes;                    // what it runs at
  std::optional<int> generation_max, lanes_max;            // what the device could
  std::optional<int> host_generation_max, host_lanes_max;  // what the slot, switch or root port above it could
  std::optional<int> pstate;                               // 0 = full speed … 15; of nvidia-smi
  std::optional<double> util_pct;
  bool says_generation_reduced = false, says_lanes_reduced = false;  // "(downgraded)" of lspci
  const Accelerator* accelerator = nullptr;
};

// Every link of a GPU, NIC, NVMe disk or upstream port whose state is known. Of a node whose nvidia-smi shows the links
// of its GPUs, lspci adds the other devices only.
std::vector<PcieLink> pcie_links(const Observed& observed);

// The devices of one lspci, with what is above and below each where it is in the text.
class LspciTree {
 public:
  explicit LspciTree(const Seen& seen);

  const std::vector<const FactRecord*>& devices() const { return devices_; }
  const std::vector<const FactRecord*>& peers() const { return peers_; }  // GPUs and NICs
  PcieDevice kind(const FactRecord& device) const;
  const FactRecord* port_above(const FactRecord& device) const;
  // The first device directly below a port.
  const FactRecord* below(const FactRecord& port) const;

 private:
  std::vector<const FactRecord*> devices_, peers_;
  std::unordered_map<std::string, PcieDevice> kinds_;  // by address
  std::unordered_map<std::string, const FactRecord*> port_to_bus_, first_on_bus_;
};

// Anywhere below a port: between its secondary and subordinate bus.
bool is_behind(const FactRecord& port, const FactRecord& device);

// "Gen4 x16", "Gen?" where unknown.
std::string link_text(const std::optional<int>& generation, const std::optional<int>& lanes);
std::string subject_kind(PcieDevice device);

}  // namespace tare
