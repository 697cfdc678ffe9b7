#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <utility>

#include "kempe/constraints.hpp"
#include "kempe/mechanism.hpp"

/// Constraint functions written in Python.
///
/// C++ does not own Python functions (see keeping.hpp). Where one is set, the object that owns it
/// is returned: whoever holds the constraint keeps that.
namespace kempe::python {

/// The class of the objects that own functions.
void bindCallables(nanobind::module_& m);

/// Sets the Python functions that compute φ and its derivatives; None: derived by the library.
/// Returns their owner.
///   phi(q) → rows numbers; is called with an array of jets to compute derivatives, unless
///   jacobian(q) → rows × n numbers is given, which is called with jets unless
///   curvature(q, v) → rows numbers is given: the second derivative of φ along v.
[[nodiscard]] nanobind::object setCallables(Function& function, const nanobind::object& phi,
                                            const nanobind::object& jacobian,
                                            const nanobind::object& curvature);

/// The same for φ(q, t), without derivatives: phi(q, t) is called with jets to compute them.
[[nodiscard]] nanobind::object setCallable(TimedFunction& function, const nanobind::object& phi);

/// motion(t) → (position, velocity, acceleration), and its owner.
std::pair<std::function<PrescribedMotion(double)>, nanobind::object> motionFrom(
    const std::string& constraint, const nanobind::object& motion);

/// Makes a Python object keep the owners of functions alive.
void keepFunctions(nanobind::handle keeper, const Function& function);
void keepFunctions(nanobind::handle keeper, const Mechanism& mechanism);

/// Compares given derivatives with differences at positions where φ is finite; throws ModelError
/// where they are wrong.
void checkDerivatives(const Mechanism& mechanism);

/// Pickling of a function: its state, and its reconstruction for an object that then keeps it.
nanobind::tuple originOf(const Function& function);
void restore(nanobind::handle keeper, Function& function, nanobind::handle origin);

}  // namespace kempe::python
