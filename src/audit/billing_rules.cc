// Bills and price lists: what misleads who reads them, and what costs more than it should.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audit/audit.h"
#include "audit/loss.h"
#include "audit/rule.h"
#include "base/date.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr double kDear_medium = 1.5;         // times the upper quartile of the catalog's offers of that GPU
constexpr double kTotalDiffers = 0.01;       // of the stated total
constexpr double kCreditsMatter = 0.05;      // of the cost without them
constexpr double kTransferShare_low = 0.10;  // of a bill: what data that moves costs
constexpr double kTransferShare_medium = 0.25;
constexpr double kIdleMatters_usd = 1;

bool is_bill(const Seen& seen) { return seen.facts->number("row_count").value_or(0) > 0; }

// Every bill of the files; those of price lists have offers and no rows that were charged.
std::vector<Seen> bills(const Observed& observed) {
  std::vector<Seen> list = observed.of_kind("billing");
  std::erase_if(list, [](const Seen& seen) { return !is_bill(seen); });
  return list;
}

Subject bill_subject(const Seen& seen) {
  const std::string_view dialect = seen.facts->text("dialect");
  return {"bill", dialect.empty() ? std::string("bill") : std::string(dialect), seen.node};
}

std::string money(double amount, const FactRecord& facts) {
  const std::string_view currency = facts.text("currency");
  return fmt::format("{:.2f}{}{}", amount, currency.empty() ? "" : " ", currency);
}

// Days from the first charge to the last; nullopt where the bill does not say.
std::optional<double> days_of(const FactRecord& facts) {
  const std::optional<Date> from = parse_date(facts.text("first_start").substr(0, 10));
  const std::optional<Date> to = parse_date(facts.text("last_end").substr(0, 10));
  if (!from || !to || *to < *from) return std::nullopt;
  return to->days - from->days + 1;
}

std::int64_t count_in(const FactRecord& facts, const char* record, std::initializer_list<std::string_view> words) {
  const FactRecord* const counts = facts.find_record(record);
  std::int64_t sum = 0;
  if (counts == nullptr) return sum;
  for (const auto& [name, fact] : counts->members()) {
    const std::string lower = to_lower(name);
    const bool any =
        std::any_of(words.begin(), words.end(), [&](std::string_view word) { return lower.find(word) < lower.size(); });
    if (any) sum += static_cast<std::int64_t>(fact.number().value_or(0));
  }
  return sum;
}

void covered(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    const FactRecord& facts = *seen.facts;
    const double rows = facts.number("covered_rows").value_or(0);
    const std::optional<double> cost = facts.number("cost"), effective = facts.number("effective_cost");
    const std::int64_t committed = count_in(facts, "pricing_categories", {"committed"}) +
                                   count_in(facts, "charge_categories", {"discountedusage", "coveredusage"});
    if ((rows <= 0 && committed == 0) || !cost || !effective) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, bill_subject(seen),
                                   fmt::format("billed {}, effective {}: a commitment covers part of the usage",
                                               money(*cost, facts), money(*effective, facts)));
    finding.cause =
        "Usage that a reservation or savings plan covers is billed at 0; its price was paid with the commitment.";
    finding.evidence.push_back(
        evidence_of(seen, facts.line,
                    fmt::format("{:.0f} rows of cost 0 with an effective cost, {} committed rows", rows, committed)));
    finding.fix = {"compare and allocate by EffectiveCost (FOCUS) or the amortised cost, not by BilledCost"};
    findings.push_back(std::move(finding));
  }
}

void several_currencies(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    const std::vector<std::string> currencies = texts_of(*seen.facts, "currencies");
    if (currencies.size() < 2) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, bill_subject(seen),
                                   fmt::format("amounts in {}: there is no one sum", list_names(currencies)));
    finding.cause = "Rows in different currencies cannot be added without a rate and its date.";
    finding.evidence.push_back(evidence_of(seen, seen.facts->line, list_names(currencies)));
    finding.loss_unknown = "nothing is lost, but a sum would be wrong";
    finding.fix = {"sum by currency (cost_by_currency), or export in the billing currency"};
    findings.push_back(std::move(finding));
  }
}

const NodeType* node_type_called(const Catalog& catalog, std::string_view instance) {
  for (const NodeType& type : catalog.node_types) {
    if (!instance.empty() && type.gpus > 0 && equals_ignoring_case(type.instance, instance)) return &type;
  }
  return nullptr;
}

