// Small listings of ports with numbers of their own, for cases and tests of the network's rules.
#pragma once

#include <string>
#include <vector>

namespace tare {

// A device of ibstat; by default a 400 Gb/s InfiniBand port that is up.
struct HcaText {
  std::string name;
  std::string type = "MT4129";
  std::string firmware = "28.41.1012";
  std::string card = "...";
  std::string state = "Active";
  std::string wire = "LinkUp";
  int rate = 400;
  int lid = 65535;
  std::string layer = "InfiniBand";
};
std::string hca_text(const HcaText& one);
HcaText down(const std::string& name, const std::string& wire);
// `up` rails that are up, and others.
std::string rails_text(int up, const std::vector<HcaText>& others);

}  // namespace tare
