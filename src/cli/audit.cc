// tare audit: what is wrong, priced.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "audit/audit.h"
#include "audit/sarif.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/audit_view.h"
#include "cli/command.h"
#include "cli/inputs.h"
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

  Answer answer;
  for (const FileFacts& file : *files) {
    answer.warnings.insert(answer.warnings.end(), file.errors.begin(), file.errors.end());
  }
  const Observed observed(std::move(*files), *catalog, std::move(*setting));
  const AuditReport report = run_audit(observed);
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
