#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kempe/instruction_set.hpp"
#include "tables/kernel_set.hpp"

namespace kempe {
namespace detail {

// One pair of functions for each instruction set, all from kernels.cpp.
#define KEMPE_DECLARE(isa)                            \
  const KernelSets<double>& kernels_##isa##_double(); \
  const KernelSets<float>& kernels_##isa##_float();
KEMPE_DECLARE(baseline)
#ifdef KEMPE_X86_LEVELS
KEMPE_DECLARE(v3)
#endif
#ifdef KEMPE_X86_V4
KEMPE_DECLARE(v4)
#endif
#undef KEMPE_DECLARE

namespace {

struct Level {
  const char* name;
  bool (*isSupported)();
  const KernelSets<double>& (*kernels)();
  const KernelSets<float>& (*kernelsFloat)();
};

/// From the least to the most capable.
constexpr Level kLevels[] = {
    {"baseline", [] { return true; }, &kernels_baseline_double, &kernels_baseline_float},
#ifdef KEMPE_X86_LEVELS
    {"v3",
     [] {
       return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
              __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
     },
     &kernels_v3_double, &kernels_v3_float},
#endif
#ifdef KEMPE_X86_V4
    {"v4",
     [] {
       return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
              __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
              __builtin_cpu_supports("avx512vl") != 0;
     },
     &kernels_v4_double, &kernels_v4_float},
#endif
};

const Level& chooseLevel() {
  const char* asked = std::getenv("KEMPE_ISA");  // NOLINT(concurrency-mt-unsafe): read once
  if (asked == nullptr || *asked == '\0') {
    const Level* best = kLevels;
    for (const Level& level : kLevels) {
      best = level.isSupported() ? &level : best;
    }
    return *best;
  }
  std::string names;
  for (const Level& level : kLevels) {
    if (std::string_view(asked) == level.name) {
      if (!level.isSupported()) {
        throw std::runtime_error("KEMPE_ISA=" + std::string(asked) +
                                 ": this processor does not have these instructions. Unset "
                                 "KEMPE_ISA to let Kempe choose.");
      }
      return level;
    }
    names += std::string(names.empty() ? "" : ", ") + level.name;
  }
  throw std::runtime_error("KEMPE_ISA=" + std::string(asked) +
                           ": no such instruction set. Use one of " + names +
                           ", or unset it to let Kempe choose.");
}

const Level& level() {
  static const Level& chosen = chooseLevel();
  return chosen;
}

}  // namespace

template <>
const KernelSets<double>& kernelSets<double>() {
  return level().kernels();
}
template <>
const KernelSets<float>& kernelSets<float>() {
  return level().kernelsFloat();
}

}  // namespace detail

const char* instructionSet() {
  return detail::level().name;
}

}  // namespace kempe
