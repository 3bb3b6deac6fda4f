# The table of modules: one static library each, data flowing one way.
#
# A row is "module: the modules it may include". The relation is closed transitively (perf may include cluster, hence
# catalog, report and base), link lines are generated from it, and tests/structure checks every #include "module/..." of
# every file against it. Rows stand in an order in which each module is known before it is used.
set(TARE_MODULES
  "base:"
  "report: base"
  "catalog: base report"
  "cluster: catalog"
  "workload: catalog"
  "ingest: cluster workload"
  "perf: cluster workload"
  "run: perf"
  "cost: run"
  "plan: cost"
  "place: plan"
  "validation: ingest cost"
  "audit: ingest plan"
  "cli: base report catalog cluster workload ingest perf run cost plan place validation audit"
)

# What a module links from outside the project: "module: CMake targets". Header-only libraries need no row.
set(TARE_MODULE_LIBRARIES
  "base: fmt::fmt"
  "ingest: simdjson::simdjson pugixml::pugixml yaml-cpp httplib"
  "cost: Threads::Threads"
  "plan: Threads::Threads"
)
