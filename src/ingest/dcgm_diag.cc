#include "ingest/dcgm_diag.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/json_tree.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/text_box.h"

namespace tare {
namespace {

constexpr std::size_t kNumbers = 4096;

// "0, 1, 2" or "1-3": integers as facts.
std::vector<Fact> numbers_in(std::string_view text, std::int64_t line) {
  std::vector<Fact> numbers;
  std::size_t at = 0;
  while (at < text.size() && numbers.size() < kNumbers) {
    if (text[at] < '0' || text[at] > '9') {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (const auto number = to_integer(text.substr(at, end - at))) numbers.push_back(Fact::of(*number, line));
    at = end;
  }
  return numbers;
}

std::string_view status_in(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kStatus = {"Pass",    "Fail",    "Skip",  "Warn",
                                                              "Not Run", "Not run", "Error", "Info"};
  for (const std::string_view status : kStatus) {
    if (text.size() >= status.size() && equals_ignoring_case(text.substr(0, status.size()), status))
      return status == "Not run" ? "Not Run" : status;
  }
  return {};
}

struct Test {
  FactRecord record;
  std::vector<Fact> results, passed, failed, warnings, info;
  std::string worst;
};

int badness(std::string_view status) {
  if (status == "Fail" || status == "Error") return 4;
  if (status == "Warn") return 3;
  if (status == "Pass") return 2;
  return status.empty() ? 0 : 1;
}

// "Pass - All", "Fail - GPUs: 0, 1", "GPU0: Pass", "Pass".
void take_result(Test& test, std::string_view text, std::int64_t line) {
  text = trim(text);
  std::string_view scope, status = status_in(text);
  if (!status.empty()) {
    scope = trim(text.substr(status.size()));
    while (scope.starts_with('-') || scope.starts_with(':') || scope.starts_with(' ')) scope.remove_prefix(1);
  } else {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
      scope = trim(text.substr(0, colon));
      status = status_in(trim(text.substr(colon + 1)));
    }
  }
  if (status.empty()) {
    test.info.push_back(Fact::of(text, line));
    return;
  }
  FactRecord result(line);
  result.set("status", status);
  std::vector<Fact> gpus;
  if (!scope.empty()) {
    gpus = scope.starts_with("All") ? std::vector<Fact>() : numbers_in(scope, line);
    result.set("of", scope);
    if (!gpus.empty()) {
      std::vector<Fact>& list = badness(status) >= 4 ? test.failed : test.passed;
      if (badness(status) >= 4 || status == "Pass") list.insert(list.end(), gpus.begin(), gpus.end());
      result.set("gpus", Fact::of(std::move(gpus), line));
    }
  }
  if (badness(status) > badness(test.worst)) test.worst = std::string(status);
  test.results.push_back(Fact::of(std::move(result)));
}

// Numbers behind `word` in a message: "link 0 … link 1".
void collect_behind(std::string_view text, std::string_view word, std::set<std::int64_t>& numbers) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    std::string_view rest = text.substr(at + word.size());
    std::size_t digits = 0;
    while (digits < rest.size() && digits < 4 && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
    if (const auto number = to_integer(rest.substr(0, digits)); number && numbers.size() < kNumbers)
      numbers.insert(*number);
  }
}

std::vector<Fact> as_facts(const std::set<std::int64_t>& numbers) {
  std::vector<Fact> facts;
  facts.reserve(numbers.size());
  for (const std::int64_t number : numbers) facts.push_back(Fact::of(number));
  return facts;
}

class Diagnosis {
 public:
  void start_test(std::string_view section, std::string_view name, std::int64_t line) {
    if (tests_.size() >= 2000) return;
    Test& test = tests_.emplace_back();
    test.record = FactRecord(line);
    if (!section.empty()) test.record.set("section", section);
    test.record.set("name", name);
  }
  bool has_test() const { return !tests_.empty(); }
  Test& test() { return tests_.back(); }

