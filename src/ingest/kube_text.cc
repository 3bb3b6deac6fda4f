#include "ingest/kube_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/json_walk.h"
#include "ingest/kube_describe.h"
#include "ingest/kube_facts.h"
#include "ingest/kube_objects.h"
#include "ingest/scan.h"
#include "ingest/yaml_tree.h"

namespace tare {
namespace {

constexpr auto kYamlKeys = std::to_array<std::string_view>(
    {"apiVersion", "kind",     "metadata",    "status",       "spec",      "items",      "allocatable",
     "capacity",   "labels",   "annotations", "conditions",   "addresses", "containers", "resources",
     "limits",     "requests", "nodeInfo",    "nodeSelector", "template",  "nodeName",   "taints"});

struct TextLine {
  std::string_view text;
  std::int64_t number;
};

bool is_prompt(std::string_view text) {
  return (text.starts_with("$ ") || text.starts_with("# ") || contains(text, "# kubectl") ||
          contains(text, "$ kubectl") || contains(text, "$ k ") || text.starts_with("kubectl "));
}

bool begins_yaml(std::string_view line) {
  const std::string_view text = trim(line);
  if (text == "---") return true;
  const std::string_view key = yaml_key(line);
  if (key.empty()) return false;
  if (std::find(kYamlKeys.begin(), kYamlKeys.end(), key) != kYamlKeys.end()) return true;
  // "nvidia.com/gpu.product: A100-PCIE-40GB" of a piece of labels.
  return contains(key, ".com/") || contains(key, ".io/");
}

class Paste {
 public:
  Paste(std::string_view text, Reading& reading) : reading_(reading), describe_(facts_) {
    std::int64_t number = 1;
    for (; !text.empty(); ++number) {
      std::string_view line = next_line(text);
      lines_.push_back({line, number});
    }
    end_ = text.data() + text.size();
  }

  void run() {
    while (at_ < lines_.size()) {
      const std::string_view line = lines_[at_].text;
      const std::string_view text = trim(line);
      if (text.empty() || text.starts_with("```")) {
        describe_.take("", lines_[at_].number);
        ++at_;
      } else if (text.front() == '{' || text == "[" || text.starts_with("[{") ||
                 (text.front() == '"' && contains(text, "\":"))) {
        json();
      } else if (facts_.take_log(text, lines_[at_].number)) {
        ++at_;
      } else if (is_prompt(text)) {
        describe_.finish();
        ++at_;
      } else if (!indented_in_section(line) && begins_yaml(line) && !begins_describe_section(line)) {
        yaml();
      } else {
        if (!describe_.take(line, lines_[at_].number) && text != "...") other_.push_back(lines_[at_]);
        ++at_;
      }
    }
    describe_.finish();
    facts_.give(reading_);
    if (!reading_.facts.empty()) {
      for (const TextLine& line : other_) reading_.cannot_use(line.number, line.text, "nothing of Kubernetes");
    }
  }

 private:
  void json() {
    const std::string_view first = lines_[at_].text;
    const TextLine& last = lines_.back();
    const std::size_t size = static_cast<std::size_t>(last.text.data() + last.text.size() - first.data());
    FactRecord rest(lines_[at_].number);
    const JsonWalk walk = walk_json({first.data(), size}, lines_[at_].number,
                                    [this, &rest](std::string_view name, bool in_list, const Fact& value, bool) {
                                      if (in_list && (name == "items" || name.empty())) {
                                        if (value.as_record() != nullptr) take_kube_object(*value.as_record(), facts_);
                                      } else if (in_list) {
                                        rest.list(name).push_back(value);
                                      } else if (rest.members().size() < 2000) {
                                        rest.add(std::string(name), value);
                                      }
                                    });
    const std::string_view kind = rest.text("kind");
    if (!rest.empty() && !kind.ends_with("List")) take_kube_object(rest, facts_);
    if (!walk.complete && walk.fault != "the outer braces are not there") {
      reading_.cannot_use(walk.fault_line, "", walk.fault);
      facts_.more().set("fault", walk.fault, walk.fault_line);
    }
    const char* const end = first.data() + walk.used;
    ++at_;
    while (at_ < lines_.size() && lines_[at_].text.data() < end) ++at_;
  }

  bool indented_in_section(std::string_view line) const {
    return describe_.in_section() && (line.front() == ' ' || line.front() == '\t');
  }

