#include "ingest/kube_describe.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr auto kSections = std::to_array<std::string_view>({"Name",
                                                            "Namespace",
                                                            "Roles",
                                                            "Labels",
                                                            "Annotations",
                                                            "CreationTimestamp",
                                                            "Taints",
                                                            "Unschedulable",
                                                            "Lease",
                                                            "Conditions",
                                                            "Addresses",
                                                            "Capacity",
                                                            "Allocatable",
                                                            "System Info",
                                                            "PodCIDR",
                                                            "PodCIDRs",
                                                            "ProviderID",
                                                            "Non-terminated Pods",
                                                            "Allocated resources",
                                                            "Events",
                                                            "Priority",
                                                            "Priority Class Name",
                                                            "Service Account",
                                                            "Node",
                                                            "Start Time",
                                                            "Status",
                                                            "IP",
                                                            "IPs",
                                                            "Controlled By",
                                                            "Containers",
                                                            "Init Containers",
                                                            "Volumes",
                                                            "QoS Class",
                                                            "Node-Selectors",
                                                            "Tolerations",
                                                            "Reason",
                                                            "Message",
                                                            "ExternalID",
                                                            "OS Image"});

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

// Cells are two blanks apart at least.
std::vector<std::string_view> wide_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t at = std::min(line.find_first_not_of(" \t"), line.size());
  while (at < line.size() && cells.size() < 60) {
    const std::size_t gap = std::min({line.find("  ", at), line.find('\t', at), line.size()});
    cells.push_back(trim(line.substr(at, gap - at)));
    at = std::min(line.find_first_not_of(" \t", gap), line.size());
  }
  return cells;
}

