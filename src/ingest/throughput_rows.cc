#include "ingest/throughput_rows.h"

#include "base/csv.h"
#include "base/text.h"

namespace tare {
namespace {

std::optional<int> to_int(std::optional<long long> value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

// The cells of one row by column name; what is wrong with one goes to `diagnostics` with its place.
class RowReader {
 public:
  RowReader(const CsvTable& table, std::size_t row, Diagnostics& diagnostics)
      : table_(table), row_(row), diagnostics_(diagnostics) {}

  int line() const { return table_.at(row_, "id", "", "").line; }
  std::string text(std::string_view column) const { return std::string(table_.field(row_, column)); }
  std::optional<double> number(std::string_view column) const {
    const std::optional<double> value = table_.number(row_, column, diagnostics_);
    if (value && *value < 0) {
      diagnostics_.push_back(
          table_.at(row_, column, "negative", "expected a number of at least 0, found " + text(column)));
      return std::nullopt;
    }
    return value;
  }
  // A count: a positive whole number that fits.
  std::optional<int> count(std::string_view column) const {
    const std::optional<long long> value = table_.integer(row_, column, diagnostics_);
    constexpr long long kLargest = 1'000'000'000;
    if (value && (*value < 1 || *value > kLargest)) {
      const std::string expected = *value < 1 ? "of at least 1" : "from 1 to " + std::to_string(kLargest);
      diagnostics_.push_back(
          table_.at(row_, column, "out-of-range", "expected a whole number " + expected + ", found " + text(column)));
      return std::nullopt;
    }
    return to_int(value);
  }
  std::optional<bool> flag(std::string_view column) const {
    const std::string value = text(column);
    if (value.empty()) return std::nullopt;
    if (value == "0" || value == "1") return value == "1";
    diagnostics_.push_back(table_.at(row_, column, "not-a-flag", "expected 0 or 1, found '" + value + "'"));
    return std::nullopt;
  }

 private:
  const CsvTable& table_;
  std::size_t row_;
  Diagnostics& diagnostics_;
};

void read_architecture(const RowReader& in, ThroughputRow& row) {
  row.params_b = in.number("params_b");
  row.active_params_b = in.number("active_params_b");
  row.layers = in.count("layers");
  row.hidden = in.count("hidden");
  row.ffn_hidden = in.count("ffn_hidden");
  row.heads = in.count("heads");
  row.kv_heads = in.count("kv_heads");
  row.head_dim = in.count("head_dim");
  row.vocab = in.count("vocab");
  row.gated_mlp = in.flag("gated_mlp");
  row.tied_embeddings = in.flag("tied_embeddings");
  row.experts = in.count("experts");
  row.top_k = in.count("top_k");
  row.sequence_length = in.count("seq_len");
}

void read_layout(const RowReader& in, ThroughputRow& row) {
  row.gpu = in.text("gpu");
  row.gpus = in.count("n_gpus");
  row.gpus_per_node = in.count("gpus_per_node");
  row.intra_node_link = in.text("intra_node_link");
  if (const auto rate = in.number("inter_node_gbps_per_gpu")) row.inter_node_bytes_per_s_per_gpu = *rate * 1e9 / 8;
  row.tp = in.count("tp");
  row.pp = in.count("pp");
  row.vpp = in.count("vpp");
  row.dp = in.count("dp");
  row.cp = in.count("cp");
  row.ep = in.count("ep");
  row.sharding = in.text("zero_stage_or_fsdp");
  row.micro_batch = in.count("micro_batch");
  row.global_batch = in.count("global_batch");
  row.grad_accum = in.count("grad_accum");
}

ThroughputRow read_row(const RowReader& in) {
  ThroughputRow row;
  row.line = in.line();
  row.id = in.text("id");
  row.source = in.text("source");
  row.source_group = in.text("source_group");
  row.date = in.text("date");
  row.model_name = in.text("model_name");
  row.arch = in.text("arch");
  read_architecture(in, row);
  read_layout(in, row);
  row.precision = in.text("precision");
  row.recompute = in.text("recompute");
  row.attention = in.text("attention");
  row.method = in.text("method");
  row.framework = in.text("framework");
  row.tokens_per_s_per_gpu = in.number("tokens_per_s_per_gpu");
  if (const auto tflops = in.number("tflops_per_gpu")) row.flops_per_s_per_gpu = *tflops * 1e12;
  if (const auto mfu = in.number("mfu_pct")) row.mfu_ratio = *mfu / 100;
  row.step_time_s = in.number("step_time_s");
  row.notes = in.text("notes");
  row.tier = in.text("tier");
  row.flops_convention = in.text("flops_convention");
  row.replicate_cluster = in.text("replicate_cluster");
  return row;
}

}  // namespace

Result<std::vector<ThroughputRow>> read_throughput_rows(std::string text, const std::string& file) {
  Result<CsvTable> table = CsvTable::parse(std::move(text), file);
  if (!table) return tl::unexpected(table.error());
  const std::vector<std::string> missing = table->missing({"id", "gpu", "method"});
  if (!missing.empty()) {
    Diagnostic diagnostic = make_error("missing-column", "the header has no column '" + join(missing, "', '") + "'",
                                       "docs/validation.md lists the columns of a throughput CSV");
    diagnostic.file = file;
    diagnostic.line = 1;
    return fail(diagnostic);
  }
  Diagnostics diagnostics;
  std::vector<ThroughputRow> rows;
  rows.reserve(table->rows());
  for (std::size_t i = 0; i < table->rows() && diagnostics.size() < DiagnosticList::kLimit; ++i) {
    rows.push_back(read_row(RowReader(*table, i, diagnostics)));
  }
  if (has_error(diagnostics)) return tl::unexpected(diagnostics);
  return rows;
}

}  // namespace tare
