#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "workload/checkpoint_text.h"

namespace tare {
namespace {

constexpr double kDayS = 86400;
constexpr int kDefaultGpus = 64;
constexpr std::size_t kMostListed = 8;  // offers named in an error

void append(Diagnostics& all, const Diagnostics& more) { all.insert(all.end(), more.begin(), more.end()); }

Result<Job> read_job(const std::string& file, const Catalog& catalog) {
  Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  return parse_job(std::move(*text), file, catalog);
}

Result<std::vector<Cluster>> read_clusters(const std::vector<std::string>& files, const Catalog& catalog) {
  std::vector<Cluster> clusters;
  Diagnostics errors;
  for (const std::string& file : files) {
    Result<std::string> text = read_file(file);
    if (!text) {
      append(errors, text.error());
      continue;
    }
    Result<Cluster> cluster = parse_cluster(std::move(*text), file, catalog);
    if (cluster) {
      clusters.push_back(std::move(*cluster));
    } else {
      append(errors, cluster.error());
    }
  }
  if (!errors.empty()) return tl::unexpected(errors);
  return clusters;
}

std::vector<Recompute> recompute_words(const Arguments& arguments) {
  std::vector<Recompute> kinds;
  for (const std::string& word : arguments.words("recompute")) {
    for (const Recompute kind : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      if (word == name_of(kind)) kinds.push_back(kind);
    }
  }
  return kinds;
}

SpaceLimits read_limits(const Arguments& arguments) {
  SpaceLimits limits;
  limits.tp = arguments.integers("tp");
  limits.pp = arguments.integers("pp");
  limits.vpp = arguments.integers("vpp");
  limits.cp = arguments.integers("cp");
  limits.ep = arguments.integers("ep");
  limits.micro_batch = arguments.integers("micro-batch");
  limits.zero_stage = arguments.integers("zero");
  limits.recompute = recompute_words(arguments);
  return limits;
}

bool pins_anything(const SpaceLimits& limits) {
  return !limits.tp.empty() || !limits.pp.empty() || !limits.vpp.empty() || !limits.cp.empty() || !limits.ep.empty() ||
         !limits.micro_batch.empty() || !limits.zero_stage.empty() || !limits.recompute.empty();
}

std::optional<AssumedFabric> read_assumed_fabric(const Arguments& arguments) {
  const std::optional<double> bytes_per_s = arguments.quantity("assume-fabric");
  if (!bytes_per_s) return std::nullopt;
  return AssumedFabric{*bytes_per_s};
}

int thread_count(const Arguments& arguments) {
  const int asked = arguments.count("threads").value_or(0);
  if (asked > 0) return asked;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int gpus_of(const Cluster& cluster) {
  int gpus = 0;
  for (const ClusterNode& node : cluster.nodes) {
    gpus += cluster.node_types[static_cast<std::size_t>(node.type)].type.gpus;
  }
  return gpus;
}

// The size of a choice: what the flag or the job says, else 64; a cluster of one's own is at most used whole.
int size_of_choice(const Arguments& arguments, const Job& job, int most) {
  if (arguments.has("gpus")) return arguments.integers("gpus").front();
  const int wanted = job.search.gpus.empty() ? kDefaultGpus : job.search.gpus.front();
  return most > 0 ? std::min(wanted, most) : wanted;
}

Diagnostic several_offers(const std::string& pattern, const std::vector<const Offer*>& matching) {
  std::vector<std::string> names;
  for (const Offer* offer : matching) {
    if (names.size() == kMostListed) break;
    names.push_back(offer->id);
  }
  std::string list = join(names, ", ");
  if (matching.size() > kMostListed) list += fmt::format(" and {} more", matching.size() - kMostListed);
  return make_error("several-offers",
                    fmt::format("'{}' matches {} offers, and one is needed", pattern, matching.size()), list);
}

// The offer of that id, or the only one that a pattern matches.
Result<const Offer*> one_offer(const std::string& pattern, const Catalog& catalog) {
  if (const Offer* const offer = find_offer(catalog, pattern)) return offer;
  const std::vector<const Offer*> matching = match_offers(catalog, {pattern});
  if (matching.empty()) return fail(unknown_offer(catalog, pattern));
  if (matching.size() > 1) return fail(several_offers(pattern, matching));
  return matching.front();
}

Result<Choice> choice_of_offer(const std::string& pattern, const Arguments& arguments, const PlanRequest& request,
                               const Catalog& catalog) {
  const Result<const Offer*> found = one_offer(pattern, catalog);
  if (!found) return tl::unexpected(found.error());
  const Offer* const offer = *found;
  const int gpus = size_of_choice(arguments, request.job, 0);
  const int per_node = std::max(1, node_type_of(catalog, *offer).gpus);
  const int nodes = (gpus + per_node - 1) / per_node;
  Result<Cluster> cluster = cluster_from_offer(catalog, *offer, nodes, request.assume_fabric);
  if (!cluster) return tl::unexpected(cluster.error());
  return Choice{offer->id, std::move(*cluster), gpus};
}

Result<std::vector<CheckpointPolicy>> read_checkpoints(const Arguments& arguments, const CheckpointPolicy& own) {
  std::vector<CheckpointPolicy> policies;
  const std::string list = arguments.text("checkpoint-every");
  if (list.empty()) return policies;
  for (const std::string_view part : split(list, ',')) {
    Result<CheckpointPolicy> policy = parse_checkpoint_interval(part, own);
    if (!policy) {
      Diagnostic wrong = policy.error().front();
      wrong.text = "--checkpoint-every: " + wrong.text;
      return fail(std::move(wrong));
    }
    policies.push_back(*policy);
  }
  return policies;
}

Result<std::vector<double>> read_power_caps(const Arguments& arguments) {
  std::vector<double> caps;
  const std::string list = arguments.text("power-cap");
  if (list.empty()) return caps;
  for (const std::string_view part : split(list, ',')) {
    const std::optional<double> cap = ratio_of(trim(part));
    if (!cap || *cap <= 0) {
      return fail("bad-value", fmt::format("--power-cap: {} is no share of the rated power", in_quotes(part)),
                  "write it as 0.8 or 80%");
    }
    caps.push_back(*cap);
  }
  return caps;
}

bool names_cluster_file(const std::string& text) {
  std::error_code error;
  return text.ends_with(".toml") || text == "-" || std::filesystem::exists(text, error);
}

std::vector<int> without_repeats(const std::vector<int>& numbers) {
  std::vector<int> kept;
  for (const int number : numbers) {
    if (std::find(kept.begin(), kept.end(), number) == kept.end()) kept.push_back(number);
  }
  return kept;
}

Result<void> check_counts(const Arguments& arguments) {
  const std::size_t given =
      arguments.texts("offer").size() + arguments.texts("on").size() + arguments.texts("cluster").size();
  if (arguments.integers("gpus").size() > 1) {
    return fail("bad-value", "--gpus: one size is needed here", "'tare plan' tries several sizes");
  }
  if (arguments.verb == Verb::kEstimate && given != 1) {
    return fail("missing-choice", given == 0 ? "nothing to estimate on" : "more than one thing to estimate on",
                "give one --on CLUSTER.toml or --on OFFER");
  }
  const bool one_is_enough = arguments.verb == Verb::kCompare && arguments.is_on("deliveries") && given == 1;
  if (arguments.verb == Verb::kCompare && given < 2 && !one_is_enough) {
    return fail("missing-choice", "at least two choices are needed to compare",
                "give --on CLUSTER.toml or --on OFFER as often as there are choices");
  }
  if (arguments.verb == Verb::kBill && given < 1) {
    return fail("missing-choice", "nothing to bill", "give --on CLUSTER.toml or --on OFFER");
  }
  if (arguments.verb == Verb::kPlace && given != 1) {
    return fail("missing-choice", given == 0 ? "nothing to place on" : "more than one cluster to place on",
                "give one --cluster CLUSTER.toml");
  }
  return {};
}

}  // namespace

Result<Catalog> read_catalog(const Arguments& arguments) { return load_catalog(arguments.text("catalog")); }

Date as_of(const Arguments& arguments) { return arguments.date("as-of").value_or(today()); }

namespace {

// What is audited are the operands: there the job is a flag.
std::string job_file(const Arguments& arguments) {
  return arguments.verb == Verb::kAudit ? arguments.text("job") : arguments.operands.front();
}

}  // namespace

Result<PlanRequest> read_request(const Arguments& arguments, const Catalog& catalog) {
  PlanRequest request;
  Diagnostics errors;
  Result<Job> job = read_job(job_file(arguments), catalog);
  if (!job) append(errors, job.error());
  if (arguments.verb == Verb::kPlan) {
    Result<std::vector<Cluster>> clusters = read_clusters(arguments.texts("on"), catalog);
    if (clusters) {
      request.clusters = std::move(*clusters);
    } else {
      append(errors, clusters.error());
    }
  }
  if (!errors.empty()) return tl::unexpected(errors);

  request.job = std::move(*job);
  Result<std::vector<CheckpointPolicy>> checkpoints = read_checkpoints(arguments, request.job.checkpoint);
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  request.checkpoints = std::move(*checkpoints);
  Result<std::vector<double>> caps = read_power_caps(arguments);
  if (!caps) return tl::unexpected(caps.error());
  request.power_caps = std::move(*caps);
  if (arguments.has("gpus")) request.job.search.gpus = without_repeats(arguments.integers("gpus"));
  const bool searches_job = arguments.verb == Verb::kPlan && !arguments.has("offers");
  if (!searches_job) {  // what the job would have searched does not matter
    std::erase_if(request.job.warnings, [](const Diagnostic& warning) { return warning.rule == "no-offer"; });
  }
  if (arguments.verb == Verb::kPlan && arguments.has("offers")) request.job.search.offers = arguments.texts("offers");
  request.as_of = as_of(arguments);
  if (const std::optional<double> age_s = arguments.quantity("max-price-age")) {
    request.max_price_age_days = static_cast<int>(std::floor(std::min(*age_s / kDayS, 1e6)));
  }
  request.assume_fabric = read_assumed_fabric(arguments);
  request.include_suspect = arguments.is_on("include-suspect");
  request.space = read_limits(arguments);
  if (pins_anything(request.space)) request.job.parallelism.reset();  // the flags say what is searched instead
  request.threads = thread_count(arguments);
  request.objective = arguments.text("objective");
  request.draws = arguments.count("draws").value_or(request.draws);
  request.seed = arguments.seed();
  request.confidence = arguments.ratio("confidence");
  return request;
}

Result<std::vector<Choice>> read_choices(const Arguments& arguments, const PlanRequest& request,
                                         const Catalog& catalog) {
  if (Result<void> counts = check_counts(arguments); !counts) return tl::unexpected(counts.error());
  std::vector<Choice> choices;
  Diagnostics errors;
  const auto add_offer = [&](const std::string& pattern) {
    Result<Choice> choice = choice_of_offer(pattern, arguments, request, catalog);
    if (choice) {
      choices.push_back(std::move(*choice));
    } else {
      append(errors, choice.error());
    }
  };
  const auto add_cluster = [&](const std::string& file) {
    Result<std::vector<Cluster>> clusters = read_clusters({file}, catalog);
    if (!clusters) return append(errors, clusters.error());
    Cluster& cluster = clusters->front();
    const int gpus = size_of_choice(arguments, request.job, gpus_of(cluster));
    const std::string name = cluster.name;
    choices.push_back({name, std::move(cluster), gpus});
  };
  for (const std::string& pattern : arguments.texts("offer")) add_offer(pattern);
  for (const std::string& file : arguments.texts("cluster")) add_cluster(file);
  for (const std::string& value : arguments.texts("on")) {
    if (names_cluster_file(value)) {
      add_cluster(value);
    } else {
      add_offer(value);
    }
  }
  if (!errors.empty()) return tl::unexpected(errors);
  return choices;
}

Result<PricedNodes> read_priced_nodes(const std::string& on, const Catalog& catalog) {
  if (!names_cluster_file(on)) {
    const Result<const Offer*> offer = one_offer(on, catalog);
    if (!offer) return tl::unexpected(offer.error());
    return PricedNodes{**offer, node_type_of(catalog, **offer)};
  }
  Result<std::vector<Cluster>> clusters = read_clusters({on}, catalog);
  if (!clusters) return tl::unexpected(clusters.error());
  const Cluster& cluster = clusters->front();
  return PricedNodes{cluster.offer.value_or(Offer{}),
                     cluster.node_types.empty() ? NodeType{} : cluster.node_types.front().type};
}

Diagnostics warnings_of(const PlanRequest& request) {
  Diagnostics warnings = request.job.warnings;
  for (const Cluster& cluster : request.clusters) append(warnings, cluster.warnings);
  return warnings;
}

Diagnostics warnings_of(const PlanRequest& request, const std::vector<Choice>& choices) {
  Diagnostics warnings = warnings_of(request);
  for (const Choice& choice : choices) append(warnings, choice.cluster.warnings);
  return warnings;
}

}  // namespace tare
