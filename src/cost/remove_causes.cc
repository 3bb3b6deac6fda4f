#include "cost/bill.h"

#include <array>

namespace tare {

std::vector<std::pair<std::string, double>> remove_causes(StepModel& model, const Parallelism& parallelism) {
  struct Cause {
    const char* bar;
    unsigned bit;
  };
  static constexpr std::array<Cause, 12> kOrder = {{{"data", kWithoutData},
                                                    {"bubble", kWithoutBubble},
                                                    {"comm_tp", kWithoutTp},
                                                    {"comm_dp", kWithoutDp},
                                                    {"comm_pp", kWithoutPp},
                                                    {"comm_ep", kWithoutEp},
                                                    {"comm_cp", kWithoutCp},
                                                    {"straggler", kWithoutStraggler},
                                                    {"delivery", kWithoutDelivery},
                                                    {"recompute", kWithoutRecompute},
                                                    {"kernel", kWithoutKernel},
                                                    {"optimizer", kWithoutOptimizer}}};
  std::vector<std::pair<std::string, double>> left;
  unsigned removed = kWithoutNothing;
  for (const Cause& cause : kOrder) {
    removed |= cause.bit;
    left.emplace_back(cause.bar, model.step_time_s(parallelism, removed));
  }
  return left;
}

}  // namespace tare
