#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "kempe/mechanism.hpp"

namespace kempe::test {

/// Kinds of random mechanism; Mixed draws from all of them, in one cluster where that can be.
enum class Family {
  Tree,
  Geared,
  Belted,
  Differential,
  FourBar,
  SixBar,
  SpatialLoop,
  Rods,
  Functions,
  Mixed,
  MotorsInLoops  ///< rotors on links of a loop, geared to its joints
};

struct MechanismCase {
  Family family = Family::Tree;
  std::uint64_t seed = 1;
  int bodies = 8;  ///< at least as many beside the base

  friend std::ostream& operator<<(std::ostream& out, const MechanismCase& c);
};

/// A mechanism whose loops can be closed and which is the same for the same case. Odd seeds float,
/// even ones stand on the ground.
Mechanism randomMechanism(const MechanismCase& choice);

/// Cases of every family, from small to large, for TEST_P(EveryMechanism, …).
std::vector<MechanismCase> everyMechanism();

/// "FourBar_3_12": for the names of parametrised tests.
std::string nameOf(const MechanismCase& choice);

}  // namespace kempe::test
