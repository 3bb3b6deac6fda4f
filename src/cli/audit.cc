// tare audit: what is wrong, priced.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "audit/audit.h"
#include "audit/predicted_comm.h"
#include "audit/predicted_run.h"
#include "audit/run_rules.h"
#include "audit/sarif.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/audit_view.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/option_model.h"
#include "cli/output.h"
#include "cli/read_operands.h"
#include "ingest/prometheus_server.h"
#include "report/progress.h"

namespace tare {
namespace {

constexpr int kDay_s = 86400;
constexpr int kTimeout_s = 60;               // of one answer of Prometheus
constexpr std::size_t kRowBudget = 200'000;  // of series, over all files: about 200 MB

// The price of --on: of the cluster's own, or the offer's.
Result<AuditSetting> read_setting(const Arguments& arguments, const Catalog& catalog) {
  AuditSetting setting = default_setting(catalog);
  const std::vector<std::string> on = arguments.texts("on");
  if (on.empty()) return setting;
  if (on.size() > 1) return fail("bad-value", "--on: one cluster or offer is needed here", "give it once");
  const Result<PricedNodes> nodes = read_priced_nodes(on.front(), catalog);
  if (!nodes) return tl::unexpected(nodes.error());
  if (nodes->offer.price_usd_per_h && nodes->offer.gpus > 0) {
    setting.usd_per_gpu_h = price_usd_per_gpu_h(nodes->offer);
    setting.price_source = "offer " + nodes->offer.id;
  }
  if (nodes->node_type.gpus > 0) setting.gpus_per_node = nodes->node_type.gpus;
  if (const std::optional<double>& per_gpu = nodes->node_type.inter_node_bytes_per_s_per_gpu) {
    setting.node_network_bytes_per_s = *per_gpu * nodes->node_type.gpus;
  }
  return setting;
}

// The size and the configuration that the log states stand in for what the job leaves open.
void take_from_log(const FactRecord& log, PlanRequest& request) {
  const auto stated = [&](const char* name) -> std::vector<int> {
    const std::optional<double> value = log.number(name);
    if (!value || *value < 1 || *value > 1e6) return {};
    return {static_cast<int>(*value)};
  };
  if (const std::vector<int> gpus = stated("gpus"); !gpus.empty()) request.job.search.gpus = gpus;
  if (request.job.parallelism) return;
  request.space.tp = stated("tensor_parallel");
  request.space.pp = stated("pipeline_parallel");
  request.space.cp = stated("context_parallel");
  request.space.ep = stated("expert_parallel");
  request.space.micro_batch = stated("micro_batch");
}

// The job of --job on --on, at the log's configuration; the shares of its step that wait for communication.
Result<void> predict(const Arguments& arguments, const Catalog& catalog, const std::vector<FileFacts>& files,
                     AuditSetting& setting) {
  if (arguments.text("job").empty()) return {};
  if (arguments.texts("on").empty()) {
    return fail("missing-choice", "--job: nothing to predict it on", "give --on CLUSTER.toml or --on OFFER");
  }
  Result<PlanRequest> request = read_request(arguments, catalog);
  if (!request) return tl::unexpected(request.error());
  request->draws = 0;
  request->objective = "cost";
  if (const RunLog log = longest_log(files); log.facts != nullptr) take_from_log(*log.facts, *request);
  const Result<std::vector<Choice>> choices = read_choices(arguments, *request, catalog);
  if (!choices) return tl::unexpected(choices.error());
  const Choice& choice = choices->front();
  const Result<PlanOption> option = estimate(*request, catalog, choice.cluster, choice.gpus);
  if (!option) return tl::unexpected(option.error());
  setting.predicted = predicted_run(*option, request->job, choice.name);
  setting.predicted->usd_per_gpu_h = setting.usd_per_gpu_h;
  const CommShares shares = comm_shares(model_of(*option, choice.cluster, *request, catalog), option->parallelism);
  const std::string source = "predicted for " + request->job.name;
  setting.intra_node_comm_share = known_ratio("comm_share", shares.intra_node, source);
  setting.inter_node_comm_share = known_ratio("comm_share", shares.inter_node, source);
  return {};
}

// The answers of --prometheus as one more file; a server that does not answer is an error, not a file that is skipped.
Result<FileFacts> read_server(Context& context) {
  const Arguments& arguments = context.arguments;
  PrometheusWindow window;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  window.to_unix_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  // A day that is given counts to its end, as far as it has come.
  if (const std::optional<Date> day = arguments.date("as-of")) {
    window.to_unix_s = std::min<std::int64_t>(window.to_unix_s, (day->days + 1) * std::int64_t{kDay_s});
  }
  window.days = std::max(1, static_cast<int>(std::ceil(arguments.quantity("since").value_or(0) / kDay_s)));
  const char* const token = std::getenv("PROMETHEUS_TOKEN");
  Progress progress("asking Prometheus", context.console.err_terminal);
  FileFacts file = read_prometheus_server(arguments.text("prometheus"), window,
                                          http_getter(kTimeout_s, token == nullptr ? "" : token),
                                          [&](double done) { progress.update(done); });
  if (!file.errors.empty()) return tl::unexpected(file.errors);
  return file;
}

Result<std::vector<FileFacts>> read_files(Context& context) {
  const bool asks = !context.arguments.text("prometheus").empty();
  std::vector<FileFacts> files;
  if (!asks && context.arguments.operands.empty()) {
    return fail("missing-operand", "'tare audit' needs FILE|DIR|-… or --prometheus URL",
                "usage: tare audit FILE|DIR|-…");
  }
  if (!context.arguments.operands.empty()) {
    Result<std::vector<FileFacts>> read = read_operands(context, kRowBudget);
    if (!read) return read;
    files = std::move(*read);
  }
  if (asks) {
    Result<FileFacts> server = read_server(context);
    if (!server) return tl::unexpected(server.error());
    files.push_back(std::move(*server));
  }
  return files;
}

Result<std::optional<AuditDifference>> read_baseline(const Arguments& arguments, const AuditReport& report) {
  const std::string file = arguments.text("baseline");
  if (file.empty()) return std::nullopt;
  const Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const Json baseline = Json::parse(*text, nullptr, false);
  if (baseline.is_discarded() || !baseline.is_object() || !baseline.contains("findings")) {
    Diagnostic wrong =
        make_error("bad-baseline", "this is no audit's JSON", "write one with: tare audit … -o before.json");
    wrong.file = file;
    return fail(std::move(wrong));
  }
  return compare_with_baseline(report, baseline);
}

bool fails(const Arguments& arguments, const AuditReport& report, const std::optional<AuditDifference>& difference) {
  const std::optional<FindingSeverity> least = parse_finding_severity(arguments.text("fail-on"));
  if (!least) return false;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (report.findings[i].severity < *least) continue;
    if (!difference || std::count(difference->fresh.begin(), difference->fresh.end(), i) > 0) return true;
  }
  return false;
}

}  // namespace

