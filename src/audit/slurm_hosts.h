// The nodes that a Slurm output is about, each once whatever repeats it, and why they are out of use.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/rule.h"

namespace tare {

// What a node's state leaves to new jobs. A draining node still runs those it has.
enum class HostUse { kUnknown, kUsable, kDraining, kMaintenance, kOut };

// Of a state as readers name it ("idle+drain") and the flags behind it ("not responding").
HostUse host_use(std::string_view state_name, const std::vector<std::string>& flags);
// The same of a record of nodes[] or groups[].
HostUse host_use(const FactRecord& record);

// A record of nodes[] that says what a node is now. A configuration's State= is what a node has when it is first seen
// ("UNKNOWN").
bool is_live_node(const FactRecord& node);

struct SlurmHost {
  std::string name;
  HostUse use = HostUse::kUnknown;
  std::string state;  // as the file prints it
  std::string reason, reason_user;
  std::optional<double> gpus, gpus_allocated;
  std::string gpu_type;
  bool gres_told = false;  // a GRES or TRES of it is printed, be it none
  std::int64_t line = 0, reason_line = 0;
};

// Nodes that drain or are down for the same reason.
struct SlurmOutage {
  std::string reason;       // as the file prints it; empty where none is told
  std::string reason_user;  // who set it
  std::string hosts;        // as the file lists them, else their names
  std::vector<SlurmHost> members;
  HostUse use = HostUse::kOut;  // the best of its members
  std::int64_t line = 0;
};

std::vector<SlurmHost> slurm_hosts(const Seen& seen);
// In the order of the file; nodes that are in use and for which nobody gave a reason are in none.
std::vector<SlurmOutage> slurm_outages(const Seen& seen);

// Why nodes are out, from the words of a reason.
enum class OutageKind {
  kGresCount,      // fewer GPUs than configured
  kRealMemory,     // less memory than configured
  kHardware,       // fewer cores, sockets or disk than configured
  kKillTask,       // processes that cannot be killed
  kProlog,         // prolog, epilog or health check failed
  kGpu,            // a GPU, its link or driver is named
  kNotResponding,  // slurmd does not answer
  kRebooted,       // came back from a reboot that Slurm did not order
  kPlanned,        // somebody works on it
  kOther,
};
OutageKind outage_kind(const SlurmOutage& outage);

// GPUs that the outage takes away: those of members that run nothing more; nullopt where a member's are not told.
std::optional<double> gpus_lost(const SlurmOutage& outage);
// "2 nodes" with their GPUs where told: "2 nodes with 16 GPUs".
std::string nodes_in_words(const SlurmOutage& outage);
// The catalog's id of the one model that all of them have; empty where they differ or none is told.
std::string accelerator_of(const Observed& observed, const std::vector<SlurmHost>& hosts);
// The same of a product or type by its name; empty where the catalog has none.
std::string accelerator_id(const Observed& observed, std::string_view name);

}  // namespace tare
