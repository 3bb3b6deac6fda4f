#include "ingest/slurm_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/json_tree.h"
#include "ingest/scan.h"
#include "ingest/slurm_columns.h"
#include "ingest/slurm_facts.h"
#include "ingest/slurm_log.h"
#include "ingest/slurm_record.h"
#include "ingest/slurm_table.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

// Quotes, arrows and bullets that a report puts before a line of output.
std::string_view without_bullet(std::string_view line) {
  const std::string_view text = trim(line);
  for (const std::string_view mark : {"# → ", "# => ", "# -> ", "→ ", "=> "}) {
    if (text.starts_with(mark)) return text.substr(mark.size());
  }
  while (line.starts_with("> ")) line.remove_prefix(2);
  return line;
}

bool begins_record(std::string_view text) {
  const std::size_t equal = text.find('=');
  return equal < 20 && begins_slurm_record(text.substr(0, equal));
}

// "Name=gpu Type=h100 File=/dev/nvidia0": a line of gres.conf.
bool is_gres_conf(std::string_view text) {
  return text.starts_with("Name=") &&
         (contains(text, "File=") || contains(text, "Count=") || contains(text, "Type=") || contains(text, "=gpu"));
}

// What prints such a record.
std::string_view source_of_record(std::string_view text) {
  if (text.starts_with("JobId=")) return "scontrol show job";
  if (text.starts_with("SwitchName=") || text.starts_with("BlockName=")) return "topology";
  if (text.starts_with("Name=") || contains(text, " Name=")) return "gres.conf";
  if (text.starts_with("ReservationName=")) return "scontrol show reservation";
  if (text.starts_with("NodeName=") && (contains(text, " Arch=") || contains(text, "CPUAlloc=")))
    return "scontrol show node";
  if (text.starts_with("NodeName=") && contains(text, "SocketsPerBoard=") && !contains(text, "Gres=") &&
      !contains(text, "State=")) {
    return "slurmd -C";
  }
  if (contains(text, "Nodes=") || contains(text, "CPUs=")) return "slurm.conf";
  return "scontrol show";
}

// "node1: NodeName=…", as pdsh and clush print.
std::string_view without_host(std::string_view text) {
  const std::size_t colon = text.substr(0, 80).find(": ");
  if (colon == std::string_view::npos || text.substr(0, colon).find(' ') != std::string_view::npos) return text;
  const std::string_view rest = trim(text.substr(colon + 2));
  return begins_record(rest) || is_gres_conf(rest) || rest.starts_with("UpTime=") ? rest : text;
}

// A member of a JSON line whose value alone says what it is.
void name_json_members(FactRecord& row, const FactRecord& from, std::int64_t line) {
  for (const auto& [key, value] : from.members()) {
    if (row.members().size() > 60) return;
    const std::string_view text = value.text();
    const std::string column = slurm_column(key);
    if (!text.empty() && !node_state_name(text).empty() && text.size() > 3 && !row.has("state") && key != "p") {
      row.set("state", text, line);
    } else if (std::count(text.begin(), text.end(), '/') == 3 && text.find_first_not_of("0123456789/") == text.npos) {
      set_slurm_cell(row, "cpus_aiot", text, line);
    } else if (key == "n" || key == "node" || column == "host" || column == "node_list") {
      row.set("node_list", text, line);
    } else if (key == "p" || column == "partition") {
      row.set("partition", text, line);
    } else if (!text.empty() && !column.empty()) {
      set_slurm_cell(row, column, text, line);
    } else {
      Fact fact = value;
      if (!text.empty()) fact = Fact::parsed(text);
      fact.line = line;
      row.set(slurm_fact_name(key), std::move(fact));
    }
  }
}

