// parse_job: the TOML of docs/job-file.md -> Job.
#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "base/toml_checks.h"
#include "workload/architecture_file.h"
#include "workload/checkpoint_text.h"
#include "workload/job.h"
#include "workload/parallelism_file.h"

namespace tare {
namespace {

constexpr double kMostTokens = 1e17;
constexpr int kMostGpus = 1'000'000;
constexpr int kMostSizes = 1000;
// A pattern is tried on every offer.
constexpr std::size_t kMostGlobs = 500;
constexpr std::size_t kLongestGlob = 200;
constexpr int kMostCount = std::numeric_limits<int>::max();
constexpr int kLongestSequence = 100'000'000;

// Reads [job] and its tables; keys that stand for a default are noted in job.assumed.
class JobReader {
 public:
  JobReader(TomlTable root, const Catalog& catalog, Job& job) : root_(std::move(root)), catalog_(catalog), job_(job) {}

  void read() {
    read_version();
    auto table = root_.table("job");
    if (!table && !root_.has("job")) {
      root_.error("job", "missing-key", "missing table [job]", "add [job] with model, tokens, …");
    }
    if (auto search = root_.table("search")) read_search(*search);
    if (table) read_job(*table);
    if (auto parallelism = root_.table("parallelism")) read_parallelism(*parallelism, job_);
    if (job_.search.gpus.empty()) job_.assumed.emplace_back("search.gpus");
  }

 private:
  void read_job(TomlTable& table) {
    read_model(table);
    read_training(table);
    read_limits(table);
    if (auto require = table.table("require")) read_require(*require);
    if (auto data = table.table("data")) read_data(*data);
    if (auto checkpoint = table.table("checkpoint")) {
      read_checkpoint(*checkpoint);
    } else if (!table.has("checkpoint")) {
      job_.assumed.emplace_back("job.checkpoint");
    }
    read_lora(table);
    check(table);
  }

  void read_version() {
    const auto version = root_.string("format_version");
    if (version && *version != "1" && !version->starts_with("1.")) {
      root_.error("format_version", "unsupported-version",
                  fmt::format("expected format_version \"1.0\", found {}", in_quotes(*version)));
    }
  }

  void read_model(TomlTable& table) {
    job_.name = table.string("name").value_or("");
    const auto id = table.string("model");
    auto architecture = table.table("architecture");
    if (table.has("model") && table.has("architecture")) {
      table.error("model", "conflicting-keys", "expected model or [job.architecture], found both");
    }
    if (architecture) {
      job_.model = read_architecture(*architecture);
    } else if (id) {
      const ModelArchitecture* model = find_model(catalog_, *id);
      if (model != nullptr) {
        job_.model = *model;
      } else {
        report(table, "model", unknown_model(catalog_, *id));
      }
    } else if (!table.has("model") && !table.has("architecture")) {
      table.error("model", "missing-key", "missing key 'model' in [job]",
                  "add model = \"llama-2-13b\" (`tare catalog models` lists them), or a [job.architecture] table");
    }
    if (job_.name.empty()) job_.name = job_.model.name;
  }

  void read_training(TomlTable& table) {
    job_.method =
        parse_method(word(table, "method", {"pretrain", "full", "lora", "qlora"}, "pretrain")).value_or(job_.method);
    if (!table.has("tokens")) table.require_number("tokens");
    job_.tokens = read_positive(table, "tokens").value_or(0);
    if (job_.tokens > 0 && job_.tokens < 1) {
      table.error("tokens", "out-of-range", fmt::format("expected at least 1 token, found {:g}", job_.tokens));
    }
    if (job_.tokens > kMostTokens) {
      table.error("tokens", "out-of-range",
                  fmt::format("expected at most {:g} tokens, found {:g}", kMostTokens, job_.tokens));
    }
    if (!table.has("sequence_length")) table.require_integer("sequence_length");
    job_.sequence_length = read_int(table, "sequence_length", 1, kLongestSequence).value_or(0);
    if (!table.has("global_batch")) table.require_integer("global_batch");
    job_.global_batch = read_int(table, "global_batch", 1, kMostCount).value_or(0);
    job_.precision = parse_precision(word(table, "precision", precision_names(), "bf16")).value_or(job_.precision);
    job_.optimizer = word(table, "optimizer", {"adam", "sgd", "adam_8bit"}, job_.optimizer);
    job_.attention = parse_attention_kernel(
                         word(table, "attention", {"default", "standard", "flash1", "flash2", "flash3"}, "default"))
                         .value_or(job_.attention);
    if (const auto stack = table.string("stack")) {
      job_.stack = *stack;
      if (find_stack(catalog_, *stack) == nullptr) report(table, "stack", unknown_stack(catalog_, *stack));
    } else {
      job_.assumed.emplace_back("job.stack");
    }
  }

