#include "workload/job.h"

#include <array>

namespace tare {
namespace {

constexpr std::array<std::string_view, 4> kMethods = {"pretrain", "full", "lora", "qlora"};
constexpr std::array<std::string_view, 3> kStores = {"shared", "local", "memory"};
constexpr std::array<std::string_view, 5> kKernels = {"default", "standard", "flash1", "flash2", "flash3"};

template <typename Enum, std::size_t N>
std::optional<Enum> parse(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Method method) { return kMethods.at(static_cast<std::size_t>(method)); }

std::optional<Method> parse_method(std::string_view text) { return parse<Method>(kMethods, text); }

std::string_view name_of(CheckpointStore store) { return kStores.at(static_cast<std::size_t>(store)); }

std::optional<CheckpointStore> parse_checkpoint_store(std::string_view text) {
  return parse<CheckpointStore>(kStores, text);
}

std::string_view name_of(AttentionKernel kernel) { return kKernels.at(static_cast<std::size_t>(kernel)); }

std::optional<AttentionKernel> parse_attention_kernel(std::string_view text) {
  return parse<AttentionKernel>(kKernels, text);
}

}  // namespace tare