class SlurmText : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override;
  void finish(Reading& reading) override;

 private:
  bool take(std::string_view line, std::int64_t number, Reading& reading);
  bool take_comment(std::string_view text, std::int64_t number);
  void take_batch_option(std::string_view text, std::int64_t number);
  bool take_pairs(std::string_view line, std::string_view text, std::int64_t number);
  bool take_setting(std::string_view text, std::int64_t number);
  bool take_json(std::string_view text, std::int64_t number);
  bool take_named_lines(std::string_view text, std::int64_t number);
  bool take_headings(std::string_view line, std::int64_t number);
  bool take_row(std::string_view line, std::int64_t number, Reading& reading);
  void store(FactRecord row);
  void end_table() { table_.reset(); }

  SlurmFacts facts_;
  SlurmLog log_;
  SlurmRecord record_;
  std::optional<SlurmTable> table_;
  SlurmCommand command_;
  std::string comment_;
  std::string section_;  // "sdiag" or "seff": lines of "Name: value"
  std::string subsection_;
  std::string last_record_key_;
  bool command_open_ = false;  // its output has not begun
  bool blank_before_ = false;
  bool continued_ = false;  // the line before ended in a backslash
  bool settings_ = false;   // in a list of settings
  std::int64_t json_rows_ = 0;
};

// "--gres=gpu:h100:8", "-t 2:00:00", "--exclusive" of an #SBATCH line.
void SlurmText::take_batch_option(std::string_view text, std::int64_t number) {
  FactRecord& batch = facts_.more().record("sbatch", number);
  text = trim(text.substr(0, text.find(" #")));
  const std::size_t begin = text.find_first_not_of('-');
  if (!text.starts_with('-') || begin == std::string_view::npos || batch.members().size() > 100) return;
  const std::size_t cut = std::min(text.find_first_of("= \t", begin), text.size());
  std::string name = slurm_fact_name(text.substr(begin, cut - begin));
  const std::string_view value = cut < text.size() ? trim(text.substr(cut + 1)) : std::string_view();
  struct Short {
    std::string_view letter;
    std::string_view name;
  };
  static constexpr auto kShort = std::to_array<Short>({{"N", "nodes"},
                                                       {"n", "ntasks"},
                                                       {"t", "time"},
                                                       {"p", "partition"},
                                                       {"J", "job_name"},
                                                       {"c", "cpus_per_task"},
                                                       {"G", "gpus"},
                                                       {"A", "account"},
                                                       {"q", "qos"},
                                                       {"w", "nodelist"},
                                                       {"x", "exclude"},
                                                       {"C", "constraint"},
                                                       {"o", "output"},
                                                       {"e", "error"}});
  if (begin == 1) {
    for (const Short& one : kShort) {
      if (one.letter == text.substr(1, cut - 1)) name = std::string(one.name);
    }
  }
  if (name.empty()) return;
  if (value.empty()) {
    batch.set(name, true, number);
  } else {
    batch.set_parsed(name, value, number);
  }
  if (name == "gres") add_gpus(batch, parse_gres(value), "per_node_", number);
}

bool SlurmText::take_comment(std::string_view text, std::int64_t number) {
  if (text.starts_with("#SBATCH")) {
    take_batch_option(trim(text.substr(7)), number);
    return true;
  }
  comment_ = std::string(
      trim(text.substr(text.find_first_not_of('#') == text.npos ? text.size() : text.find_first_not_of('#'))));
  if (comment_.size() > 200) comment_.clear();
  return true;
}

// "SelectType=select/cons_tres" of slurm.conf, "SelectType              = select/cons_tres" of scontrol show config.
bool SlurmText::take_setting(std::string_view text, std::int64_t number) {
  if (text.starts_with("Configuration data as of")) {
    record_.give(facts_);
    settings_ = true;
    facts_.add_output("scontrol show config", "", number);
    return true;
  }
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos || equal == 0 || equal > 60) return false;
  const std::string_view key = trim(text.substr(0, equal));
  if (key.empty() || key.find_first_of(" \t") != std::string_view::npos) return false;
  const bool known = is_slurm_setting(key);
  if (!known && !settings_) return false;
  record_.give(facts_);
  if (!settings_ && known) facts_.add_output("configuration file", "", number);
  settings_ = true;
  std::string_view value = trim(text.substr(equal + 1));
  if (!value.starts_with('"')) value = trim(value.substr(0, value.find(" #")));
  if (equals_ignoring_case(key, "BlockSizes")) {
    std::vector<Fact>& sizes = facts_.more().list("block_sizes", number);
    for (const std::string_view size : split(value.substr(0, value.find_first_of(" \t")), ',')) {
      if (sizes.size() < 64) sizes.push_back(Fact::parsed(size, number));
    }
    facts_.more().set("topology", "block", number);
    return true;
  }
  if (equals_ignoring_case(key, "AutoDetect"))
    facts_.more().set("auto_detect", value.substr(0, value.find(' ')), number);
  if (equals_ignoring_case(key, "SLURM_VERSION")) facts_.more().set("slurm_version", value, number);
  add_slurm_setting(facts_.more().record("config", number), key, value, number);
  return true;
}

