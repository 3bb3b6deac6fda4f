#include "perf/roofline.h"

#include <algorithm>

#include "perf/attention.h"
#include "workload/flops.h"

namespace tare {
namespace {

class RooflineBuilder {
 public:
  RooflineBuilder(const StepModel& model, const KernelRates& rates, double peak, double wide_peak)
      : machine_(model.machine()), rates_(rates), peak_(peak), wide_peak_(wide_peak) {}

  void gemm(std::string name, double m, double n, double k, double count, GemmFormat format) {
    const Gemm g{m, n, k, count, format};
    add(std::move(name), flops(g), gemm_bytes(g, rates_), gemm_s(g, rates_),
        format == GemmFormat::k16Bit ? wide_peak_ : peak_);
  }

  void add(std::string name, double flops, double bytes, double time_s, double peak) {
    if (time_s <= 0) return;
    RooflineRow row;
    row.operation = std::move(name);
    row.flops = flops;
    row.bytes = bytes;
    row.intensity_flops_per_byte = bytes > 0 ? flops / bytes : 0;
    row.ridge_flops_per_byte = peak / machine_.memory_bytes_per_s;
    row.time_s = time_s;
    const double roof = std::min(peak, row.intensity_flops_per_byte * machine_.memory_bytes_per_s);
    const double at_roof = roof > 0 ? flops / roof : bytes / machine_.memory_bytes_per_s;
    row.efficiency_ratio = std::min(1.0, at_roof / time_s);
    const bool launch = rates_.kernel_s > 0.5 * time_s;
    row.bound = launch ? "launch" : row.intensity_flops_per_byte >= row.ridge_flops_per_byte ? "compute" : "memory";
    rows.push_back(std::move(row));
  }

  std::vector<RooflineRow> rows;

 private:
  const Machine& machine_;
  const KernelRates& rates_;
  double peak_, wide_peak_;
};

void add_attention_rows(RooflineBuilder& out, const Workload& w, const Parallelism& p, double tokens, GemmFormat format,
                        const KernelRates& rates, double wide_peak, const StepConstants& constants) {
  const ModelArchitecture& model = w.model;
  const double a = double(model.heads) / p.tp, g = std::max(double(model.kv_heads) / p.tp, 1.0);
  const double qk = model.is_mla() ? model.mla_nope_head_dim + model.mla_rope_head_dim : model.head_dim;
  const double v = model.is_mla() ? model.mla_v_head_dim : model.head_dim;
  if (!model.is_mla()) out.gemm("attention qkv", tokens, (a + 2 * g) * qk, model.hidden, 1, format);
  const AttentionShape shape{double(p.micro_batch),
                             double(w.sequence_length) / p.cp,
                             double(w.sequence_length),
                             a,
                             qk,
                             v,
                             model.window_every == 1 ? model.attention_window : 0};
  const AttentionTime time = attention_time(shape, w.attention, rates, constants);
  const double io = tokens * (2 * a * (qk + v) / 2 + 2 * g * (qk + v) / 2) * 2;
  const double scores = w.attention == AttentionKernel::kStandard
                            ? constants.softmax_passes * 2 * p.micro_batch * a * shape.queries * shape.keys
                            : 0;
  out.add("attention core", time.flops, io + scores, time.forward_s, wide_peak);
  out.gemm("attention output", tokens, model.hidden, a * v, 1, format);
}

}  // namespace

std::vector<RooflineRow> roofline(StepModel& model, const Parallelism& p) {
  const Workload& w = model.workload();
  const ModelArchitecture& arch = w.model;
  const StepConstants& constants = model.constants();
  const KernelRates& rates = model.rates();
  const double tokens = double(p.micro_batch) * w.sequence_length / p.cp;
  const double peak = peak_flops(model.machine(), w.precision);
  const GemmFormat format = gemm_format(w.precision);
  // What stays in the wide type beside 8- and 4-bit GEMMs.
  const double wide_peak = peak_flops(model.machine(), format == GemmFormat::k16Bit ? w.precision : Precision::kBf16);
  RooflineBuilder out(model, rates, peak, wide_peak);
  add_attention_rows(out, w, p, tokens, format, rates, wide_peak, constants);
  const double up = arch.gated_mlp ? 2 : 1;
  if (!arch.is_moe() || arch.first_dense_layers > 0) {
    out.gemm("mlp up", tokens, up * arch.ffn_hidden / p.tp, arch.hidden, 1, format);
    out.gemm("mlp down", tokens, arch.hidden, double(arch.ffn_hidden) / p.tp, 1, format);
  }
  if (arch.is_moe()) {
    const double split = p.ep > 1 ? 1 : p.tp;
    const double local = double(arch.experts) / p.ep;
    const double rows = tokens * arch.top_k / (p.tp / split) / local;
    out.gemm("experts up", rows, up * arch.expert_ffn_hidden / split, arch.hidden, local, format);
    out.gemm("experts down", rows, arch.hidden, arch.expert_ffn_hidden / split, local, format);
  }
  out.gemm("lm head", tokens, double(arch.vocab) / p.tp, arch.hidden, 1, GemmFormat::k16Bit);
  const double norm_bytes = tokens * arch.hidden * 2 * constants.norm_passes_fused;
  out.add("norms and residuals", tokens * arch.hidden * 10, norm_bytes, streaming_s(norm_bytes, rates), wide_peak);
  return out.rows;
}

}  // namespace tare
