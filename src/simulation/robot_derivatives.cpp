#include "simulation/robot_derivatives.hpp"

#include <Eigen/Geometry>
#include <limits>

#include "algorithms/constrained_derivatives.hpp"
#include "algorithms/differentiable.hpp"
#include "algorithms/evaluation.hpp"
#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/kinematics.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

Eigen::Vector3d eigen(const Vector3& a) {
  return {a.x, a.y, a.z};
}

/// Column k of a matrix of 3 rows, starting at `row`.
Eigen::Vector3d column(const Eigen::MatrixXd& of, Eigen::Index row, Eigen::Index k) {
  return of.block<3, 1>(row, k);
}

MatrixAt<double> writtenTo(Eigen::MatrixXd& matrix) {
  return {matrix.data(), 1, static_cast<int>(matrix.rows())};
}

}  // namespace

void RobotDerivatives::start() {
  Coordinates& chosen = work();
  requireDifferentiable(chosen.impl());
  if (equations_.constraints) {
    requireDifferentiable(equations_.constraints->table());
  }
  Switches& switches = equations_.switches();
  for (int i = 0; i < switches.count(); ++i) {
    if (switches.holds(i)) {
      throw std::invalid_argument(
          "linearize: joint " + kempe::quoted(switches.joint(i)) +
          " is held by dry friction or by a rigid end stop, where the motion has no derivative. "
          "Make friction smooth (" +
          kSmoothFriction + "), or give the stop a stiffness.");
    }
  }
  const int n = chosen.model().nv();
  ratios_.use(chosen);
  G_.resize(static_cast<std::size_t>(chosen.ratios()));
  chosen.writeConstantRatios(G_.data());
  atJoints_.setZero(chosen.model().nvSpanning());
  spanning_.setZero(chosen.model().nvSpanning());
  slopes_.byPosition.setZero(chosen.model().nvSpanning());
  slopes_.byVelocity.setZero(chosen.model().nvSpanning());
  unit_.setZero(n);
  picked_.setZero(n);
  for (Eigen::MatrixXd* matrix : {&inverse_, &byQ_, &byV_, &projection_}) {
    matrix->setZero(n, n);
  }
  projected_.setZero(n, 3 * n);
  from_.setZero(6, n);
  to_.setZero(6, n);
  line_.setZero(3, n);
  force_.setZero(3, n);
}

const double* RobotDerivatives::ratiosAt(VectorIn q) {
  if (work().placeAt(q, G_.data()) != Standing::Regular) {
    work().throwSingular();
  }
  return G_.data();
}

void RobotDerivatives::ofPosition(const Stage& stage, StageDerivatives& result) {
  result.flat = work().turningJoints().empty();
  if (!result.flat) {
    charts_.ofPosition(work(), stage, ratiosAt(stage.q), result);
  }
}

void RobotDerivatives::ofRates(const Stage& stage, Rates& rates, StageDerivatives& result) {
  ofAccelerations(stage.time, stage.q, stage.v, rates, result);
  result.flat = work().turningJoints().empty();
  if (!result.flat) {
    const double* G = rates.G.data();
    charts_.ofPosition(work(), stage, G, result);
    charts_.ofRates(work(), stage, G, rates.velocities, ratios_, result);
  }
}

void RobotDerivatives::ofAccelerations(double t, VectorIn q, VectorIn v, Rates& rates,
                                       StageDerivatives& result) {
  equations_.evaluate(t, q, v, rates);
  if (rates.crossing || rates.crossingRows) {
    throw SingularityError(
        "linearize: a loop passes a change point within the step, where branches of the motion "
        "meet "
        "and it has no derivative. Linearise a little earlier or later.",
        {}, std::numeric_limits<double>::infinity());
  }
  Coordinates& chosen = work();
  const bool atJoints = equations_.acting().elements.actOnJoints() || equations_.choice() != 0;
  if (atJoints || !chosen.turningJoints().empty()) {
    ratios_.differentiate(q, rates.G.data());
  }
  if (equations_.isConstrained()) {
    differentiateUnderConstraints(t, q, v, rates, result);
  } else {
    forwardDynamicsDerivatives<double>(chosen.model(), chosen.data(), q, v, equations_.tau(),
                                       result.aOfQ, result.aOfV, inverse_,
                                       {.external = rates.external});
  }
  const ActingForces& acting = equations_.acting();
  byQ_.setZero();
  byV_.setZero();
  if (atJoints) {
    addJointForces(v, rates, result);
  } else {
    result.aOfTau = inverse_;
  }
  if (acting.elements.actBetweenPoints()) {
    addPointSprings(q, v, rates, result);
  }
  if (atJoints || acting.elements.actBetweenPoints()) {
    result.aOfQ += inverse_.lazyProduct(byQ_);
    result.aOfV += inverse_.lazyProduct(byV_);
  }
}

