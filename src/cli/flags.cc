#include "cli/flags.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tare {
namespace {

constexpr VerbSet kPlan = only(Verb::kPlan);
constexpr VerbSet kEstimate = only(Verb::kEstimate);
constexpr VerbSet kCompare = only(Verb::kCompare);
constexpr VerbSet kCatalog = only(Verb::kCatalog);
constexpr VerbSet kValidate = only(Verb::kValidate);
constexpr VerbSet kRead = only(Verb::kRead);
constexpr VerbSet kAudit = only(Verb::kAudit);
constexpr VerbSet kBill = only(Verb::kBill);
constexpr VerbSet kPlace = only(Verb::kPlace);
constexpr VerbSet kJobs = kPlan | kEstimate | kCompare | kBill;
constexpr VerbSet kSized = kJobs | kPlace;                                    // the verbs that take a job and a size
constexpr VerbSet kAnswers = kSized | kCatalog | kValidate | kRead | kAudit;  // the verbs that answer with a table
constexpr VerbSet kAll = ~0u;

constexpr bool kRepeats = true, kOnce = false;
constexpr bool kConfigurable = true, kPerCall = false;

// In the order of help: by category.
constexpr auto kFlags = std::to_array<Flag>({
    {"on", 0, ValueKind::kChoice, "CLUSTER.toml|OFFER", Category::kInput, kSized | kAudit, kRepeats, kPerCall, "", "",
     "evaluate on this cluster file or offer",
     "A cluster file says which nodes there are, how they are joined and what they cost (docs/cluster-file.md). "
     "Anything else is an offer of the catalog, as for --offer; 'plan' takes files only. 'plan', 'compare' and 'bill' "
     "take several; 'estimate', 'place' and 'audit' take one."},
    {"offer", 0, ValueKind::kOffer, "ID", Category::kInput, kEstimate | kCompare | kBill, kRepeats, kPerCall, "", "",
     "evaluate on this offer of the catalog",
     "An id as 'tare catalog offers' lists it, or a pattern that matches exactly one. 'compare' takes several, and the "
     "first is what the others are held against."},
    {"offers", 0, ValueKind::kOffer, "GLOB", Category::kInput, kPlan, kRepeats, kPerCall, "", "",
     "search these offers instead of the job's",
     "A case-insensitive pattern over offer ids: '*' stands for any run of characters, '/' too. Given several times, "
     "the patterns add up."},
    {"gpus", 0, ValueKind::kSizes, "N[,N…]", Category::kInput, kSized, kRepeats, kPerCall, "", "",
     "numbers of GPUs instead of the job's",
     "'plan' tries each of them; 'estimate' and 'compare' take one. Without it: gpus of the job's [search] table, "
     "else 64, and for --on the whole cluster when it is smaller."},
    {"cluster", 0, ValueKind::kFile, "CLUSTER.toml", Category::kInput, kPlace, kOnce, kPerCall, "", "",
     "place on this cluster file", "The same as --on with a file."},
    {"busy", 0, ValueKind::kText, "LIST", Category::kInput, kPlace, kRepeats, kPerCall, "", "",
     "nodes that other jobs hold",
     "Names and ranges: 'n[1-3],n7'. 'n7:4' holds four of its GPUs. '@FILE' reads a list from a file, separated by "
     "commas, spaces or lines."},
    {"forbid", 0, ValueKind::kText, "LIST", Category::kInput, kPlace, kRepeats, kPerCall, "", "",
     "nodes that may not be taken", "As for --busy: reserved for others, about to be maintained."},
    {"unhealthy", 0, ValueKind::kText, "LIST", Category::kInput, kPlace, kRepeats, kPerCall, "", "",
     "nodes that are left out as unhealthy",
     "As for --busy; counted apart where the job does not fit. '@audit.json' may also be an answer of 'tare audit "
     "--output json': nodes with a finding of high severity about one of their parts."},
    {"prefer", 0, ValueKind::kText, "LIST", Category::kInput, kPlace, kRepeats, kPerCall, "", "",
     "nodes to take where the spread is no worse", "As for --busy."},
    {"row", 0, ValueKind::kText, "ID", Category::kInput, kValidate, kRepeats, kPerCall, "", "",
     "only the row of this id", "Given several times, the rows add up."},
    {"job", 0, ValueKind::kFile, "JOB.toml", Category::kInput, kAudit, kOnce, kPerCall, "", "",
     "hold a training log against what is predicted for this job on --on",
     "Needs --on. The prediction is at the parallelism that the job fixes, else the one that the log states, else the "
     "best; at the log's number of GPUs. Also sets how much of a step waits for communication, by which faults of "
     "links "
     "are priced."},
    {"baseline", 0, ValueKind::kFile, "BEFORE.json", Category::kInput, kAudit, kOnce, kPerCall, "", "",
     "an earlier audit's JSON: show what is new and fixed",
     "Written by 'tare audit … -o before.json'. Findings are the same when rule and subject are."},
    {"prometheus", 0, ValueKind::kText, "URL", Category::kInput, kAudit, kOnce, kConfigurable, "", "",
     "ask this Prometheus server what the GPUs did",
     "http://HOST:PORT of a server that scrapes dcgm-exporter or its kin. Idle and little-used GPU-hours of the days "
     "of "
     "--since by job, user and node. A token for it is read from PROMETHEUS_TOKEN."},
    {"since", 0, ValueKind::kDuration, "DURATION", Category::kInput, kAudit, kOnce, kConfigurable, "", "14d",
     "how far back --prometheus looks", "Whole days; one at least."},
    {"fail-on", 0, ValueKind::kWord, "SEVERITY", Category::kInput, kAudit, kOnce, kConfigurable, "info low medium high",
     "", "exit 1 when a finding is at least this severe", "With --baseline only new findings count."},
    {"kind", 0, ValueKind::kText, "KIND", Category::kInput, kRead | kAudit, kOnce, kPerCall, "", "",
     "read the files as this kind, whatever they look like",
     "topo, nvidia-smi, dcgm, nccl-tests, nccl-debug, fio, hw-inventory, infiniband, dmesg, training-log, trace, "
     "slurm, "
     "kubernetes or billing."},
    {"to", 0, ValueKind::kDirectory, "DIR", Category::kInput, kCatalog, kOnce, kPerCall, "", "",
     "where 'catalog import' writes",
     "The directory is made if it is missing; files of it that the import replaces are written whole or not at all."},

    {"objective", 0, ValueKind::kWord, "WORD", Category::kSearch, kJobs, kOnce, kConfigurable,
     "cost time energy carbon", "cost", "what best means",
     "'cost': the least total. 'time': the least wall-clock. 'energy': the least at the meter of the building. "
     "'carbon': "
     "the least emissions, by the region's grid. The parallelism of an option is its fastest, which is also its "
     "cheapest "
     "and its least hungry; options of which the energy is not known rank last."},
    {"deliveries", 0, ValueKind::kSwitch, "", Category::kSearch, kCompare, kOnce, kPerCall, "", "",
     "compare bare metal, container and VM on the first choice's nodes",
     "Same hardware, job, split and price; what differs is the delivery alone, in % of a step and in dollars. One "
     "choice "
     "is enough then."},
    {"top", 0, ValueKind::kCount, "N", Category::kSearch, kPlan, kOnce, kConfigurable, "", "10",
     "show the first N options; 0 shows all", "The JSON and CSV forms always hold all of them."},
    {"include-suspect", 0, ValueKind::kSwitch, "", Category::kSearch, kPlan, kOnce, kConfigurable, "", "",
     "rank offers whose price is suspect too",
     "A price row that the catalog marks as suspect (with its reason) is otherwise left out."},
    {"assume-fabric", 0, ValueKind::kBandwidth, "RATE", Category::kSearch, kSized, kOnce, kConfigurable, "", "",
     "bandwidth between nodes where none is known",
     "Per GPU and direction: 400Gb/s or 50GB/s. Without it an offer whose network nobody states is refused across "
     "nodes "
     "(no_known_fabric). Options that stand on it are marked."},
    {"threads", 0, ValueKind::kCount, "N", Category::kSearch, kSized, kOnce, kConfigurable, "", "",
     "how many threads search", "0, and the default, is one per core. The answer is the same for any number."},
    {"checkpoint-every", 0, ValueKind::kText, "WHEN[,WHEN…]", Category::kSearch, kJobs, kOnce, kPerCall, "", "",
     "checkpoint intervals to choose from",
     "auto, '200 steps' or 30min, separated by commas; the best by the objective is taken. Without it the job's own."},
    {"power-cap", 0, ValueKind::kText, "SHARE[,SHARE…]", Category::kSearch, kJobs, kOnce, kPerCall, "", "",
     "power caps of the GPUs to choose from",
     "Shares of their rated power: 100%,80%,60%. A capped GPU clocks lower (cube root of the dynamic power left), and "
     "kernels that compute take longer; the best by the objective is taken."},

    {"tp", 0, ValueKind::kSizes, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "tensor parallelism: only these sizes",
     "A flag of this group narrows what is searched to the given values; the others stay free."},
    {"pp", 0, ValueKind::kSizes, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "pipeline parallelism: only these sizes", "Stages that the layers are split over."},
    {"vpp", 0, ValueKind::kSizes, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "model chunks per pipeline stage: only these", "More than one is the interleaved schedule."},
    {"cp", 0, ValueKind::kSizes, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "context parallelism: only these sizes", "The sequence is split over this many GPUs."},
    {"ep", 0, ValueKind::kSizes, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "expert parallelism: only these sizes", "Experts are spread over this many data-parallel ranks."},
    {"zero", 0, ValueKind::kStages, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "ZeRO stages to try: 0 to 3", "1 shards the optimizer, 2 gradients too, 3 weights too (FSDP)."},
    {"micro-batch", 0, ValueKind::kSizes, "N[,N…]", Category::kParallelism, kSized, kOnce, kPerCall, "", "",
     "micro-batches to try, in sequences", "Sequences that one GPU takes at a time."},
    {"recompute", 0, ValueKind::kWords, "WORD[,WORD…]", Category::kParallelism, kSized, kOnce, kPerCall,
     "none selective full", "", "activation recomputation to try",
     "'selective' recomputes attention, 'full' every layer from its input."},

    {"max-price-age", 0, ValueKind::kDuration, "DURATION", Category::kPrice, kPlan, kOnce, kConfigurable, "", "",
     "leave out prices that are older, or undated",
     "180d, 26w. Without it old prices are ranked and marked stale (older than 180 days, or undated)."},
    {"fail-over", 0, ValueKind::kMoney, "AMOUNT", Category::kPrice, kPlan | kEstimate | kBill, kOnce, kConfigurable, "",
     "", "exit 1 when the total is more", "'50000 USD': a gate for scripts, apart from the job's own budget."},
    {"confidence", 0, ValueKind::kRatio, "SHARE", Category::kPrice, kJobs, kOnce, kConfigurable, "", "",
     "meet deadline and budget in this share of the draws",
     "90% asks for a plan that is in time and in budget in nine of ten draws; without it the base values decide."},
    {"draws", 0, ValueKind::kCount, "N", Category::kPrice, kJobs, kOnce, kConfigurable, "", "10000",
     "how many draws of the uncertain inputs", "P10, P50 and P90 come from them. 0 draws none."},
    {"seed", 0, ValueKind::kSeed, "N", Category::kPrice, kJobs, kOnce, kConfigurable, "", "1", "where the draws start",
     "The same seed gives the same answer on every machine."},

    {"output", 'o', ValueKind::kForm, "FORMAT|FILE", Category::kOutput, kAnswers, kOnce, kConfigurable,
     "table json csv md svg focus sarif toml", "table", "form of the answer, or the file to write it to",
     "'table' for people, 'md' the same as Markdown. 'json' (schemas in schema/) and 'csv' hold numbers in base units, "
     "the unit in the name; with --output json errors are JSON too, on standard error. 'svg' draws what can be drawn. "
     "'bill' knows 'focus' (FOCUS columns), 'read' knows 'toml' (a cluster file). A file name says the form by its "
     "extension: -o plan.json, -o bill.focus.csv."},
    {"explain", 0, ValueKind::kSwitch, "", Category::kOutput, kAnswers, kOnce, kConfigurable, "", "",
     "show formula, inputs and sources of each number",
     "Values that nobody stated are marked as assumed. 'plan' also lists every refusal one by one."},
    {"emit", 0, ValueKind::kWord, "WHAT", Category::kOutput, kPlace, kOnce, kPerCall, "hostfile rankfile env", "",
     "print this instead, for a launcher",
     "'hostfile': nodes with their slots, in order. 'rankfile': host and slot of every rank, as Open MPI reads it. "
     "'env': the sizes and the first node as shell variables."},
    {"roofline", 0, ValueKind::kSwitch, "", Category::kOutput, kEstimate, kOnce, kPerCall, "", "",
     "show intensity, ridge and bound of each operation",
     "An operation whose FLOPs per byte are below the ridge of the GPU is bound by memory, else by compute."},
    {"chart", 0, ValueKind::kFile, "FILE.svg", Category::kOutput, kPlan | kEstimate | kValidate, kOnce, kPerCall, "",
     "", "write a chart as SVG",
     "'plan' and 'estimate': the waterfall of the bill. 'validate': predicted against measured."},
    {"color", 0, ValueKind::kWord, "WHEN", Category::kOutput, kAll, kOnce, kConfigurable, "auto always never", "auto",
     "colour the output", "'auto' colours on a terminal, unless NO_COLOR is set and not empty or TERM is dumb."},

    {"catalog", 0, ValueKind::kDirectory, "DIR", Category::kGeneral, kAnswers, kOnce, kConfigurable, "", "",
     "lay the files of this directory over the catalog",
     "Same names and columns as data/catalog: a row with a known id replaces it, others are added."},
    {"as-of", 0, ValueKind::kDate, "DATE", Category::kGeneral, kAnswers, kOnce, kConfigurable, "", "",
     "the day that ages are counted from",
     "2026-11-30; without it today, in UTC. 'catalog import' gives it to prices that state no day of their own."},
    {"help", 'h', ValueKind::kSwitch, "", Category::kGeneral, kAll, kOnce, kPerCall, "", "",
     "explain the verb and its flags", "The same as 'tare help VERB'."},
    {"version", 'V', ValueKind::kSwitch, "", Category::kGeneral, kAll, kOnce, kPerCall, "", "", "print the version",
     "The same as 'tare version'."},
});

}  // namespace

