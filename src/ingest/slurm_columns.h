// The columns of Slurm's tables: what each tool prints above them, their letters (-o "%n %G") and their long names
// (-O nodelist,gres; --format=JobID,State), and how their cells become facts.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fact.h"

namespace tare {

enum class SlurmTool { kUnknown, kSinfo, kSqueue, kSacct, kScontrol, kSdiag, kOther };

// The fact name of a heading ("NODELIST(REASON)" -> node_list_or_reason, "AllocTRES" -> alloc_tres); empty when no tool
// of Slurm prints it.
std::string slurm_column(std::string_view heading);
// Whether the heading alone makes a table one of Slurm's.
bool is_telling_column(std::string_view heading);

// A command line: the tool, and the columns it asks for in the order they will be printed.
struct SlurmCommand {
  SlurmTool tool = SlurmTool::kUnknown;
  std::string text;                  // the command as typed, without the prompt
  std::vector<std::string> columns;  // fact names; empty: the tool's own
  std::string separator;             // between the columns, where it is fixed text ("|"); empty: blanks
  std::string before;                // what stands before the first
  bool no_header = false;
};
// "$ sinfo -h -o '%n %G'", "[root@host ~]# sacct -P": false when the line is no command of Slurm.
bool parse_slurm_command(std::string_view line, SlurmCommand& command);
// What "cat /etc/slurm/gres.conf", "scontrol …", "journalctl -u slurmctld" … begin with.
std::string_view tool_name(SlurmTool tool);

// Puts one cell under its column's fact name: times also in seconds (<name>_s), GRES and TRES also as GPUs, states also
// by their full name.
void set_slurm_cell(FactRecord& row, std::string_view column, std::string_view cell, std::int64_t line);

}  // namespace tare
