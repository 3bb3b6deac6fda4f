#include "workload/parallelism_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/toml_checks.h"

namespace tare {
namespace {

constexpr int kMostOfOneAxis = 65536;
constexpr int kMostGpus = 1'000'000;

int read_degree(TomlTable& table, std::string_view key) { return read_int(table, key, 1, kMostOfOneAxis).value_or(1); }

Parallelism read_keys(TomlTable& table) {
  Parallelism p;
  p.tp = read_degree(table, "tp");
  p.pp = read_degree(table, "pp");
  p.vpp = read_degree(table, "vpp");
  p.cp = read_degree(table, "cp");
  p.ep = read_degree(table, "ep");
  p.dp = read_degree(table, "dp");
  p.zero_stage = read_int(table, "zero_stage", 0, 3).value_or(0);
  p.micro_batch = read_degree(table, "micro_batch");
  const std::string recompute = table.one_of("recompute", {"none", "selective", "full"}).value_or("none");
  p.recompute = recompute == "full"        ? Recompute::kFull
                : recompute == "selective" ? Recompute::kSelective
                                           : Recompute::kNone;
  p.recompute_layers = read_int(table, "recompute_layers", 1, kMostOfOneAxis).value_or(-1);
  p.sequence_parallel = table.boolean("sequence_parallel").value_or(false);
  const std::string offload = table.one_of("offload", {"none", "optimizer", "parameters"}).value_or("none");
  p.offload = offload == "optimizer"    ? Offload::kOptimizer
              : offload == "parameters" ? Offload::kParameters
                                        : Offload::kNone;
  const auto schedule = table.one_of("schedule", {"1f1b", "interleaved", "zero_bubble"});
  if (schedule ? *schedule == "interleaved" : p.vpp > 1) p.schedule = PipelineSchedule::kInterleaved;
  if (schedule && *schedule == "zero_bubble") p.schedule = PipelineSchedule::kZeroBubble;
  return p;
}

// "1, 2, 4, 5, 8, 10, 20, 40": what divides a number, smallest first, as far as somebody may want it.
std::string divisors(int number) {
  constexpr int kLargest = 64;
  std::vector<std::string> all;
  for (int d = 1; d <= std::min(number, kLargest); ++d) {
    if (number % d == 0) all.push_back(std::to_string(d));
  }
  return join(all, ", ");
}

// False when tp was reported.
bool check_tensor_split(TomlTable& table, const ModelArchitecture& model, const Parallelism& p) {
  if (model.heads > 0 && model.heads % p.tp != 0) {
    table.error("tp", "indivisible",
                fmt::format("expected a tp that divides the {} heads of {}, found {}", model.heads, model.id, p.tp),
                fmt::format("one of {}", divisors(model.heads)));
    return false;
  }
  if (!model.is_mla() && model.kv_heads > 0 && p.tp > model.kv_heads && p.tp % model.kv_heads != 0) {
    table.error("tp", "indivisible",
                fmt::format("expected tp and the {} key-value heads of {} to divide one another, found {}",
                            model.kv_heads, model.id, p.tp));
    return false;
  }
  return true;
}

void check_model_split(TomlTable& table, const ModelArchitecture& model, const Parallelism& p) {
  if (static_cast<long long>(p.pp) * p.vpp > model.layers && model.layers > 0) {
    table.error(p.pp > model.layers ? "pp" : "vpp", "indivisible",
                fmt::format("expected at most one stage for each of the {} layers of {}, found pp {} times vpp {}",
                            model.layers, model.id, p.pp, p.vpp));
  }
  if (p.ep > 1 && !model.is_moe()) {
    table.error("ep", "indivisible", fmt::format("expected ep = 1, {} has no experts", model.id));
  } else if (p.ep > 1 && model.experts % p.ep != 0) {
    table.error(
        "ep", "indivisible",
        fmt::format("expected an ep that divides the {} experts of {}, found {}", model.experts, model.id, p.ep));
  }
}

void check_options(TomlTable& table, const Job& job, const Parallelism& p) {
  if (p.vpp > 1 && p.pp == 1) {
    table.error("vpp", "conflicting-keys",
                fmt::format("expected vpp = 1 without a pipeline (pp = 1), found {}", p.vpp));
  }
  if (p.schedule == PipelineSchedule::kInterleaved && p.vpp == 1) {
    table.error("schedule", "conflicting-keys", "expected vpp above 1 for the interleaved schedule");
  }
  if (p.recompute_layers > 0 && p.recompute != Recompute::kFull) {
    table.error("recompute_layers", "conflicting-keys", "expected recompute = \"full\" beside recompute_layers");
  }
  if (p.sequence_parallel && p.tp == 1) {
    table.error("sequence_parallel", "conflicting-keys", "expected tp above 1, sequence parallel splits over it");
  }
  if (p.cp > 1 && job.sequence_length % p.cp != 0) {
    table.error(
        "cp", "indivisible",
        fmt::format("expected a cp that divides the sequence of {} tokens, found {}", job.sequence_length, p.cp));
  }
}

// GPUs of the split and of the search: one completes the other. False when they do not agree.
bool settle_size(TomlTable& table, Job& job, Parallelism& p) {
  const long long without_dp = static_cast<long long>(p.tp) * p.pp * p.cp;
  std::vector<int>& sizes = job.search.gpus;
  if (!table.has("dp") && sizes.size() > 1) {
    table.error("dp", "missing-key", "expected dp: [search] names several sizes", "add dp, or name one size");
    return false;
  }
  if (!table.has("dp") && sizes.size() == 1) {
    if (sizes[0] % without_dp != 0) {
      table.error("tp", "indivisible",
                  fmt::format("expected tp times pp times cp to divide {} GPUs, found {}", sizes[0], without_dp));
      return false;
    }
    p.dp = static_cast<int>(sizes[0] / without_dp);
  }
  const long long all = without_dp * p.dp;
  if (all > kMostGpus) {
    table.error("dp", "out-of-range", fmt::format("expected at most {} GPUs, found {}", kMostGpus, all));
    return false;
  }
  if (sizes.empty()) sizes.push_back(static_cast<int>(all));
  if (std::find(sizes.begin(), sizes.end(), static_cast<int>(all)) != sizes.end()) return true;
  table.error("dp", "conflicting-keys",
              fmt::format("expected tp times pp times cp times dp to be a size of [search] gpus, found {}", all),
              "leave dp out: it is then what is left of the size");
  return false;
}

void check_batch(TomlTable& table, const Job& job, const Parallelism& p) {
  const long long per_round = static_cast<long long>(p.dp) * p.micro_batch;
  if (job.global_batch > 0 && job.global_batch % per_round != 0) {
    const int per_rank = job.global_batch / p.dp;
    table.error(
        table.has("micro_batch") ? "micro_batch" : "dp", "indivisible",
        fmt::format("expected dp times micro_batch to divide the batch of {} sequences, found {} times {}",
                    job.global_batch, p.dp, p.micro_batch),
        job.global_batch % p.dp == 0
            ? fmt::format("each of the {} ranks has {} sequences of a step: {}", p.dp, per_rank, divisors(per_rank))
            : fmt::format("{} ranks cannot share {} sequences evenly", p.dp, job.global_batch));
  }
  const long long data_group = static_cast<long long>(p.dp) * p.cp * p.tp;
  if (p.ep > 1 && data_group % p.ep != 0) {
    table.error("ep", "indivisible",
                fmt::format("expected an ep that divides tp times cp times dp = {}, found {}", data_group, p.ep));
  }
}

}  // namespace

void read_parallelism(TomlTable& table, Job& job) {
  Parallelism p = read_keys(table);
  const bool tp_fits = check_tensor_split(table, job.model, p);
  check_model_split(table, job.model, p);
  check_options(table, job, p);
  if (tp_fits && settle_size(table, job, p)) check_batch(table, job, p);
  job.parallelism = p;
}

}  // namespace tare
