#include "workload/parallelism.h"

namespace tare {

std::string_view name_of(Recompute recompute) {
  switch (recompute) {
    case Recompute::kNone:
      return "none";
    case Recompute::kSelective:
      return "selective";
    case Recompute::kFull:
      return "full";
  }
  return "none";
}

std::string_view name_of(Offload offload) {
  switch (offload) {
    case Offload::kNone:
      return "none";
    case Offload::kOptimizer:
      return "optimizer";
    case Offload::kParameters:
      return "parameters";
  }
  return "none";
}

std::string_view name_of(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::kOneForwardOneBackward:
      return "1f1b";
    case PipelineSchedule::kInterleaved:
      return "interleaved";
    case PipelineSchedule::kZeroBubble:
      return "zero_bubble";
  }
  return "1f1b";
}

std::string to_text(const Parallelism& parallelism) {
  std::string text;
  const auto word = [&](std::string_view part) {
    if (!text.empty()) text += ' ';
    text += part;
  };
  const auto degree = [&](std::string_view name, int value) {
    if (value != 1) word(std::string(name) + std::to_string(value));
  };
  degree("tp", parallelism.tp);
  degree("pp", parallelism.pp);
  degree("vpp", parallelism.vpp);
  degree("cp", parallelism.cp);
  degree("ep", parallelism.ep);
  degree("dp", parallelism.dp);
  word("mb" + std::to_string(parallelism.micro_batch));
  word("zero" + std::to_string(parallelism.zero_stage));
  if (parallelism.sequence_parallel) word("sp");
  if (parallelism.recompute != Recompute::kNone) {
    word("recompute=" + std::string(name_of(parallelism.recompute)));
    if (parallelism.recompute == Recompute::kFull && parallelism.recompute_layers >= 0) {
      text += "(" + std::to_string(parallelism.recompute_layers) + " layers)";
    }
  }
  if (parallelism.offload != Offload::kNone) word("offload=" + std::string(name_of(parallelism.offload)));
  if (parallelism.schedule == PipelineSchedule::kZeroBubble) word("zero_bubble");
  return text;
}

}  // namespace tare
