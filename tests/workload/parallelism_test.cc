#include "workload/parallelism.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(ParallelismText, LeavesOnesOut) {
  Parallelism p;
  EXPECT_EQ(to_text(p), "mb1 zero0");
  p.tp = 4;
  p.pp = 8;
  p.vpp = 2;
  p.dp = 2;
  p.zero_stage = 1;
  p.sequence_parallel = true;
  p.recompute = Recompute::kSelective;
  EXPECT_EQ(to_text(p), "tp4 pp8 vpp2 dp2 mb1 zero1 sp recompute=selective");
  EXPECT_EQ(gpus(p), 64);
}

TEST(ParallelismText, SaysWhatIsUnusual) {
  Parallelism p;
  p.ep = 8;
  p.cp = 2;
  p.dp = 4;
  p.micro_batch = 2;
  p.zero_stage = 3;
  p.recompute = Recompute::kFull;
  p.recompute_layers = 3;
  p.offload = Offload::kOptimizer;
  p.schedule = PipelineSchedule::kZeroBubble;
  EXPECT_EQ(to_text(p), "cp2 ep8 dp4 mb2 zero3 recompute=full(3 layers) offload=optimizer zero_bubble");
}

}  // namespace
}  // namespace tare
