// What a PCIe slot carries: the law that NICs and disks cannot break.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tare {

struct Pcie {
  int generation = 0;  // 0 = unknown
  int lanes = 0;
};

// "5.0 x16", "4 x4" -> Pcie; nullopt for anything else.
std::optional<Pcie> parse_pcie(std::string_view text);
std::string to_text(const Pcie& pcie);  // "5.0 x16"

// Per direction, after line coding (and FLIT mode from 6.0 on) and before packet headers: an upper bound. nullopt when
// the generation or the lanes are unknown.
std::optional<double> pcie_bytes_per_s(const Pcie& pcie);

}  // namespace tare
