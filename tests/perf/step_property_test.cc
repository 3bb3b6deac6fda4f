// What holds for every step, whatever the job, the machine and the split.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <sstream>

#include "perf/any_step.h"

namespace tare {
namespace {

using test::any_step;
using test::AnyStep;
using test::model_of;

constexpr double kRounding = 1e-12;
constexpr double kSummation = 1e-9;  // where a difference of large terms is a part

Step step_of(const AnyStep& any) { return model_of(any).evaluate(any.parallelism); }

// Fails with the parts of both, so that the one to blame is seen.
void expect_no_slower(const Step& after, const Step& before, const AnyStep& any) {
  if (after.step_time_s <= before.step_time_s * (1 + kSummation)) return;
  std::ostringstream text;
  text << any.workload.model.id << " " << to_text(any.parallelism) << ", before and after:";
  const auto old = named_parts(before.parts), now = named_parts(after.parts);
  for (std::size_t i = 0; i < old.size(); ++i)
    text << "\n  " << old[i].first << " " << old[i].second << " " << now[i].second;
  RC_FAIL(text.str());
}

RC_GTEST_PROP(StepProperties, PartsAreNotNegativeAndSumUp, ()) {
  const AnyStep any = any_step();
  const Step step = model_of(any).evaluate(any.parallelism);
  double total = 0;
  for (const auto& [name, value] : named_parts(step.parts)) {
    RC_ASSERT(std::isfinite(value));
    RC_ASSERT(value >= 0);
    total += value;
  }
  RC_ASSERT(step.step_time_s > 0);
  RC_ASSERT(std::fabs(total - step.step_time_s) <= kRounding * total);
  RC_ASSERT(step.kernel_busy_ratio > 0);
  RC_ASSERT(step.kernel_busy_ratio <= 1);
}

RC_GTEST_PROP(StepProperties, OverlapNeverCostsMoreThanNone, ()) {
  AnyStep any = any_step();
  any.workload.stack.dp_overlap = any.workload.stack.tp_overlap = false;
  const Step none = step_of(any);
  any.workload.stack.dp_overlap = *rc::gen::arbitrary<bool>();
  any.workload.stack.tp_overlap = *rc::gen::arbitrary<bool>();
  expect_no_slower(step_of(any), none, any);
}

// What is hidden is never more than what it hides behind: traffic shows at least where it exceeds the work.
RC_GTEST_PROP(StepProperties, NothingHidesBehindLessThanItself, ()) {
  const AnyStep any = any_step();
  StepModel model = model_of(any);
  const StepTerms terms = model.terms(any.parallelism);
  const double exposed = parts_of(terms).dp_exposed_s - terms.dp_extra_s;
  RC_ASSERT(exposed >= terms.dp_traffic_s - terms.dp_work_s - kSummation * (terms.dp_work_s + terms.dp_traffic_s));
  RC_ASSERT(exposed <= terms.dp_traffic_s + kSummation * (terms.dp_work_s + terms.dp_traffic_s));
}

RC_GTEST_PROP(StepProperties, MoreBandwidthIsNeverSlower, ()) {
  AnyStep any = any_step();
  const Step before = step_of(any);
  double* const rate = *rc::gen::element(&any.machine.memory_bytes_per_s, &any.machine.in_domain.bytes_per_s,
                                         &any.machine.in_node.bytes_per_s, &any.machine.between_nodes.bytes_per_s,
                                         &any.machine.host_bytes_per_s, &any.machine.storage_bytes_per_s);
  *rate *= 1 + *rc::gen::inRange(1, 300) / 100.0;
  expect_no_slower(step_of(any), before, any);
}

RC_GTEST_PROP(StepProperties, MoreFlopsAreNeverSlower, ()) {
  AnyStep any = any_step();
  const Step before = step_of(any);
  const double factor = 1 + *rc::gen::inRange(1, 300) / 100.0;
  Machine& m = any.machine;
  for (double* peak : {&m.peak_fp16_flops, &m.peak_bf16_flops, &m.peak_fp8_flops, &m.peak_fp4_flops, &m.peak_fp32_flops,
                       &m.peak_tf32_flops}) {
    *peak *= factor;
  }
  expect_no_slower(step_of(any), before, any);
}

// At one batch per step and rank more accumulation goes as the micro-batch grows; a stack that keeps whole gradients
// only while it accumulates is not among these (tests/workload has it).
RC_GTEST_PROP(StepProperties, MemoryIsMonotoneInTheMicroBatch, ()) {
  const AnyStep any = any_step();
  Parallelism larger = any.parallelism;
  larger.micro_batch *= *rc::gen::inRange(2, 5);
  const StepModel model = model_of(any);
  RC_ASSERT(model.memory(larger).total_bytes >= model.memory(any.parallelism).total_bytes * (1 - kRounding));
}

RC_GTEST_PROP(StepProperties, UtilisationIsAShare, ()) {
  const AnyStep any = any_step();
  const Step step = model_of(any).evaluate(any.parallelism);
  RC_ASSERT(step.mfu_ratio > 0);
  RC_ASSERT(step.mfu_ratio <= 1);
  RC_ASSERT(step.hfu_ratio >= step.mfu_ratio * (1 - kSummation));
  RC_ASSERT(step.hfu_ratio <= 1);
}

RC_GTEST_PROP(StepProperties, ALargerVocabularyIsNeverFaster, ()) {
  AnyStep any = any_step();
  const Step before = step_of(any);
  any.workload.model.vocab += *rc::gen::element(1, 100, 1024, 50000);
  expect_no_slower(before, step_of(any), any);
}

// In the order of the bill's waterfall, and for any set of causes.
RC_GTEST_PROP(StepProperties, RemovingACauseNeverMakesAStepLonger, ()) {
  const AnyStep any = any_step();
  StepModel model = model_of(any);
  const Step step = model.evaluate(any.parallelism);
  double before = step.step_time_s;
  unsigned removed = kWithoutNothing;
  for (unsigned bit = 0; bit < 12; ++bit) {
    removed |= 1u << bit;
    const double left = model.step_time_s(any.parallelism, removed);
    RC_ASSERT(left <= before * (1 + kSummation));
    before = left;
  }
  const double useful = step.model_flops_per_gpu / step.peak_flops;
  RC_ASSERT(std::fabs(before - useful) <= kSummation * useful);
  const auto some = static_cast<unsigned>(*rc::gen::inRange(0, 1 << 12));
  const unsigned one = 1u << *rc::gen::inRange(0, 12);
  RC_ASSERT(model.step_time_s(any.parallelism, some | one) <=
            model.step_time_s(any.parallelism, some) * (1 + kSummation));
}

// More recomputation never takes less time.
RC_GTEST_PROP(StepProperties, RecomputeNeverSavesTime, ()) {
  AnyStep any = any_step();
  any.parallelism.recompute = Recompute::kNone;
  const Step none = step_of(any);
  any.parallelism.recompute = Recompute::kFull;
  any.parallelism.recompute_layers = 1;
  const Step one = step_of(any);
  any.parallelism.recompute_layers = -1;
  expect_no_slower(none, one, any);
  expect_no_slower(one, step_of(any), any);
}

// Tensor-parallel traffic is cheapest between neighbours. (The whole step need not be: what then lies apart may matter
// more, which is why a layout is searched and not assumed.)
RC_GTEST_PROP(StepProperties, TensorParallelTrafficIsCheapestInnermost, ()) {
  const AnyStep any = any_step();
  StepModel inner(any.workload, any.machine);
  StepModel outer(any.workload, any.machine, {{Axis::kCp, Axis::kDp, Axis::kPp, Axis::kTp}});
  RC_ASSERT(outer.evaluate(any.parallelism).parts.tp_exposed_s >=
            inner.evaluate(any.parallelism).parts.tp_exposed_s * (1 - kRounding));
}

}  // namespace
}  // namespace tare
