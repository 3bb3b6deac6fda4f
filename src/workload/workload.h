// The numeric input of the model: one job on one software stack, with every default filled in.
#pragma once

#include "catalog/stack.h"
#include "workload/job.h"

namespace tare {

struct Workload {
  ModelArchitecture model;
  Method method = Method::kPretrain;
  Lora lora;
  int sequence_length = 0;
  int global_batch = 0;  // sequences
  Precision precision = Precision::kBf16;
  AttentionKernel attention = AttentionKernel::kFlash2;  // never kDefault here
  std::string optimizer = "adam";
  double data_bytes_per_step = 0;  // read from storage by all ranks; 0 = not stated
  SoftwareStack stack;
};

// Fills the defaults of `stack` in; `assumed` collects one line for each ("attention = flash3 (megatron-core
// default)").
Workload make_workload(const Job& job, const SoftwareStack& stack, std::vector<std::string>* assumed = nullptr);

inline double tokens_per_step(const Workload& w) { return double(w.global_batch) * w.sequence_length; }

// Trainable parameters: all of them, or the adapters of LoRA and QLoRA.
double trainable_parameters(const Workload& workload);

}  // namespace tare
