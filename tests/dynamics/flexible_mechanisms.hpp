#pragma once

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "kempe/kempe.hpp"

/// Random mechanisms with bodies that bend.
namespace kempe::test {

struct Bending {
  unsigned seed = 0;
  bool floats = false;
  bool stiffening = true;
  bool loop = false;  ///< a four-bar whose coupler bends, beside the tree
  bool hung = false;  ///< a rigid four-bar on a node of a beam
  bool pair = false;  ///< a four-bar with two beams that meet

  friend std::ostream& operator<<(std::ostream& out, const Bending& choice) {
    return out << "seed " << choice.seed << (choice.floats ? ", floating" : "")
               << (choice.stiffening ? "" : ", without stiffening")
               << (choice.loop ? ", with a loop" : "") << (choice.hung ? ", with a hung loop" : "")
               << (choice.pair ? ", with two beams in a loop" : "");
  }
};

/// Beams and rigid links, with joints on nodes along the beams and at their ends.
inline Mechanism flexibleTree(const Bending& choice) {
  std::mt19937 engine(choice.seed);
  const auto number = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(engine);
  };
  const auto vector = [&](double size) {
    return Vector3{number(-size, size), number(-size, size), number(-size, size)};
  };
  Mechanism robot("flexible_tree");
  robot.addBody("base");
  if (choice.floats) {
    robot.bodies.back().withMass(2).centeredAt({0.1, 0, 0}).withInertia(0.1, 0.2, 0.15);
    robot.addFloatingBase();
  }
  const auto beam = [&](const std::string& name, int modes) {
    BeamOptions options;
    options.length = number(0.4, 1.3);
    options.E = 7e9;
    options.density = 2700;
    options.area = number(2e-4, 5e-4);
    options.Iy = number(1e-8, 2e-8);
    options.Iz = number(1e-8, 2e-8);
    options.axis = vector(1.0);
    options.modes = modes;
    options.stiffening = choice.stiffening;
    options.damping = number(0.0, 0.02);
    if (modes > 6) {
      options.interface = {"end"};
    }
    robot.addBeam(name, options);
  };
  const auto link = [&](const std::string& name) {
    robot.addBody(name)
        .withMass(number(0.5, 2))
        .centeredAt(vector(0.2))
        .withInertia(number(0.02, 0.03), number(0.02, 0.03), number(0.02, 0.03));
  };
  beam("arm", 7);
  robot.addRevolute("shoulder")
      .from("base")
      .to("arm")
      .at(vector(0.3), vector(1.0))
      .about(vector(1));
  link("wheel");
  robot.addJoint("axle", JointType::Spherical).from("arm", "4").to("wheel").at(vector(0.1));
  link("hand");
  robot.addRevolute("elbow")
      .from("arm", "end")
      .to("hand")
      .at(vector(0.1), vector(1))
      .about(vector(1));
  beam("finger", 4);
  robot.addJoint("knuckle", JointType::Prismatic).from("hand").to("finger").at(vector(0.2));
  link("tip");
  robot.addFixed("grip").from("finger", "end").to("tip");
  beam("whip", 3);
  robot.addFixed("root").from("finger", "start").to("whip").at({}, vector(1));
  if (choice.loop) {
    robot.addBody("crank").withMass(0.4).centeredAt({0.1, 0, 0}).withInertia(1e-3, 2e-3, 2e-3);
    robot.addRevolute("motor").from("base").to("crank").independent();
    BeamOptions coupler{
        .length = 0.5, .E = 7e9, .density = 2700, .area = 2e-4, .Iy = 1e-8, .Iz = 2e-8};
    coupler.modes = 4;
    coupler.stiffening = choice.stiffening;
    robot.addBeam("coupler", coupler);
    robot.addRevolute("pin").from("crank").to("coupler").at({0.2, 0, 0});
    robot.addBody("rocker").withMass(0.4).centeredAt({0.2, 0, 0}).withInertia(1e-3, 3e-3, 3e-3);
    robot.addRevolute("pivot").from("base").to("rocker").at({0.4, 0, 0});
    auto& closing = robot.addLoop("closing", LoopType::Spherical);
    closing.from("coupler").to("rocker", at({0.4, 0, 0}));
    closing.predecessor.node = "end";
    link("load");
    robot.addRevolute("hook").from("coupler", "6").to("load").at({0, 0.1, 0}).about({0, 0.3, 1});
  }
  if (choice.hung) {
    const auto bar = [&](const std::string& name) {
      robot.addBody(name).withMass(0.4).centeredAt({0.1, 0, 0.02}).withInertia(2e-3, 2e-3, 3e-3);
    };
    bar("hung_crank");
    robot.addRevolute("hung_motor").from("arm", "5").to("hung_crank").independent();
    bar("hung_coupler");
    robot.addRevolute("hung_pin").from("hung_crank").to("hung_coupler").at({0.2, 0, 0});
    bar("hung_rocker");
    robot.addRevolute("hung_pivot").from("arm", "5").to("hung_rocker").at({0.4, 0, 0});
    robot.addLoop("hung_closing", LoopType::Spherical)
        .from("hung_coupler", at({0.5, 0, 0}))
        .to("hung_rocker", at({0.4, 0, 0}));
  }
  if (choice.pair) {
    BeamOptions options{
        .length = 0.5, .E = 7e9, .density = 2700, .area = 2e-4, .Iy = 1e-8, .Iz = 2e-8};
    options.modes = 3;
    options.stiffening = choice.stiffening;
    robot.addBody("drive").withMass(0.4).centeredAt({0.1, 0, 0}).withInertia(1e-3, 2e-3, 2e-3);
    robot.addRevolute("drive_motor").from("base").to("drive").at({0, 0, 0.3}).independent();
    robot.addBeam("first", options);
    robot.addRevolute("drive_pin").from("drive").to("first").at({0.2, 0, 0});
    options.length = 0.4;
    robot.addBeam("second", options);
    // Out of the plane nothing binds the modes.
    Joint& pivot = robot.addJoint("drive_pivot", JointType::Universal).from("base").to("second");
    pivot.at({0.4, 0, 0.3}).about({0, 0, 1});
    pivot.axis2 = {0, 1, 0};
    auto& closing = robot.addLoop("meeting", LoopType::Spherical);
    closing.from("first").to("second");
    closing.predecessor.node = closing.successor.node = "end";
  }
  return robot;
}

/// Trees, loops with bending couplers, loops on nodes and two beams that meet.
inline const std::vector<Bending> kEveryBending{{1},
                                                {2, true},
                                                {3, false, false},
                                                {4, true, true, true},
                                                {5, false, true, true},
                                                {6, true, false, true},
                                                {.seed = 7, .hung = true, .pair = true}};

}  // namespace kempe::test
