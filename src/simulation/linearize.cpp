// Derivatives of steps and of rates, in the user's coordinates.

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe::detail {

void Simulation::requireOutputs(const MatrixOut& A, const MatrixOut& B) const {
  const Eigen::Index n = model.nv();
  const auto require = [](const char* name, const MatrixOut& matrix, Eigen::Index rows,
                          Eigen::Index columns) {
    if (matrix.rows() != rows || matrix.cols() != columns) {
      throw std::invalid_argument(std::string(name) + " is " + std::to_string(matrix.rows()) + "×" +
                                  std::to_string(matrix.cols()) + ", but must be " +
                                  std::to_string(rows) + "×" + std::to_string(columns));
    }
  };
  require("A", A, 2 * n, 2 * n);
  require("B", B, 2 * n, n);
}

void Simulation::startDerivatives() {
  refresh();
  derivatives_.start();
  stepDerivatives_.resize(model.nv());
  for (int i = 0; i < switches().count(); ++i) {
    if (switches().isHit(i, motion_.first->readings, motion_.speed())) {
      throw std::invalid_argument("linearize: joint " + kempe::quoted(switches().joint(i)) +
                                  " hits a rigid end stop, where its velocity jumps. Linearise "
                                  "before or after the impact.");
    }
  }
}

void Simulation::requireOneStep(double h) {
  const double ahead = std::min(motion_.first->secondsAhead,
                                work().secondsAhead(motion_.first->regularity, motion_.velocities));
  const double most = steps_.controlsError()
                          ? std::numeric_limits<double>::infinity()
                          : std::min({ahead, events_.longestStep(), options.maxStep});
  if (most < h * (1.0 - 1e-9)) {
    throw std::invalid_argument(
        "linearize: a step of " + shortNumber(h) + " s would be divided here into some of " +
        shortNumber(most) +
        " s or less, because an elastic end stop is stiff, a loop is near a change point, or "
        "max_step is shorter. Give a shorter dt.");
  }
  if (switches().empty()) {
    return;
  }
  events_.startStep();
  if (!(steps_.attempt(h) <= 1.0)) {
    // The step counts whatever its error, but rates at its end were not computed.
    const State& end = motion_.next;
    equations_.evaluate(end.time, end.q, end.v, *motion_.last);
  }
  const SwitchEvent event = events_.ofStep(h);
  if (event.which >= 0) {
    throw std::invalid_argument(
        "linearize: friction or an end stop of joint " +
        kempe::quoted(switches().joint(event.which)) + " changes its mode within " +
        shortNumber(h) +
        " s, where the motion has no derivative. Give a shorter dt, or make "
        "friction smooth (" +
        kSmoothFriction + ").");
  }
}

void Simulation::requireSmoothStep() {
  if (turns_.turningCluster() >= 0) {
    throw SingularityError(
        "linearize: a loop turns sharply within the step, where it has no derivative. Give a "
        "shorter dt.",
        {}, std::numeric_limits<double>::infinity());
  }
}

/// The least motion onto the constraints is differentiated where its length is zero.
void Simulation::projectDerivatives() {
  constexpr double kNoMotion = 1e-10;  // rad or m: derivatives change by this times curvatures
  State& end = motion_.next;
  unprojected_ = end.q;
  equations_.project(end);
  const double way = (end.q - unprojected_).cwiseAbs().maxCoeff();
  if (!(way <= kNoMotion)) {
    throw std::invalid_argument(
        "linearize: the step leaves the constraints or the loops that are cut, and the projection "
        "after it moves a coordinate by " +
        shortNumber(way) +
        ", too far to be differentiated. Give a shorter dt, use an integrator of higher order "
        "(\"rk4\"), or a simulator with stabilization=\"baumgarte\" (in C++ "
        "Stabilization::Baumgarte).");
  }
  derivatives_.project(end, stepDerivatives_);
}

void Simulation::linearize(double h, MatrixOut A, MatrixOut B) {
  if (!(h > 0.0) || !std::isfinite(h)) {
    throw std::invalid_argument("dt: a positive, finite number of seconds is needed, got " +
                                shortNumber(h));
  }
  requireOutputs(A, B);
  startDerivatives();
  requireOneStep(h);
  StepDerivatives& step = stepDerivatives_;
  steps_.linearize(h, derivatives_, step);
  requireSmoothStep();
  if (equations_.isConstrained() && options.stabilization == Stabilization::Projection) {
    projectDerivatives();
  }
  const Eigen::Index n = model.nv();
  A.topRows(n) = step.tangent.leftCols(2 * n);
  A.bottomRows(n) = step.v.leftCols(2 * n);
  B.topRows(n) = step.tangent.rightCols(n);
  B.bottomRows(n) = step.v.rightCols(n);
  if (choices_.index() == 0) {
    return;
  }
  const Transformation end = usersAt(motion_.next), start = usersAt(motion_.state);
  end.apply(A);
  end.apply(B);
  start.applyInverse(A);
}

void Simulation::linearizeRates(MatrixOut A, MatrixOut B) {
  requireOutputs(A, B);
  startDerivatives();
  // In the user's coordinates, also where the motion is followed in others: they determine the
  // motion everywhere but at a dead point.
  struct Users {
    explicit Users(CoordinateChoices& all) : choices(all), before(all.index()) { all.select(0); }
    ~Users() { choices.select(before); }
    Users(const Users&) = delete;
    Users& operator=(const Users&) = delete;
    CoordinateChoices& choices;
    std::size_t before;
  } const users(choices_);
  if (users.before != 0) {
    derivatives_.start();
  }
  StageDerivatives& stage = stepDerivatives_.stage;
  const Eigen::Index n = model.nv();
  derivatives_.ofAccelerations(motion_.state.time, motion_.state.q, motion_.v, *motion_.last,
                               stage);
  A.setZero();
  ChartDerivatives::tangentRates(work(), motion_.last->G.data(), motion_.last->velocities,
                                 A.topLeftCorner(n, n));
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = stage.aOfQ;
  A.bottomRightCorner(n, n) = stage.aOfV;
  B.topRows(n).setZero();
  B.bottomRows(n) = stage.aOfTau;
}

Simulation::Transformation Simulation::usersAt(const State& at) {
  const Eigen::Index n = model.nv();
  Transformation result{Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, n)};
  derivatives_.toUsers(at.q, at.v, derivatives_.ratiosAt(at.q), result.T, result.W);
  return result;
}

void Simulation::Transformation::apply(MatrixOut to) const {
  const Eigen::Index n = T.rows();
  const Eigen::MatrixXd before = to;
  to.topRows(n) = T * before.topRows(n);
  to.bottomRows(n) = W * before.topRows(n) + T * before.bottomRows(n);
}

/// A [T 0; W T]⁻¹, by (η, δv) = (T⁻¹ η_u, T⁻¹ (δv_u − W T⁻¹ η_u)).
void Simulation::Transformation::applyInverse(MatrixOut to) const {
  const Eigen::FullPivLU<Eigen::MatrixXd> factors(T);
  if (!factors.isInvertible()) {
    throw SingularityError(
        "linearize: the model's coordinates are at a dead point, where they do not determine the "
        "motion. Choose others for the model (withIndependent, with_independent).",
        {}, std::numeric_limits<double>::infinity());
  }
  const Eigen::Index n = T.rows();
  const Eigen::MatrixXd inverse = factors.inverse();
  const Eigen::MatrixXd byV = to.rightCols(n) * inverse;
  to.leftCols(n) = (to.leftCols(n) - byV * W) * inverse;
  to.rightCols(n) = byV;
}

}  // namespace kempe::detail
