// accelerators.csv -> Accelerator. The checks catch what datasheets invite: a figure with 2:4 sparsity is twice the
// dense one.
#include <fmt/format.h>

#include "base/text.h"
#include "catalog/tables.h"

namespace tare {
namespace {

constexpr double kRounding = 1.01;
// Dense peaks double with each halving of the format, a little more where vendors round. B300 triples 4 bits over 8,
// and GeForce parts quadruple it: they halve the 8-bit rate under fp32 accumulation.
constexpr double kLargest16BitOverTf32 = 2.5;
constexpr double kLargest8BitOver16 = 2.1;
constexpr double kLargest4BitOver8 = 4.1;

void check_ratio(TableReader& row, std::string_view column, std::optional<double> peak, std::optional<double> lower,
                 std::string_view lower_name, double largest) {
  if (!peak || !lower || *lower == 0 || *peak <= *lower * largest) return;
  row.error(column, "sparse-peak",
            fmt::format("expected at most {:.3g} times '{}', found {:.3g} times: a figure with sparsity?", largest,
                        lower_name, *peak / *lower),
            "write the dense peak");
}

void check_peaks(TableReader& row, const Accelerator& a) {
  // Gaudi runs fp16 at the rate of tf32; everyone else's two 16-bit formats are equally fast.
  const bool equal_16_bit = a.vendor != "intel";
  if (equal_16_bit) {
    check_ratio(row, "peak_bf16_flops", a.peak_bf16_flops, a.peak_fp16_flops, "peak_fp16_flops", kRounding);
  }
  check_ratio(row, "peak_fp16_flops", a.peak_fp16_flops, a.peak_tf32_flops, "peak_tf32_flops", kLargest16BitOverTf32);
  const std::string_view name_16_bit = equal_16_bit ? "peak_fp16_flops" : "peak_bf16_flops";
  const auto peak_16_bit = equal_16_bit ? a.peak_fp16_flops : a.peak_bf16_flops;
  check_ratio(row, "peak_fp8_flops", a.peak_fp8_flops, peak_16_bit, name_16_bit, kLargest8BitOver16);
  check_ratio(row, "peak_fp4_flops", a.peak_fp4_flops, a.peak_fp8_flops, "peak_fp8_flops", kLargest4BitOver8);
}

Accelerator read_row(TableReader& row) {
  Accelerator a;
  a.id = row.require_id("id");
  a.name = row.text("name").empty() ? a.id : row.text("name");
  a.aliases = row.list("aliases");
  a.vendor = row.text("vendor");
  a.generation = parse_generation(row.word("generation", generation_names(), "unknown")).value_or(a.generation);
  a.form_factor = row.text("form_factor");
  a.peak_fp32_flops = row.number("peak_fp32_flops");
  a.peak_tf32_flops = row.number("peak_tf32_flops");
  a.peak_fp16_flops = row.number("peak_fp16_flops");
  a.peak_bf16_flops = row.number("peak_bf16_flops");
  a.peak_fp8_flops = row.number("peak_fp8_flops");
  a.peak_fp4_flops = row.number("peak_fp4_flops");
  a.memory_bytes = row.require_positive("memory_bytes");
  a.memory_bytes_per_s = row.require_positive("memory_bytes_per_s");
  a.tdp_w = row.number("tdp_w");
  a.idle_w_low = row.number("idle_w_low");
  a.idle_w_high = row.number("idle_w_high");
  a.link = row.text("link");
  a.link_bytes_per_s = row.number("link_bytes_per_s");
  a.link_domain = row.count("link_domain").value_or(1);
  a.pcie_generation = row.count("pcie_generation").value_or(0);
  a.pcie_lanes = row.count("pcie_lanes").value_or(0);
  a.launch = row.text("launch");
  a.price_low_usd = row.number("price_low_usd");
  a.price_high_usd = row.number("price_high_usd");
  a.sm_count = row.count("sm_count");
  a.l2_bytes = row.number("l2_bytes");
  a.source = row.source();
  return a;
}

}  // namespace

std::vector<Accelerator> read_accelerators(const CsvTable& table, const std::string& file,
                                           DiagnosticList& diagnostics) {
  std::vector<Accelerator> rows;
  TableReader row(table, file, diagnostics, {"id", "memory_bytes", "memory_bytes_per_s"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    Accelerator accelerator = read_row(row);
    check_peaks(row, accelerator);
    check_range(row, "idle_w_low", accelerator.idle_w_low, {}, accelerator.idle_w_high);
    check_range(row, "price_low_usd", accelerator.price_low_usd, {}, accelerator.price_high_usd);
    rows.push_back(std::move(accelerator));
  }
  return rows;
}

}  // namespace tare
