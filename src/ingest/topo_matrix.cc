#include "ingest/topo_matrix.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "ingest/device_matrix.h"
#include "ingest/scan.h"
#include "ingest/topo_facts.h"

namespace tare {
namespace {

constexpr std::size_t kMostBlocks = 512;
constexpr std::size_t kMostCells = 400'000;
constexpr std::size_t kMostSources = 512;
constexpr std::size_t kMostLegend = 1024;

// "nvidia-smi topo -m" of "root@node01:/# nvidia-smi topo -m"; empty when the line is no such command.
std::string_view command_in(std::string_view text) {
  for (const std::string_view tool : {"nvidia-smi", "npu-smi", "rocm-smi", "amd-smi", "mthreads-gmi", "mx-smi", "ixsmi",
                                      "hy-smi", "xpu-smi", "cnmon", "brsmi", "vasmi"}) {
    const std::size_t at = text.find(tool);
    if (at == std::string_view::npos || !contains(text.substr(at), "topo")) continue;
    std::string_view command = text.substr(at);
    command = command.substr(0, command.find_first_of("|>;&`\""));
    return command.size() > 120 ? std::string_view() : trim(command);
  }
  return {};
}

// "Link Type between two GPUs", "LINK TYPE TABLE"; empty when the line is no title.
std::string_view title_in(std::string_view text) {
  text = trim(text);
  while (text.starts_with('=')) text.remove_prefix(1);
  while (text.ends_with('=') || text.ends_with(':')) text.remove_suffix(1);
  text = trim(text);
  if (text.size() > 60) return {};
  return text.ends_with(" TABLE") || contains(text, " between two ") ? text : std::string_view();
}

// The host or rank that stands before the line ("node01:", "[1,0]<stdout>:", "[pod/x/y]"); empty when there is none.
std::string_view source_of_line(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  const std::string_view word = text.substr(from, text.find_first_of(" \t", from) - from);
  if (word.starts_with("[pod/") && word.ends_with("]")) return word;
  const std::size_t tag = word.find(">:");
  if (word.starts_with('[') && tag != std::string_view::npos) return word.substr(0, tag + 1);
  if (!word.ends_with(':') || word.size() < 2 || word.size() > 80) return {};
  const std::string_view name = word.substr(0, word.size() - 1);
  // "NIC0:" is the legend's, "Legend:" its title, and a prompt has a path behind its colon.
  if (is_device_name(name) || accelerator_index(name) || name == "Legend" || contains(name, "@")) return {};
  return trim(text.substr(from + word.size())).empty() ? std::string_view() : name;
}

bool says_legend(std::string_view text) {
  text = trim(text);
  return text.size() < 40 && text.ends_with("egend:");
}

struct Source {
  MatrixBuilder builder;
  TopoBlock block;
  std::string title;
};

class TopoReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    std::string_view text = line.text.substr(0, std::size_t{64} * 1024);
    const std::string_view name = source_of_line(text);
    const auto found = sources_.find(name);
    // A prefix counts once a matrix has begun with it: "Warning:" is none.
    Source* source = found == sources_.end() ? nullptr : &found->second;
    if (source == nullptr) {
      const bool begins = matrix_line(text) == MatrixLine::kHeader || !command_in(text).empty() ||
                          !title_in(text).empty() || matrix_line(text) == MatrixLine::kRow;
      if (!name.empty() && (!begins || sources_.size() >= kMostSources)) return false;
      source = &sources_[std::string(name)];
      source->block.source = name;
    }
    if (!name.empty()) {
      if (const std::size_t at = text.find(name); at != std::string_view::npos) {
        text.remove_prefix(std::min(text.size(), at + name.size() + (name.ends_with(']') ? 0 : 1)));
      }
    }
    return take(*source, text, line.number, reading);
  }

  void finish(Reading& reading) override {
    for (auto& [name, source] : sources_) close(source, reading);
    std::sort(blocks_.begin(), blocks_.end(), [](const TopoBlock& a, const TopoBlock& b) { return a.line < b.line; });
    if (blocks_.empty()) return;
    const auto main = std::find_if(blocks_.begin(), blocks_.end(), shows_paths);
    add_topo_facts(main == blocks_.end() ? blocks_.front() : *main, reading.facts, reading);
    if (blocks_.size() < 2) return;
    reading.facts.set("topology_count", static_cast<std::int64_t>(blocks_.size()));
    for (const TopoBlock& block : blocks_) {
      Reading apart;
      FactRecord facts(block.line);
      add_topo_facts(block, facts, apart);
      if (&block != &*(main == blocks_.end() ? blocks_.begin() : main)) {
        for (const UnreadLine& one : apart.unread()) reading.cannot_use(one.line, one.text, one.reason);
      }
      reading.facts.list("topologies").push_back(Fact::of(std::move(facts)));
    }
  }

 private:
  bool take(Source& source, std::string_view text, std::int64_t line, Reading& reading) {
    if (const std::string_view title = title_in(text); !title.empty()) {
      end_matrix(source, reading);
      source.title = title;
      return true;
    }
    std::optional<DeviceMatrix> done;
    const MatrixLine what = source.builder.take(text, line, source.title, done);
    if (done) add_matrix(source, std::move(*done), reading);
    if (what == MatrixLine::kHeader && must_close(source)) close_block(source, reading);
    if (what != MatrixLine::kNone) return true;
    if (const std::string_view command = command_in(text); !command.empty()) {
      close(source, reading);
      source.block.command = command;
      return true;
    }
    if (says_legend(text)) return true;
    return take_legend(source, text, line) || take_numa(source, text, line);
  }

