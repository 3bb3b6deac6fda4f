#include "ingest/format.h"

#include "base/text.h"
#include "ingest/families.h"

namespace tare {

void Reading::cannot_use(std::int64_t line, std::string_view text, std::string_view reason) {
  ++unread_count_;
  if (unread_.size() >= kUnreadKept) return;
  unread_.push_back({line, as_text(text.substr(0, kUnreadText)), std::string(reason)});
}

void Reading::note(std::string text) {
  if (notes_.size() < kUnreadKept) notes_.push_back(std::move(text));
}

std::span<const Format> formats() {
  static const std::vector<Format> all = [] {
    std::vector<Format> list;
    for (const auto family :
         {topo_formats, nvidia_smi_formats, dcgm_formats, nccl_tests_formats, nccl_debug_formats, fio_formats,
          hw_inventory_formats, infiniband_formats, dmesg_formats, training_log_formats, trace_formats, slurm_formats,
          kubernetes_formats, billing_formats}) {
      const std::span<const Format> formats = family();
      list.insert(list.end(), formats.begin(), formats.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