struct InstanceUse {
  const NodeType* type = nullptr;
  double cost = 0, hours = 0;
  std::int64_t line = 0;
};

bool is_hours(std::string_view unit) {
  const std::string lower = to_lower(unit);
  return lower == "h" || lower == "hr" || lower == "hrs" || lower == "hour" || lower == "hours" || lower == "1 hour";
}

// Rows of instances that the catalog knows, at hourly rates, on demand, in dollars.
std::map<std::string, InstanceUse> uses_of(const Seen& seen, const Catalog& catalog) {
  std::map<std::string, InstanceUse> uses;
  for (const FactRecord* const row : records_of(*seen.facts, "rows")) {
    const NodeType* const type = node_type_called(catalog, row->text("instance_type"));
    const std::string_view currency = row->text("currency");
    const std::string pricing = to_lower(row->text("pricing_category"));
    const bool plain = pricing.find("spot") >= pricing.size() && pricing.find("commit") >= pricing.size() &&
                       to_lower(row->text("charge_category")).find("discounted") == std::string::npos;
    const std::optional<double> cost = row->number("cost"), hours = row->number("usage_quantity");
    if (type == nullptr || !plain || !cost || !hours || *hours <= 0 || *cost <= 0) continue;
    if (!is_hours(row->text("usage_unit")) || (!currency.empty() && currency != "USD")) continue;
    InstanceUse& use = uses[type->instance];
    use.type = type;
    use.cost += *cost;
    use.hours += *hours;
    if (use.line == 0) use.line = row->line;
  }
  return uses;
}

// What is paid over the usual price, a day: (price - usual) * gpus * hours / days.
Formula dearer_by(const InstanceUse& use, const LossRange& usual, double days) {
  Formula formula;
  formula.id = "audit.price_above_usual";
  formula.unit = "USD/day";
  formula.expression = "(paid_usd_per_gpu_h - usual_usd_per_gpu_h) * gpu_hours / days";
  const double gpu_hours = use.hours * use.type->gpus;
  formula.inputs = {{"paid_usd_per_gpu_h", use.cost / gpu_hours, "USD/GPU-h", "the bill", false},
                    {"usual_usd_per_gpu_h", usual.base, "USD/GPU-h",
                     "catalog: median on-demand price of " + use.type->gpu, false, usual.low, usual.high},
                    {"gpu_hours", gpu_hours, "GPU-h", "the bill", false},
                    {"days", days, "day", "the bill", false}};
  formula.value = (use.cost / gpu_hours - usual.base) * gpu_hours / days;
  return formula;
}

void price_above(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    for (const auto& [instance, use] : uses_of(seen, observed.catalog())) {
      const std::optional<LossRange> usual = usual_price_usd_per_gpu_h(observed.catalog(), use.type->gpu);
      const double paid = use.cost / use.hours / use.type->gpus;
      if (!usual || paid <= usual->high) continue;
      Finding finding =
          make_finding(rule, paid > kDear_medium * usual->high ? FindingSeverity::kMedium : FindingSeverity::kLow,
                       {"bill", instance, seen.node},
                       fmt::format("{} at ${:.2f} a GPU-hour; offers of {} ask ${:.2f} (quartiles ${:.2f} to ${:.2f})",
                                   instance, paid, use.type->gpu, usual->base, usual->low, usual->high));
      finding.confidence = 0.7;
      finding.cause =
          "Three quarters of the catalog's on-demand offers of this GPU are cheaper; prices have their dates.";
      finding.evidence.push_back(evidence_of(seen, use.line, fmt::format("{:.1f} h for ${:.2f}", use.hours, use.cost)));
      finding.expected = fmt::format("${:.2f} a GPU-hour", usual->base);
      finding.measured = fmt::format("${:.2f} a GPU-hour", paid);
      if (const std::optional<double> days = days_of(*seen.facts)) {
        finding.loss = dearer_by(use, *usual, *days);
      } else {
        finding.loss_unknown = "the bill does not say over which days";
      }
      finding.fix = {"tare plan JOB.toml: offers for the same work by their whole bill",
                     "ask for a commitment or a quote at the market's price"};
      findings.push_back(std::move(finding));
    }
  }
}