  // A header without a title begins a new block; one with a title does when the block has that title already.
  static bool must_close(const Source& source) {
    if (source.block.matrices.empty()) return false;
    if (source.title.empty()) return true;
    return std::any_of(source.block.matrices.begin(), source.block.matrices.end(),
                       [&](const DeviceMatrix& one) { return one.title == source.title || one.title.empty(); });
  }

  void end_matrix(Source& source, Reading& reading) {
    if (std::optional<DeviceMatrix> done = source.builder.finish()) add_matrix(source, std::move(*done), reading);
  }

  void add_matrix(Source& source, DeviceMatrix matrix, Reading& reading) {
    std::size_t cells = matrix.columns.size();
    for (const DeviceRow& row : matrix.rows) cells += row.cells.size() + 1;
    if (matrix.rows.empty() || cells_ + cells > kMostCells || blocks_.size() >= kMostBlocks) {
      reading.cannot_use(matrix.line, matrix.columns.empty() ? "" : matrix.columns.front(),
                         matrix.rows.empty() ? "a header without rows" : "more matrices than are kept");
      return;
    }
    cells_ += cells;
    if (source.block.matrices.empty()) source.block.line = matrix.line;
    source.block.matrices.push_back(std::move(matrix));
  }

  void close_block(Source& source, Reading&) {
    TopoBlock next;
    next.source = source.block.source;
    if (!source.block.matrices.empty()) blocks_.push_back(std::move(source.block));
    source.block = std::move(next);
  }

  void close(Source& source, Reading& reading) {
    end_matrix(source, reading);
    close_block(source, reading);
    source.title.clear();
  }

  // "  SYS  = Connection traversing …", "  NIC0: mlx5_0".
  static bool take_legend(Source& source, std::string_view text, std::int64_t line) {
    const std::vector<std::string_view> words = words_in(text.substr(0, 400));
    if (words.size() < 2) return false;
    if (words[1] == "=" && (is_link_class(words[0]) || words[0] == "NV#")) {
      if (source.block.classes.size() < kMostLegend) {
        source.block.classes.push_back({std::string(words[0]), std::string(*after(text, "=")), line});
      }
      return true;
    }
    bool taken = false;
    for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
      std::string_view name = words[at];
      if (!name.ends_with(':')) break;
      name.remove_suffix(1);
      if (!is_device_name(name) || source.block.devices.size() >= kMostLegend) break;
      source.block.devices.push_back({std::string(name), std::string(words[at + 1]), line});
      taken = true;
    }
    return taken;
  }

  // ROCm: "GPU[0]  : (Topology) Numa Node: 0".
  static bool take_numa(Source& source, std::string_view text, std::int64_t line) {
    const std::optional<std::string_view> node = after(text, "(Topology) Numa Node:");
    const std::optional<std::string_view> index = between(text, "[", "]");
    if (!node) return contains(text, "(Topology) Numa");
    if (index && source.block.numa.size() < kMostLegend) {
      const std::string_view prefix = trim(text.substr(0, text.find('[')));
      source.block.numa.push_back({std::string(prefix) + std::string(*index), std::string(*node), line});
    }
    return true;
  }

  std::map<std::string, Source, std::less<>> sources_;
  std::vector<TopoBlock> blocks_;
  std::size_t cells_ = 0;
};

}  // namespace

int recognise_topo_matrix(const Head& head) {
  const bool any = contains(head.text, "GPU") || contains(head.text, "NPU") || contains(head.text, "DCU") ||
                   contains(head.text, "MLU") || contains(head.text, "Phy-ID") || contains(head.text, "TABLE:");
  if (!any) return confidence::kNone;
  int headers = 0, rows = 0, own = 0, others = 0;
  bool titled = false;
  std::string_view text = head.text;
  while (!text.empty() && own + others < 20'000) {
    const std::string_view line = next_line(text).substr(0, 4096);
    if (trim(line).empty()) continue;
    const MatrixLine what = matrix_line(line);
    headers += what == MatrixLine::kHeader ? 1 : 0;
    rows += what == MatrixLine::kRow ? 1 : 0;
    titled = titled || !title_in(line).empty();
    const std::vector<std::string_view> words = words_in(line.substr(0, 100));
    const bool legend = words.size() >= 2 && ((words[1] == "=" && is_link_class(words[0])) ||
                                              (words[0].ends_with(':') && words[0].starts_with("NIC")));
    ++(what != MatrixLine::kNone || legend || says_legend(line) || titled || !command_in(line).empty() ? own : others);
  }
  if (titled && headers > 0) return confidence::kSure;
  if (rows == 0 || (headers == 0 && rows < 2)) return confidence::kNone;
  if (own >= others) return headers > 0 ? confidence::kSure : confidence::kLikely;
  return headers > 0 ? confidence::kLikely : confidence::kPossible;
}

std::unique_ptr<LineReader> open_topo_matrix() { return std::make_unique<TopoReader>(); }

}  // namespace tare