std::string_view title_of(Category category) {
  switch (category) {
    case Category::kInput:
      return "Input";
    case Category::kSearch:
      return "Search";
    case Category::kParallelism:
      return "Parallelism";
    case Category::kPrice:
      return "Price";
    case Category::kOutput:
      return "Output";
    case Category::kGeneral:
      return "General";
  }
  return {};
}

std::span<const Flag> flags() { return kFlags; }

const Flag* find_flag(std::string_view name) {
  const auto found = std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& flag) { return flag.name == name; });
  return found == kFlags.end() ? nullptr : &*found;
}

const Flag* find_flag(char short_name) {
  const auto found = std::find_if(kFlags.begin(), kFlags.end(),
                                  [&](const Flag& flag) { return short_name != 0 && flag.short_name == short_name; });
  return found == kFlags.end() ? nullptr : &*found;
}

std::vector<const Flag*> flags_of(Verb verb) {
  std::vector<const Flag*> found;
  for (const Flag& flag : kFlags) {
    if (contains(flag.verbs, verb)) found.push_back(&flag);
  }
  return found;
}

std::string environment_name(const Flag& flag) {
  std::string name = "TARE_";
  for (const char c : flag.name) name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::string config_key(const Flag& flag) {
  std::string key(flag.name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

namespace {

// What each verb can be drawn as or exported to, beyond the forms of every answer.
constexpr VerbSet kDrawn = kPlan | kEstimate | kCompare | kBill | kPlace | kValidate;

bool has_form(Verb verb, std::string_view form) {
  if (form == "svg") return contains(kDrawn, verb);
  if (form == "focus") return verb == Verb::kBill;
  if (form == "sarif") return verb == Verb::kAudit;
  if (form == "toml") return verb == Verb::kRead;
  return true;
}

}  // namespace

OutputForm output_form(std::string_view text) {
  const std::vector<std::string> forms = words_of(*find_flag("output"));
  if (std::find(forms.begin(), forms.end(), text) != forms.end()) return {std::string(text), {}};
  const std::size_t dot = text.find_last_of("./");
  if (dot == std::string_view::npos || text[dot] != '.') return {};
  if (to_lower(text).ends_with(".focus.csv")) return {"focus", std::string(text)};
  std::string extension = to_lower(text.substr(dot + 1));
  if (extension == "txt") extension = "table";
  const bool is_form = extension != "focus" && std::find(forms.begin(), forms.end(), extension) != forms.end();
  return {is_form ? extension : std::string(), std::string(text)};
}

std::vector<std::string> words_of(const Flag& flag, Verb verb) {
  std::vector<std::string> words = words_of(flag);
  if (flag.kind == ValueKind::kForm)
    std::erase_if(words, [&](const std::string& form) { return !has_form(verb, form); });
  return words;
}

std::vector<std::string> words_of(const Flag& flag) {
  std::vector<std::string> words;
  for (const std::string_view word : split(flag.words, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

}  // namespace tare