void core_hours(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    const FactRecord* const units = seen.facts->find_record("usage_by_unit");
    if (units == nullptr) continue;
    for (const auto& [unit, amount] : units->members()) {
      const std::string lower = to_lower(unit);
      const bool cores = lower.find("core") < lower.size() || lower.find("cpu") < lower.size();
      const bool hours = lower.find("hour") < lower.size() || lower.ends_with("h");
      if (!cores || !hours) continue;
      Finding finding = make_finding(rule, FindingSeverity::kInfo, bill_subject(seen),
                                     fmt::format("usage in {}: not hours of a machine", unit));
      finding.cause =
          "A core-hour or OCPU-hour is one core for an hour: a machine of n cores uses n of them in an hour.";
      finding.evidence.push_back(
          evidence_of(seen, seen.facts->line, fmt::format("{:g} {}", amount.number().value_or(0), unit)));
      finding.fix = {"divide by the cores of the machine before comparing with wall hours"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

void credits(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    const FactRecord& facts = *seen.facts;
    double credit = -facts.number("credits").value_or(0);
    std::int64_t line = facts.line;
    for (const FactRecord* const row : records_of(facts, "rows")) {
      const bool is_credit = to_lower(row->text("charge_category")).find("credit") != std::string::npos;
      if (!is_credit || row->number("cost").value_or(0) >= 0) continue;
      if (line == facts.line) line = row->line;
      credit -= *row->number("cost");
    }
    const std::optional<double> cost = facts.number("cost");
    if (!cost || *cost < 0 || credit <= 0 || credit < kCreditsMatter * (*cost + credit)) continue;
    Finding finding = make_finding(
        rule, FindingSeverity::kInfo, bill_subject(seen),
        fmt::format("credits of {} hide {:.0f} % of the cost", money(credit, facts), 100 * credit / (*cost + credit)));
    finding.cause = "Credits end or are used up; the usage behind them stays.";
    finding.evidence.push_back(evidence_of(seen, line, "credits " + money(credit, facts)));
    finding.fix = {"plan with the cost before credits: " + money(*cost + credit, facts)};
    findings.push_back(std::move(finding));
  }
}

// The cost of the rows whose description, service or SKU has one of the words; of kept rows, scaled to all.
double cost_of_words(const FactRecord& facts, const std::vector<std::string_view>& words, const FactRecord*& first) {
  double sum = 0;
  const std::vector<const FactRecord*> rows = records_of(facts, "rows");
  for (const FactRecord* const row : rows) {
    const std::string text = to_lower(std::string(row->text("description")) + ' ' + std::string(row->text("sku")) +
                                      ' ' + std::string(row->text("service")));
    const bool any =
        std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) < text.size(); });
    if (!any) continue;
    sum += row->number("cost").value_or(0);
    if (first == nullptr) first = row;
  }
  const double all = facts.number("row_count").value_or(0);
  return rows.empty() ? 0 : sum * std::max(1.0, all / static_cast<double>(rows.size()));
}

std::optional<Formula> whole_cost_a_day(const FactRecord& facts, double cost) {
  const std::optional<double> days = days_of(facts);
  if (!days || (facts.has("currency") && facts.text("currency") != "USD")) return std::nullopt;
  Formula formula;
  formula.id = "audit.billed_a_day";
  formula.unit = "USD/day";
  formula.expression = "billed_usd / days";
  formula.inputs = {{"billed_usd", cost, "USD", "the bill", false}, {"days", *days, "day", "the bill", false}};
  formula.value = cost / *days;
  return formula;
}

void transfer(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  static const std::vector<std::string_view> words = {"data transfer", "datatransfer", "egress",
                                                      "natgateway",    "nat gateway",  "bandwidth - ",
                                                      "inter-zone",    "inter zone",   "interregion"};
  for (const Seen& seen : bills(observed)) {
    const FactRecord& facts = *seen.facts;
    const FactRecord* first = nullptr;
    const double cost = cost_of_words(facts, words, first), all = facts.number("cost").value_or(0);
    if (all <= kIdleMatters_usd || cost < kTransferShare_low * all) continue;
    Finding finding =
        make_finding(rule, cost >= kTransferShare_medium * all ? FindingSeverity::kMedium : FindingSeverity::kLow,
                     bill_subject(seen),
                     fmt::format("moving data is {:.0f} % of the bill: {}", 100 * cost / all, money(cost, facts)));
    finding.confidence = 0.7;
    finding.cause = "Data that leaves a region, a zone or a NAT gateway is billed by the byte.";
    finding.evidence.push_back(evidence_of(seen, first->line, std::string(first->text("description"))));
    finding.loss = whole_cost_a_day(facts, cost);
    if (!finding.loss) finding.loss_unknown = "the bill does not say over which days, or is not in dollars";
    finding.fix = {"keep data and GPUs in one zone; gateway endpoints instead of NAT for object stores",
                   "stage a copy beside the GPUs once instead of reading it from afar each epoch"};
    findings.push_back(std::move(finding));
  }
}

