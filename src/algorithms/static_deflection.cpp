#include "kempe/static_deflection.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <iterator>
#include <set>

#include "algorithms/evaluation.hpp"
#include "kempe/configuration.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "loops/decompositions.hpp"
#include "text/messages.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// The places of modal coordinates in v.
std::vector<int> modalVelocities(const ModelImpl& impl) {
  std::vector<int> modal;
  for (const ClusterEntry& cluster : impl.tables.clusters) {
    for (int i = 0; i < cluster.nv; ++i) {
      const int velocity =
          cluster.firstVelocity + impl.tables.independent[cluster.firstIndependent + i];
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        const BodyEntry<double>& body = impl.tables.bodies[b];
        if (body.type == JointType::Mode && body.firstVelocity == velocity) {
          modal.push_back(cluster.firstV + i);
        }
      }
    }
  }
  return modal;
}

/// Stiffnesses of these modes by themselves.
Eigen::VectorXd ownStiffness(const ModelImpl& impl, const std::vector<int>& modal) {
  Eigen::VectorXd own(static_cast<Eigen::Index>(modal.size()));
  for (std::size_t i = 0; i < modal.size(); ++i) {
    const std::string& name = impl.vNames[static_cast<std::size_t>(modal[i])];
    own[static_cast<Eigen::Index>(i)] = impl.mechanism.findJoint(name)->stiffness;
  }
  return own;
}

/// Whether modal coordinates move the body.
bool moveWithModes(const ModelTables<double>& tables, const BodyEntry<double>& body) {
  const ClusterEntry& cluster = tables.clusters[body.cluster];
  const auto first = tables.bodies.begin() + cluster.firstBody;
  return body.node >= 0 || (cluster.loops > 0 && std::any_of(first, first + cluster.bodies,
                                                             [](const BodyEntry<double>& other) {
                                                               return other.flexible >= 0;
                                                             }));
}

/// Refuses loops that are cut and that modal coordinates open: their forces would be unknowns too.
void requireNoBendingCuts(const ModelImpl& impl) {
  const ModelTables<double>& tables = impl.tables;
  const auto pathOf = [&](int body) {
    std::set<int> path;
    for (; body != kWorld; body = tables.bodies[body].parent) {
      path.insert(body);
    }
    return path;
  };
  for (const ConstraintEntry& entry : impl.cuts.entries) {
    std::set<int> moved;
    if (entry.form.betweenBodies()) {
      const std::set<int> a = pathOf(entry.predecessor.body), b = pathOf(entry.successor.body);
      std::ranges::set_symmetric_difference(a, b, std::inserter(moved, moved.end()));
    }
    for (const LoopTerm<double>& term : entry.terms) {
      for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
        const BodyEntry<double>& body = tables.bodies[b];
        if (term.velocity >= body.firstVelocity &&
            term.velocity < body.firstVelocity + velocitySize(body.type)) {
          moved.insert(static_cast<int>(b));
        }
      }
    }
    if (std::ranges::any_of(moved,
                            [&](int b) { return moveWithModes(tables, tables.bodies[b]); })) {
      throw std::runtime_error("static deflection: loop " + quoted(entry.name) +
                               " is cut, and would open where its bodies bend. Do not cut it.");
    }
  }
}

/// The modal coordinate along which an equilibrium is least stable; −1 of a stable one. `stiffness`
/// may be that of forces that follow the bodies, which is not symmetric.
int unstableMode(const Eigen::MatrixXd& stiffness, const Eigen::VectorXd& ownStiffness) {
  constexpr double kRounding = 1e-12;
  const Eigen::VectorXd scale = ownStiffness.cwiseSqrt().cwiseInverse();
  const SymmetricEigen own = symmetricEigen(
      scale.asDiagonal() * (0.5 * (stiffness + stiffness.transpose())) * scale.asDiagonal());
  Eigen::Index least = 0, mode = 0;
  if (own.values.minCoeff(&least) > kRounding) {
    return -1;
  }
  own.V.col(least).cwiseAbs().maxCoeff(&mode);
  return static_cast<int>(mode);
}

}  // namespace

void staticDeflection(const Model& model, Data& data, VectorIn q, VectorIn tau, VectorOut result,
                      const DynamicsOptions& options) {
  constexpr int kMostSteps = 60;
  constexpr double kConverged = 1e-12, kBalanced = 1e-9;
  const ModelImpl& impl = model.impl();
  requireVector("tau", tau, model.nv(), "model.nv");
  requireSize("result", result.size(), model.nq(), "model.nq");
  requireNoBendingCuts(impl);
  const std::vector<int> modal = modalVelocities(impl);
  const Eigen::Index n = model.nv(), m = static_cast<Eigen::Index>(modal.size());
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n), applied = tau;
  Eigen::VectorXd at = q, next = at, force(n), step(n);
  Eigen::MatrixXd byQ(n, n), byV(n, n), H(n, n);
  const auto unbalanced = [&](const Eigen::VectorXd& where) {
    inverseDynamics(model, data, where, zero, zero, force, options);
    return Eigen::VectorXd((force - applied)(modal));
  };
  const auto stiffnessAt = [&](const Eigen::VectorXd& where) {
    inverseDynamicsDerivatives(model, data, where, zero, zero, byQ, byV, H, options);
    return Eigen::MatrixXd(byQ(modal, modal));
  };
  Eigen::VectorXd r = unbalanced(at);  // checks q too
  if (m == 0) {
    result = at;
    return;
  }
  for (int i = 0; i < kMostSteps; ++i) {
    const Eigen::VectorXd bend = solved(stiffnessAt(at), -r);
    if (!bend.allFinite()) {
      break;
    }
    // Shorter steps until the forces along the modes decrease.
    bool decreases = false;
    for (double length = 1.0; length > 1e-6 && !decreases; length *= 0.5) {
      step.setZero();
      step(modal) = length * bend;
      integrate(model, data, at, step, 1.0, next);
      const Eigen::VectorXd residual = unbalanced(next);
      decreases = residual.norm() < r.norm();
      if (decreases) {
        at = next;
        r = residual;
      }
    }
    if (!decreases || bend.norm() <= kConverged * (1.0 + at.norm())) {
      break;  // what remains is rounding, or there is no equilibrium
    }
  }
  unbalanced(at);
  if (!(r.norm() <= kBalanced * (force.norm() + applied.norm() + 1.0))) {
    throw std::runtime_error(
        "static deflection: there is no equilibrium near this configuration; forces of " +
        std::to_string(r.norm()) +
        " remain along modal coordinates. The load may be beyond the one at which a beam buckles, "
        "or beyond small deformations. Reduce it, or make the beam stiffer.");
  }
  const int unstable = unstableMode(stiffnessAt(at), ownStiffness(impl, modal));
  if (unstable >= 0) {
    const auto velocity = static_cast<std::size_t>(modal[static_cast<std::size_t>(unstable)]);
    throw std::runtime_error("static deflection: the equilibrium is unstable along " +
                             quoted(impl.vNames[velocity]) +
                             ": the load is beyond the one at which a beam buckles. Reduce it, or "
                             "make the beam stiffer.");
  }
  result = at;
}

}  // namespace kempe