  void read_limits(TomlTable& table) {
    job_.deadline_s = read_positive(table, "deadline", Dimension::kDuration);
    job_.budget_usd = read_positive(table, "budget", Dimension::kMoney);
  }

  void read_require(TomlTable& table) {
    job_.require.tenancy = table.one_of("tenancy", {"any", "dedicated"}).value_or(job_.require.tenancy);
    job_.require.host = table.one_of("host", {"any", "bare_metal", "vm"}).value_or(job_.require.host);
    job_.require.regions = table.strings("regions").value_or(job_.require.regions);
    job_.require.certifications = table.strings("certifications").value_or(job_.require.certifications);
  }

  void read_data(TomlTable& table) {
    job_.data.bytes = read_positive(table, "bytes", Dimension::kBytes);
    job_.data.shards = read_int(table, "shards", 1, kMostCount);
    if (!table.has("at")) return;
    job_.data.at = to_lower(table.string("at").value_or(""));
    const std::size_t slash = job_.data.at.find('/');
    if (slash == 0 || slash == std::string::npos || slash + 1 == job_.data.at.size()) {
      table.error("at", "not-a-place", fmt::format("expected PROVIDER/REGION, found {}", in_quotes(job_.data.at)),
                  "as in \"aws/us-east-1\"");
    }
  }

  void read_checkpoint(TomlTable& table) {
    if (table.has("every")) {
      read_interval(table);
    } else {
      job_.assumed.emplace_back("job.checkpoint.every");
    }
    const auto mode = table.one_of("mode", {"async", "sync"});
    if (mode) job_.checkpoint.async = *mode == "async";
    if (!table.has("mode")) job_.assumed.emplace_back("job.checkpoint.mode");
    if (const auto store = table.one_of("store", {"shared", "local", "memory"})) {
      job_.checkpoint.store = parse_checkpoint_store(*store).value_or(job_.checkpoint.store);
    }
  }

  // "auto", "200 steps" or a duration.
  void read_interval(TomlTable& table) {
    const auto text = table.string("every");
    if (!text) return;
    const Result<CheckpointPolicy> policy = parse_checkpoint_interval(*text, job_.checkpoint);
    if (policy) {
      job_.checkpoint = *policy;
      return;
    }
    const Diagnostic& wrong = policy.error().front();
    table.error("every", wrong.rule, wrong.text, wrong.help);
  }

  void read_lora(TomlTable& table) {
    const bool is_lora = job_.method == Method::kLora || job_.method == Method::kQlora;
    auto lora = table.table("lora");
    if (!lora) {
      if (is_lora) job_.assumed.emplace_back("job.lora");
      return;
    }
    if (!is_lora) {
      table.error(
          "lora", "conflicting-keys",
          fmt::format("expected method \"lora\" or \"qlora\" beside [job.lora], found \"{}\"", name_of(job_.method)),
          "leave [job.lora] out: all weights are trained");
    }
    job_.lora.rank = read_int(*lora, "rank", 1, 65536).value_or(job_.lora.rank);
    job_.lora.embeddings = lora->boolean("embeddings").value_or(job_.lora.embeddings);
    const auto targets = lora->strings("targets");
    if (!targets) return;
    Lora& l = job_.lora;
    const std::pair<std::string_view, bool*> projections[] = {
        {"query", &l.query}, {"key", &l.key}, {"value", &l.value}, {"output", &l.output}, {"mlp", &l.mlp}};
    for (const auto& [name, is_target] : projections) *is_target = false;
    for (const std::string& target : *targets) {
      bool known = false;
      for (const auto& [name, is_target] : projections) {
        if (name != target) continue;
        *is_target = known = true;
      }
      if (!known) {
        lora->error("targets", "unknown-value", fmt::format("unknown projection {}", in_quotes(target)),
                    "known ones: query, key, value, output, mlp");
      }
    }
    if (targets->empty()) lora->error("targets", "unknown-value", "expected at least one projection, found none");
  }

