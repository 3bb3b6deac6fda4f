# fuzz_format.sh FORMAT: fuzzes the reader of one format for $fuzz_seconds and leaves a log that ends in .passed or
# .failed in $results. Called by ./check, from the root.
format=$1
slug=$(tr -c 'a-z0-9\n' '-' <<<"${format,,}")
corpus="build/fuzz/corpus/read-$slug"
mkdir -p "$corpus" build/fuzz/artifacts
folders=("$corpus")
for seeds in "tests/fuzz/corpus/read/$slug" tests/fuzz/corpus/read; do
  [[ -d $seeds ]] && folders+=("$seeds") && break
done
if TARE_FUZZ_FORMAT=$format build/fuzz/tests/fuzz/fuzz_read -max_total_time="$fuzz_seconds" -timeout=10 \
  -rss_limit_mb=4096 -max_len=65536 -artifact_prefix="build/fuzz/artifacts/read-$slug-" "${folders[@]}" \
  >"$results/$slug.log" 2>&1 </dev/null; then
  mv "$results/$slug.log" "$results/$slug.passed"
else
  echo "reader of '$format': failed; the input lies in build/fuzz/artifacts, add it to tests/fuzz/corpus/read/$slug" \
    >>"$results/$slug.log"
  mv "$results/$slug.log" "$results/$slug.failed"
fi