bool is_upper_heading(std::string_view word) {
  return !word.empty() && std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
         std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string column_name(std::string_view heading) {
  std::string name = to_lower(heading);
  for (char& c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

std::string_view table_kind(const std::vector<std::string_view>& headings) {
  const auto has = [&headings](std::string_view heading) {
    return std::any_of(headings.begin(), headings.end(),
                       [heading](std::string_view h) { return equals_ignoring_case(h, heading); });
  };
  if (has("Reason") && has("Message") && has("Type") && (has("From") || has("Object") || has("Age")) &&
      !has("Status")) {
    return "events";
  }
  if (has("Resource") && has("Requests") && has("Limits")) return "allocated";
  if (has("CPU Requests") && has("Memory Requests")) return "node_pods";
  if (has("LastHeartbeatTime") || has("LastTransitionTime") || (has("Type") && has("Status") && headings.size() <= 6)) {
    return "conditions";
  }
  if (has("NAME") && has("STATUS") && has("ROLES")) return "nodes";
  if (has("NAME") && has("READY") && has("STATUS") && has("RESTARTS")) return "pods";
  return "rows";
}

// A resource line: "nvidia.com/gpu:  8", also as YAML writes it.
bool is_resource_name(std::string_view name) {
  return !name.empty() && name.size() < 120 && name.find(' ') == std::string_view::npos;
}

std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

bool begins_describe_section(std::string_view line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') return false;
  const std::size_t colon = line.find(':');
  if (colon > 24) return false;
  if (colon + 1 < line.size() && line[colon + 1] != ' ' && line[colon + 1] != '\t') return false;
  return std::find(kSections.begin(), kSections.end(), line.substr(0, colon)) != kSections.end();
}

bool is_kube_headings(std::string_view line) {
  if (line.size() > 2000) return false;
  std::vector<std::string_view> cells = wide_cells(line);
  if (cells.size() < 2) cells = words_in(line);
  if (cells.size() < 2) return false;
  if (cells[0] == "Type" && cells[1] == "Reason") return true;
  if (cells[0] == "Type" && cells[1] == "Status") return true;
  if (cells[0] == "Resource" && cells[1] == "Requests") return true;
  if (cells[0] == "Namespace" && cells[1] == "Name") return true;
  if (!std::all_of(cells.begin(), cells.end(), is_upper_heading)) return false;
  static constexpr auto kFirst =
      std::to_array<std::string_view>({"NAME", "NAMESPACE", "NODE", "LAST SEEN", "LASTSEEN", "POD", "LAST"});
  if (std::find(kFirst.begin(), kFirst.end(), cells.front()) == kFirst.end()) return false;
  static constexpr auto kOthers =
      std::to_array<std::string_view>({"STATUS",       "READY",         "AGE",       "NAME",        "GPU",
                                       "GPUS",         "ROLES",         "TYPE",      "REASON",      "NODE",
                                       "POD",          "STATE",         "PHASE",     "ALLOCATABLE", "CAPACITY",
                                       "DESIRED",      "INSTANCE-TYPE", "NAMESPACE", "GPU(S)",      "GPU-ALLOCATABLE",
                                       "GPU-CAPACITY", "PRODUCT"});
  return std::any_of(cells.begin() + 1, cells.end(), [](std::string_view cell) {
    return std::find(kOthers.begin(), kOthers.end(), cell) != kOthers.end() || contains(cell, "GPU");
  });
}

std::vector<std::string_view> KubeDescribe::cells(std::string_view line) const {
  std::vector<std::string_view> wide = wide_cells(line);
  if (wide.size() == table_.size()) return wide;
  std::vector<std::string_view> words = words_in(line);
  if (words.size() == table_.size()) return words;
  if (wide.size() > table_.size()) {  // the last column takes the rest
    const std::string_view last = wide[table_.size() - 1];
    wide.resize(table_.size());
    wide.back() = trim(line.substr(static_cast<std::size_t>(last.data() - line.data())));
    return wide;
  }
  // A cell is empty: the columns stand where their headings begin.
  bool fits = line.size() > table_.back().begin;
  for (std::size_t i = 1; i < table_.size() && fits; ++i) {
    const std::size_t begin = table_[i].begin;
    fits = begin == 0 || begin - 1 >= line.size() || line[begin - 1] == ' ' || line[begin - 1] == '\t';
  }
  if (fits) {
    std::vector<std::string_view> placed;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const std::size_t begin = std::min(table_[i].begin, line.size());
      const std::size_t end = i + 1 < table_.size() ? std::min(table_[i + 1].begin, line.size()) : line.size();
      placed.push_back(trim(line.substr(begin, std::max(begin, end) - begin)));
    }
    return placed;
  }
  if (words.size() > table_.size()) {
    std::vector<std::string_view> cut(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(table_.size()));
    cut.back() = trim(line.substr(static_cast<std::size_t>(cut.back().data() - line.data())));
    return cut;
  }
  return wide;
}

bool KubeDescribe::take_headings(std::string_view line, std::int64_t) {
  if (!is_kube_headings(line)) return false;
  std::vector<std::string_view> headings = wide_cells(line);
  if (headings.size() < 2) headings = words_in(line);
  table_.clear();
  for (const std::string_view heading : headings) {
    table_.push_back({column_name(heading), static_cast<std::size_t>(heading.data() - line.data())});
  }
  table_kind_ = std::string(table_kind(headings));
  return true;
}

void KubeDescribe::store(FactRecord row) {
  if (table_kind_ == "events") {
    if (const Fact* const seen = row.find("last_seen")) row.set("age", Fact(*seen));
    return facts_.add_event(std::move(row));
  }
  if (table_kind_ == "nodes") {
    facts_.new_node(row.line);
    FactRecord& node = facts_.current_node(row.line);
    for (const auto& [name, value] : row.members()) node.set(name, value);
    const std::string_view status = row.text("status");
    node.set("ready", status.starts_with("Ready"));
    if (contains(status, "SchedulingDisabled")) node.set("unschedulable", true);
    if (const Fact* const version = row.find("version")) node.set("kubelet", Fact(*version));
    facts_.end_node();
    return;
  }
  if (table_kind_ == "pods") {
    if (const Fact* const status = row.find("status")) row.set("phase", Fact(*status));
    return facts_.add_pod(std::move(row));
  }
  if (table_kind_ == "allocated") {
    FactRecord& allocated = facts_.current_node(row.line).record("allocated", row.line);
    const std::string resource(row.text("resource"));
    for (const std::string_view name : {"requests", "limits"}) {
      std::string_view value = row.text(name);
      if (const Fact* const fact = row.find(name); fact != nullptr && value.empty()) {
        allocated.record(name, row.line).set(resource, Fact(*fact));
        continue;
      }
      const std::size_t open = value.find('(');
      if (open != std::string_view::npos) value = trim(value.substr(0, open));  // "1 (3%)"
      allocated.record(name, row.line).set(resource, quantity_fact(value, row.line));
    }
    return;
  }
  if (table_kind_ == "conditions") {
    if (in_pod_) return;
    FactRecord& node = facts_.current_node(row.line);
    if (row.text("type") == "Ready") node.set("ready", row.text("status") == "True", row.line);
    if (node.find_list("conditions") == nullptr || node.find_list("conditions")->size() < 100) {
      std::vector<Fact>& conditions = node.list("conditions", row.line);
      conditions.push_back(Fact::of(std::move(row)));
    }
    return;
  }
  if (table_kind_ == "node_pods") {
    FactRecord& node = facts_.current_node(row.line);
    if (node.find_list("pods") == nullptr || node.find_list("pods")->size() < 1000) {
      std::vector<Fact>& pods = node.list("pods", row.line);
      pods.push_back(Fact::of(std::move(row)));
    }
    return;
  }
  std::vector<Fact>& rows = facts_.more().list("rows");
  if (rows.size() < 5000) rows.push_back(Fact::of(std::move(row)));
}

bool KubeDescribe::take_row(std::string_view line, std::int64_t number) {
  const std::string_view text = trim(line);
  if (text.find_first_not_of("- \t") == std::string_view::npos || text.starts_with('('))
    return true;  // dashes, a remark
  const std::vector<std::string_view> found = cells(line);
  if (found.size() < 2 || found.size() * 2 < table_.size()) return false;
  FactRecord row(number);
  for (std::size_t i = 0; i < found.size() && i < table_.size(); ++i) {
    if (row.has(table_[i].name)) continue;
    if (found[i] == "<none>" || found[i] == "<unknown>" || says_unknown(found[i])) {
      row.set_unknown(table_[i].name);
    } else if (table_kind_ == "rows" || table_kind_ == "allocated" || table_[i].name == "restarts") {
      row.set_parsed(table_[i].name, found[i]);
    } else {
      row.set(table_[i].name, found[i]);
    }
  }
  if (found.size() < table_.size()) row.set("cut", true);
  store(std::move(row));
  return true;
}

// "Warning  FailedScheduling  12s   default-scheduler  0/6 nodes are available…" without its headings.
bool KubeDescribe::take_bare_event(std::string_view text, std::int64_t number) {
  if (!text.starts_with("Warning ") && !text.starts_with("Normal ")) return false;
  const std::vector<std::string_view> found = wide_cells(text);
  if (found.size() < 3) return false;
  FactRecord event(number);
  event.set("type", found[0]);
  event.set("reason", found[1]);
  if (found.size() > 3) event.set("age", found[2]);
  if (found.size() > 4) event.set("from", found[3]);
  const std::string_view last = found[std::min<std::size_t>(found.size() - 1, 4)];
  event.set("message", trim(text.substr(static_cast<std::size_t>(last.data() - text.data()))));
  facts_.add_event(std::move(event));
  return true;
}

// "nvidia.com/gpu.count=8" of a block of labels.
bool KubeDescribe::take_label(std::string_view text, std::int64_t number) {
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos || equal == 0 || equal > 320) return false;
  const std::string_view key = text.substr(0, equal);
  if (key.find_first_of(" \t\"'{}()") != std::string_view::npos ||
      text.substr(equal + 1).find(' ') != std::string_view::npos)
    return false;
  if (section_ != "Labels" && !contains(key, "/")) return false;
  FactRecord& owner = in_pod_ ? pod_ : facts_.current_node(number);
  FactRecord& labels = owner.record("labels", number);
  if (labels.members().size() < 500) labels.set(key, text.substr(equal + 1), number);
  return true;
}

void KubeDescribe::take_named(std::string_view name, std::string_view value, std::int64_t number) {
  struct Known {
    std::string_view printed;
    std::string_view name;
  };
  static constexpr auto kKnown = std::to_array<Known>({
      {"Kernel Version", "kernel"},
      {"OS Image", "os_image"},
      {"Operating System", "os"},
      {"Architecture", "arch"},
      {"Container Runtime Version", "container_runtime"},
      {"Kubelet Version", "kubelet"},
      {"Kube-Proxy Version", "kube_proxy"},
      {"InternalIP", "internal_ip"},
      {"Hostname", "host"},
      {"Roles", "roles"},
      {"CreationTimestamp", "created"},
      {"Unschedulable", "unschedulable"},
      {"ProviderID", "provider_id"},
  });
  const auto known = std::find_if(kKnown.begin(), kKnown.end(), [name](const Known& k) { return k.printed == name; });
  if (known == kKnown.end()) return;
  FactRecord& node = facts_.current_node(number);
  if (value == "true" || value == "false") {
    node.set(known->name, value == "true", number);
  } else if (value == "<none>") {
    node.set_unknown(known->name, number);
  } else {
    node.set(known->name, value, number);
  }
}

bool KubeDescribe::take_section(std::string_view text, std::int64_t number) {
  const std::size_t colon = text.find(':');
  section_ = std::string(text.substr(0, colon));
  table_.clear();
  annotation_.clear();
  const std::string_view value = trim(text.substr(colon + 1));
  if (section_ == "Name") {
    finish();
    name_ = std::string(value);
    name_line_ = number;
    return true;
  }
  const bool of_pod = section_ == "Namespace" || section_ == "Node" || section_ == "Containers" ||
                      section_ == "Controlled By" || section_ == "Status" || section_ == "Init Containers" ||
                      section_ == "QoS Class";
  const bool of_node = section_ == "Roles" || section_ == "Capacity" || section_ == "Allocatable" ||
                       section_ == "System Info" || section_ == "Addresses" || section_ == "Unschedulable" ||
                       section_ == "Allocated resources" || section_ == "Non-terminated Pods";
  if (of_pod && !in_pod_) {
    in_pod_ = true;
    pod_ = FactRecord(name_line_ > 0 ? name_line_ : number);
    if (!name_.empty()) pod_.set("name", std::exchange(name_, {}));
  }
  if (of_node) in_pod_ = false;
  if (!in_pod_ && !name_.empty() && (of_node || section_ == "Labels" || section_ == "Annotations")) {
    facts_.new_node(name_line_);
    facts_.current_node(name_line_).set("name", std::exchange(name_, {}), name_line_);
  }
  if (in_pod_) {
    if (section_ == "Namespace") pod_.set("namespace", value, number);
    if (section_ == "Node") {
      const std::string_view node = value.substr(0, value.find('/'));
      if (says_unknown(node) || node == "<none>") {
        pod_.set_unknown("node", number);
      } else {
        pod_.set("node", node, number);
      }
    }
    if (section_ == "Status") pod_.set("phase", value, number);
    if (section_ == "Reason" || section_ == "Message") pod_.set(to_lower(section_), value, number);
    if (section_ == "Controlled By") pod_.set("controlled_by", value, number);
    if (section_ == "Start Time") pod_.set("start_time", value, number);
    container_.clear();
    resources_.clear();
  } else if (section_ == "Labels") {
    take_label(value, number);
  } else if (section_ == "Annotations") {
    take_member("  " + std::string(value), number);
  } else if (section_ == "Taints" && value != "<none>") {
    facts_.current_node(number).append("taints", number).set("taint", value);
  } else {
    take_named(section_, value, number);
  }
  return true;
}

// Lines of a pod's containers: "    Limits:" and what stands under it.
void KubeDescribe::take_pod_line(std::string_view line, std::int64_t number) {
  const std::string_view text = trim(line);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = text.substr(0, colon);
  const std::string_view value = trim(text.substr(colon + 1));
  if (section_ != "Containers") return;
  if (value.empty() && indent_of(line) <= 2) {
    container_ = std::string(key);
    resources_.clear();
    if (pod_.find_list("containers") == nullptr || pod_.find_list("containers")->size() < 200) {
      pod_.append("containers", number).set("name", key);
    }
    return;
  }
  std::vector<Fact>& containers = pod_.list("containers", number);
  if (containers.empty()) return;
  FactRecord& container = std::get<FactRecord>(containers.back().value);
  if (key == "Limits" || key == "Requests") {
    resources_ = to_lower(key);
  } else if (!resources_.empty() && !value.empty() && is_resource_name(key) &&
             (key.front() < 'A' || key.front() > 'Z')) {
    FactRecord& into = container.record(resources_, number);
    if (into.members().size() < 100) into.set(key, quantity_fact(value, number));
  } else {
    resources_.clear();
    if (key == "Image") container.set("image", value, number);
    if (key == "State" || key == "Last State") {
      state_prefix_ = key == "State" ? "" : "last_";
      container.set(state_prefix_ + "state", value, number);
    }
    if (key == "Reason") container.set(state_prefix_ + "reason", value, number);
    if (key == "Exit Code") container.set_parsed(state_prefix_ + "exit_code", value, number);
    if (key == "Ready") container.set("ready", value == "True", number);
    if (key == "Restart Count") container.set_parsed("restarts", value, number);
  }
}

bool KubeDescribe::take_member(std::string_view line, std::int64_t number) {
  const std::string_view text = trim(line);
  if (in_pod_) {
    take_pod_line(line, number);
    return true;
  }
  if (section_ == "Labels") return take_label(text, number);
  const std::size_t colon = text.find(": ") != std::string_view::npos ? text.find(": ")
                            : text.ends_with(':')                     ? text.size() - 1
                                                                      : text.npos;
  if (section_ == "Annotations") {
    FactRecord& annotations = facts_.current_node(number).record("annotations", number);
    if (!annotation_.empty()) {
      annotations.set(std::exchange(annotation_, {}), text, number);
    } else if (colon != std::string_view::npos && annotations.members().size() < 500) {
      const std::string_view value = trim(text.substr(colon + 1));
      if (value.empty()) annotation_ = std::string(text.substr(0, colon));
      annotations.set(text.substr(0, colon), value, number);
    }
    return true;
  }
  if (colon == std::string_view::npos) return !section_.empty();
  const std::string_view key = without_quotes(text.substr(0, colon));
  const std::string_view value = without_quotes(text.substr(colon + 1));
  if (section_ == "Capacity" || section_ == "Allocatable") {
    if (!is_resource_name(key) || value.empty()) return false;
    FactRecord& resources = facts_.current_node(number).record(to_lower(section_), number);
    if (resources.members().size() < 500) resources.set(key, quantity_fact(value, number));
    return true;
  }
  take_named(key, value, number);
  return true;
}

bool KubeDescribe::take(std::string_view line, std::int64_t number) {
  const std::string_view text = trim(line);
  if (text.empty()) {
    table_.clear();
    section_.clear();
    return true;
  }
  if (begins_describe_section(line)) return take_section(text, number);
  if (take_headings(line, number)) return true;
  if (take_bare_event(text, number) && (table_.empty() || table_kind_ == "events")) return true;
  if (!table_.empty()) {
    if (take_row(line, number)) return true;
    table_.clear();
  }
  if (!section_.empty() && indent_of(line) > 0) return take_member(line, number);
  return take_label(text, number);
}

void KubeDescribe::finish() {
  if (in_pod_) {
    std::optional<std::int64_t> gpus;
    if (const std::vector<Fact>* const containers = pod_.find_list("containers")) {
      for (const Fact& one : *containers) {
        for (const std::string_view name : {"limits", "requests"}) {
          const FactRecord* const resources = one.as_record()->find_record(name);
          const std::optional<std::int64_t> own = resources == nullptr ? std::nullopt : gpus_in(*resources);
          if (!own) continue;
          gpus = std::min<std::int64_t>(gpus.value_or(0) + *own, 1'000'000'000);
          break;
        }
      }
    }
    if (gpus) pod_.set("gpus", *gpus);
    facts_.add_pod(std::move(pod_));
    pod_ = FactRecord(0);
    in_pod_ = false;
  } else if (!name_.empty()) {
    facts_.current_node(name_line_).set_once("name", Fact::of(name_, name_line_));
  }
  name_.clear();
}

}  // namespace tare
