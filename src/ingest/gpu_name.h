// Which accelerator a foreign list means: "A100-80GB" of a cloud's catalog names a size, not a form factor.
#pragma once

#include <optional>
#include <string>

#include "catalog/catalog.h"

namespace tare {

struct GpuHints {
  std::string name;                  // what the list calls it: "H100", "A100-80GB-SXM"
  std::string detail;                // any longer name beside it: "NVIDIA A100 PCIe"; may be empty
  std::string instance;              // "gpu-h100-sxm_8gpu-128vcpu-1600gb"
  std::string provider;              // to find the node type provider/instance
  std::optional<double> memory_gib;  // of one GPU
};

struct GpuMatch {
  const Accelerator* accelerator = nullptr;  // nullptr: none of the catalog's
  std::string doubt;                         // what was guessed; empty when the source says it
};

// By the node type of that instance; else by alias; else by family ("A100"), then memory, then the form that one of the
// texts states. Where the form stays open the module (SXM) is taken, with a doubt that says so.
GpuMatch match_gpu(const Catalog& catalog, const GpuHints& hints);

}  // namespace tare