  void take_message(std::string_view text, std::int64_t line, bool warning, std::string_view of = {}) {
    if (tests_.empty()) start_test({}, "unknown", line);
    FactRecord message(line);
    message.set("text", text);
    if (!of.empty()) message.set("of", of);
    (warning ? tests_.back().warnings : tests_.back().info).push_back(Fact::of(std::move(message)));
    if (!warning) return;
    collect_behind(text, "NvLink link ", links_);
    collect_behind(text, "NVLink link ", links_);
    collect_behind(text, "GPU ", gpus_);
    const auto total = between(text, "Thermal violations totaling ", " second");
    if (total && to_number(*total)) {
      if (!thermal_) thermal_ = *to_number(*total);
      const auto started = between(text, "started at ", " second");
      if (started && to_number(*started) && !started_) started_ = *to_number(*started);
    }
  }

  void put(FactRecord& facts) {
    std::vector<Fact> list;
    std::vector<Fact> passed, failed, warned, skipped;
    for (Test& test : tests_) {
      FactRecord& record = test.record;
      const Fact name = Fact::of(record.text("name"), record.line);
      if (!test.worst.empty()) record.set("result", test.worst);
      if (test.worst == "Pass") passed.push_back(name);
      if (badness(test.worst) >= 4) failed.push_back(name);
      if (test.worst == "Warn" || !test.warnings.empty()) warned.push_back(name);
      if (test.worst == "Skip" || test.worst == "Not Run") skipped.push_back(name);
      add(record, "results", test.results);
      add(record, "passed_gpus", test.passed);
      add(record, "failed_gpus", test.failed);
      add(record, "warnings", test.warnings);
      add(record, "info", test.info);
      list.push_back(Fact::of(std::move(record)));
    }
    facts.set("test_count", static_cast<std::int64_t>(list.size()));
    facts.set("tests", Fact::of(std::move(list)));
    facts.set("passed_tests", Fact::of(std::move(passed)));
    facts.set("failed_tests", Fact::of(std::move(failed)));
    facts.set("warned_tests", Fact::of(std::move(warned)));
    facts.set("skipped_tests", Fact::of(std::move(skipped)));
    if (!links_.empty()) facts.set("links_named", Fact::of(as_facts(links_)));
    if (!gpus_.empty()) facts.set("gpus_named_in_warnings", Fact::of(as_facts(gpus_)));
    if (thermal_) facts.set("thermal_violation_s", *thermal_);
    if (started_) facts.set("thermal_violation_started_s", *started_);
  }

