#include "ingest/nccl_xml.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostNodes = 200'000;
constexpr int kDeepest = 200;

// Lines of offsets into the text that was parsed.
class LinesOf {
 public:
  LinesOf(std::string_view text, std::size_t from) {
    first_ = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '\n');
    text.remove_prefix(from);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos; ++at) ends_.push_back(at);
  }
  std::int64_t of(std::ptrdiff_t offset) const {
    if (offset < 0) return first_;
    const auto at = std::lower_bound(ends_.begin(), ends_.end(), static_cast<std::size_t>(offset));
    return first_ + (at - ends_.begin());
  }

 private:
  std::int64_t first_ = 1;
  std::vector<std::size_t> ends_;
};

// What the elements around one say of it.
struct Around {
  std::string_view numa, bus, speed, width, pci_class, vendor, device;
  bool in_cpu = false;
};

class XmlReader {
 public:
  XmlReader(const LinesOf& lines, Reading& reading) : lines_(lines), reading_(reading), facts_(reading.facts) {}

  void read(const pugi::xml_node& root) {
    visit(root, Around{}, 0);
    finish();
  }

 private:
  void visit(const pugi::xml_node& parent, const Around& around, int depth) {
    for (const pugi::xml_node& node : parent.children()) {
      if (node.type() != pugi::node_element || ++visited_ > kMostNodes || depth > kDeepest) continue;
      const std::string_view name = node.name();
      Around inside = around;
      if (name == "cpu") {
        add_cpu(node);
        inside.numa = node.attribute("numaid").value();
        inside.in_cpu = true;
      } else if (name == "pci") {
        inside.bus = node.attribute("busid").value();
        inside.speed = node.attribute("link_speed").value();
        inside.width = node.attribute("link_width").value();
        inside.vendor = node.attribute("vendor").value();
        inside.device = node.attribute("device").value();
        inside.pci_class = node.attribute("class").value();
        ++pci_;
        if (inside.pci_class.starts_with("0x0604")) ++bridges_;
      } else if (name == "gpu") {
        add_gpu(node, around);
      } else if (name == "net") {
        add_net(node, around);
      } else if (name == "graph") {
        add_graph(node);
        continue;
      }
      visit(node, inside, depth + 1);
    }
  }

  std::int64_t line_of(const pugi::xml_node& node) const { return lines_.of(node.offset_debug()); }

