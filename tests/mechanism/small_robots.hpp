#pragma once

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/model.hpp"

// Small robots, and questions to models, that the tests of mechanisms share.

namespace kempe::test {

/// A bar of one kilogram along x, one metre long.
inline Body& addBar(Mechanism& robot, std::string_view name) {
  return robot.addBody(name).withMass(1).centeredAt({0.5, 0, 0}).withInertia(0.01, 0.09, 0.09);
}

/// A bar on `parent`, `x` along it, that turns about z. Its joint is called "to_" and its name.
inline Joint& addBarOn(Mechanism& robot, std::string_view parent, std::string_view name,
                       const Vector3& origin) {
  addBar(robot, name);
  return robot.addRevolute("to_" + std::string(name)).from(parent).to(name).at(origin);
}

/// Joint "shoulder" carries body "upper" on the root "ground", joint "elbow" carries "lower".
inline Mechanism twoLinkArm() {
  Mechanism robot("arm");
  robot.addBody("ground");
  addBar(robot, "upper");
  addBar(robot, "lower");
  robot.addRevolute("shoulder").from("ground").to("upper").about({0, 0, 1});
  robot.addRevolute("elbow").from("upper").to("lower").at({1, 0, 0}).about({0, 0, 1});
  return robot;
}

/// A disc that turns about z: a rotor without mass but with rotational inertia.
inline Joint& addRotorOn(Mechanism& robot, std::string_view parent, std::string_view name,
                         const Vector3& origin = {}) {
  robot.addBody(name).withInertia(1e-4, 1e-4, 2e-4);
  return robot.addRevolute("to_" + std::string(name)).from(parent).to(name).at(origin);
}

/// A four-bar of bars "crank", "coupler" and "rocker" on `base`, closed by the revolute loop
/// `prefix` + "loop". All names begin with `prefix`; the crank's joint is the independent one.
inline void addFourBar(Mechanism& robot, std::string_view base, const std::string& prefix,
                       const Vector3& origin = {}) {
  addBarOn(robot, base, prefix + "crank", origin).independent();
  addBarOn(robot, prefix + "crank", prefix + "coupler", {0.4, 0, 0}).dependent();
  addBarOn(robot, base, prefix + "rocker", origin + Vector3{1, 0, 0}).dependent();
  robot.addLoop(prefix + "loop", LoopType::Revolute)
      .from(prefix + "coupler", at({0.9, 0, 0}))
      .to(prefix + "rocker", at({0.7, 0, 0}));
}

/// The text of the ModelError that compiling gives; empty if it is fine.
inline std::string errorOf(const Mechanism& robot) {
  try {
    static_cast<void>(Model(robot));
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// All warnings, one per line.
inline std::string warningsOf(const Model& model) {
  std::string text;
  for (const std::string& warning : model.warnings()) {
    text += warning + "\n";
  }
  return text;
}

using Names = std::set<std::string>;

inline Names namesOf(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

/// The bodies of each cluster.
inline std::set<Names> partitionOf(const Model& model) {
  std::set<Names> partition;
  for (const ClusterInfo& cluster : model.clusters()) {
    partition.insert(namesOf(cluster.bodies));
  }
  return partition;
}

inline const ClusterInfo& clusterWith(const Model& model, std::string_view body) {
  for (const ClusterInfo& cluster : model.clusters()) {
    if (std::ranges::find(cluster.bodies, body) != cluster.bodies.end()) {
      return cluster;
    }
  }
  throw std::invalid_argument("no cluster holds body " + std::string(body));
}

}  // namespace kempe::test
