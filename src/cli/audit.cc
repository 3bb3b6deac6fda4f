// tare audit: what is wrong, priced.
#include <algorithm>

#include "audit/audit.h"
#include "audit/sarif.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/audit_view.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/read_operands.h"

namespace tare {
namespace {

constexpr std::size_t kRowBudget = 200'000;  // of series, over all files: about 200 MB

// The price of --on: of the cluster's own, or the offer's.
Result<AuditSetting> read_setting(const Arguments& arguments, const Catalog& catalog) {
  AuditSetting setting = default_setting(catalog);
  const std::vector<std::string> on = arguments.texts("on");
  if (on.empty()) return setting;
  if (on.size() > 1) return fail("bad-value", "--on: one cluster or offer is needed here", "give it once");
  const Result<Offer> offer = read_priced_offer(on.front(), catalog);
  if (!offer) return tl::unexpected(offer.error());
  if (offer->price_usd_per_h && offer->gpus > 0) {
    setting.usd_per_gpu_h = price_usd_per_gpu_h(*offer);
    setting.price_source = "offer " + offer->id;
  }
  return setting;
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
  Result<std::vector<FileFacts>> files = read_operands(context, kRowBudget);
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
  return fails(arguments, report, *difference) ? ExitCode::kNo : ExitCode::kYes;
}

}  // namespace tare
