#include "catalog/node_type.h"

namespace tare {

const std::vector<std::string>& host_names() {
  static const std::vector<std::string> names = {"bare_metal", "vm", "unknown"};
  return names;
}

const std::vector<std::string>& packaging_names() {
  static const std::vector<std::string> names = {"none", "container", "unknown"};
  return names;
}

const std::vector<std::string>& gpu_share_names() {
  static const std::vector<std::string> names = {"whole", "mig", "mps", "time_slice"};
  return names;
}

const std::vector<std::string>& tenancy_names() {
  static const std::vector<std::string> names = {"dedicated", "shared", "unknown"};
  return names;
}

}  // namespace tare
