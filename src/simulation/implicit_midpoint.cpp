#include "simulation/implicit_midpoint.hpp"

#include <algorithm>
#include <cmath>

#include "kempe/spatial/factorization.hpp"
#include "simulation/step_derivatives.hpp"

namespace kempe::detail {
namespace {

/// Relative to velocities (at least 1).
constexpr double kConverged = 1e-13;
constexpr double kAccepted = 1e-9;
constexpr int kIterations = 50;
/// Above this contraction per round, Newton's method is cheaper.
constexpr double kSlow = 0.3;

}  // namespace

void ImplicitMidpoint::resize(int nq, int nv) {
  const auto clear = [&](auto&... vectors) { (vectors.setZero(nv), ...); };
  clear(middle_, residual_, y_, trialV_, trial_, correction_, following_);
  q_.setZero(nq);
  startQ_.setZero(nq);
  const auto n = static_cast<std::size_t>(nv);
  jacobian_.resize(n * n);
  pivots_.resize(n);
}

void ImplicitMidpoint::ratesAt(EquationsOfMotion& motion, const Step& step,
                               const Eigen::VectorXd& middle) {
  y_ = (0.5 * step.h) * middle;
  motion.follow(step.start.q, step.first.G.data(), y_, q_);
  motion.evaluate(step.start.time + 0.5 * step.h, q_, middle, step.last);
}

/// Fixed-point iteration, or Newton's method where that is slow.
bool ImplicitMidpoint::solve(EquationsOfMotion& motion, const Step& step) {
  middle_ = step.start.v + (0.5 * step.h) * step.first.a;
  double before = 0.0;
  for (int round = 0; round < kIterations; ++round) {
    ratesAt(motion, step, middle_);
    residual_ = step.start.v + (0.5 * step.h) * step.last.a - middle_;
    middle_ += residual_;
    const double change = residual_.cwiseAbs().maxCoeff();
    const double scale = std::max(1.0, middle_.cwiseAbs().maxCoeff());
    if (change <= kConverged * scale) {
      return true;
    }
    if (round > 0 && !(change < kSlow * before)) {
      const bool rounding = change <= kAccepted * scale && !(change < before);
      return rounding || solveByNewton(motion, step);
    }
    before = change;
  }
  return false;
}

double ImplicitMidpoint::step(EquationsOfMotion& motion, const Step& step) {
  const auto& [start, first, h, tolerances, end, last] = step;
  if (!solve(motion, step)) {
    throw NoSolution(h);
  }
  ratesAt(motion, step, middle_);
  end.v = start.v + h * last.a;
  y_ = (0.5 * h) * middle_;
  startQ_ = q_;
  motion.follow(startQ_, last.G.data(), y_, end.q);
  for (int i = 0; i < kFlows; ++i) {
    end.work[i] = start.work[i] + h * last.power[i];
  }
  motion.evaluate(end.time, end.q, end.v, last);
  return 0.0;
}

/// With the derivatives at the middle, where η_m = T η_0 + C δy and δy = h/2 δv_m,
///   (1 − h/2 ∂a/∂v − h²/4 ∂a/∂q C) δv_m = δv_0 + h/2 (∂a/∂q T η_0 + ∂a/∂τ δτ).
void ImplicitMidpoint::linearize(EquationsOfMotion& motion, const Step& step,
                                 EquationDerivatives& derivatives, StepDerivatives& result) {
  const auto& [start, first, h, tolerances, end, last] = step;
  this->step(motion, step);
  result.start();
  const auto n = static_cast<int>(start.v.size());
  columns_.resizeLike(result.v);
  middleTangent_.resizeLike(result.v);
  StageDerivatives& stage = result.stage;
  y_ = (0.5 * h) * middle_;
  derivatives.ofRates({start.time + 0.5 * h, start.q, first.G.data(), y_, startQ_, middle_}, last,
                      stage);
  // A variation of v_m alone, then one of the start alone.
  matrix_.setIdentity(n, n);
  matrix_ -= (0.5 * h) * stage.aOfV;
  if (stage.flat) {
    matrix_ -= (0.25 * h * h) * stage.aOfQ;
    middleTangent_ = result.startTangent;
  } else {
    matrix_ -= (0.25 * h * h) * stage.aOfQ.lazyProduct(stage.ofChart);
    middleTangent_ = stage.ofStart.lazyProduct(result.startTangent);
  }
  sides_ = (0.5 * h) * stage.aOfQ.lazyProduct(middleTangent_);
  sides_.rightCols(n) += (0.5 * h) * stage.aOfTau;
  sides_ += result.startV;
  if (!(luFactor(matrix_.data(), n, pivots_.data()) > 0.0)) {
    throw NoSolution(h);
  }
  luSolve(matrix_.data(), n, pivots_.data(), sides_.data(), static_cast<int>(sides_.cols()));
  middleV_ = sides_;
  columns_ = (0.5 * h) * middleV_;
  stage.tangent(result.startTangent, columns_, middleTangent_);
  stage.acceleration(middleTangent_, middleV_, result.v);
  result.v = result.startV + h * result.v;
  derivatives.ofPosition({end.time, startQ_, last.G.data(), y_, end.q, end.v}, stage);
  stage.tangent(middleTangent_, columns_, result.tangent);
}

/// Newton's method on r(v_m) = v_m − v_0 − h/2 a, with a Jacobian by differences; from the start
/// again where fixed-point iteration diverges. Corrections are halved until the next one, by the
/// same Jacobian, is smaller (natural monotonicity test: Deuflhard, Newton Methods for Nonlinear
/// Problems, section 3.3).
bool ImplicitMidpoint::solveByNewton(EquationsOfMotion& motion, const Step& step) {
  constexpr double kShortestCorrection = 1.0 / 1024;
  const auto n = static_cast<int>(step.start.v.size());
  const auto residualAt = [&](const Eigen::VectorXd& middle, Eigen::VectorXd& result) {
    ratesAt(motion, step, middle);
    result = middle - step.start.v - (0.5 * step.h) * step.last.a;
  };
  const auto differentiate = [&] {
    trialV_ = middle_;
    for (int j = 0; j < n; ++j) {
      const double difference = 1e-7 * std::max(1.0, std::abs(middle_[j]));
      trialV_[j] = middle_[j] + difference;
      residualAt(trialV_, trial_);
      trialV_[j] = middle_[j];
      for (int i = 0; i < n; ++i) {
        jacobian_[i * n + j] = (trial_[i] - residual_[i]) / difference;
      }
    }
    return luFactor(jacobian_.data(), n, pivots_.data()) > 0.0;
  };
  const auto correct = [&](Eigen::VectorXd& result) {
    result = residual_;
    luSolve(jacobian_.data(), n, pivots_.data(), result.data(), 1);
    return result.cwiseAbs().maxCoeff();
  };

  middle_ = step.start.v;
  residualAt(middle_, residual_);
  bool current = false;  // the Jacobian is that at middle_
  bool outdated = true;
  double change = 0.0;
  for (int round = 0; round < kIterations; ++round) {
    ++newtonIterations_;
    if (outdated) {
      if (!differentiate()) {
        return false;
      }
      change = correct(correction_);
      current = true;
      outdated = false;
    }
    const double scale = std::max(1.0, middle_.cwiseAbs().maxCoeff());
    double part = 1.0, next = 0.0;
    for (; part >= kShortestCorrection; part *= 0.5) {
      trialV_ = middle_ - part * correction_;
      residualAt(trialV_, residual_);
      next = correct(following_);
      if (next <= (1.0 - 0.5 * part) * change || next <= kConverged * scale) {
        break;
      }
      if (change <= kAccepted * scale) {  // rounding
        return true;
      }
    }
    if (part < kShortestCorrection) {
      if (current) {
        return false;
      }
      residualAt(middle_, residual_);
      outdated = true;
      continue;
    }
    middle_ = trialV_;
    if (next <= kConverged * scale) {
      middle_ -= following_;
      return true;
    }
    std::swap(correction_, following_);
    outdated = next > kSlow * change;
    current = false;
    change = next;
  }
  return false;
}

}  // namespace kempe::detail
