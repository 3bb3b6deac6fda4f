#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/fabric_port.h"
#include "audit/loss.h"
#include "audit/nccl_job.h"
#include "audit/network_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct HostNics {
  std::string host;
  std::vector<std::string> nics;
  std::int64_t line = 0;
};

std::vector<HostNics> nics_of_hosts(const FactRecord& facts, std::int64_t last_line) {
  std::vector<HostNics> all;
  for (const FactRecord* const host : records_of(facts, "hosts")) {
    std::vector<std::string> nics = texts_of(*host, "nics");
    const std::int64_t line = line_of_fact(*host, "nics");
    // The last line of an excerpt may be cut.
    const bool cut = line == last_line && nics.size() > 1;
    if (!nics.empty() && !cut) all.push_back({std::string(host->text("name")), std::move(nics), line});
  }
  return all;
}

// Hosts that bring other NICs to the job than the rest: fewer of them, or one each that are not the same rail.
void uneven_nics(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const std::vector<HostNics> hosts = nics_of_hosts(*seen.facts, seen.file->lines);
    if (hosts.size() < 2) continue;
    const auto [least, most] = std::minmax_element(
        hosts.begin(), hosts.end(), [](const HostNics& a, const HostNics& b) { return a.nics.size() < b.nics.size(); });
    std::map<std::vector<std::string>, std::vector<const HostNics*>> by_list;
    for (const HostNics& host : hosts) by_list[host.nics].push_back(&host);
    if (by_list.size() < 2) continue;
    const bool fewer = least->nics.size() < most->nics.size();
    // Names follow the PCIe addresses of each machine; with several NICs other names can be the same rails.
    const bool other_rail = !fewer && least->nics.size() == 1;
    Finding finding =
        make_finding(rule, fewer || other_rail ? FindingSeverity::kMedium : FindingSeverity::kInfo, job_of(seen), "");
    std::vector<std::string> words;
    for (const auto& [nics, members] : by_list) {
      words.push_back(fmt::format("{} has {}", members.front()->host, list_names(nics, 8)));
      if (finding.evidence.size() < 4) finding.evidence.push_back(evidence_of(seen, members[0]->line, words.back()));
    }
    if (fewer) {
      finding.subject = {"node", least->host, least->host};
      finding.title =
          fmt::format("{} brings {} NICs to the job, others {}", least->host, least->nics.size(), most->nics.size());
      finding.cause = "A NIC is down, missing, or left out by NCCL_IB_HCA; every ring runs at the pace of that node.";
      finding.loss_unknown = "which rings run through the node is not known";
    } else if (other_rail) {
      finding.title = fmt::format("one NIC a node, and not the same one: {}", list_names(words));
      finding.cause =
          "Traffic between different rails leaves the leaf switch or does not arrive at all; and one NIC serves all "
          "GPUs of the node.";
      finding.loss_unknown = "what the other rails would carry is not known";
    } else {
      finding.title = fmt::format("NICs have other names on some nodes: {}", list_names(words, 2));
      finding.cause =
          "Names follow the PCIe addresses; they may be the same rails. NCCL_IB_HCA by name would mix them.";
    }
    finding.expected = fmt::format("the same {} NICs on every node", most->nics.size());
    finding.confidence = fewer || other_rail ? 0.75 : 0.6;
    finding.fix = {"ibdev2netdev or rdma link on both nodes: which NIC is on which switch, and which is down",
                   "give the rails the same names (udev) or name them all: NCCL_IB_HCA==mlx5_0,mlx5_1,…"};
    finding.consequences = {"collective.slow"};
    findings.push_back(std::move(finding));
  }
}

// GPUs with NVLink that share one NIC.
void few_nics(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord& facts = *seen.facts;
    const std::optional<double> nics = facts.number("nic_count");
    const double gpus = std::max(facts.number("devices_per_host").value_or(0), facts.number("local_ranks").value_or(0));
    if (!nics || *nics < 1 || gpus < 4 || *nics * 4 > gpus || reach_of(facts) != Reach::kSeveralNodes) continue;
    const std::optional<Setting> hca = setting_of(facts, "NCCL_IB_HCA");
    Finding finding =
        make_finding(rule, hca ? FindingSeverity::kMedium : FindingSeverity::kLow, job_of(seen),
                     fmt::format("{:g} GPUs of a node share {:g} NIC{}", gpus, *nics, *nics > 1 ? "s" : ""));
    finding.cause =
        hca ? setting_words(*hca) + " leaves out the others."
            : "That is all the RDMA devices that NCCL sees; the node may have more that are down or hidden.";
    finding.measured = fmt::format("{:g} NICs", *nics);
    finding.confidence = hca ? 0.7 : 0.5;
    finding.evidence.push_back(evidence_of(seen, line_of_fact(facts, "nic_count"), "NET/IB : Using …"));
    finding.fix = {"ibstat: are more ports Active than NCCL uses? then unset NCCL_IB_HCA or name them all",
                   "with this one NIC keep tensor and expert parallelism inside the node"};
    finding.loss_unknown = "whether the node has more NICs is not known";
    finding.consequences = {"collective.slow"};
    findings.push_back(std::move(finding));
  }
}

