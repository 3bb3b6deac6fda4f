#include "cost/data_lines.h"

#include <utility>

#include "base/text.h"

namespace tare {
namespace {

struct Place {
  std::string provider, region;
};

Place parse_place(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {text, ""};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

LineDraft line_of(const BillInput& input) {
  LineDraft line;
  line.id = "data_transfer";
  line.expression = "data_bytes * transfer_usd_per_byte";
  line.inputs = {fixed_input("data_bytes", input.run.data_bytes, "bytes", "job")};
  return line;
}

}  // namespace

bool is_large_cloud(const std::string& provider) {
  return provider == "aws" || provider == "azure" || provider == "gcp";
}

const char* egress_parameter(const std::string& provider) {
  return is_large_cloud(provider) ? "egress_large_cloud_usd_per_byte" : "egress_other_usd_per_byte";
}

std::optional<LineDraft> data_transfer_line(const BillInput& input, const Catalog& catalog) {
  if (input.data_at.empty() || input.run.data_bytes <= 0) return std::nullopt;
  const Place from = parse_place(input.data_at);
  const Offer& offer = *input.offer;
  LineDraft line = line_of(input);
  if (!equals_ignoring_case(from.provider, offer.provider)) {
    line.inputs.push_back(
        parameter_range("transfer_usd_per_byte", parameter(catalog, egress_parameter(from.provider))));
    line.note = "out of " + input.data_at + " once; data coming in is free";
    return line;
  }
  if (!is_large_cloud(from.provider)) return std::nullopt;
  const bool region_known = !offer.region.empty() && offer.region != "*";
  if (region_known && !equals_ignoring_case(from.region, offer.region)) {
    line.inputs.push_back(parameter_range("transfer_usd_per_byte", parameter(catalog, "inter_region_usd_per_byte")));
    line.note = "from " + input.data_at + " to another region once";
    return line;
  }
  line.expression += " * cross_zone_ratio";
  line.inputs.push_back(parameter_range("transfer_usd_per_byte", parameter(catalog, "cross_zone_usd_per_byte")));
  line.inputs.push_back(parameter_range("cross_zone_ratio", parameter(catalog, "cross_zone_ratio")));
  line.note = region_known ? "within the region; what of it crosses zones is not stated"
                           : "the offer states no region: taken to be that of the data";
  return line;
}

}  // namespace tare