void idle_resources(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  static const std::vector<std::string_view> words = {
      "idleaddress",  "idle address",       "idle public", "static ip charge", "unattached",
      "unassociated", "unused reservation", "unusedbox",   "unused box",       "stopped instance"};
  for (const Seen& seen : bills(observed)) {
    const FactRecord& facts = *seen.facts;
    const FactRecord* first = nullptr;
    const double cost = cost_of_words(facts, words, first);
    if (cost < kIdleMatters_usd) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, bill_subject(seen),
                                   fmt::format("{} for what nobody uses", money(cost, facts)));
    finding.confidence = 0.8;
    finding.cause = "The bill itself calls these idle, unattached or unused.";
    finding.evidence.push_back(evidence_of(seen, first->line, std::string(first->text("description"))));
    finding.loss = whole_cost_a_day(facts, cost);
    if (!finding.loss) finding.loss_unknown = "the bill does not say over which days, or is not in dollars";
    finding.fix = {"release addresses and volumes that nothing is attached to; give reservations back or use them"};
    findings.push_back(std::move(finding));
  }
}

void taxes(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    const std::int64_t rows = count_in(*seen.facts, "charge_categories", {"tax"});
    if (rows == 0) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, bill_subject(seen),
                                   fmt::format("{} rows are tax and stand in the sum", rows));
    finding.cause = "List prices and other bills are without tax: leave these rows out before comparing.";
    finding.evidence.push_back(evidence_of(seen, seen.facts->line, fmt::format("{} rows of tax", rows)));
    findings.push_back(std::move(finding));
  }
}

void total_differs(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    const FactRecord& facts = *seen.facts;
    const std::optional<double> total = facts.number("stated_total"), cost = facts.number("cost");
    if (!total || !cost || std::abs(*total - *cost) <= kTotalDiffers * std::abs(*total)) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, bill_subject(seen),
                     fmt::format("rows sum to {}, the bill says {}", money(*cost, facts), money(*total, facts)));
    finding.confidence = 0.7;
    finding.cause = "Rows are missing, counted twice, or the total has tax, credits or a discount that no row has.";
    finding.evidence.push_back(evidence_of(seen, facts.line, "stated total " + money(*total, facts)));
    finding.loss_unknown = "which of both is right is not known";
    finding.fix = {"export it anew, whole; ask what the difference of " + money(*total - *cost, facts) + " is"};
    findings.push_back(std::move(finding));
  }
}

void no_cost(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : bills(observed)) {
    if (seen.facts->has("cost") || seen.facts->has("cost_by_currency") || seen.facts->has("offer_count")) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kInfo, bill_subject(seen), "no row has a cost that can be read");
    finding.cause =
        "The column of costs is empty or not of numbers: there is nothing to sum, which is not a bill of 0.";
    finding.evidence.push_back(
        evidence_of(seen, seen.facts->line, "cost column " + std::string(seen.facts->text("cost_column"))));
    finding.fix = {"export it anew with the cost columns"};
    findings.push_back(std::move(finding));
  }
}

// Price lists.

void spot_price_missing(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("billing")) {
    // An empty cell is left out by the reader: that the list has the column shows in its other rows.
    const std::vector<const FactRecord*> offers = records_of(*seen.facts, "offers");
    const bool has_column =
        std::any_of(offers.begin(), offers.end(), [](const FactRecord* offer) { return offer->has("spot_price"); });
    std::size_t missing = 0, all = 0;
    const FactRecord* first = nullptr;
    for (const FactRecord* const offer : offers) {
      if (offer->text("gpu").empty()) continue;
      ++all;
      if (offer->number("spot_price").value_or(0) > 0) continue;
      if (++missing == 1) first = offer;
    }
    if (!has_column) continue;
    if (missing == 0) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kInfo, {"bill", std::string(seen.facts->text("dialect")), seen.node},
                     fmt::format("{} of {} GPU offers have no spot price", missing, all));
    finding.cause =
        "An empty spot price, or one of 0.00, says that there is no spot market there, not that it is free.";
    finding.evidence.push_back(evidence_of(seen, first->line, std::string(first->text("gpu"))));
    finding.fix = {"leave these rows out when looking for the cheapest"};
    findings.push_back(std::move(finding));
  }
}

