#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

namespace kempe::test {

/// A model at a random state, constraints to be added, and random places for them.
class ConstrainedRobot {
 public:
  ConstrainedRobot(const Mechanism& mechanism, std::uint64_t seed)
      : robot(mechanism), model(robot), data(model), constraints(model), engine_(seed) {
    q = model.randomConfiguration(5);
    v = randomVector(model.nv());
    tau = randomVector(model.nv());
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Eigen::VectorXd randomVector(int size) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return uniform(-1.0, 1.0); });
  }
  Vector3 randomPoint() { return {uniform(-0.5, 0.5), uniform(-0.5, 0.5), uniform(-0.5, 0.5)}; }
  Pose randomPose() {
    const Vector3 angles{uniform(-2, 2), uniform(-1, 1), uniform(-2, 2)};
    return at(randomPoint(), angles);
  }
  const std::string& bodyFromTheTip(std::size_t i) {
    const std::vector<std::string>& names = model.bodyNames();
    return names[names.size() - 1 - i % names.size()];
  }

  Mechanism robot;
  Model model;
  Data data;
  Constraints constraints;
  Eigen::VectorXd q, v, tau;

 private:
  std::mt19937_64 engine_;
};

}  // namespace kempe::test
