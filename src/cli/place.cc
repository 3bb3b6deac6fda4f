// tare place: which nodes, which GPU for every rank, what that is worth.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/place_view.h"
#include "place/placement_json.h"
#include "workload/job_json.h"

namespace tare {
namespace {

constexpr std::size_t kMostNames = 100'000;

// Node names of a cluster, for lists that people give.
class NodeNames {
 public:
  explicit NodeNames(const Cluster& cluster) : cluster_(cluster) {
    for (std::size_t i = 0; i < cluster.nodes.size(); ++i) index_.emplace(cluster.nodes[i].name, static_cast<int>(i));
  }

  // The nodes of every value of a flag, each with the GPUs behind its colon, or all of its own.
  Result<std::vector<BusyNode>> read(const Arguments& arguments, const std::string& flag) const {
    std::vector<BusyNode> found;
    for (const std::string& value : arguments.texts(flag)) {
      Result<std::string> list = value.starts_with('@') ? read_file(value.substr(1)) : Result<std::string>(value);
      if (!list) return tl::unexpected(list.error());
      if (flag == "unhealthy" && trim(*list).starts_with('{')) {
        if (Result<void> added = add_findings(value, *list, found); !added) return tl::unexpected(added.error());
        continue;
      }
      for (const std::string& item : items_of(*list)) {
        if (Result<void> added = add(flag, item, found); !added) return tl::unexpected(added.error());
      }
    }
    return found;
  }

 private:
  // The nodes that an audit's severe findings are about: their parts, not jobs that ran on them. Others are not ours.
  Result<void> add_findings(const std::string& file, const std::string& text, std::vector<BusyNode>& found) const {
    const Json audit = Json::parse(text, nullptr, false);
    if (audit.is_discarded() || !audit.is_object() || !audit.contains("findings") || !audit["findings"].is_array()) {
      return fail("bad-value",
                  fmt::format("--unhealthy: {} is no answer of 'tare audit --output json'", in_quotes(file)));
    }
    const auto text_of = [](const Json& object, const char* key) {
      const bool has = object.is_object() && object.contains(key) && object[key].is_string();
      return has ? object[key].get<std::string>() : std::string();
    };
    for (const Json& finding : audit["findings"]) {
      if (text_of(finding, "severity") != "high" || !finding.contains("subject")) continue;
      const Json& subject = finding["subject"];
      const std::string kind = text_of(subject, "kind");
      const auto node = index_.find(text_of(subject, kind == "node" && !subject.contains("node") ? "name" : "node"));
      if (kind != "job" && node != index_.end()) found.push_back({node->second, 0});
    }
    return {};
  }

  // Split at commas and white space, but not inside brackets.
  static std::vector<std::string> items_of(const std::string& list) {
    std::vector<std::string> items(1);
    int depth = 0;
    for (const char c : list) {
      if (c == '[') ++depth;
      if (c == ']') --depth;
      const bool ends = depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r');
      if (!ends) {
        items.back() += c;
      } else if (!items.back().empty()) {
        items.emplace_back();
      }
    }
    if (items.back().empty()) items.pop_back();
    return items;
  }

  Result<void> add(const std::string& flag, const std::string& item, std::vector<BusyNode>& found) const {
    const std::size_t colon = item.find(':');
    int gpus = -1;
    if (colon != std::string::npos) {
      const std::string count = item.substr(colon + 1);
      const bool digits = !count.empty() && count.size() < 4 &&
                          std::all_of(count.begin(), count.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!digits || flag != "busy") {
        return fail("bad-value", fmt::format("--{}: expected NODE{}, found {}", flag,
                                             flag == "busy" ? " or NODE:GPUS" : "", in_quotes(item)));
      }
      gpus = std::stoi(count);
    }
    const std::vector<std::string> names = expand_range(item.substr(0, colon), kMostNames);
    if (names.empty()) {
      return fail("bad-range", fmt::format("--{}: expected names or ranges of nodes, found {}", flag, in_quotes(item)),
                  "such as 'n[1-8],m3'");
    }
    for (const std::string& name : names) {
      const auto node = index_.find(name);
      if (node == index_.end()) return fail(unknown(flag, name));
      const ClusterNode& known = cluster_.nodes[static_cast<std::size_t>(node->second)];
      const int all = cluster_.node_types[static_cast<std::size_t>(known.type)].type.gpus;
      found.push_back({node->second, gpus < 0 ? all : gpus});
    }
    return {};
  }

