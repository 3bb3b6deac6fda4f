// Published rows to begin from: a complete one, of which a test changes what it is about.
#pragma once

#include <stdexcept>
#include <string>

#include "validation/row_setup.h"

namespace tare::test {

inline const Catalog& shipped_catalog() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

// 2 nodes of 8 H100: tp 2, pp 2, dp 4; 32 sequences of 2,048 tokens of a model of 1.5 billion parameters.
inline ThroughputRow complete_row() {
  ThroughputRow row;
  row.id = "T1";
  row.source_group = "test";
  row.model_name = "no-such-model";
  row.arch = "dense";
  row.layers = 24;
  row.hidden = 2048;
  row.ffn_hidden = 8192;
  row.heads = 16;
  row.kv_heads = 16;
  row.head_dim = 128;
  row.vocab = 50304;
  row.sequence_length = 2048;
  row.gpu = "H100-SXM5-80GB";
  row.gpus = 16;
  row.gpus_per_node = 8;
  row.inter_node_bytes_per_s_per_gpu = 50e9;
  row.tp = 2;
  row.pp = 2;
  row.dp = 4;
  row.sharding = "zero1";
  row.micro_batch = 2;
  row.global_batch = 32;
  row.precision = "bf16";
  row.recompute = "none";
  row.attention = "flash2";
  row.method = "pretrain";
  row.framework = "Megatron-Bridge 26.02";
  row.tokens_per_s_per_gpu = 10'000;
  return row;
}

inline RowSetup set_up(const ThroughputRow& row) {
  const auto setup = set_up_row(row, shipped_catalog());
  return setup ? *setup : throw std::runtime_error("row " + row.id + " skipped: " + setup.error().reason);
}

// Why the row is skipped; empty if it is not.
inline std::string skipped(const ThroughputRow& row) {
  const auto setup = set_up_row(row, shipped_catalog());
  return setup ? "" : setup.error().reason;
}

}  // namespace tare::test