bool SlurmText::take_pairs(std::string_view line, std::string_view text, std::int64_t number) {
  const bool begins = begins_record(text) || is_gres_conf(text);
  const bool indented = !line.empty() && (line.front() == ' ' || line.front() == '\t' || line.starts_with("**"));
  if (!begins && !continued_ && !(record_.open() && indented) && take_setting(text, number)) return true;
  std::string_view body = text;
  const bool goes_on = body.ends_with('\\');
  if (goes_on) body = trim(body.substr(0, body.size() - 1));
  if (begins) {
    if (const std::size_t hash = body.find(" #"); hash != std::string_view::npos && !contains(body, "Arch=")) {
      body = trim(body.substr(0, hash));
    }
  }
  const std::vector<SlurmPair> pairs = slurm_pairs(body, !begins);
  if (pairs.empty() || (!begins && !record_.open())) return false;
  if (begins) {
    record_.give(facts_);
    record_ = SlurmRecord(number);
    if (!comment_.empty()) record_.set_comment(std::exchange(comment_, {}));
    end_table();
    settings_ = false;
    if (!command_open_ && pairs.front().key != last_record_key_) {
      facts_.add_output(source_of_record(text), "", number);
      last_record_key_ = std::string(pairs.front().key);
    }
    command_open_ = false;
  } else if (!indented && !continued_ && settings_) {
    return false;
  }
  record_.add(pairs, number);
  record_.add_note(body, number);
  continued_ = goes_on;
  return true;
}

// sinfo and squeue made to print JSON: -o '{"n": "%n", …}'.
bool SlurmText::take_json(std::string_view text, std::int64_t number) {
  if (!text.starts_with('{') || !text.ends_with('}')) return false;
  const JsonTree tree = read_json_tree(text, number);
  const FactRecord* const object = tree.root.as_record();
  if (object == nullptr || object->empty()) return false;
  FactRecord row(number);
  name_json_members(row, *object, number);
  if (json_rows_++ == 0) facts_.add_output(row.has("job_id") ? "squeue as JSON" : "sinfo as JSON", "", number);
  store(std::move(row));
  return true;
}

// sdiag and seff: "Jobs submitted: 12".
bool SlurmText::take_named_lines(std::string_view text, std::int64_t number) {
  if (text.starts_with("sdiag output at") || text.starts_with("Job ID:")) {
    section_ = text.starts_with("Job") ? "seff" : "sdiag";
    subsection_.clear();
    facts_.add_output(section_, "", number);
  }
  if (section_.empty()) return false;
  const std::size_t colon = text.find(':');
  if (colon > 80) {
    if (section_ == "sdiag" && text.size() < 100) subsection_ = slurm_fact_name(text);
    return section_ == "sdiag";
  }
  FactRecord& into = facts_.more().record(section_, number);
  const std::string_view value = trim(text.substr(colon + 1));
  std::string name = slurm_fact_name(text.substr(0, colon));
  if (name.empty() || into.members().size() > 400) return true;
  if (value.empty()) {
    subsection_ = name;
    return true;
  }
  if (into.has(name) && !subsection_.empty()) name = subsection_ + "_" + name;
  into.set_parsed(name, value, number);
  return true;
}

bool SlurmText::take_headings(std::string_view line, std::int64_t number) {
  static const SlurmCommand kNone;
  std::optional<SlurmTable> table = SlurmTable::of_headings(line, command_open_ ? command_ : kNone);
  if (!table) return false;
  record_.give(facts_);
  if (!command_open_) facts_.add_output(tool_name(table->tool()), "", number);
  command_open_ = false;
  settings_ = false;
  section_.clear();
  table_ = std::move(table);
  return true;
}