Result<ExitCode> run_audit(Context& context) {
  const Arguments& arguments = context.arguments;
  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  Result<AuditSetting> setting = read_setting(arguments, *catalog);
  if (!setting) return tl::unexpected(setting.error());
  Result<std::vector<FileFacts>> files = read_files(context);
  if (!files) return tl::unexpected(files.error());
  if (const Result<void> done = predict(arguments, *catalog, *files, *setting); !done) {
    return tl::unexpected(done.error());
  }

  Answer answer;
  for (const FileFacts& file : *files) {
    answer.warnings.insert(answer.warnings.end(), file.errors.begin(), file.errors.end());
  }
  const Observed observed(std::move(*files), *catalog, std::move(*setting));
  const AuditReport report = run_audit(observed);
  if (!arguments.text("job").empty() && !report.run) {
    Diagnostic none = make_error("no-run", "--job: no training log with step times is among the files",
                                 "'tare read FILE' shows what is read of a log");
    none.severity = Severity::kWarning;
    answer.warnings.push_back(std::move(none));
  }
  const Result<std::optional<AuditDifference>> difference = read_baseline(arguments, report);
  if (!difference) return tl::unexpected(difference.error());

  answer.document = [&] { return audit_document(report, *difference, arguments.is_on("explain")); };
  answer.table = [&] { return audit_csv(report); };
  answer.json = [&] { return audit_json(report, *difference); };
  answer.sarif = [&] {
    return to_sarif(report, TARE_VERSION).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  };
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());
  if (report.unrecognised == report.files) return ExitCode::kWrongUse;  // nothing was audited
  return fails(arguments, report, *difference) ? ExitCode::kNo : ExitCode::kYes;
}

}  // namespace tare
