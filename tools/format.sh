#!/usr/bin/env bash
# Formats every C++ file of the project; with --check only lists those that are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
[[ ${1-} == --check ]] && mode=(--dry-run --Werror)
folders=()
for folder in include src robots tests examples benchmarks python/src; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 -r -n 8 -P "$(nproc)" clang-format "${mode[@]}"