 private:
  static void add(FactRecord& record, std::string_view name, std::vector<Fact>& list) {
    if (!list.empty()) record.set(name, Fact::of(std::move(list)));
  }
  std::vector<Test> tests_;
  std::set<std::int64_t> links_, gpus_;
  std::optional<double> thermal_, started_;
};

bool set_metadata(FactRecord& facts, std::string_view name, std::string_view value, std::int64_t line) {
  const std::string lower = to_lower(name);
  if (lower == "dcgm version") {
    facts.set("dcgm", value, line);
  } else if (lower == "driver version detected") {
    facts.set("driver", value, line);
  } else if (lower.starts_with("gpu device ids detected")) {
    std::vector<Fact> ids;
    for (const std::string_view id : split(value, ',')) {
      if (!trim(id).empty() && ids.size() < kNumbers) ids.push_back(Fact::of(trim(id), line));
    }
    facts.set("gpu_count", static_cast<std::int64_t>(ids.size()), line);
    facts.set("gpu_device_ids", Fact::of(std::move(ids), line));
  } else {
    return false;
  }
  return true;
}

class DcgmDiagReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const PrefixedLine split = split_line_prefix(line.text);
    if (contains(split.text, "dcgmi diag") && !contains(split.text, "|")) {
      reading.facts.set_once("command", Fact::of(trim(split.text), line.number));
      const std::string_view level = option_after_r(split.text);
      if (!level.empty()) reading.facts.set_once("level", Fact::parsed(level, line.number));
      return true;
    }
    const std::string_view bare = trim(split.text);
    if (bare.starts_with("Successfully ran diagnostic")) {
      reading.facts.set("ran", true, line.number);
      return true;
    }
    if (contains(bare, "Error:") && contains(bare, "diagnostic")) {
      reading.facts.set("error", bare, line.number);
      return true;
    }
    return box_.take(split.text, line.number);
  }

  void finish(Reading& reading) override {
    Diagnosis diagnosis;
    for (BoxRow& row : box_.rows()) take(row, diagnosis, reading.facts);
    diagnosis.put(reading.facts);
  }

 private:
  static std::string_view option_after_r(std::string_view text) {
    const std::vector<std::string_view> words = words_in(text);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "-r" || words[i] == "--run") return words[i + 1];
    }
    return {};
  }

  static void take(BoxRow& row, Diagnosis& diagnosis, FactRecord& facts) {
    const std::string_view name = row.cells.front();
    if (row.entries.empty()) return;
    if (name == "Diagnostic" && row.entries.front() == "Result") return;
    if (row.section == "Metadata" || name.ends_with("Detected") || name == "DCGM Version") {
      std::string value;
      for (const std::string& entry : row.entries) value += entry;
      if (!set_metadata(facts, name, trim(value), row.line))
        facts.set_once(snake_name(name), Fact::of(trim(value), row.line));
      return;
    }
    const std::string_view first_word = name.substr(0, name.find_first_of(": "));
    if (first_word == "Warning" || first_word == "Info" || first_word == "Error" || first_word == "Errors") {
      const std::string_view of =
          name.size() > first_word.size() ? trim(name.substr(first_word.size() + 1)) : std::string_view();
      for (const std::string& entry : row.entries)
        diagnosis.take_message(trim(entry), row.line, first_word != "Info", of);
      return;
    }
    diagnosis.start_test(row.section, name, row.line);
    if (!diagnosis.has_test()) return;
    for (const std::string& entry : row.entries) take_result(diagnosis.test(), entry, row.line);
  }

  TextBox box_;
};

// --- JSON ---

void take_json_result(Diagnosis& diagnosis, const FactRecord& result) {
  std::string of;
  if (const Fact* const ids = result.find("gpu_ids"))
    of = "GPUs: " + (ids->text().empty() && ids->number()
                         ? std::to_string(static_cast<std::int64_t>(std::clamp(*ids->number(), 0.0, 1e6)))
                         : std::string(ids->text()));
  if (const Fact* const id = result.find("gpu_id"); id != nullptr && id->number())
    of = "GPU: " + std::to_string(static_cast<std::int64_t>(std::clamp(*id->number(), 0.0, 1e6)));
  if (const auto id = result.integer("entity_id")) {
    const std::string_view group = result.text("entity_group");
    of = (group.empty() ? std::string("GPU") : std::string(group)) + ": " + std::to_string(*id);
  }
  const std::string status = std::string(result.text("status"));
  if (!status.empty()) take_result(diagnosis.test(), of.empty() ? status : status + " - " + of, result.line);
  const auto messages = [&](std::string_view name, bool warning) {
    const Fact* const fact = result.find(name);
    if (fact == nullptr) return;
    if (!fact->text().empty()) diagnosis.take_message(fact->text(), fact->line, warning, of);
    if (const std::vector<Fact>* const list = fact->as_list()) {
      for (const Fact& item : *list) {
        const std::string_view text = item.as_record() != nullptr ? item.as_record()->text("warning") : item.text();
        if (!text.empty()) diagnosis.take_message(text, item.line, warning, of);
      }
    }
  };
  messages("warnings", true);
  messages("warning", true);
  messages("errors", true);
  messages("info", false);
}

void take_category(Diagnosis& diagnosis, const FactRecord& category) {
  const std::vector<Fact>* const tests = category.find_list("tests");
  if (tests == nullptr) return;
  for (const Fact& fact : *tests) {
    const FactRecord* const test = fact.as_record();
    if (test == nullptr) continue;
    diagnosis.start_test(category.text("category"), test->text("name"), fact.line);
    if (const std::vector<Fact>* const results = test->find_list("results")) {
      for (const Fact& result : *results) {
        if (result.as_record() != nullptr) take_json_result(diagnosis, *result.as_record());
      }
    }
    if (const FactRecord* const summary = test->find_record("test_summary")) take_json_result(diagnosis, *summary);
  }
}