// The rails that a listing of the node shows active and NCCL does not list.
std::vector<std::string> unused_rails(const PortListing& listing, const std::vector<std::string>& used) {
  const std::optional<double> highest = highest_rate(*listing.ports);
  std::vector<std::string> unused;
  std::size_t known = 0;
  for (const FabricPort& port : *listing.ports) {
    if (!port.is_active() || !highest || port.rate_gbps.value_or(0) < 0.9 * *highest) continue;
    const bool in_use = std::find(used.begin(), used.end(), port.device) != used.end();
    known += in_use ? 1 : 0;
    if (!in_use) unused.push_back(port.name);
  }
  // None known: a bond, a plugin with names of its own, or another machine.
  return known == 0 ? std::vector<std::string>() : unused;
}

// Ports as fast as those in use that are up and left out of the job.
void rails_unused(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    for (const HostNics& host : nics_of_hosts(*seen.facts, seen.file->lines)) {
      each_port_listing(observed, [&](const PortListing& listing) {
        const bool same_place = listing.node.empty() ? listing.seen->file == seen.file
                                                     : listing.node == host.host || listing.node == seen.node;
        if (!same_place) return;
        const std::vector<std::string> unused = unused_rails(listing, host.nics);
        // One more than a full set is storage's; half of the rails missing is what costs.
        if (unused.empty() || (are_whole_rails(host.nics.size()) && unused.size() * 2 <= host.nics.size())) return;
        const double all = static_cast<double>(host.nics.size() + unused.size());
        Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", host.host, listing.node},
                                       fmt::format("NCCL uses {} of {:g} active ports of {}: not {}", host.nics.size(),
                                                   all, host.host, list_names(unused, 8)));
        const std::optional<Setting> hca = setting_of(*seen.facts, "NCCL_IB_HCA");
        finding.cause =
            hca ? setting_words(*hca) + " leaves them out."
                : "They were down when the job began, are not in the container, or belong to another network.";
        finding.expected = fmt::format("{:g} NICs", all);
        finding.measured = fmt::format("{} NICs", host.nics.size());
        finding.confidence = 0.7;
        finding.evidence.push_back(evidence_of(seen, host.line, "NET/IB : Using " + list_names(host.nics, 8)));
        finding.evidence.push_back(
            evidence_of(*listing.seen, listing.ports->front().line, "active: " + list_names(unused, 8)));
        finding.fix = {"unset NCCL_IB_HCA, or name all rails in it; --device=/dev/infiniband for the container",
                       "storage ports: leave them out with NCCL_IB_HCA=^<name> so that this is said"};
        finding.consequences = {"nccl.few-nics", "collective.slow"};
        const std::optional<double> gpus = observed.gpus_beside(*listing.seen);
        if (gpus) {
          finding.loss = slower_communication(observed.setting().inter_node_comm_share,
                                              all / static_cast<double>(host.nics.size()), "active over used ports",
                                              *gpus, "GPUs of the node");
        } else {
          finding.loss_unknown = "how many GPUs the node has is not known";
        }
        findings.push_back(std::move(finding));
      });
    }
  }
}

constexpr Rule kRules[] = {
    {"nccl.uneven-nics", "Nodes with other NICs than the rest",
     "Rings need the same rails on every node; one node with fewer NICs slows all.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", uneven_nics},
    {"nccl.few-nics", "Many GPUs behind few NICs",
     "NCCL uses the NICs it finds; a name in NCCL_IB_HCA hides the others.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", few_nics},
    {"nccl.rails-unused", "Active ports that NCCL does not use",
     "A listing of the node shows more ports of that rate than the log of the job.",
     "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", rails_unused},
};

}  // namespace

std::span<const Rule> network_nic_rules() { return kRules; }

}  // namespace tare
