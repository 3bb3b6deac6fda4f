#include "validation/row_stack.h"

#include <charconv>

#include "base/text.h"

namespace tare {

const SoftwareStack& stack_of(const std::string& framework, GpuGeneration generation, const Catalog& catalog) {
  for (const SoftwareStack& stack : catalog.stacks) {
    for (const std::string& glob : stack.framework_globs) {
      if (framework.empty() || !glob_matches(glob, framework)) continue;
      // Its old releases do not know newer parts: there the same name means what it grew into.
      const bool recent = generation == GpuGeneration::kHopper || generation == GpuGeneration::kBlackwell;
      const SoftwareStack* newer = recent && !stack.newer.empty() ? find_stack(catalog, stack.newer) : nullptr;
      return newer != nullptr ? *newer : stack;
    }
  }
  static const SoftwareStack kNone;  // of an overlaid catalog that has no generic stack
  const SoftwareStack* generic = find_stack(catalog, "generic");
  return generic != nullptr ? *generic : kNone;
}

void read_notes(const std::string& notes, SoftwareStack& stack, Lora& lora) {
  const std::string text = to_lower(notes);
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (says("torch.compile")) stack.fused_elementwise = true;
  if (says("; eager")) stack.fused_elementwise = false;
  if (says("async tp") || says("asynctp")) stack.tp_overlap = true;
  constexpr std::string_view kRank = "lora r=";
  if (const auto at = text.find(kRank); at != std::string::npos) {
    int rank = 0;
    std::from_chars(text.data() + at + kRank.size(), text.data() + text.size(), rank);
    if (rank > 0) lora.rank = rank;
  }
}

std::string assumed_default(std::string_view what, const std::string& value, const std::string& stated,
                            const SoftwareStack& stack) {
  std::string text = std::string(what) + " = " + value + " (" + stack.id;
  if (!stated.empty()) text += "; " + in_quotes(stated) + " is not understood";
  return text + ")";
}

std::optional<Precision> precision_of(const ThroughputRow& row, const SoftwareStack& stack,
                                      std::vector<std::string>& assumed) {
  std::string text = row.precision;
  if (text.empty()) {
    text = stack.default_precision;
    assumed.push_back(assumed_default("precision", text, "", stack));
  }
  // Weights stored in 4 bit by a stack that multiplies them in a wider format of its own.
  if (row.method == "qlora" && !stack.fp4_recipe.empty()) text = stack.fp4_recipe;
  return parse_precision(text);
}

AttentionKernel attention_of(const ThroughputRow& row, const SoftwareStack& stack, std::vector<std::string>& assumed) {
  const auto kernel_of = [](const std::string& text) -> std::optional<AttentionKernel> {
    if (text == "standard") return AttentionKernel::kStandard;
    if (text == "flash1") return AttentionKernel::kFlash1;
    if (text == "flash" || text.rfind("flash2", 0) == 0) return AttentionKernel::kFlash2;
    if (text.rfind("flash3", 0) == 0 || text.rfind("flash4", 0) == 0) return AttentionKernel::kFlash3;
    return std::nullopt;
  };
  const std::string stated = to_lower(row.attention);
  // "flash" names a family; which of it the stack runs is a default again.
  const bool family = stated == "flash" && stack.attention != "standard";
  const std::optional<AttentionKernel> kernel = kernel_of(stated);
  if (kernel && !family) return *kernel;
  assumed.push_back(assumed_default("attention", stack.attention, family ? "" : row.attention, stack));
  return kernel_of(stack.attention).value_or(AttentionKernel::kFlash2);
}

Recompute recompute_of(const ThroughputRow& row, const SoftwareStack& stack, const ModelArchitecture& model,
                       std::vector<std::string>& assumed) {
  std::string text = to_lower(row.recompute);
  if (text != "none" && text != "selective" && text != "full") {
    // Experts spread over ranks: the rule is about dense models that fill a card.
    const double limit = model.is_moe() ? 0 : stack.recompute_full_above_params;
    text = limit > 0 && count_parameters(model).total > limit ? "full" : stack.recompute;
    assumed.push_back(assumed_default("recompute", text, row.recompute, stack));
  }
  if (text == "full") return Recompute::kFull;
  return text == "selective" ? Recompute::kSelective : Recompute::kNone;
}

}  // namespace tare
