#include "cli/labels.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tare {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

constexpr auto kLabels = std::to_array<Entry>({
    // parts of a step
    {"compute_s", "forward and backward"},
    {"recompute_s", "recomputed activations"},
    {"tp_exposed_s", "tensor-parallel traffic"},
    {"cp_exposed_s", "context-parallel traffic"},
    {"ep_exposed_s", "expert-parallel traffic"},
    {"pp_bubble_s", "pipeline bubble"},
    {"pp_p2p_s", "pipeline transfers"},
    {"pp_imbalance_s", "uneven pipeline stages"},
    {"dp_exposed_s", "data-parallel traffic"},
    {"optimizer_s", "optimizer"},
    {"data_stall_s", "waiting for data"},
    {"straggler_s", "waiting for the slowest"},
    {"delivery_s", "virtualisation and sharing"},
    // parts of the memory
    {"weights_bytes", "weights"},
    {"gradients_bytes", "gradients"},
    {"optimizer_bytes", "optimizer"},
    {"activations_bytes", "activations"},
    {"logits_bytes", "logits"},
    {"gathered_bytes", "gathered layers, buffers"},
    {"framework_bytes", "framework"},
    {"fragmentation_bytes", "fragmentation"},
    // lines of a bill
    {"rent", "rent"},
    {"capital", "capital"},
    {"power", "power"},
    {"cooling", "cooling"},
    {"space", "space"},
    {"operations", "operations"},
    {"colocation", "colocation"},
    {"spares", "spare nodes"},
    {"parts", "spare parts"},
    {"support", "support and licences"},
    {"compliance", "compliance and logs"},
    {"storage", "storage"},
    {"egress", "egress"},
    // bars of the waterfall
    {"unallocated", "held but not used"},
    {"fragmentation", "scattered, no job fits"},
    {"startup", "start-up"},
    {"failures", "failures and restarts"},
    {"maintenance", "maintenance"},
    {"checkpoint", "checkpoints"},
    {"data", "waiting for data"},
    {"bubble", "pipeline bubble"},
    {"comm_tp", "tensor-parallel traffic"},
    {"comm_dp", "data-parallel traffic"},
    {"comm_pp", "pipeline transfers"},
    {"comm_ep", "expert-parallel traffic"},
    {"comm_cp", "context-parallel traffic"},
    {"straggler", "waiting for the slowest"},
    {"delivery", "virtualisation and sharing"},
    {"recompute", "recomputed activations"},
    {"kernel", "kernels below peak"},
    {"optimizer", "optimizer"},
    {"useful", "useful at peak"},
});

constexpr auto kRefusals = std::to_array<Entry>({
    {"memory", "no parallelism fits in the GPUs' memory"},
    {"divisibility", "no parallelism divides the model and the batch over the GPUs"},
    {"power_cap", "nothing runs under such a power cap"},
    {"no_known_fabric", "nobody states the bandwidth between its nodes"},
    {"stale_price", "its price is older than --max-price-age, or undated"},
    {"suspect_price", "its price is marked as suspect"},
    {"tenancy", "the job asks for another tenancy"},
    {"region", "the job asks for other regions"},
    {"host", "the job asks for another kind of host"},
    {"certification", "the job asks for a certification it is not known to have"},
    {"deadline", "it is too slow for the deadline"},
    {"budget", "it costs more than the budget"},
    {"cluster_size", "the cluster has fewer GPUs than asked"},
    {"mixed_nodes", "the cluster has enough GPUs, but not of one node type"},
    {"cluster_limit", "it is not sold in clusters of that size"},
    {"no_price", "its price is not known"},
});

template <typename Entries>
std::string_view look_up(const Entries& entries, std::string_view id) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.first == id; });
  return found == entries.end() ? std::string_view{} : found->second;
}

}  // namespace

std::string label_of(std::string_view id) {
  const std::string_view label = look_up(kLabels, id);
  std::string text(label.empty() ? id : label);
  if (label.empty()) std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string_view meaning_of_refusal(std::string_view reason) { return look_up(kRefusals, reason); }

}  // namespace tare
