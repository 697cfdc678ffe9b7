#!/usr/bin/env bash
# Builds and runs tests/outside_project, which calls every exported function, against the installed
# library: with default flags, by pkg-config, and for AVX2, where Eigen aligns its memory differently. Leaves the
# installed library in build/stage.
set -euo pipefail
cd "$(dirname "$0")/.."

# outside <stage> <folder> <build type> <flags>
outside() {
  cmake -S tests/outside_project -B "$2" -G Ninja -DCMAKE_BUILD_TYPE="$3" -DCMAKE_CXX_FLAGS="$4" \
    -DCMAKE_PREFIX_PATH="$PWD/$1" >/dev/null
  cmake --build "$2"
  "$2/outside_project"
}

rm -rf build/stage build/stage_static build/outside_project*
cmake --install build/release --component development --prefix build/stage >/dev/null
outside build/stage build/outside_project Release ""
# Without CMake.
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/build/stage" -name kempe.pc)")
read -r -a flags <<<"$(pkg-config --cflags --libs kempe)"
c++ -std=c++20 -x c++ - "${flags[@]}" -o build/outside_project/version <<'END'
#include <kempe/version.hpp>
#include <cstring>
int main() { return std::strcmp(kempe::version(), KEMPE_VERSION); }
END
LD_LIBRARY_PATH=$(pkg-config --variable=libdir kempe) build/outside_project/version
cmake -DNM=nm -DLIBRARY=build/release/libkempe.so -DPROGRAM=build/outside_project/outside_project \
  -P tests/outside_project/exported_symbols.cmake

if ! grep -qw avx2 /proc/cpuinfo; then
  echo "skipped the AVX2 builds: the processor has no AVX2"
  exit
fi
outside build/stage build/outside_project_v3 Release -march=x86-64-v3
# Without optimisation Eigen's functions are not inlined, so that the linker could mix them.
cmake --install build/static --component development --prefix build/stage_static >/dev/null
outside build/stage_static build/outside_project_static Debug -march=x86-64-v3
