#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "dynamics/flexible_mechanisms.hpp"
#include "support/random_mechanism.hpp"

/// Random mechanisms for laws that hold for rigid and for flexible bodies.
namespace kempe::test {

struct NamedMechanism {
  std::string name;
  std::function<Mechanism()> make;

  friend std::ostream& operator<<(std::ostream& out, const NamedMechanism& choice) {
    return out << choice.name;
  }
};

/// Beams in trees, beside and in loops, below a floating base and with loops on their nodes.
inline std::vector<NamedMechanism> bendingMechanisms() {
  std::vector<NamedMechanism> all;
  const auto add = [&](const std::string& name, const Bending& choice) {
    all.push_back({name, [choice] { return flexibleTree(choice); }});
  };
  add("Bending_tree", {.seed = 21});
  add("Bending_floating_loop", {.seed = 22, .floats = true, .loop = true});
  add("Bending_hung_pair", {.seed = 23, .stiffening = false, .hung = true, .pair = true});
  return all;
}

inline std::vector<NamedMechanism> rigidAndBendingMechanisms() {
  std::vector<NamedMechanism> all;
  for (const MechanismCase& choice : everyMechanism()) {
    all.push_back({nameOf(choice), [choice] { return randomMechanism(choice); }});
  }
  for (NamedMechanism& choice : bendingMechanisms()) {
    all.push_back(std::move(choice));
  }
  return all;
}

}  // namespace kempe::test
