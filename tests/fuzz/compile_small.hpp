#pragma once

#include <cstddef>

#include "kempe/errors.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

namespace kempe::fuzz {

/// Compiles what was read, if it is small enough to take no time; it may turn out impossible.
inline void compileIfSmall(const Mechanism& mechanism) {
  constexpr std::size_t most = 12;
  if (mechanism.joints.size() > most || mechanism.couplings.size() > most ||
      mechanism.loops.size() > most || mechanism.rods.size() > most) {
    return;
  }
  try {
    const Model model(mechanism);
  } catch (const ModelError&) {  // NOLINT(bugprone-empty-catch): a refusal is an answer
  }
}

}  // namespace kempe::fuzz