  // All attributes under their own names; an empty one is unknown.
  static void put_attributes(FactRecord& record, const pugi::xml_node& node) {
    int count = 0;
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      if (++count > 64) break;
      const std::string_view value = attribute.value();
      const std::string_view name = attribute.name();
      // Masks and identifiers are no numbers.
      if (name == "affinity" || name == "guid" || name == "busid") {
        record.set(name == "busid" ? "bus_id" : name, value);
      } else {
        record.set_parsed(name, value);
      }
    }
  }

  static void put_pci(FactRecord& record, const Around& around) {
    if (!around.bus.empty()) record.set("bus_id", around.bus);
    if (!around.vendor.empty()) record.set("pci_vendor", around.vendor);
    if (!around.device.empty()) record.set("pci_device", around.device);
    if (!around.bus.empty()) {
      record.set_parsed("link_speed", around.speed);
      record.set_parsed("link_width", around.width);
    }
    if (around.in_cpu) record.set_parsed("numaid", around.numa);
  }

  void add_cpu(const pugi::xml_node& node) {
    FactRecord record(line_of(node));
    put_attributes(record, node);
    cpus_.push_back(Fact::of(std::move(record)));
  }

  void add_gpu(const pugi::xml_node& node, const Around& around) {
    FactRecord record(line_of(node));
    put_attributes(record, node);
    put_pci(record, around);
    std::int64_t links = 0;
    for (const pugi::xml_node& link : node.children("nvlink")) {
      if (++visited_ > kMostNodes) break;
      FactRecord& one = record.append("nvlinks", line_of(link));
      put_attributes(one, link);
      links += std::clamp<std::int64_t>(one.integer("count").value_or(0), 0, 1'000'000);
    }
    record.set("nvlink_count", links);
    nvlinks_ += links;
    gpus_.push_back(Fact::of(std::move(record)));
  }

  void add_net(const pugi::xml_node& node, const Around& around) {
    FactRecord record(line_of(node));
    put_attributes(record, node);
    // NCCL's speeds are Mb/s.
    if (const std::optional<double> speed = record.number("speed")) record.set("speed_gbit_per_s", *speed / 1000);
    put_pci(record, around);
    nets_.push_back(Fact::of(std::move(record)));
  }

  void add_graph(const pugi::xml_node& node) {
    FactRecord record(line_of(node));
    put_attributes(record, node);
    for (const pugi::xml_node& channel : node.children("channel")) {
      std::vector<Fact> ranks, nets;
      for (const pugi::xml_node& device : channel.children()) {
        if (++visited_ > kMostNodes) break;
        const std::string_view name = device.name();
        std::vector<Fact>& list = name == "net" ? nets : ranks;
        if (name == "net" || name == "gpu")
          list.push_back(Fact::parsed(device.attribute("dev").value(), line_of(device)));
      }
      FactRecord& one = record.append("channels", line_of(channel));
      one.set("gpus", Fact::of(std::move(ranks)));
      one.set("nets", Fact::of(std::move(nets)));
    }
    graphs_.push_back(Fact::of(std::move(record)));
  }

  void finish() {
    if (!graphs_.empty()) {
      facts_.set("graph_count", static_cast<std::int64_t>(graphs_.size()));
      facts_.set("graphs", Fact::of(std::move(graphs_)));
    }
    if (visited_ > kMostNodes) reading_.note(fmt::format("only the first {} elements were read", kMostNodes));
    if (cpus_.empty() && gpus_.empty() && nets_.empty()) return;
    facts_.set("gpu_count", static_cast<std::int64_t>(gpus_.size()));
    facts_.set("cpu_count", static_cast<std::int64_t>(cpus_.size()));
    facts_.set("nic_count", static_cast<std::int64_t>(nets_.size()));
    facts_.set("nvlinks", nvlinks_);
    facts_.set("pci_devices", pci_);
    facts_.set("pci_bridges", bridges_);
    std::int64_t unknown = 0;
    for (const Fact& one : gpus_) {
      const Fact* const speed = one.as_record()->find("link_speed");
      unknown += speed != nullptr && speed->is_unknown() ? 1 : 0;
    }
    facts_.set("gpus_without_link_speed", unknown);
    facts_.set("gpus", Fact::of(std::move(gpus_)));
    facts_.set("nics", Fact::of(std::move(nets_)));
    facts_.set("cpus", Fact::of(std::move(cpus_)));
  }

  const LinesOf& lines_;
  Reading& reading_;
  FactRecord& facts_;
  std::vector<Fact> cpus_, gpus_, nets_, graphs_;
  std::int64_t nvlinks_ = 0, pci_ = 0, bridges_ = 0;
  std::size_t visited_ = 0;
};

}  // namespace

int recognise_nccl_xml(const Head& head) {
  const std::string_view text = head.text;
  if (!contains(text, "<")) return confidence::kNone;
  if (contains(text, "<graphs") && contains(text, "nchannels=")) return confidence::kSure;
  const bool machine = contains(text, "busid=\"") && contains(text, "<pci");
  const bool own = contains(text, "<gpu dev=") || contains(text, "<net name=") || contains(text, "link_width=") ||
                   contains(text, "numaid=");
  if (machine && own) return confidence::kSure;
  return contains(text, "<cpu numaid=") || contains(text, "<nvlink target=") ? confidence::kLikely : confidence::kNone;
}

void read_nccl_xml(std::string_view text, Reading& reading) {
  std::size_t from = text.size();
  for (const std::string_view tag : {"<system", "<graphs", "<cpu", "<pci", "<gpu", "<graph"}) {
    from = std::min(from, text.find(tag));
  }
  if (from >= text.size()) return;
  const LinesOf lines(text, from);
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(
      text.data() + from, text.size() - from, pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!result) {
    const std::int64_t line = lines.of(result.offset);
    reading.cannot_use(line, "", fmt::format("the XML ends here: {}", result.description()));
  }
  XmlReader(lines, reading).read(document);
}

}  // namespace tare
