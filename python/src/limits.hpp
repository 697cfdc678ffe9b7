#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>
#include <utility>

#include "py_model.hpp"

/// Limits of joint positions, and configurations beyond them.
namespace kempe::python {

/// Lower and upper limits of the spanning positions; infinite where there are none.
std::pair<Eigen::VectorXd, Eigen::VectorXd> positionLimits(const Model& model);

/// Warns, once for each model, that neutral() is outside limits.
void warnOfNeutral(const PyModel& self, const Eigen::VectorXd& q);
/// The same of random configurations, a row of `q` for each seed from `seed` on.
void warnOfRandom(const PyModel& self, std::uint64_t seed, const double* q, Eigen::Index states);

}  // namespace kempe::python
