// "kubectl describe node|pod", line by line, and the tables of "kubectl get".
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kube_facts.h"

namespace tare {

// Whether a line stands at the beginning of a section of describe ("Capacity:", "Name:   node1").
bool begins_describe_section(std::string_view line);
// Headings of a table of kubectl ("NAME  STATUS  ROLES  AGE  VERSION", "Type  Reason  Age  From  Message").
bool is_kube_headings(std::string_view line);

class KubeDescribe {
 public:
  explicit KubeDescribe(KubeFacts& facts) : facts_(facts) {}
  // True when the line was one of describe's or of a table.
  bool take(std::string_view line, std::int64_t number);
  void finish();
  // Whether an indented line is the open section's.
  bool in_section() const { return !section_.empty(); }

 private:
  struct Column {
    std::string name;
    std::size_t begin = 0;
  };
  bool take_section(std::string_view text, std::int64_t number);
  bool take_member(std::string_view line, std::int64_t number);
  bool take_headings(std::string_view line, std::int64_t number);
  bool take_row(std::string_view line, std::int64_t number);
  bool take_bare_event(std::string_view text, std::int64_t number);
  bool take_label(std::string_view text, std::int64_t number);
  void take_pod_line(std::string_view line, std::int64_t number);
  void take_named(std::string_view name, std::string_view value, std::int64_t number);
  void store(FactRecord row);
  std::vector<std::string_view> cells(std::string_view line) const;

  KubeFacts& facts_;
  std::string section_;
  std::string annotation_;     // one whose value stands on the next line
  std::vector<Column> table_;  // of the table that is open
  std::string table_kind_;     // "events", "allocated", "nodes", "pods", "rows"
  FactRecord pod_{0};          // of a described pod
  bool in_pod_ = false;
  std::string name_;  // what came with "Name:" before it shows whether it is a node or a pod
  std::int64_t name_line_ = 0;
  std::string container_;
  std::string state_prefix_;  // of a container: "" or "last_"
  std::string resources_;     // "limits" or "requests", in a container
};

}  // namespace tare