/// Likewise, with the rows in the order of RobotEquations::accelerate.
void RobotDerivatives::differentiateUnderConstraints(double t, VectorIn q, VectorIn v,
                                                     const Rates& rates, StageDerivatives& result) {
  Evaluation<double> e(work().model(), work().data());
  const ExternalForces<double, double> forcesOnBodies = e.prepareExternal(rates.external);
  ConstraintSolver<double> solver(e);
  solver.add(e.impl.cuts);
  if (equations_.constraints) {
    solver.add(equations_.constraints->table());
  }
  differentiateConstrained<double>(
      solver, t, equations_.stabilizationRate(), q.data(), v.data(), equations_.tau().data(),
      forcesOnBodies,
      {.accelerations = {writtenTo(result.aOfQ), writtenTo(result.aOfV), writtenTo(inverse_)},
       .multipliers = {}});
}

void RobotDerivatives::project(const State& end, StepDerivatives& step) {
  differentiateProjection(work().model(), work().data(),
                          equations_.constraints ? &equations_.constraints->table() : nullptr,
                          end.time, end.q, end.v,
                          {.positions = writtenTo(projection_),
                           .velocities = {writtenTo(byQ_), writtenTo(byV_)},
                           .impulses = {}});
  projected_ = projection_.lazyProduct(step.tangent);
  step.tangent = projected_;
  projected_ = byQ_.lazyProduct(step.tangent);
  projected_ += byV_.lazyProduct(step.v);
  step.v = projected_;
}

/// τ = Gᵀ f with the forces f(q_s, q̇_s) at joints, those of the user among them:
///   ∂τ_j/∂y_k = Σ_i ∂G_ij/∂y_k f_i + G_ij (∂f_i/∂q_i G_ik + ∂f_i/∂q̇_i W_ik),
///   ∂τ_j/∂v_k = Σ_i G_ij ∂f_i/∂q̇_i G_ik.
void RobotDerivatives::addJointForces(VectorIn v, const Rates& rates, StageDerivatives& result) {
  Coordinates& chosen = work();
  const ActingForces& acting = equations_.acting();
  slopes_.byPosition.setZero();
  slopes_.byVelocity.setZero();
  acting.elements.addSlopes(rates.velocities, acting.commands, slopes_);
  atJoints_ = rates.forces;
  equations_.choices().addUsers(rates.tau, atJoints_);
  for (const ClusterEntry& cluster : chosen.impl().tables.clusters) {
    const double* G = rates.G.data() + cluster.firstRatio;
    const int m = cluster.nv;
    for (int k = 0; k < m; ++k) {
      for (int i = 0; i < cluster.velocities; ++i) {
        const int velocity = cluster.firstVelocity + i;
        const double byPosition = slopes_.byPosition[velocity];
        const double byVelocity = slopes_.byVelocity[velocity];
        const double ofQ =
            byPosition * G[i * m + k] + byVelocity * ratios_.rateSlope(cluster, i, k, v);
        const double ofV = byVelocity * G[i * m + k];
        for (int j = 0; j < m; ++j) {
          byQ_(cluster.firstV + j, cluster.firstV + k) +=
              ratios_.slope(cluster, i, j, k) * atJoints_[velocity] + G[i * m + j] * ofQ;
          byV_(cluster.firstV + j, cluster.firstV + k) += G[i * m + j] * ofV;
        }
      }
    }
  }
  if (equations_.choice() == 0) {
    result.aOfTau = inverse_;
    return;
  }
  for (Eigen::Index k = 0; k < unit_.size(); ++k) {  // the forces of the user, through G
    unit_.setZero();
    unit_[k] = 1.0;
    spanning_.setZero();
    equations_.choices().addUsers(unit_, spanning_);
    chosen.gather(rates.G.data(), spanning_, picked_);
    result.aOfTau.col(k) = inverse_.lazyProduct(picked_);
  }
}

