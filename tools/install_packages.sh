#!/usr/bin/env bash
# Installs the missing Debian packages of groups, such as `tools/install_packages.sh build docs`, after
# listing them. If none is missing, does nothing and needs no network. `--list` only prints them.
set -euo pipefail

declare -A groups=(
  # The library, its tests and its benchmarks.
  [build]="g++ cmake ninja-build ccache ca-certificates libeigen3-dev libtinyxml2-dev libyaml-cpp-dev libxsimd-dev
           libtbb-dev libgtest-dev libbenchmark-dev pkgconf"
  [python]="python3 python3-dev python3-pip python3-venv"
  [sanitize]="clang libclang-rt-14-dev"
  [format]="clang-format"
  [lint]="clang-tidy"
  [docs]="doxygen fonts-stix"
  [viewer]="chromium chromium-driver"
)

list_only=no
if [[ ${1-} == --list ]]; then
  list_only=yes
  shift
fi
wanted=()
for group in "$@"; do
  [[ -v groups[$group] ]] || { echo "There is no group \"$group\". Groups: ${!groups[*]}" >&2; exit 2; }
  read -r -d '' -a names <<<"${groups[$group]}" || true
  wanted+=("${names[@]}")
done

missing=()
for package in ${wanted[@]+"${wanted[@]}"}; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if [[ $list_only == yes ]]; then
  printf '%s\n' "${wanted[@]}"
  exit 0
fi
((${#missing[@]})) || exit 0

as_root=()
((EUID == 0)) || as_root=(sudo)
echo "Installing Debian packages: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 install -y -qq --no-install-recommends \
  "${missing[@]}"
