// A training job as its owner states it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "catalog/catalog.h"
#include "workload/parallelism.h"

namespace tare {

enum class Method { kPretrain, kFull, kLora, kQlora };  // rlhf, serve and experiment come with their own parts
std::string_view name_of(Method method);                // pretrain, full, lora, qlora
std::optional<Method> parse_method(std::string_view text);

enum class AttentionKernel { kDefault, kStandard, kFlash1, kFlash2, kFlash3 };
std::string_view name_of(AttentionKernel kernel);  // default, standard, flash1, flash2, flash3
std::optional<AttentionKernel> parse_attention_kernel(std::string_view text);

// Low-rank adapters on the named projections.
struct Lora {
  int rank = 16;
  bool query = true, key = true, value = true, output = true, mlp = true;
  bool embeddings = false;  // embedding and LM head trained in full besides (PEFT's modules_to_save)
};

struct JobRequirements {
  std::string tenancy = "any";       // any, dedicated
  std::string host = "any";          // any, bare_metal, vm
  std::vector<std::string> regions;  // globs; empty = any
  std::vector<std::string> certifications;
};

struct DataSet {
  std::optional<double> bytes;
  std::optional<int> shards;
  std::string at;  // where they lie before the run, "aws/us-east-1"; empty: where the job runs
};

// Where checkpoints lie: the shared store; the nodes' own disks, each part also at a partner node; host memory, each
// part also at a peer. The last one always goes to the shared store.
enum class CheckpointStore { kShared, kLocal, kMemory };
std::string_view name_of(CheckpointStore store);  // shared, local, memory
std::optional<CheckpointStore> parse_checkpoint_store(std::string_view text);

struct CheckpointPolicy {
  enum class Every { kAuto, kSteps, kSeconds } every = Every::kAuto;
  double value = 0;  // steps or seconds
  bool async = true;
  CheckpointStore store = CheckpointStore::kShared;
};

struct SearchSpace {
  std::vector<int> gpus;            // sizes to try; empty = {64}
  std::vector<std::string> offers;  // globs over offer ids; empty = every offer
};

struct Job {
  std::string name;
  ModelArchitecture model;
  Method method = Method::kPretrain;
  double tokens = 0;
  int sequence_length = 0;
  int global_batch = 0;  // sequences
  Precision precision = Precision::kBf16;
  std::string optimizer = "adam";  // adam, sgd, adam_8bit
  std::string stack;               // software stack id (perf/stack.h); empty = the default, marked assumed
  AttentionKernel attention = AttentionKernel::kDefault;
  Lora lora;
  std::optional<double> deadline_s;
  std::optional<double> budget_usd;
  JobRequirements require;
  DataSet data;
  CheckpointPolicy checkpoint;
  SearchSpace search;
  std::optional<Parallelism> parallelism;  // [parallelism] pins the choice for `estimate`
  std::vector<std::string> assumed;        // keys the file left to defaults: "job.precision"
  Diagnostics warnings;                    // of the file; the job is usable all the same
  std::string file;
};

inline double tokens_per_step(const Job& job) { return double(job.global_batch) * job.sequence_length; }

// Reads a job file (docs/job-file.md): every error with its place, "did you mean" for models and words.
Result<Job> parse_job(std::string text, const std::string& file, const Catalog& catalog);

}  // namespace tare
