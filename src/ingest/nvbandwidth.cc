#include "ingest/nvbandwidth.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/json_tree.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kTestsKept = 2000;
constexpr std::size_t kRowsKept = 1024;

// "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)": the unit of the matrix below.
std::string_view matrix_unit(std::string_view description) {
  if (contains(description, "(GB/s)")) return "gb_per_s";
  if (contains(description, "(ns)")) return "ns";
  if (contains(description, "(us)")) return "us";
  return {};
}

// Mean, least and greatest of the cells that hold a number.
void summarise(FactRecord& test) {
  const std::vector<Fact>* const rows = test.find_list("matrix");
  const std::string unit(test.text("unit"));
  if (rows == nullptr || unit.empty()) return;
  double sum = 0, least = 0, greatest = 0;
  std::int64_t count = 0;
  for (const Fact& row : *rows) {
    const std::vector<Fact>* const cells = row.as_record()->find_list("values");
    for (std::size_t i = 0; cells != nullptr && i < cells->size(); ++i) {
      const std::optional<double> value = (*cells)[i].number();
      if (!value) continue;
      least = count == 0 ? *value : std::min(least, *value);
      greatest = count == 0 ? *value : std::max(greatest, *value);
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return;
  test.set("min_" + unit, least);
  test.set("max_" + unit, greatest);
  test.set("mean_" + unit, sum / static_cast<double>(count));
  test.set("value_count", count);
}

class NvbandwidthReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (line.text.size() > 16'384) return false;
    const std::string_view text = trim(without_line_tags(line.text));
    FactRecord& facts = reading.facts;
    if (text.starts_with("nvbandwidth Version:")) return keep(facts, "nvbandwidth_version", text, line.number);
    if (text.starts_with("Built from Git version:")) return keep(facts, "git_version", text, line.number);
    if (text.starts_with("CUDA Runtime Version:")) return keep(facts, "cuda_runtime", text, line.number);
    if (text.starts_with("CUDA Driver Version:")) return keep(facts, "cuda_driver", text, line.number);
    if (text.starts_with("Driver Version:")) return keep(facts, "driver", text, line.number);
    if (text.starts_with("MPI version:")) return keep(facts, "mpi", text, line.number);
    if (on_device(text, line.number, facts)) return true;
    if (text.starts_with("Running ") && text.ends_with('.')) {
      test_ = new_test(facts, text.substr(8, text.size() - 9), line.number);
      return true;
    }
    if (text.starts_with("Waived:") || text.starts_with("ERROR") || text.starts_with("Error:")) {
      if (test_ == nullptr) return false;
      test_->set(text.starts_with("Waived") ? "status" : "error", text.starts_with("Waived") ? "Waived" : text,
                 line.number);
      return true;
    }
    if (!matrix_unit(text).empty() && (contains(text, "row") || contains(text, "column"))) {
      if (test_ == nullptr) test_ = new_test(facts, "", line.number);
      if (test_ == nullptr) return true;
      test_->set("description", text, line.number);
      test_->set("unit", matrix_unit(text), line.number);
      in_matrix_ = true;
      return true;
    }
    if (text.starts_with("SUM ")) return on_sum(text, line.number, facts);
    return in_matrix_ && on_row(text, line.number);
  }

  void finish(Reading& reading) override {
    if (reading.facts.find_list("tests") == nullptr) return;
    for (Fact& fact : reading.facts.list("tests")) summarise(std::get<FactRecord>(fact.value));
    reading.facts.set("test_count", static_cast<std::int64_t>(reading.facts.find_list("tests")->size()));
  }

 private:
  static bool keep(FactRecord& facts, const char* name, std::string_view text, std::int64_t line) {
    if (!facts.has(name)) facts.set(name, trim(text.substr(text.find(':') + 1)), line);
    return true;
  }

  // "Device 0: NVIDIA H100 80GB HBM3 (00000000:19:00)", "Process 0 (host): device 0: NVIDIA …"
  static bool on_device(std::string_view text, std::int64_t line, FactRecord& facts) {
    const bool process = text.starts_with("Process ") && contains(text, "): device ");
    if (!process && !text.starts_with("Device ")) return false;
    const std::optional<std::string_view> behind = after(text, process ? "): device " : "Device ");
    const std::size_t colon = behind ? behind->find(": ") : std::string_view::npos;
    if (colon == std::string_view::npos) return false;
    const std::optional<std::int64_t> index = to_integer(behind->substr(0, colon));
    if (!index) return false;
    if (facts.list("devices").size() >= 10'000) return true;
    FactRecord& device = facts.append("devices", line);
    device.set("device", *index);
    if (process) {
      device.set_parsed("process", between(text, "Process ", " ").value_or(""));
      device.set("host", between(text, "(", ")").value_or(""));
    }
    std::string_view name = trim(behind->substr(colon + 2));
    const std::size_t open = name.rfind(" (");
    if (open != std::string_view::npos && name.ends_with(')')) {
      device.set("bus_id", name.substr(open + 2, name.size() - open - 3));
      name = trim(name.substr(0, open));
    }
    device.set("gpu", name);
    return true;
  }

  FactRecord* new_test(FactRecord& facts, std::string_view name, std::int64_t line) {
    in_matrix_ = false;
    if (facts.list("tests").size() >= kTestsKept) return nullptr;
    FactRecord& test = facts.append("tests", line);
    if (!name.empty()) test.set("name", name);
    return &test;
  }

  // "SUM host_to_device_memcpy_ce 445.07"
  bool on_sum(std::string_view text, std::int64_t line, FactRecord& facts) {
    const std::vector<std::string_view> words = words_in(text);
    const std::optional<double> sum = words.size() > 2 ? to_number(words.back()) : std::nullopt;
    if (!sum) return false;
    if (test_ == nullptr) test_ = new_test(facts, words[1], line);
    if (test_ != nullptr) test_->set("sum", *sum, line);
    in_matrix_ = false;
    return true;
  }

  // "           0         1" heads the columns; " 0     55.63     55.64" is a row.
  bool on_row(std::string_view text, std::int64_t line) {
    const std::vector<std::string_view> words = words_in(text);
    if (words.empty()) return false;
    const bool numbers = std::all_of(
        words.begin(), words.end(), [](std::string_view word) { return to_number(word).has_value() || word == "N/A"; });
    if (!numbers || test_ == nullptr) {
      in_matrix_ = false;
      return false;
    }
    const bool head =
        std::all_of(words.begin(), words.end(), [](std::string_view word) { return to_integer(word).has_value(); }) &&
        !test_->has("columns");
    if (head) {
      for (const std::string_view word : words) test_->list("columns", line).push_back(Fact::parsed(word, line));
      return true;
    }
    if (test_->list("matrix").size() >= kRowsKept) return true;
    FactRecord& row = test_->append("matrix", line);
    row.set_parsed("row", words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) row.list("values").push_back(Fact::parsed(words[i], line));
    return true;
  }

  FactRecord* test_ = nullptr;
  bool in_matrix_ = false;
};

void copy(const FactRecord& from, const char* name, FactRecord& into, const char* as) {
  const Fact* const fact = from.find(name);
  if (fact != nullptr && !fact->as_record() && !fact->as_list()) into.set(as, *fact);
}

void add_test(const FactRecord& from, FactRecord& facts) {
  if (facts.list("tests").size() >= kTestsKept) return;
  FactRecord test(from.line);
  for (const char* const name : {"name", "status", "sum", "error"}) copy(from, name, test, name);
  copy(from, "bandwidth_description", test, "description");
  test.set("unit", matrix_unit(test.text("description")).empty() ? "gb_per_s" : matrix_unit(test.text("description")));
  const std::vector<Fact>* const matrix = from.find_list("bandwidth_matrix");
  for (std::size_t i = 0; matrix != nullptr && i < matrix->size() && i < kRowsKept; ++i) {
    const std::vector<Fact>* const cells = (*matrix)[i].as_list();
    if (cells == nullptr) continue;
    FactRecord row((*matrix)[i].line);
    row.set("row", static_cast<std::int64_t>(i));
    for (const Fact& cell : *cells) {
      row.list("values").push_back(cell.text().empty() ? cell : Fact::parsed(cell.text(), cell.line));
    }
    test.list("matrix").push_back(Fact::of(std::move(row)));
  }
  summarise(test);
  facts.list("tests").push_back(Fact::of(std::move(test)));
}

}  // namespace

int recognise_nvbandwidth(const Head& head) {
  if (contains(head.text, "nvbandwidth Version:")) return 96;
  const bool matrix = contains(head.text, "(row)") && contains(head.text, "(column)") &&
                      (contains(head.text, "bandwidth (GB/s)") || contains(head.text, "latency"));
  return matrix && contains(head.text, "memcpy") ? 90 : confidence::kNone;
}

std::unique_ptr<LineReader> open_nvbandwidth() { return std::make_unique<NvbandwidthReader>(); }

int recognise_nvbandwidth_json(const Head& head) {
  return contains(head.text, "\"nvbandwidth\"") && contains(head.text, "\"testcases\"") ? 97 : confidence::kNone;
}

void read_nvbandwidth_json(std::string_view text, Reading& reading) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return;
  const JsonTree tree = read_json_tree(
      text.substr(open), 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", "the JSON is damaged: " + tree.fault);
  const FactRecord* const outer = tree.root.as_record();
  const FactRecord* const root = outer == nullptr ? nullptr : outer->find_record("nvbandwidth");
  if (root == nullptr) return;
  FactRecord& facts = reading.facts;
  copy(*root, "version", facts, "nvbandwidth_version");
  copy(*root, "git_version", facts, "git_version");
  copy(*root, "CUDA Runtime Version", facts, "cuda_runtime");
  copy(*root, "Driver Version", facts, "driver");
  copy(*root, "error", facts, "error");
  copy(*root, "warning", facts, "warning");
  const std::vector<Fact>* const tests = root->find_list("testcases");
  for (std::size_t i = 0; tests != nullptr && i < tests->size(); ++i) {
    if (const FactRecord* const test = (*tests)[i].as_record()) add_test(*test, facts);
  }
  facts.set("test_count", static_cast<std::int64_t>(tests == nullptr ? 0 : tests->size()));
}

}  // namespace tare