// The first record below `fact` that has the categories.
const FactRecord* find_categories(const Fact& fact, int depth) {
  const FactRecord* const record = fact.as_record();
  if (record == nullptr || depth > 4) return nullptr;
  if (record->find_list("test_categories") != nullptr || record->find_list("tests") != nullptr) return record;
  for (const auto& [name, member] : record->members()) {
    if (const FactRecord* const found = find_categories(member, depth + 1)) return found;
  }
  return nullptr;
}

void take_metadata(const FactRecord& record, FactRecord& facts) {
  for (const auto& [name, fact] : record.members()) {
    if (const FactRecord* const inner = fact.as_record(); inner != nullptr && name == "metadata")
      take_metadata(*inner, facts);
    if (!fact.text().empty()) {
      set_metadata(facts, name, fact.text(), fact.line);
      if (equals_ignoring_case(name, "version")) facts.set("dcgm", fact.text(), fact.line);
    }
    const std::vector<Fact>* const ids = fact.as_list();
    if (ids != nullptr && to_lower(name).starts_with("gpu device ids")) {
      facts.set("gpu_device_ids", fact);
      facts.set("gpu_count", static_cast<std::int64_t>(ids->size()), fact.line);
    }
  }
}

}  // namespace

int recognise_dcgm_diag(const Head& head) {
  const bool table = contains(head.text, "| Diagnostic ") && contains(head.text, "| Result ");
  if (table && is_box_line(head.text.substr(head.text.find("| Diagnostic ")))) return confidence::kSure;
  if (contains(head.text, "Successfully ran diagnostic for group")) return confidence::kSure;
  if (contains(head.text, "dcgmi diag") && contains(head.text, "|")) return 85;
  if (!contains(head.text, "Pass") && !contains(head.text, "Fail") && !contains(head.text, "Skip"))
    return confidence::kNone;
  int marks = 0;
  for (const std::string_view mark :
       {"| PCIe  ", "| GPU Memory  ", "| Denylist  ", "| Blacklist  ", "| NVML Library  ", "| Targeted Power ",
        "| Targeted Stress ", "| SM Stress ", "| Memory Bandwidth ", "-----  Integration", "-----  Deployment",
        "-----  Hardware", "-----  Stress", "| Diagnostic  ", "Pass - All", "Fail - All", "| Page Retirement"}) {
    marks += contains(head.text, mark) ? 1 : 0;
  }
  const bool verdict = contains(head.text, "Pass") || contains(head.text, "Fail") || contains(head.text, "Skip");
  return marks >= 1 && verdict ? (marks >= 2 ? 80 : confidence::kLikely) : confidence::kNone;
}

std::unique_ptr<LineReader> open_dcgm_diag() { return std::make_unique<DcgmDiagReader>(); }

int recognise_dcgm_diag_json(const Head& head) {
  if (!contains(head.text, "\"test_categories\"") && !contains(head.text, "DCGM GPU Diagnostic") &&
      !contains(head.text, "\"DCGM Diagnostic\"")) {
    return confidence::kNone;
  }
  return confidence::kSure;
}

void read_dcgm_diag_json(std::string_view text, Reading& reading) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return;
  const std::int64_t first_line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n');
  const JsonTree tree = read_json_tree(text.substr(open), first_line);
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", tree.fault);
  const FactRecord* const root = tree.root.as_record();
  if (root == nullptr) return;
  take_metadata(*root, reading.facts);
  const FactRecord* const found = find_categories(tree.root, 0);
  if (found == nullptr) return;
  take_metadata(*found, reading.facts);
  Diagnosis diagnosis;
  if (const std::vector<Fact>* const categories = found->find_list("test_categories")) {
    for (const Fact& category : *categories) {
      if (category.as_record() != nullptr) take_category(diagnosis, *category.as_record());
    }
  } else {
    take_category(diagnosis, *found);
  }
  diagnosis.put(reading.facts);
}

}  // namespace tare
