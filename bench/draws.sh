#!/usr/bin/env bash
# bench/draws.sh BUILD: bill draws per second on one core, and numpy doing the same arithmetic beside it.
#
# Bars: 5,000,000 draws/s of a rented and of an owned bill, five times numpy, two offers compared over 100,000 draws in
# under 0.2 s. Times are processor time, so that other work on the machine does not count, though it still slows what
# shares a core. Ends with "N passed, N failed".
set -uo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=${1:-$root/build/release}
python=/usr/bin/python3 # Debian's, which has numpy's package
job="$root/examples/llama-13b-64xh100.toml"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

held() { # TEXT: whether what awk computes from it is true
  if [[ $(awk "BEGIN { print ($2) ? 1 : 0 }") == 1 ]]; then
    passed=$((passed + 1))
    echo "ok     $1"
  else
    failed=$((failed + 1))
    echo "FAILED $1"
  fi
}

"$build/bench/draws_bench" --benchmark_filter='^(DrawRented|DrawOwned|CompareOffers)$' --benchmark_repetitions=5 \
  --benchmark_format=json >"$work/tare.json" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
# The best of five: whatever else runs only ever slows it.
best() { # BENCHMARK KEY max|min
  "$python" - "$work/tare.json" "$@" <<'END'
import json, sys
path, name, key, which = sys.argv[1:]
rows = [b[key] for b in json.load(open(path))["benchmarks"] if b["name"].startswith(name) and b["run_type"] == "iteration"]
print({"max": max, "min": min}[which](rows))
END
}
rented=$(best DrawRented draws/s max)
owned=$(best DrawOwned draws/s max)
compare=$(best CompareOffers cpu_time min)
held "$(printf 'rented: %.2f million draws/s, at least 5' "$(awk "BEGIN { print $rented / 1e6 }")")" "$rented >= 5e6"
held "$(printf 'owned: %.2f million draws/s, at least 5' "$(awk "BEGIN { print $owned / 1e6 }")")" "$owned >= 5e6"
held "$(printf 'two offers over 100,000 draws: %.0f ms, under 200' "$compare")" "$compare < 200"

if ! "$python" -c 'import numpy' 2>/dev/null; then
  echo "draws: SKIPPED: numpy is not installed (apt-get install python3-numpy): nothing is set beside them" >&2
else
  for pair in "rented aws/p5.48xlarge/*/on_demand $rented" "owned owned/dgx-h100 $owned"; do
    read -r name offer ours <<<"$pair"
    "$build/tare" bill "$job" --on "$offer" --gpus 64 --explain --output json >"$work/$name.json" 2>"$work/log" ||
      { cat "$work/log" >&2; failed=$((failed + 1)); continue; }
    line=$("$python" "$root/bench/bill_draws_numpy.py" "$work/$name.json") || { failed=$((failed + 1)); continue; }
    theirs=$(awk '{ print $2 }' <<<"$line")
    held "$(printf '%s: %.1f times numpy (%s), at least 5' "$name" "$(awk "BEGIN { print $ours / $theirs }")" \
      "$(cut -d' ' -f2- <<<"$line")")" "$ours >= 5 * $theirs"
  done
fi
echo "$passed passed, $failed failed"
((failed == 0))
