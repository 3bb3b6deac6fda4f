#!/usr/bin/env bash
# bench/ratchet.sh BUILD: instructions per evaluation or draw, counted by valgrind's callgrind, against bench/ratchet.csv.
#
# Counted and not timed, so that a busy machine changes nothing. Fails when the count has grown by more than 10 %;
# TARE_UPDATE_RATCHET=1 writes what was counted. Ends with "N passed, N failed".
set -uo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=${1:-$root/build/release}
table="$root/bench/ratchet.csv"

if ! command -v valgrind >/dev/null; then
  echo "ratchet: SKIPPED: valgrind is not installed (apt-get install valgrind): instructions are not counted" >&2
  echo "0 passed, 0 failed"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Instructions inside `function` (everything it calls included) for each of the evaluations that the benchmark reports.
count() { # PROGRAM FUNCTION BENCHMARK
  valgrind --tool=callgrind --callgrind-out-file="$work/out" --collect-atstart=no --toggle-collect="$2" \
    "$build/bench/$1" --benchmark_filter="^$3" --benchmark_format=csv >"$work/rows" 2>"$work/log" || return 1
  local total evaluations
  total=$(sed -nE 's/^(summary|totals): *([0-9]+).*/\2/p' "$work/out" | tail -1)
  evaluations=$(awk -F, '/^name,/ { for (i = 1; i <= NF; i++) if ($i ~ /"?evaluations"?$/) column = i; next }
                         column && /Counted/ { printf "%d", $column }' "$work/rows")
  [[ -n $total && -n $evaluations && $evaluations -gt 0 ]] && echo $((total / evaluations))
}

passed=0
failed=0
rows="name,program,function,benchmark,instructions"
while IFS=, read -r name program function benchmark before; do
  [[ $name == name ]] && continue
  if ! now=$(count "$program" "$function" "$benchmark") || [[ -z $now ]]; then
    echo "ratchet: $name: could not be counted" >&2
    tail -5 "$work/log" >&2
    failed=$((failed + 1))
    continue
  fi
  rows+=$'\n'"$name,$program,$function,$benchmark,$now"
  if ((now * 10 > before * 11)) && [[ -z ${TARE_UPDATE_RATCHET:-} ]]; then
    echo "ratchet: $name takes $now instructions, $before before: more than 10 % growth"
    failed=$((failed + 1))
    continue
  fi
  echo "ratchet: $name: $now instructions ($before in bench/ratchet.csv)"
  passed=$((passed + 1))
  if ((now * 10 < before * 9)) && [[ -z ${TARE_UPDATE_RATCHET:-} ]]; then
    echo "ratchet: $name got faster: keep it with TARE_UPDATE_RATCHET=1 bench/ratchet.sh $build"
  fi
done <"$table"
[[ -n ${TARE_UPDATE_RATCHET:-} ]] && echo "$rows" >"$table"
echo "$passed passed, $failed failed"
((failed == 0))
