#!/usr/bin/env bash
# Runs every fuzz target for the given number of seconds, from the kept corpus. New inputs stay in
# build/fuzz/corpus; inputs that fail are written to build/fuzz/failures.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?seconds for each target}

mkdir -p build/fuzz/failures
for source in tests/fuzz/*_fuzzer.cpp; do
  name=$(basename "$source" .cpp)
  grown=build/fuzz/corpus/$name
  mkdir -p "$grown"
  echo "--- $name, $seconds s"
  "build/fuzz/tests/$name" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix=build/fuzz/failures/ "$grown" "tests/fuzz/corpus/$name"
done
