#include "cli/verbs.h"

#include <array>

namespace tare {
namespace {

constexpr auto kPlanExamples = std::to_array<Example>({
    {"tare plan examples/llama-13b-64xh100.toml", "rank the offers that the job names"},
    {"tare plan job.toml --gpus 64,128 --offers 'aws/*' --offers 'gcp/a3*'", "other sizes, other offers"},
    {"tare plan job.toml --on lab.toml", "rank one's own cluster beside the offers"},
    {"tare plan job.toml --output json | jq '.options[0].bill.total.usd'", "the total of the best one"},
    {"tare plan job.toml --fail-over '50000 USD'", "exit 1 when the chosen one costs more"},
});
constexpr auto kEstimateExamples = std::to_array<Example>({
    {"tare estimate job.toml --offer 'runpod/*h100*' --gpus 64", "the best split on one offer"},
    {"tare estimate job.toml --on lab.toml --tp 4 --pp 2 --zero 1", "a split of one's own on one's own cluster"},
    {"tare estimate job.toml --on lab.toml --roofline", "what bounds each operation"},
});
constexpr auto kCompareExamples = std::to_array<Example>({
    {"tare compare job.toml --offer aws/p5.48xlarge/us-east-1/on_demand --on lab.toml", "rent or own, line by line"},
});
constexpr auto kBillExamples = std::to_array<Example>({
    {"tare bill job.toml --on aws/p5.48xlarge/us-east-1/on_demand", "every cost of the run, with its range"},
    {"tare bill job.toml --on lab.toml --explain", "the formula, inputs and sources of every line"},
    {"tare bill job.toml --on lab.toml --output focus > bill.csv", "rows under FOCUS names"},
    {"tare bill job.toml --on lab.toml --fail-over '50000 USD'", "exit 1 when it costs more"},
});
constexpr auto kPlaceExamples = std::to_array<Example>({
    {"tare place job.toml --cluster lab.toml", "nodes and ranks, with what they are worth"},
    {"tare place job.toml --cluster lab.toml --busy 'n[1-3],n7:4' --unhealthy n5", "around what is taken"},
    {"tare place job.toml --cluster lab.toml --emit rankfile > ranks", "for mpirun --rankfile"},
    {"tare place job.toml --cluster lab.toml --output json | jq '.ranks[0]'", "where rank 0 runs"},
});
constexpr auto kCatalogExamples = std::to_array<Example>({
    {"tare catalog gpus", "list the accelerators"},
    {"tare catalog offers '*h100*'", "list the offers that match"},
    {"tare catalog gpus H100-SXM5-80GB", "show one with its sources"},
    {"tare catalog import vms.csv --to prices/", "turn a SkyPilot catalog into a directory for --catalog"},
});
constexpr auto kValidateExamples = std::to_array<Example>({
    {"tare validate tests/published/published.csv", "the error by GPU and by source"},
    {"tare validate rows.csv --row T0019 --explain", "one row with the formulas behind it"},
    {"tare validate rows.csv --output csv", "measured and predicted of every row"},
});
constexpr auto kReadExamples = std::to_array<Example>({
    {"tare read topo.txt nccl.log", "what each file is, and the facts in it"},
    {"nvidia-smi -q | tare read - --output json", "the facts of a command's output, with their lines"},
    {"tare read support-bundle/", "every file of a folder"},
});
constexpr auto kAuditExamples = std::to_array<Example>({
    {"tare audit support-bundle/", "what is wrong in a folder of outputs, priced"},
    {"dmesg | tare audit -", "one output, from standard input"},
    {"tare audit logs/ --on lab.toml --fail-on high", "exit 1 when something is severe"},
    {"tare audit --prometheus http://prom:9090 --since 30d", "who held GPUs and left them idle"},
    {"tare audit train.log --job job.toml --on lab.toml", "a run beside its prediction: where its GPU-hours went"},
    {"tare audit logs/ --baseline before.json", "what is new and what is fixed"},
    {"tare audit logs/ --output sarif > audit.sarif", "for code-scanning viewers"},
});
constexpr auto kCompletionsExamples = std::to_array<Example>({
    {"source <(tare completions bash)", "complete in this shell"},
    {"tare completions fish > ~/.config/fish/completions/tare.fish", "complete in every fish"},
});
constexpr auto kManExamples = std::to_array<Example>({
    {"tare man | man -l -", "read the manual"},
});

constexpr auto kVerbs = std::to_array<VerbInfo>({
    {Verb::kPlan, "plan", "JOB.toml", 1, 1, "rank what can run a job, with what each costs",
     "Searches the offers and sizes that the job names (or the flags), finds for each the parallelism that is cheapest "
     "within its memory, and ranks them. The cheapest one that meets deadline and budget is marked CHOSEN. Below stand "
     "its bill, where the money goes, and what was refused with the reason and the nearest change that would make it "
     "fit.\n\n"
     "The search is exact: a configuration is left out only when a bound proves it no better. Exit status 1 means that "
     "nothing meets deadline and budget (or --fail-over); the answer then says what is closest.",
     kPlanExamples},
    {Verb::kEstimate, "estimate", "JOB.toml", 1, 1, "one choice in full: step, memory, run and bill",
     "Evaluates the job on one cluster (--on) or one offer (--offer): every part of a step, every part of the memory, "
     "the run from start to end, the bill. The parallelism is the job's [parallelism], what the flags pin, or else the "
     "best one.",
     kEstimateExamples},
    {Verb::kCompare, "compare", "JOB.toml", 1, 1, "two or more choices side by side, line by line",
     "Evaluates the job on each of the given offers and clusters, and shows how every part of the step, every line of "
     "the bill and every bar of the waterfall differs from the first one's: +$743 ($0 → $743).",
     kCompareExamples},
    {Verb::kBill, "bill", "JOB.toml", 1, 1, "what the whole run costs, and where every dollar goes",
     "Evaluates the job on each of the given offers and clusters, and prints the ledger of the run, the same money by "
     "cause, energy and emissions. Every amount has P10, P50 and P90 over draws of the uncertain inputs, the error of "
     "the step time among them; the chances to meet deadline and budget are counted in the same draws.\n\n"
     "Exit status 1 means that a bill misses the deadline, the budget or --fail-over.",
     kBillExamples},
    {Verb::kPlace, "place", "JOB.toml", 1, 1, "which nodes and which GPU for every rank, in seconds and dollars",
     "Chooses the nodes of a cluster with the least spread over leaves and NVLink domains, then the order of ranks "
     "that "
     "the step model says is fastest: tp inside the NVLink domain, cp, dp and pp along the leaves. Shows the step time "
     "and cost of that placement, of the naive one (the first free nodes, ranks in Megatron's order) and the bound, "
     "and "
     "where shards and checkpoints go on the nodes' disks. docs/placing.md has the rules.\n\n"
     "A job that does not fit is answered with the counts of what is in the way and the nearest changes, and exit "
     "status 1.",
     kPlaceExamples},
    {Verb::kCatalog, "catalog", "KIND [ID|GLOB] | import FILE…", 1, -1, "list and show what tare knows, with sources",
     "KIND is gpus, nodes, offers, models, parameters, stacks or nics. With an id one of them is shown in full with "
     "its "
     "sources; with a pattern those that match are listed ('*' any run of characters, '?' one).\n\n"
     "'catalog import' reads price lists (SkyPilot's catalog CSVs, or a plain offers CSV) and writes the directory "
     "named by --to, which --catalog then lays over the shipped facts.",
     kCatalogExamples},
    {Verb::kValidate, "validate", "ROWS.csv", 1, 1, "hold the model against measured throughput",
     "Predicts each row that says enough of its run, counts the others with the reason, and reports the error by GPU, "
     "by source group and in all, beside a baseline that knows only the median MFU of the published rows. The columns "
     "are those of tests/published/published.csv.",
     kValidateExamples},
    {Verb::kRead, "read", "FILE|DIR|-…", 1, -1, "read what operators paste: facts with their place",
     "Recognises the output of the tools that people run on GPU clusters, and prints what it says as facts with their "
     "lines: topology, nvidia-smi, DCGM, nccl-tests and NCCL logs, fio, inventories, InfiniBand, kernel messages, "
     "training logs and traces, Slurm, Kubernetes, bills. docs/read.md lists the formats.\n\n"
     "Damage is normal: what could not be used is listed with the reason, and reading goes on. N/A is unknown, not "
     "zero, and units are those of the file. Files of any size are read as a stream. Exit status 2 means that a file "
     "could not be read or recognised; the others are still printed.",
     kReadExamples},
    {Verb::kAudit, "audit", "FILE|DIR|-…", 0, -1, "what is wrong with a cluster, what it costs a day, what to do",
     "Reads files as 'tare read' does, holds the facts against rules and against what the hardware can do, and prints "
     "findings: what it is about, how sure, the lines it is seen in, the cause, dollars a day, and the fix. What one "
     "finding explains stands under it. docs/audit.md lists the rules.\n\n"
     "Prices are those of --on, else the catalog's median for the GPU, marked as assumed. Exit status 1 only under "
     "--fail-on.",
     kAuditExamples},
    {Verb::kCompletions, "completions", "bash|zsh|fish", 1, 1, "print a completion script for a shell",
     "Prints a script that completes verbs, flags, their values, and ids of offers.", kCompletionsExamples},
    {Verb::kMan, "man", "", 0, 0, "print the manual page as roff", "Prints the manual page tare(1) as roff.",
     kManExamples},
    {Verb::kHelp,
     "help",
     "[VERB]",
     0,
     1,
     "explain a verb and its flags",
     "Without a verb, lists the verbs. 'tare VERB --help' is the same as 'tare help VERB'.",
     {}},
    {Verb::kVersion, "version", "", 0, 0, "print the version", "Prints the version; also --version.", {}},
});

}  // namespace

std::span<const VerbInfo> verbs() { return kVerbs; }

const VerbInfo& info(Verb verb) { return kVerbs[static_cast<unsigned>(verb)]; }

const VerbInfo* find_verb(std::string_view name) {
  for (const VerbInfo& candidate : kVerbs) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

}  // namespace tare