/// A spring along the line ℓ = p_b − p_a of length l, n = ℓ/l, with ends that move apart at w, pulls
/// with F = T n, T = k (l − l_0) + d n·w, on a, and with −F on b:
///   δF = δT n + T δn,   δn = (δℓ − n n·δℓ)/l,   δT = k n·δℓ + d (n·δw + w·δn).
/// The generalised forces are −J_ℓᵀ F. That of a force that keeps its direction and its moment about
/// the frame's origin has been differentiated; its moment about that changes as it moves with the
/// frame, by (δθ × r) × F.
void RobotDerivatives::addPointSprings(VectorIn q, VectorIn v, const Rates& rates,
                                       StageDerivatives& /*result*/) {
  Coordinates& chosen = work();
  const ForceElements& elements = equations_.acting().elements;
  const Eigen::Index n = v.size();
  bool damped = false;
  std::size_t count = 0;
  PlacedEvaluation<double> placed(chosen.model(), chosen.data(), q);
  placed.move(v.data(), nullptr);
  elements.forPointSprings(*placed.work, [&](const auto& spring, const auto&, const auto&) {
    damped = damped || spring.element.damping > 0.0;
    ++count;
  });
  pointRates_.resize(count);
  for (Eigen::MatrixXd& each : pointRates_) {
    each.setZero(3, n);
  }
  for (int k = 0; damped && k < n; ++k) {
    const WorkView<Dual<double>>& varied = ratios_.motionAlong(q, rates.G.data(), v, k);
    std::size_t index = 0;
    elements.forPointSprings(varied, [&](const auto&, const auto& a, const auto& b) {
      const Vec3<Dual<double>> apart = b.velocity - a.velocity;
      pointRates_[index++].col(k) << apart.x.slope, apart.y.slope, apart.z.slope;
    });
  }
  std::size_t index = 0;
  elements.forPointSprings(*placed.work, [&](const auto& spring, const auto& a, const auto& b) {
    const Eigen::MatrixXd& apartRates = pointRates_[index++];
    const Eigen::Vector3d line = eigen(b.position - a.position);
    const Eigen::Vector3d apart = eigen(b.velocity - a.velocity);
    const double length = line.norm(), k = spring.element.stiffness, d = spring.element.damping;
    if (!(length > 0.0)) {
      // Without a rest length F = k ℓ, smooth; the direction of a damper is not.
      if (d > 0.0) {
        throw std::invalid_argument("linearize: the spring from " +
                                    kempe::quoted(spring.element.from.frame) + " to " +
                                    kempe::quoted(spring.element.to.frame) +
                                    " has no length, so that its damper has no direction. Move "
                                    "its ends apart.");
      }
    }
    frameJacobian<double>(chosen.model(), chosen.data(), q, spring.from.frame, from_);
    frameJacobian<double>(chosen.model(), chosen.data(), q, spring.to.frame, to_);
    const Eigen::Vector3d ra = eigen(a.fromFrame), rb = eigen(b.fromFrame);
    for (Eigen::Index j = 0; j < n; ++j) {
      line_.col(j) = column(to_, 0, j) + column(to_, 3, j).cross(rb) - column(from_, 0, j) -
                     column(from_, 3, j).cross(ra);
    }
    Eigen::Vector3d F = Eigen::Vector3d::Zero();
    if (length > 0.0) {
      const Eigen::Vector3d direction = line / length;
      const double tension = k * (length - spring.element.restLength) + d * direction.dot(apart);
      F = tension * direction;
      const auto change = [&](const Eigen::Vector3d& ofLine, const Eigen::Vector3d& ofApart) {
        const double stretch = direction.dot(ofLine);
        const Eigen::Vector3d turn = (ofLine - stretch * direction) / length;
        const double ofTension = k * stretch + d * (direction.dot(ofApart) + apart.dot(turn));
        return Eigen::Vector3d(ofTension * direction + tension * turn);
      };
      for (Eigen::Index j = 0; j < n; ++j) {
        force_.col(j) = change(line_.col(j), apartRates.col(j));
      }
      byQ_ -= line_.transpose().lazyProduct(force_);
      for (Eigen::Index j = 0; j < n; ++j) {
        force_.col(j) = d * direction.dot(line_.col(j)) * direction;
      }
      byV_ -= line_.transpose().lazyProduct(force_);
    } else {
      byQ_ -= k * line_.transpose().lazyProduct(line_);
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      const Eigen::Vector3d onFrom = column(from_, 3, j).cross(ra).cross(F);
      const Eigen::Vector3d onTo = column(to_, 3, j).cross(rb).cross(-F);
      byQ_.col(j) += from_.bottomRows<3>().transpose().lazyProduct(onFrom);
      byQ_.col(j) += to_.bottomRows<3>().transpose().lazyProduct(onTo);
    }
  });
}

void RobotDerivatives::toUsers(VectorIn q, VectorIn v, const double* G, MatrixOut T, MatrixOut W) {
  Coordinates& chosen = work();
  ratios_.differentiate(q, G);
  for (Eigen::Index k = 0; k < unit_.size(); ++k) {
    unit_.setZero();
    unit_[k] = 1.0;
    chosen.spread(G, unit_, spanning_);
    equations_.choices().pickUsers(spanning_, picked_);
    T.col(k) = picked_;
  }
  for (const ClusterEntry& cluster : chosen.impl().tables.clusters) {
    for (int k = 0; k < cluster.nv; ++k) {
      spanning_.setZero();
      for (int i = 0; i < cluster.velocities; ++i) {
        spanning_[cluster.firstVelocity + i] = ratios_.rateSlope(cluster, i, k, v);
      }
      equations_.choices().pickUsers(spanning_, picked_);
      W.col(cluster.firstV + k) = picked_;
    }
  }
}

}  // namespace kempe::detail
