#include "cluster/pcie.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace tare {
namespace {

// GB/s of one lane: 2.5 and 5 GT/s with 8b/10b, 8 to 32 GT/s with 128b/130b, 64 and 128 GT/s with 242 of 256 bytes.
constexpr std::array<double, 8> kLaneGbytesPerS = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563, 15.125};

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Pcie> parse_pcie(std::string_view text) {
  const std::size_t x = text.find_first_of("xX");
  if (x == std::string_view::npos) return std::nullopt;
  std::string_view generation = trim(text.substr(0, x));
  if (generation.ends_with(".0")) generation.remove_suffix(2);
  const auto number = parse_int(generation);
  const auto lanes = parse_int(trim(text.substr(x + 1)));
  if (!number || *number < 1 || *number >= static_cast<int>(kLaneGbytesPerS.size())) return std::nullopt;
  if (!lanes || (*lanes != 1 && *lanes != 2 && *lanes != 4 && *lanes != 8 && *lanes != 16)) return std::nullopt;
  return Pcie{*number, *lanes};
}

std::string to_text(const Pcie& pcie) { return fmt::format("{}.0 x{}", pcie.generation, pcie.lanes); }

std::optional<double> pcie_bytes_per_s(const Pcie& pcie) {
  if (pcie.generation < 1 || pcie.generation >= static_cast<int>(kLaneGbytesPerS.size()) || pcie.lanes < 1) {
    return std::nullopt;
  }
  return kLaneGbytesPerS[static_cast<std::size_t>(pcie.generation)] * 1e9 * pcie.lanes;
}

}  // namespace tare
