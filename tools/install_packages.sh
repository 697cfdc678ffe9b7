#!/usr/bin/env bash
# Installs missing Debian packages; if none is missing, does nothing and needs no network.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache
  libeigen3-dev libtinyxml2-dev libyaml-cpp-dev libgtest-dev libbenchmark-dev
  libxsimd-dev libtbb-dev
  clang clang-format clang-tidy libclang-rt-14-dev
  doxygen fonts-stix
  python3 python3-dev python3-pip python3-venv ca-certificates
  chromium chromium-driver
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
((EUID == 0)) || as_root=(sudo)
echo "Installing Debian packages: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  "${missing[@]}"
