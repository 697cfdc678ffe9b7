#include "building.hpp"
#include "kempe/robots.hpp"

/// Serial chains of n equal links for scaling studies. The axes are all parallel, as in the
/// published chain of three, which the parameters are from.
namespace kempe::robots {
namespace {

constexpr double kLinkLength = 1.0, kGear = 6.0;
constexpr Inertial kLink{1, {kLinkLength / 2, 0, 0}, SymMat3<double>::diagonal(1, 1, 1)};
constexpr Rotor kRotor{.mass = 0, .axial = 0.0001, .transverse = 0.0001};
constexpr Limits kLimits{.lower = -10, .upper = 10, .velocity = 1, .effort = 30};

/// Origin of link i on the previous link, or on the ground.
std::string parentOf(int i) {
  return i == 0 ? "ground" : "link-" + std::to_string(i - 1);
}
Pose originOf(int i) {
  return at({i == 0 ? 0.0 : kLinkLength, 0, 0});
}

/// Adds link i with its rotor, which is mounted next to joint `rotorAt` ≤ i.
void addLink(Mechanism& robot, int i, int rotorAt) {
  const std::string index = std::to_string(i), number = std::to_string(i + 1);
  addGearedJoint(robot,
                 {.link = {"link-" + index, "joint" + number, parentOf(i), originOf(i), kLink},
                  .rotor = {"rotor-" + index, "joint" + number + "r", parentOf(rotorAt),
                            originOf(rotorAt), kRotor.about(kZ)},
                  .axis = kZ,
                  .ratio = kGear,
                  .transmission = "transmission" + number},
                 kLimits);
}

/// `rotorAt(i)` is the joint next to which the rotor of link i is mounted.
template <typename RotorAt>
Mechanism chainOf(const std::string& name, int n, Placement placement, const RotorAt& rotorAt) {
  if (n < 1) {
    throw ModelError("robot \"" + name + "\": a chain needs at least one link, not " +
                     std::to_string(n) + ".");
  }
  Mechanism robot(name);
  robot.addBody("ground");
  for (int i = 0; i < n; ++i) {
    addLink(robot, i, rotorAt(i));
  }
  if (placement == Placement::Upright) {
    turnUpright(robot, "ground");
  }
  return robot;
}

}  // namespace

Mechanism gearedChain(int n, Placement placement) {
  return chainOf("geared_chain", n, placement, [](int i) { return i; });
}

/// The belt of a pair's second link runs along the first link, so that its rotor follows the sum of
/// the two joint positions. An odd chain ends in a link with a geared motor of its own.
Mechanism beltChain(int n, Placement placement) {
  return chainOf("belt_chain", n, placement, [](int i) { return i - i % 2; });
}

}  // namespace kempe::robots
