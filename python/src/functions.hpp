#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>

#include "kempe/constraints.hpp"
#include "kempe/mechanism.hpp"

/// Constraint functions that Python can see: written in it, or bundled with a robot.
namespace kempe::python {

/// Sets what φ and its derivatives are computed by: Python functions, None for those that the
/// library derives.
///   phi(q) → rows numbers; is called with an array of jets where derivatives are wanted, unless
///   jacobian(q) → rows × n numbers is given, which is called with jets unless
///   curvature(q, v) → rows numbers is given: the second derivative of φ along v.
void setCallables(Function& function, const nanobind::object& phi, const nanobind::object& jacobian,
                  const nanobind::object& curvature);

/// The same for φ(q, t), without derivatives: phi(q, t) is called with jets where they are wanted.
void setCallable(TimedFunction& function, const nanobind::object& phi);

/// motion(t) → (position, velocity, acceleration).
std::function<PrescribedMotion(double)> motionFrom(const std::string& constraint,
                                                   const nanobind::object& motion);

/// Compares given derivatives with differences at positions where φ is finite; throws ModelError
/// where they are wrong.
void checkDerivatives(const Mechanism& mechanism);

/// A robot's mechanism, whose functions know where they come from.
Mechanism bundledMechanism(const std::string& name, int n, bool upright = true);

/// What a function can be made from again, and the making: how it is pickled.
nanobind::tuple originOf(const Function& function);
void restore(Function& function, nanobind::handle origin);

}  // namespace kempe::python
