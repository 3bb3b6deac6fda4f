// Published training throughput: one CSV row a run (columns in docs/validation.md).
//
// Empty = not stated. A row keeps what its source says; defaults are filled in by the validation, which says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace tare {

struct ThroughputRow {
  std::string id, source, source_group, date, model_name, arch;
  std::optional<double> params_b, active_params_b;
  std::optional<int> layers, hidden, ffn_hidden, heads, kv_heads, head_dim, vocab;
  std::optional<bool> gated_mlp, tied_embeddings;
  std::optional<int> experts, top_k, sequence_length;
  std::string gpu;
  std::optional<int> gpus, gpus_per_node;
  std::string intra_node_link;
  std::optional<double> inter_node_bytes_per_s_per_gpu;
  std::optional<int> tp, pp, vpp, dp, cp, ep;
  std::string sharding;  // zero_stage_or_fsdp
  std::optional<int> micro_batch, global_batch, grad_accum;
  std::string precision, recompute, attention, method, framework;
  std::optional<double> tokens_per_s_per_gpu, flops_per_s_per_gpu, mfu_ratio, step_time_s;
  std::string notes, tier, flops_convention, replicate_cluster;
  int line = 0;  // of the file
};

// All rows; cells that are no numbers are reported with their place (an error), and so is a file without the columns
// `id`, `gpu` and `method`.
Result<std::vector<ThroughputRow>> read_throughput_rows(std::string text, const std::string& file);

}  // namespace tare