  void read_search(TomlTable& table) {
    if (const auto sizes = table.integers("gpus")) {
      if (sizes->empty() || sizes->size() > kMostSizes) {
        table.error("gpus", "out-of-range", fmt::format("expected 1 to {} sizes, found {}", kMostSizes, sizes->size()));
        return;
      }
      for (const long long size : *sizes) {
        if (size < 1 || size > kMostGpus) {
          table.error("gpus", size < 0 ? "negative-value" : "out-of-range",
                      fmt::format("expected sizes from 1 to {} GPUs, found {}", kMostGpus, size));
          return;
        }
        if (std::find(job_.search.gpus.begin(), job_.search.gpus.end(), static_cast<int>(size)) ==
            job_.search.gpus.end()) {
          job_.search.gpus.push_back(static_cast<int>(size));
        }
      }
    }
    job_.search.offers = table.strings("offers").value_or(job_.search.offers);
    const bool too_long = std::any_of(job_.search.offers.begin(), job_.search.offers.end(),
                                      [](const std::string& glob) { return glob.size() > kLongestGlob; });
    if (job_.search.offers.size() > kMostGlobs || too_long) {
      table.error("offers", "out-of-range",
                  fmt::format("expected at most {} patterns of at most {} bytes", kMostGlobs, kLongestGlob));
      return;
    }
    for (const std::string& glob : job_.search.offers) {
      if (!match_offers(catalog_, {glob}).empty()) continue;
      table.warning("offers", "no-offer", fmt::format("no offer matches {}", in_quotes(glob)),
                    unknown_offer(catalog_, glob).help);
    }
  }

  void check(TomlTable& table) {
    const int longest = job_.model.max_sequence_length;
    if (longest > 0 && job_.sequence_length > longest) {
      table.warning("sequence_length", "long-sequence",
                    fmt::format("sequences of {} tokens are longer than the {} that {} was made for",
                                job_.sequence_length, longest, job_.model.id));
    }
    if (job_.tokens > 0 && job_.tokens < tokens_per_step(job_)) {
      table.warning("tokens", "less-than-a-step",
                    fmt::format("{:g} tokens are less than one step of {:g}", job_.tokens, tokens_per_step(job_)));
    }
    const bool is_16_bit = job_.precision == Precision::kBf16 || job_.precision == Precision::kFp16;
    if (job_.method == Method::kQlora && !is_16_bit && table.has("precision")) {
      table.error("precision", "wrong-precision",
                  fmt::format("expected bf16 or fp16 with method \"qlora\", found {}", name_of(job_.precision)),
                  "its 4-bit weights are widened to 16 bits to compute");
    }
    if (job_.method == Method::kLora && job_.precision == Precision::kNvfp4) {
      table.error("precision", "wrong-precision", "expected 8 bits or more with method \"lora\", found nvfp4",
                  "method \"qlora\" keeps the base weights in 4 bits");
    }
  }

  // One of `words`; an absent key stands for `otherwise` and is noted.
  std::string word(TomlTable& table, std::string_view key, const std::vector<std::string>& words,
                   std::string_view otherwise) {
    if (!table.has(key)) job_.assumed.push_back(fmt::format("job.{}", key));
    return table.one_of(key, words).value_or(std::string(otherwise));
  }

  static void report(TomlTable& table, std::string_view key, Diagnostic diagnostic) {
    table.error(key, std::move(diagnostic.rule), std::move(diagnostic.text), std::move(diagnostic.help));
  }

  TomlTable root_;
  const Catalog& catalog_;
  Job& job_;
};

}  // namespace

Result<Job> parse_job(std::string text, const std::string& file, const Catalog& catalog) {
  const auto document = TomlDocument::parse(std::move(text), file);
  if (!document) return tl::unexpected(document.error());
  Job job;
  job.file = file;
  JobReader(document->root(), catalog, job).read();
  document->root().finish();
  if (has_error(document->diagnostics())) return tl::unexpected(document->diagnostics());
  job.warnings = document->diagnostics();
  return job;
}

}  // namespace tare
