#include "kempe/static_deflection.hpp"

#include <Eigen/Core>

#include "algorithms/evaluation.hpp"
#include "kempe/configuration.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "loops/decompositions.hpp"

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

}  // namespace

void staticDeflection(const Model& model, Data& data, VectorIn q, VectorIn tau, VectorOut result,
                      const DynamicsOptions& options) {
  constexpr int kMostSteps = 60;
  constexpr double kConverged = 1e-12;
  const ModelImpl& impl = model.impl();
  requireVector("tau", tau, model.nv(), "model.nv");
  requireSize("result", result.size(), model.nq(), "model.nq");
  const std::vector<int> modal = modalVelocities(impl);
  const Eigen::Index n = model.nv(), m = static_cast<Eigen::Index>(modal.size());
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n), applied = tau;
  Eigen::VectorXd at = q, next = at, force(n), step(n);
  Eigen::MatrixXd byQ(n, n), byV(n, n), H(n, n);
  const auto unbalanced = [&](const Eigen::VectorXd& where) {
    inverseDynamics(model, data, where, zero, zero, force, options);
    return Eigen::VectorXd((force - applied)(modal));
  };
  Eigen::VectorXd r = unbalanced(at);  // checks q too
  for (int i = 0; i < kMostSteps && m > 0; ++i) {
    inverseDynamicsDerivatives(model, data, at, zero, zero, byQ, byV, H, options);
    const Eigen::MatrixXd stiffness = byQ(modal, modal);
    const Eigen::VectorXd bend = solved(stiffness, -r);
    if (!bend.allFinite()) {
      break;
    }
    // Shorter steps until the forces along the modes decrease.
    double length = 1.0;
    Eigen::VectorXd residual;
    for (; length > 1e-6; length *= 0.5) {
      step.setZero();
      step(modal) = length * bend;
      integrate(model, data, at, step, 1.0, next);
      residual = unbalanced(next);
      if (residual.norm() < r.norm() || residual.norm() == 0.0) {
        break;
      }
    }
    const double scale = (stiffness.diagonal().cwiseAbs().asDiagonal() * bend).norm();
    if (residual.norm() < r.norm()) {
      at = next;
      r = residual;
    } else if (scale <= 1e-9 * (stiffness * Eigen::VectorXd::Ones(m)).norm() + kConverged) {
      break;  // rounding
    }
    if ((length * bend).norm() <= kConverged * (1.0 + at.norm())) {
      result = at;
      return;
    }
  }
  if (m == 0 || r.norm() <= 1e-9 * (force.norm() + applied.norm() + 1.0)) {
    result = at;
    return;
  }
  throw std::runtime_error(
      "static deflection: there is no equilibrium near this configuration; forces of " +
      std::to_string(r.norm()) +
      " remain along modal coordinates. The load may be beyond the one at which a beam buckles, or "
      "beyond small deformations. Reduce it, or make the beam stiffer.");
}

}  // namespace kempe