  // The lines from here that can be one YAML text.
  std::size_t yaml_end() const {
    const std::size_t base = lines_[at_].text.find_first_not_of(' ');
    std::size_t end = at_ + 1;
    std::size_t blank_from = 0;
    for (; end < lines_.size(); ++end) {
      const std::string_view line = lines_[end].text;
      const std::string_view text = trim(line);
      if (text.empty()) {
        if (blank_from == 0) blank_from = end;
        continue;
      }
      if (text.starts_with("```") || text.front() == '{' || is_prompt(text)) break;
      if (begins_describe_section(line) || text.starts_with("Warning ") || text.starts_with("Normal ")) break;
      const std::size_t indent = line.find_first_not_of(' ');
      const bool inside = indent > base && blank_from == 0;
      if (!inside && yaml_key(line).empty() && !text.starts_with("- ") && text != "-" && text != "---" &&
          !text.starts_with('#')) {
        if (is_kube_headings(line) || blank_from > 0 || indent <= base) break;
      }
      blank_from = 0;
    }
    return end;
  }

  void yaml() {
    const std::size_t end = yaml_end();
    const std::string_view first = lines_[at_].text;
    const std::string_view last = lines_[end - 1].text;
    const YamlTree tree = read_yaml_tree(
        {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())}, lines_[at_].number);
    for (const Fact& document : tree.documents) {
      if (const FactRecord* const record = document.as_record()) {
        take_kube_object(*record, facts_);
      } else if (const std::vector<Fact>* const list = document.as_list()) {
        for (const Fact& item : *list) {
          if (item.as_record() != nullptr) take_kube_object(*item.as_record(), facts_);
        }
      }
    }
    for (const auto& [line, bad] : tree.bad)
      reading_.cannot_use(line, bad, "it does not fit the indentation around it");
    at_ = end;
  }

  Reading& reading_;
  KubeFacts facts_;
  KubeDescribe describe_;
  std::vector<TextLine> lines_;
  std::vector<TextLine> other_;
  std::size_t at_ = 0;
  const char* end_ = nullptr;
};

void read_document(std::string_view text, Reading& reading) { Paste(text, reading).run(); }

int recognise(const Head& head) {
  const std::string_view text = head.text.substr(0, 256 << 10);
  const auto has = [text](std::string_view part) { return contains(text, part); };
  int points = 0;
  if (has("apiVersion") && has("kind") && has("metadata")) points += 3;
  for (const std::string_view sign : {"nvidia.com/gpu",
                                      "nvidia.com/mig",
                                      "amd.com/gpu",
                                      "kubernetes.io/",
                                      "XidCriticalError",
                                      "device marked unhealthy",
                                      "kubectl ",
                                      "FailedScheduling",
                                      "nodes are available:",
                                      "default-scheduler",
                                      "Allocated resources:",
                                      "Non-terminated Pods:",
                                      "k8s.io/",
                                      "kubelet",
                                      "device-plugins",
                                      "could not load NVML library",
                                      "ephemeral-storage",
                                      "hami.io/",
                                      "nvidia-device-plugin",
                                      "Incompatible platform detected",
                                      "No devices found. Waiting indefinitely"}) {
    if (has(sign)) ++points;
  }
  if (has("Capacity:") && has("Allocatable:")) points += 2;
  if (has("allocatable") && has("capacity")) points += 2;
  int tables = 0, lines = 0;
  for (std::string_view rest = text.substr(0, 16 << 10); !rest.empty() && lines < 200; ++lines) {
    const std::string_view line = next_line(rest);
    if (!is_kube_headings(line)) continue;
    ++tables;
    const auto heading = [line](std::string_view word) { return contains(line, word); };
    if ((heading("ROLES") && heading("VERSION")) || (heading("READY") && heading("RESTARTS")) ||
        (heading("REASON") && heading("OBJECT")) || (heading("Reason") && heading("Message"))) {
      points += 3;
    }
  }
  const bool model = (text.starts_with("switches:") || has("\nswitches:")) && !has("apiVersion");  // topograph's
  if (model) return confidence::kNone;
  if (points == 0) return tables > 0 ? confidence::kPossible : confidence::kNone;
  // A log of a training job in a pod may name a resource or two; what lies at the beginning decides.
  const std::string_view begin = text.substr(0, 4096);
  const bool early = contains(begin, "nvidia.com/") || contains(begin, "apiVersion") || contains(begin, "kubectl") ||
                     contains(begin, "Capacity") || contains(begin, "Allocat") || contains(begin, "kubernetes.io") ||
                     contains(begin, "FailedScheduling") || contains(begin, "Xid") || tables > 0 ||
                     contains(begin, "NVML") || contains(begin, "allocatable") || contains(begin, "amd.com/gpu") ||
                     contains(begin, "hami.io") || contains(begin, "Incompatible platform") ||
                     contains(begin, "No devices found");
  if (!early) return confidence::kPossible;
  if (points >= 3) return confidence::kSure;
  return points == 2 ? confidence::kSure - 10 : confidence::kLikely;
}

}  // namespace

Format kube_text_format() { return {"kubernetes", "kubectl", recognise, nullptr, read_document}; }

}  // namespace tare