  Diagnostic unknown(const std::string& flag, const std::string& name) const {
    return make_error("unknown-node", fmt::format("--{}: the cluster has no node {}", flag, in_quotes(name)),
                      cluster_.nodes.empty() ? ""
                                             : fmt::format("its {} nodes are \"{}\" to \"{}\"", cluster_.nodes.size(),
                                                           cluster_.nodes.front().name, cluster_.nodes.back().name));
  }

  const Cluster& cluster_;
  std::unordered_map<std::string, int> index_;
};

Result<void> read_lists(const Arguments& arguments, const Cluster& cluster, PlaceRequest& request) {
  const NodeNames names(cluster);
  Result<std::vector<BusyNode>> busy = names.read(arguments, "busy");
  if (!busy) return tl::unexpected(busy.error());
  request.busy = std::move(*busy);
  const std::pair<const char*, std::vector<int>*> lists[] = {
      {"forbid", &request.forbidden}, {"unhealthy", &request.unhealthy}, {"prefer", &request.preferred}};
  for (const auto& [flag, nodes] : lists) {
    const Result<std::vector<BusyNode>> listed = names.read(arguments, flag);
    if (!listed) return tl::unexpected(listed.error());
    for (const BusyNode& node : *listed) nodes->push_back(node.node);
  }
  return {};
}

Json with_job(const Job& job, const Json& answer) {
  Json json = {{"format_version", "1.0"}, {"job", to_json(job)}};
  json.update(answer);
  return json;
}

Result<ExitCode> say_no(Context& context, const CannotFit& why, const PlaceRequest& request, const Cluster& cluster,
                        Diagnostics warnings) {
  const Job& job = request.plan.job;
  Answer answer;
  answer.warnings = std::move(warnings);
  answer.document = [&] { return cannot_fit_document(why, job, cluster, request.gpus); };
  answer.table = [&] { return reasons_table(why); };
  answer.json = [&] { return with_job(job, to_json(why)); };
  answer.svg = [&] { return place_svg(nullptr, cluster, request); };
  if (const Result<void> written = write_answer(context, answer); !written) return tl::unexpected(written.error());
  return ExitCode::kNo;
}

Result<ExitCode> show(Context& context, const JobPlacement& placement, const PlaceRequest& request,
                      const Cluster& cluster, Diagnostics warnings) {
  if (const std::string what = context.arguments.text("emit"); !what.empty()) {
    context.console.out += emitted(what, placement, cluster);
    return ExitCode::kYes;
  }
  const Job& job = request.plan.job;
  Answer answer;
  answer.warnings = std::move(warnings);
  answer.document = [&] { return place_document(placement, job, cluster); };
  answer.table = [&] { return ranks_table(placement, cluster); };
  answer.json = [&] { return with_job(job, to_json(placement, cluster)); };
  answer.svg = [&] { return place_svg(&placement, cluster, request); };
  if (const Result<void> written = write_answer(context, answer); !written) return tl::unexpected(written.error());
  return ExitCode::kYes;
}

}  // namespace

Result<ExitCode> run_place(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  Result<PlanRequest> plan = read_request(arguments, *catalog);
  if (!plan) return tl::unexpected(plan.error());
  const Result<std::vector<Choice>> choices = read_choices(arguments, *plan, *catalog);
  if (!choices) return tl::unexpected(choices.error());
  const Choice& choice = choices->front();
  Diagnostics warnings = warnings_of(*plan, *choices);

  PlaceRequest request;
  request.plan = std::move(*plan);
  request.plan.draws = 0;
  request.gpus = choice.gpus;
  if (const Result<void> read = read_lists(arguments, choice.cluster, request); !read) {
    return tl::unexpected(read.error());
  }
  const Result<PlaceOutcome> outcome = place_job(request, *catalog, choice.cluster);
  if (!outcome) return tl::unexpected(outcome.error());
  if (const auto* why = std::get_if<CannotFit>(&*outcome)) {
    return say_no(context, *why, request, choice.cluster, std::move(warnings));
  }
  return show(context, std::get<JobPlacement>(*outcome), request, choice.cluster, std::move(warnings));
}

}  // namespace tare
