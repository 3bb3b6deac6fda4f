// The software a published row ran on, and what that does where the row is silent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "ingest/throughput_rows.h"
#include "workload/parallelism.h"
#include "workload/workload.h"

namespace tare {

// The first stack of the catalog one of whose framework globs matches; "generic" when none does.
const SoftwareStack& stack_of(const std::string& framework, GpuGeneration generation, const Catalog& catalog);

// What a row's notes state about its run that has no column: "torch.compile", "eager", "async TP", "LoRA r=16".
void read_notes(const std::string& notes, SoftwareStack& stack, Lora& lora);

// "recompute = full (deepspeed)": a line of `assumed` for a default that stands in where the row states nothing, or
// something that is not understood.
std::string assumed_default(std::string_view what, const std::string& value, const std::string& stated,
                            const SoftwareStack& stack);

// As the row states it, or the stack's default; `assumed` gains a line for each default. No precision: the row names
// one that nobody knows.
std::optional<Precision> precision_of(const ThroughputRow& row, const SoftwareStack& stack,
                                      std::vector<std::string>& assumed);
AttentionKernel attention_of(const ThroughputRow& row, const SoftwareStack& stack, std::vector<std::string>& assumed);
Recompute recompute_of(const ThroughputRow& row, const SoftwareStack& stack, const ModelArchitecture& model,
                       std::vector<std::string>& assumed);

}  // namespace tare
