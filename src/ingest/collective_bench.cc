#include "ingest/collective_bench.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kRowsKept = 4096;

// " algo throughput: 90235789890.2677 bps, 90.2358 Gbps" / " busbw: 84.5961  Gbps" / " algbw: 392.4 GBps (3139.2 Gbps)"
struct Block {
  std::int64_t line = 0;
  std::optional<std::int64_t> rank;
  std::optional<double> duration_s;
  std::optional<double> alg;
  std::optional<double> bus;
  bool bytes = false;  // GB/s; otherwise Gb/s
};

// "32KB" -> 32768: the script counts in powers of two.
std::optional<double> payload_bytes(std::string_view text) {
  const std::optional<Measure> size = to_measure(text);
  if (!size || size->value < 0) return std::nullopt;
  if (size->unit == "B") return size->value;
  if (size->unit == "KB" || size->unit == "KiB") return size->value * 1024;
  if (size->unit == "MB" || size->unit == "MiB") return size->value * 1024 * 1024;
  if (size->unit == "GB" || size->unit == "GiB") return size->value * 1024 * 1024 * 1024;
  return std::nullopt;
}

class BenchReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (line.text.size() > 4096) return false;
    const std::string_view text = trim(without_line_tags(line.text));
    if (const std::optional<std::int64_t> rank = rank_header(text)) {
      headers_.push_back(*rank);
      if (headers_.size() > 64) headers_.erase(headers_.begin());
      return true;
    }
    if (text.starts_with("duration:")) return on_duration(text, line.number);
    if (text.starts_with("algo throughput:") || text.starts_with("algbw:")) return on_algorithm(text, line.number);
    if (text.starts_with("busbw:")) return on_bus(text, line.number, reading);
    if (contains(text, "average bandwidth of")) return on_average(text, line.number);
    if (text.starts_with("|")) return on_row(text, line.number, reading);
    if (text.starts_with("- software stack:")) return keep("software", text, line.number);
    if (text.starts_with("- hardware stack:")) return keep("hardware", text, line.number);
    if (text.starts_with("ignore me ")) {
      ++noise_;
      return true;
    }
    return false;
  }

  void finish(Reading& reading) override {
    end_block();
    FactRecord& facts = reading.facts;
    if (blocks_.seen() == 0 && rows_.seen() == 0) return;
    facts.set("tool", blocks_.seen() > 0 && !bytes_ ? "early all_reduce_bench.py" : "all_reduce_bench.py");
    facts.set("collective", "all_reduce");
    for (const auto& [name, value] : kept_.members()) facts.set(name, value);
    if (noise_ > 0) facts.set("noise_lines", noise_);
    if (blocks_.seen() > 0) add_blocks(facts);
    if (rows_.seen() > 0) add_rows(facts);
  }

 private:
  static std::optional<std::int64_t> rank_header(std::string_view text) {
    if (text.size() < 2 || text.size() > 7 || !text.ends_with(':')) return std::nullopt;
    return to_integer(text.substr(0, text.size() - 1));
  }
  bool keep(const char* name, std::string_view text, std::int64_t line) {
    kept_.set(name, trim(text.substr(text.find(':') + 1)), line);
    return true;
  }

  Block& block(std::int64_t line) {
    if (block_.line == 0) {
      block_.line = line;
      // Processes print at the same time: the header is its own only where one alone stands before the values.
      if (headers_.size() == 1) block_.rank = headers_.front();
      headers_.clear();
    }
    return block_;
  }
  void end_block() {
    if (block_.line != 0 && (block_.alg || block_.bus)) {
      if (block_.rank) ranks_.insert(*block_.rank);
      blocks_.add(block_);
    }
    block_ = Block();
  }

  bool on_duration(std::string_view text, std::int64_t line) {
    end_block();
    const std::optional<Measure> seconds = to_measure(text.substr(9));
    if (seconds && (seconds->unit == "sec" || seconds->unit == "s")) block(line).duration_s = seconds->value;
    return true;
  }
  bool on_algorithm(std::string_view text, std::int64_t line) {
    if (block_.alg) end_block();
    std::string_view value = text.substr(text.find(':') + 1);
    if (contains(value, "bps,")) value = value.substr(value.find(',') + 1);
    if (const std::optional<Measure> rate = to_measure(value)) {
      block(line).alg = rate->value;
      block_.bytes = rate->unit.starts_with("GB");
      bytes_ = bytes_ || block_.bytes;
    }
    return true;
  }
  bool on_bus(std::string_view text, std::int64_t line, Reading& reading) {
    if (const std::optional<Measure> rate = to_measure(text.substr(6))) {
      block(line).bus = rate->value;
      block_.bytes = rate->unit.starts_with("GB");
      bytes_ = bytes_ || block_.bytes;
      end_block();
    } else {
      reading.cannot_use(line, text, "no number behind 'busbw:'");
    }
    return true;
  }

  // "The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 4 ranks):"
  bool on_average(std::string_view text, std::int64_t line) {
    if (const auto payload = between(text, " with a ", " payload")) {
      kept_.set("payload", *payload, line);
      if (const std::optional<double> bytes = payload_bytes(*payload)) kept_.set("payload_bytes", *bytes, line);
    }
    for (const auto& [marker, name] : {std::pair("(", "trials"), std::pair(", ", "ranks")}) {
      const auto behind = after(text, marker);
      const std::optional<Measure> count = behind ? to_measure(*behind) : std::nullopt;
      if (count && count->unit.starts_with(name)) kept_.set(name, count->value, line);
    }
    return true;
  }

  // "|    32KB |     0.92GBps |     0.49GBps |"
  bool on_row(std::string_view text, std::int64_t line, Reading& reading) {
    std::vector<std::string_view> cells;
    for (const std::string_view cell : split(text, '|')) {
      if (!trim(cell).empty()) cells.push_back(trim(cell));
    }
    if (cells.size() < 2) return false;
    if (cells[0] == "payload") {
      columns_.assign(cells.begin(), cells.end());
      return true;
    }
    if (columns_.empty() || cells[0].find_first_not_of("-: ") == std::string_view::npos) return !columns_.empty();
    FactRecord row(line);
    row.set("payload", cells[0]);
    if (const std::optional<double> bytes = payload_bytes(cells[0])) {
      row.set("bytes", static_cast<std::int64_t>(std::min(*bytes, 1e18)));
    }
    for (std::size_t i = 1; i < cells.size() && i < columns_.size(); ++i) {
      const std::optional<Measure> rate = to_measure(cells[i]);
      if (!rate) {
        reading.cannot_use(line, text, "no number in column '" + columns_[i] + "'");
        continue;
      }
      const std::string name = to_lower(columns_[i]);
      row.set(name + (rate->unit.starts_with("GB") ? "_gb_per_s" : "_gbps"), rate->value);
      if (name == "busbw" && (!peak_ || rate->value > *peak_)) peak_ = rate->value;
    }
    rows_.add(std::move(row));
    return true;
  }

  void add_blocks(FactRecord& facts) {
    facts.set("unit", bytes_ ? "GBps" : "Gbps (bits!)");
    facts.set("block_count", blocks_.seen());
    if (!ranks_.empty()) {
      facts.set("ranks_seen", static_cast<std::int64_t>(ranks_.size()));
      facts.set("highest_rank", *ranks_.rbegin());
    }
    const std::string unit = bytes_ ? "_gb_per_s" : "_gbps";
    add_spread(facts, "algbw", unit, &Block::alg);
    add_spread(facts, "busbw", unit, &Block::bus);
    add_spread(facts, "duration", "_s", &Block::duration_s);
    if (blocks_.every() > 1) facts.set("blocks_kept_every", blocks_.every());
    for (const Block& block : blocks_.kept()) {
      FactRecord& record = facts.append("blocks", block.line);
      if (block.rank) record.set("rank", *block.rank);
      if (block.duration_s) record.set("duration_s", *block.duration_s);
      if (block.alg) record.set("algbw" + std::string(block.bytes ? "_gb_per_s" : "_gbps"), *block.alg);
      if (block.bus) record.set("busbw" + std::string(block.bytes ? "_gb_per_s" : "_gbps"), *block.bus);
    }
  }
  void add_spread(FactRecord& facts, const std::string& name, const std::string& unit,
                  std::optional<double> Block::*member) {
    std::vector<double> values;
    for (const Block& block : blocks_.kept()) {
      if (block.*member) values.push_back(*(block.*member));
    }
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    facts.set(name + "_min" + unit, values.front());
    facts.set(name + "_median" + unit, values[values.size() / 2]);
    facts.set(name + "_max" + unit, values.back());
  }

  void add_rows(FactRecord& facts) {
    facts.set("data_rows", rows_.seen());
    if (peak_) facts.set("peak_busbw_gb_per_s", *peak_);
    if (rows_.every() > 1) facts.set("rows_kept_every", rows_.every());
    for (FactRecord& row : rows_.kept()) facts.list("rows").push_back(Fact::of(std::move(row)));
  }

  std::vector<std::int64_t> headers_;
  Block block_;
  Thinned<Block> blocks_{kRowsKept};
  Thinned<FactRecord> rows_{kRowsKept};
  std::vector<std::string> columns_;
  std::set<std::int64_t> ranks_;
  FactRecord kept_;
  std::optional<double> peak_;
  std::int64_t noise_ = 0;
  bool bytes_ = false;
};

}  // namespace

int recognise_collective_bench(const Head& head) {
  const bool early = contains(head.text, "algo throughput:") && contains(head.text, "busbw:");
  const bool later = contains(head.text, " algbw: ") && contains(head.text, " busbw: ") && contains(head.text, "Gbps");
  const bool table = contains(head.text, "| payload |") && contains(head.text, "busbw");
  const bool title = contains(head.text, "average bandwidth of all_reduce") && contains(head.text, "payload");
  return early || later || table || title ? 93 : confidence::kNone;
}

std::unique_ptr<LineReader> open_collective_bench() { return std::make_unique<BenchReader>(); }

}  // namespace tare
