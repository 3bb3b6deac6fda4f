// Architectures that several tests of this folder use, written out so that the tests need no catalog.
#pragma once

#include "workload/workload.h"

namespace tare {

// A GPT of the Megatron papers: f = 4h, learned positions left out, LayerNorm, tied head.
inline ModelArchitecture gpt(int layers, int hidden, int heads, int vocab) {
  ModelArchitecture model;
  model.id = "gpt";
  model.layers = layers;
  model.hidden = hidden;
  model.ffn_hidden = 4 * hidden;
  model.heads = heads;
  model.kv_heads = heads;
  model.head_dim = hidden / heads;
  model.vocab = vocab;
  model.rms_norm = false;
  model.norm_bias = true;
  model.tied_embeddings = true;
  return model;
}

inline ModelArchitecture llama(int layers, int hidden, int ffn, int heads, int kv_heads, int vocab) {
  ModelArchitecture model;
  model.id = "llama";
  model.layers = layers;
  model.hidden = hidden;
  model.ffn_hidden = ffn;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.head_dim = hidden / heads;
  model.vocab = vocab;
  model.gated_mlp = true;
  return model;
}

inline ModelArchitecture llama_2_7b() { return llama(32, 4096, 11008, 32, 32, 32000); }
inline ModelArchitecture llama_3_1_405b() { return llama(126, 16384, 53248, 128, 8, 128256); }

inline ModelArchitecture deepseek_v3() {
  ModelArchitecture model = llama(61, 7168, 18432, 128, 128, 129280);
  model.id = "deepseek-v3";
  model.head_dim = 128;
  model.experts = 256;
  model.top_k = 8;
  model.expert_ffn_hidden = 2048;
  model.shared_experts = 1;
  model.shared_expert_ffn_hidden = 2048;
  model.first_dense_layers = 3;
  model.mla_q_rank = 1536;
  model.mla_kv_rank = 512;
  model.mla_nope_head_dim = 128;
  model.mla_rope_head_dim = 64;
  model.mla_v_head_dim = 128;
  return model;
}

}  // namespace tare