void gpu_ambiguous(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("billing")) {
    std::vector<std::string> names;
    std::int64_t line = 0;
    for (const FactRecord* const offer : records_of(*seen.facts, "offers")) {
      const std::string gpu = to_lower(offer->text("gpu"));
      const bool sized = gpu.find("gb") < gpu.size() || offer->has("gpu_memory_mib") || offer->has("vram_gb");
      const bool two_sizes = gpu.find("a100") < gpu.size() || gpu.find("v100") < gpu.size();
      if (!two_sizes || sized || std::find(names.begin(), names.end(), gpu) != names.end()) continue;
      names.push_back(gpu);
      if (line == 0) line = offer->line;
    }
    if (names.empty()) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kInfo, {"bill", std::string(seen.facts->text("dialect")), seen.node},
                     fmt::format("{} come in two sizes of memory, and the list does not say which", list_names(names)));
    finding.cause = "A100 has 40 or 80 GB, V100 16 or 32: prices of both stand side by side.";
    finding.evidence.push_back(evidence_of(seen, line, names.front()));
    finding.fix = {
        "ask, or take the instance's data sheet; total GPU memory means one GPU in some catalogs, all in others"};
    findings.push_back(std::move(finding));
  }
}

void list_above(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("billing")) {
    const std::string_view currency = seen.facts->text("currency");
    if (!currency.empty() && currency != "USD") continue;
    for (const FactRecord* const model : records_of(*seen.facts, "gpu_models")) {
      const Accelerator* const gpu = accelerator_named(observed.catalog(), model->text("gpu"));
      const std::optional<double> least = model->number("price_per_gpu_min");
      const std::optional<LossRange> usual =
          gpu == nullptr ? std::nullopt : usual_price_usd_per_gpu_h(observed.catalog(), gpu->id);
      if (!usual || !least || *least <= kDear_medium * usual->high) continue;
      Finding finding = make_finding(rule, FindingSeverity::kInfo, {"bill", std::string(model->text("gpu")), seen.node},
                                     fmt::format("{} from ${:.2f} a GPU-hour; the catalog's offers ask ${:.2f}",
                                                 model->text("gpu"), *least, usual->base));
      finding.confidence = 0.6;
      finding.cause = "The cheapest offer of this list is dearer than three quarters of those known, by half and more.";
      finding.evidence.push_back(evidence_of(seen, model->line, fmt::format("price_per_gpu_min {:.2f}", *least)));
      finding.fix = {"tare catalog offers '*" + to_lower(model->text("gpu")) + "*': what others ask"};
      findings.push_back(std::move(finding));
    }
  }
}

constexpr Rule kRules[] = {
    {"billing.covered-usage", "Covered usage is billed at 0",
     "Hours that a commitment covers have a billed cost of 0 and an effective cost.", "FOCUS specification", covered},
    {"billing.several-currencies", "Amounts in several currencies", "A sum over currencies is none.", "",
     several_currencies},
    {"billing.price-above", "A GPU-hour dearer than usual",
     "On-demand hours of a known instance over the upper quartile of the catalog's offers of that GPU.", "",
     price_above},
    {"billing.core-hours", "Core-hours are not hours of a machine", "Usage in core-, vCPU- or OCPU-hours.", "",
     core_hours},
    {"billing.credits", "Credits hide a part of the cost", "Credits of a twentieth of the cost or more.", "", credits},
    {"billing.transfer", "Moving data is a large part of the bill",
     "Egress, traffic between zones, NAT gateways: a tenth of the bill or more.", "", transfer},
    {"billing.idle-resources", "Paid for and not used",
     "Addresses, volumes, reservations that the bill itself calls idle, unattached or unused.", "", idle_resources},
    {"billing.tax", "Tax stands in the sum", "Rows of tax among the charges.", "", taxes},
    {"billing.total-differs", "Rows do not sum to the stated total", "By more than one percent.", "", total_differs},
    {"billing.no-cost", "No cost can be read", "A bill without a number in its cost column is not a bill of 0.", "",
     no_cost},
    {"billing.spot-price-missing", "No spot price is not a price of 0", "Offers whose spot price is empty or 0.00.", "",
     spot_price_missing},
    {"billing.gpu-ambiguous", "The list does not say which GPU", "A100 or V100 without a size of memory.", "",
     gpu_ambiguous},
    {"billing.list-above", "A price list dearer than the market", "Its cheapest offer of a GPU.", "", list_above},
};

}  // namespace

std::span<const Rule> billing_rules() { return kRules; }

}  // namespace tare
