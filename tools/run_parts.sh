#!/usr/bin/env bash
# Runs make targets one after the other, stops at the first that fails, and ends with a summary.
set -uo pipefail

parts=("$@")
lines=()
status=0
for part in "${parts[@]}"; do
  printf '\n=== %s\n' "$part"
  start=$SECONDS
  "${MAKE:-make}" "$part" || status=$?
  took=$((SECONDS - start))
  if ((status)); then
    lines+=("$(printf 'FAILED %-16s %4d s' "$part" "$took")")
    break
  fi
  lines+=("$(printf 'ok     %-16s %4d s' "$part" "$took")")
done

printf '\n=== summary\n'
printf '%s\n' "${lines[@]}"
for part in "${parts[@]:${#lines[@]}}"; do printf 'not run %s\n' "$part"; done
if ((status)); then
  echo "make test: FAILED"
else
  echo "make test: all ${#parts[@]} parts passed in $SECONDS s"
fi
exit "$status"
