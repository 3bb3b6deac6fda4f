// What these outputs do not say: counted twice, shown as N/A, cut off.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "audit/gpu_seen.h"
#include "audit/slurm_rules.h"
#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"

#include <fmt/format.h>

namespace tare {
namespace {

bool repeats_type(std::string_view tres) { return contains(tres, "gres/gpu:") && contains(tres, "gres/gpu="); }

Finding about_file(const Rule& rule, FindingSeverity severity, const Seen& seen, std::string title, std::int64_t line,
                   std::string text) {
  Finding finding = make_finding(rule, severity, subject_of_output(seen, "file", seen.file->path), std::move(title));
  finding.evidence.push_back(evidence_of(seen, line, std::move(text)));
  return finding;
}

void count_once(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const FactRecord* typed = nullptr;
    const FactRecord* step = nullptr;
    for (const FactRecord* const job : records_of(*seen.facts, "jobs")) {
      if (typed == nullptr && repeats_type(job->text("alloc_tres"))) typed = job;
    }
    for (const FactRecord* const one : records_of(*seen.facts, "steps")) {
      if (step == nullptr && one->number("gpus").value_or(0) > 0) step = one;
    }
    if (records_of(*seen.facts, "jobs").empty()) step = nullptr;
    if (typed == nullptr && step == nullptr) continue;
    const FactRecord& shown = typed != nullptr ? *typed : *step;
    Finding finding = about_file(rule, FindingSeverity::kInfo, seen,
                                 "a job's GPUs stand here more than once: count its allocation row, gres/gpu alone",
                                 line_of(shown, "alloc_tres"), std::string(shown.text("alloc_tres")));
    finding.cause =
        "gres/gpu:TYPE repeats what gres/gpu counts, and the rows .batch, .extern and of steps repeat their "
        "job's allocation: a sum over all of them is several times too high.";
    findings.push_back(std::move(finding));
  }
}

void gres_hidden(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const job : records_of(*seen.facts, "jobs")) {
      const Fact* const shown = job->find("tres_per_node");
      if (shown == nullptr || !shown->is_unknown() || job->has("gpus") || job->has("alloc_tres") ||
          job->has("req_tres") || seen.format->name == "slurm json")
        continue;
      Finding finding = about_file(rule, FindingSeverity::kInfo, seen,
                                   "N/A under %b (TRES_PER_NODE) does not mean a job without GPUs",
                                   line_of(*job, "tres_per_node"), "tres_per_node: N/A");
      finding.cause =
          "The column holds what was asked by --gres alone; jobs that asked by --gpus or --gpus-per-task show "
          "N/A there. squeue -O tres-alloc tells what they have.";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

void nodes_repeat(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::unordered_map<std::string, std::set<std::string_view>> partitions;
    const FactRecord* again = nullptr;
    for (const FactRecord* const row : records_of(*seen.facts, "groups")) {
      if (says_no_host(row->text("node_list")) || row->text("partition").empty()) continue;
      for (const std::string& host : expand_range(row->text("node_list"), 20'000)) {
        std::set<std::string_view>& of = partitions[host];
        of.insert(row->text("partition"));
        if (of.size() > 1 && again == nullptr) again = row;
      }
    }
    if (again == nullptr) continue;
    const auto several =
        std::count_if(partitions.begin(), partitions.end(), [](const auto& one) { return one.second.size() > 1; });
    Finding finding = about_file(
        rule, FindingSeverity::kInfo, seen,
        fmt::format("{} of {} nodes stand under several partitions: count each once", several, partitions.size()),
        again->line, fmt::format("{} again under {}", again->text("node_list"), again->text("partition")));
    finding.cause = "sinfo prints a node under every partition that holds it; a sum over its rows counts it as often.";
    findings.push_back(std::move(finding));
  }
}

void other_gres(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::set<std::string> names;
    const FactRecord* first = nullptr;
    for (const char* const list : {"groups", "nodes", "gres_lines"}) {
      for (const FactRecord* const row : records_of(*seen.facts, list)) {
        const std::string text(row->text("gres"));
        for (const SlurmResource& one : parse_gres(text)) {
          if (one.name.empty() || one.name == "gpu" || one.name == "craynetwork") continue;
          names.insert(std::string(one.name));
          if (first == nullptr) first = row;
        }
      }
    }
    if (first == nullptr) continue;
    const std::vector<std::string> all(names.begin(), names.end());
    Finding finding = about_file(rule, FindingSeverity::kInfo, seen,
                                 fmt::format("of the Gres only gpu counts GPUs: {} does not", list_names(all)),
                                 line_of(*first, "gres"), std::string(first->text("gres")));
    finding.cause =
        "Gres names any resource: tmp is scratch space (tmp:500G is a size), shard and mps are shares of a "
        "GPU that is counted under gpu. Only gpu counts GPUs.";
    findings.push_back(std::move(finding));
  }
}

void input_cut(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    if (!is_false(*seen.facts, "complete")) continue;
    const std::string fault(seen.facts->text("fault"));
    Finding finding = about_file(rule, FindingSeverity::kLow, seen, "the JSON is cut off: " + fault,
                                 line_of(*seen.facts, "fault"), fault);
    finding.cause =
        "What stands behind the cut is missing, so jobs, nodes and sums are lower bounds, and the last record "
        "may lack members.";
    finding.fix = {"take it again: sacct --json > FILE, and look at the exit status",
                   "pagers, log limits and web forms cut long output: copy the file, not the screen"};
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::span<const Rule> slurm_reading_rules() {
  static const std::vector<Rule> rules = {
      {"slurm.count-once", "GPUs of a job stand there several times", "sums are several times too high",
       "slurm-mail#142", count_once},
      {"slurm.gres-hidden", "squeue's %b shows N/A for jobs with GPUs", "GPU jobs are counted as CPU jobs",
       "slurm_exporter#35", gres_hidden},
      {"slurm.nodes-repeat", "Nodes stand under several partitions", "sums count them several times",
       "slurm.schedmd.com/sinfo.html", nodes_repeat},
      {"slurm.other-gres", "Gres that are no GPUs", "scratch space is taken for hundreds of GPUs",
       "slurm.schedmd.com/gres.html", other_gres},
      {"slurm.input-cut", "The JSON is cut off", "sums are lower bounds", "slurm.schedmd.com/sacct.html", input_cut},
  };
  return rules;
}

}  // namespace tare
