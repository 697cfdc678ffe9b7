#pragma once

#include <Eigen/Geometry>
#include <array>
#include <initializer_list>
#include <string>

#include "dynamics/gravity.hpp"
#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

// What the examples of constraints share: a mechanism with constraints and a state that can be
// moved through time.

namespace kempe::test {

using Vector = Eigen::VectorXd;

inline Vector numbers(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

/// Accelerations and multipliers at one state.
struct Solution {
  Vector a, lambda;
  ConstraintReport report;
};

/// A mechanism with constraints, and a state of it.
struct Example {
  explicit Example(const Mechanism& robot)
      : model(robot),
        data(model),
        constraints(model),
        q(model.neutral()),
        v(Vector::Zero(model.nv())) {}

  Solution solveAt(double time, const Vector& position, const Vector& velocity) {
    Solution s{poisoned(model.nv()), poisoned(constraints.rows()), {}};
    constrainedForwardDynamics(model, data, constraints, time, position, velocity,
                               Vector::Zero(model.nv()), s.a, s.lambda, {}, &s.report);
    return s;
  }
  Solution solve() { return solveAt(t, q, v); }

  /// The classical Runge-Kutta steps, of models whose positions are plain numbers.
  void run(double duration, int steps) {
    const double h = duration / steps;
    for (int i = 0; i < steps; ++i, t += h) {
      const auto rate = [&](double part, const Vector& x, const Vector& y) {
        return solveAt(t + part * h, x, y).a;
      };
      const Vector a1 = rate(0.0, q, v);
      const Vector v2 = v + 0.5 * h * a1, a2 = rate(0.5, q + 0.5 * h * v, v2);
      const Vector v3 = v + 0.5 * h * a2, a3 = rate(0.5, q + 0.5 * h * v2, v3);
      const Vector v4 = v + h * a3, a4 = rate(1.0, q + h * v3, v4);
      q += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
      v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }

  Vector errors() {
    Vector result = poisoned(constraints.rows());
    constraintErrors(model, data, constraints, t, q, result);
    return result;
  }

  /// Catches what the constraints forbid; gives the impulses.
  Vector strike() {
    Vector after = poisoned(model.nv()), impulses = poisoned(constraints.rows());
    projectVelocities(model, data, constraints, t, q, v, after, impulses);
    v = after;
    return impulses;
  }

  Vector wrench(const char* name, const Vector& multipliers) {
    const std::array<double, 6> w =
        constraintWrench(model, data, constraints, constraints.find(name), t, q, multipliers);
    return Eigen::Map<const Vector>(w.data(), 6);
  }

  double kinetic() { return energy(model, data, q, v).kinetic; }

  Model model;
  Data data;
  Constraints constraints;
  Vector q, v;
  double t = 0.0;
};

/// A body on slides along x, y and z, one for each letter of `axes`, that has mass at its end only.
inline void addSlides(Mechanism& robot, const std::string& name, double mass,
                      const std::string& axes) {
  std::string parent = robot.bodies.front().name;
  for (const char axis : axes) {
    const std::string end = axis == axes.back() ? name : name + "_on_" + axis;
    Body& body = robot.addBody(end);
    if (axis == axes.back()) {
      body.withMass(mass);
    }
    robot.addPrismatic(name + "_" + axis)
        .from(parent)
        .to(end)
        .along({axis == 'x' ? 1.0 : 0.0, axis == 'y' ? 1.0 : 0.0, axis == 'z' ? 1.0 : 0.0});
    parent = end;
  }
}

inline Mechanism freeBody(double mass, const Vector3& moments) {
  Mechanism robot("body");
  robot.addBody("ground");
  robot.addBody("body").withMass(mass).withInertia(moments.x, moments.y, moments.z);
  robot.addJoint("free", JointType::Free).from("ground").to("body");
  return robot;
}

}  // namespace kempe::test