void SlurmText::store(FactRecord row) {
  const std::string_view job = row.text("job_id");
  if (row.has("job_id") || row.has("job_id_raw")) {
    // "8117657.batch" is a step. "591970_[2-" is an array whose id was cut.
    if (job.find('.') != std::string_view::npos) return facts_.add_step(std::move(row));
    if (job.find('[') != std::string_view::npos && job.find(']') == std::string_view::npos) row.set("job_id_cut", true);
    return facts_.add_job(std::move(row));
  }
  if (!row.text("host").empty() && row.text("node_list").empty()) row.set("node_list", row.text("host"));
  // Who drained a node, in sinfo -R, is a column of its own.
  if (row.has("user") && row.has("timestamp")) {
    row.set("reason_user", *row.find("user"));
    row.set("reason_time", *row.find("timestamp"));
  }
  std::vector<std::string_view> flags;
  const std::string name = node_state_name(row.text("state"), &flags);
  if (!name.empty()) row.set("state_name", name);
  for (const std::string_view flag : flags) row.list("state_flags").push_back(Fact::of(flag, row.line));
  facts_.add_group(std::move(row));
}

bool SlurmText::take_row(std::string_view line, std::int64_t number, Reading& reading) {
  if (!table_) return false;
  if (table_->take_dashes(line)) return true;
  const std::string_view text = trim(line);
  if (text == "..." || text == "[...]" || text == "…") {
    reading.cannot_use(number, text, "rows were left out here");
    return true;
  }
  std::string why;
  std::optional<FactRecord> row = table_->row(line, number, why);
  if (!row) {
    if (blank_before_) {
      end_table();
      return false;
    }
    reading.cannot_use(number, text, why);
    return true;
  }
  store(std::move(*row));
  return true;
}

bool SlurmText::take(std::string_view line, std::int64_t number, Reading& reading) {
  const std::string_view text = without_host(trim(line));
  SlurmCommand command;
  if (parse_slurm_command(text, command)) {
    record_.give(facts_);
    section_.clear();
    settings_ = false;
    facts_.add_output(tool_name(command.tool).empty() ? std::string_view(command.text).substr(0, command.text.find(' '))
                                                      : tool_name(command.tool),
                      command.text, number);
    end_table();
    // Without headings the command must say what the columns are.
    if (command.no_header || command.separator.size() > 1) table_ = SlurmTable::of_command(command);
    command_ = std::move(command);
    command_open_ = true;
    return true;
  }
  if (text.starts_with('#')) return take_comment(text, number);
  if (text.starts_with("```")) return true;
  if (log_.take(text, number, facts_)) return true;
  if (take_headings(line, number)) return true;
  if (take_json(text, number)) return true;
  if (!table_ || begins_record(text) || is_gres_conf(text)) {
    if (take_pairs(line, text, number)) return true;
  }
  if (table_ && take_row(line, number, reading)) return true;
  if (take_named_lines(text, number)) return true;
  if (text.starts_with("Slurmctld(") && contains(text, " is ")) {
    FactRecord controller(number);
    controller.set("role", *between(text, "(", ")"));
    controller.set("host", between(text, " at ", " is").value_or(""));
    controller.set("state", *after(text, " is "));
    facts_.append("controllers", std::move(controller));
    return true;
  }
  if (text.starts_with("slurm ") && words_in(text).size() == 2 && text.find('.') != text.npos) {
    facts_.more().set("slurm_version", trim(text.substr(6)), number);
    return true;
  }
  if ((text.starts_with("gpu:") || text.starts_with("gres:gpu") || text.starts_with("gres/gpu")) &&
      text.find(' ') == text.npos) {
    FactRecord row(number);
    set_slurm_cell(row, "gres", text, number);
    facts_.append("gres_lines", std::move(row));
    return true;
  }
  return false;
}

bool SlurmText::on_line(const Line& line, Reading& reading) {
  std::string_view text = without_bullet(line.text);
  if (trim(text).empty()) {
    blank_before_ = true;
    continued_ = false;
    if (section_ == "seff") section_.clear();
    return true;
  }
  const bool was_continued = continued_;
  const bool used = take(text, line.number, reading);
  if (was_continued && !trim(text).ends_with('\\')) continued_ = false;
  if (used && !trim(text).starts_with('#')) comment_.clear();
  blank_before_ = false;
  return used;
}

// The sums of gres.conf, topology and what slurmd found.
void add_sums(FactRecord& facts) {
  if (const std::vector<Fact>* const lines = facts.find_list("gres_conf")) {
    std::int64_t gpus = 0;
    bool any = false, cores = false;
    for (const Fact& one : *lines) {
      const FactRecord& record = *one.as_record();
      gpus = std::min<std::int64_t>(gpus + record.integer("gpus").value_or(0), 1'000'000'000);
      any = any || record.has("gpus");
      cores = cores || record.has("cores") || record.has("cpus");
    }
    if (any) facts.set("gres_conf_gpus", gpus);
    facts.set("gres_conf_has_cores", cores);
  }
  if (const std::vector<Fact>* const found = facts.find_list("gres_detected")) {
    const auto is_gpu = [](const Fact& one) { return one.as_record()->text("name") == "gpu"; };
    facts.set("gpus_detected", static_cast<std::int64_t>(std::count_if(found->begin(), found->end(), is_gpu)));
  }
  for (const std::string_view name : {"blocks", "switches"}) {
    const std::vector<Fact>* const list = facts.find_list(name);
    if (list == nullptr) continue;
    std::int64_t nodes = 0;
    for (const Fact& one : *list) {
      // A switch over others repeats their nodes.
      if (one.as_record()->has("switch_count")) continue;
      nodes = std::min<std::int64_t>(nodes + one.as_record()->integer("node_count").value_or(0), 1'000'000'000);
    }
    facts.set(name == "blocks" ? "block_count" : "switch_count", static_cast<std::int64_t>(list->size()));
    if (!facts.has("node_count") && nodes > 0) facts.set("node_count", nodes);
    facts.set("topology_nodes", nodes);
  }
}

void SlurmText::finish(Reading& reading) {
  record_.give(facts_);
  log_.give(facts_);
  facts_.give(reading);
  add_sums(reading.facts);
}

// How many of the first lines only Slurm could have written.
int recognise(const Head& head) {
  std::string_view rest = head.text.substr(0, 64 << 10);
  int lines = 0, own = 0, tables = 0, first = 0, logs = 0, json = 0;
  bool in_record = false;
  static const SlurmCommand kNone;
  while (!rest.empty() && lines < 300) {
    const std::string_view line = without_bullet(next_line(rest));
    const std::string_view text = without_host(trim(line));
    if (text.empty() || text.starts_with("```")) continue;
    ++lines;
    SlurmCommand command;
    SlurmLogLine log;
    bool is = false;
    const std::size_t equal = text.find('=');
    if (begins_record(text) || is_gres_conf(text) || text.starts_with("#SBATCH") ||
        (equal < 40 && is_slurm_setting(trim(text.substr(0, equal)))) || text.starts_with("Configuration data as of") ||
        text.starts_with("sdiag output at") || text.starts_with("GRES[") ||
        (text.starts_with("Job ID: ") && contains(head.text, "CPU Efficiency:"))) {
      is = true;
    } else if (in_record && (line.front() == ' ' || line.front() == '\t') && !slurm_pairs(text, true).empty()) {
      ++own;
      continue;
    } else if (parse_slurm_command(text, command) && command.tool != SlurmTool::kOther) {
      is = true;
      ++tables;
    } else if (parse_slurm_log_line(text, log)) {
      is = true;
      ++logs;
    } else if (SlurmTable::of_headings(line, kNone)) {
      is = true;
      ++tables;
    } else if (text.starts_with('{') && text.ends_with('}') && json < 3) {
      const JsonTree tree = read_json_tree(text.substr(0, 4096));
      FactRecord row(1);
      if (tree.root.as_record() != nullptr) name_json_members(row, *tree.root.as_record(), 1);
      is = row.has("state") && (row.has("node_list") || row.has("partition"));
      if (is) ++json;
    }
    own += is ? 1 : 0;
    in_record = begins_record(text) || (in_record && !is);
    if (is && first == 0) first = lines;
  }
  if (own == 0) return confidence::kNone;
  if (own * 2 >= lines || (tables > 0 && first <= 3)) return confidence::kSure;
  if (tables > 0 || own * 5 >= lines) return lines < 60 ? confidence::kSure - 10 : confidence::kLikely;
  return own * 20 >= lines ? confidence::kLikely - 10 : confidence::kPossible;
}

std::unique_ptr<LineReader> open() { return std::make_unique<SlurmText>(); }

}  // namespace

Format slurm_text_format() { return {"slurm", "slurm", recognise, open, nullptr}; }

}  // namespace tare
